"""One option of one group, as Hydra composes it with the user's overrides."""

import os
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

from secateur.pipeline.cache import RequestCache, digest
from secateur.pipeline.config.experiment import Local
from secateur.pipeline.config.fields import ConfigError, from_dict
from secateur.pipeline.config.groups import GROUPS
from secateur.pipeline.config.limits import limited, unlimited
from secateur.pipeline.errors import nearest

__all__ = ["local", "names", "option"]


def names(conf: Path, group: str) -> list[str]:
    """The options of a group."""
    return sorted(path.stem for path in (conf / group).glob("[!_]*.yaml"))


def _known(conf: Path, group: str, name: str, asked_by: str) -> None:
    allowed = names(conf, group)
    if name not in allowed:
        raise ConfigError(
            f"{asked_by}: {group} {name!r} is no option of conf/{group}; allowed: {', '.join(allowed)}{nearest(name, allowed)}"
        )


def _check_overrides(overrides: tuple[str, ...]) -> None:
    """Each `group.key=value` must name a declared key."""
    for text in overrides:
        path, _, value = text.partition("=")
        group, _, rest = path.lstrip("+~").partition(".")
        if "=" not in text or not rest or value == "":
            raise ConfigError(f"override {text!r}: the form is group.key=value, e.g. retriever.top_k=100")
        if group not in GROUPS:
            raise ConfigError(
                f"override {text!r}: unknown group {group!r}; allowed: {', '.join(GROUPS)}{nearest(group, GROUPS)}"
            )
        allowed, name = [f.name for f in fields(GROUPS[group])], rest.split(".")[0]
        if name not in allowed:
            raise ConfigError(
                f"override {text!r}: conf/{group} has no key {name!r}; allowed: {', '.join(allowed)}{nearest(name, allowed)}"
            )


@cache
def _composed(conf: Path, group: str, name: str, mine: tuple[str, ...]) -> dict[str, Any]:
    """One option as plain data, remembered under the content of its group: every job parses the Snakefile anew,
    and importing and calling Hydra costs more than most jobs."""
    groups = (group, "system") if group == "study" else (group,)  # a study begins as a system does
    files = [conf / "config.yaml", *(path for one in groups for path in sorted((conf / one).glob("*.yaml")))]
    key = digest(name, mine, [(path.name, path.read_text(encoding="utf-8")) for path in files])
    remembered = RequestCache(Path(os.environ.get("SECATEUR_CACHE", conf.resolve().parent / ".cache")) / "config")
    found = remembered.get(key)
    if found is None:
        found = _compose(conf, group, name, mine)
        remembered.put(key, found)
    return found


def _compose(conf: Path, group: str, name: str, mine: tuple[str, ...]) -> dict[str, Any]:
    from hydra import compose, initialize_config_dir
    from hydra.errors import HydraException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    forced = [text if text[0] in "+~" else f"++{text}" for text in mine]  # a mapping may get a new entry
    try:
        with initialize_config_dir(config_dir=str(conf.resolve()), version_base="1.3"):
            composed = compose(config_name="config", overrides=[f"+{group}={name}", *forced])
        return OmegaConf.to_container(composed, resolve=True)[group]
    except (HydraException, OmegaConfBaseException, YAMLError) as error:
        deepest = error
        while deepest.__cause__ is not None:
            deepest = deepest.__cause__
        raise ConfigError(f"conf/{group}/{name}.yaml{' with ' + ' '.join(mine) if mine else ''}: {deepest}") from error


@cache
def option(
    conf: Path, group: str, name: str, overrides: tuple[str, ...] = (), asked_by: str = "the command line"
) -> Any:
    """One option of one group as its dataclass, inheritance and overrides applied; NAME@20: its first 20 questions.

    Raises ConfigError for an unknown group, option or key, a wrong type, a value out of range.
    """
    whole, count = unlimited(name)
    if count is None and "@" in name:
        raise ConfigError(f"{asked_by}: {name!r}: behind @ stands a number of questions, 1 at least. Fix: LIMIT=20")
    _known(conf, group, whole, asked_by)
    _check_overrides(overrides)
    mine = tuple(o for o in overrides if o.lstrip("+~").partition(".")[0] == group)
    found = from_dict(GROUPS[group], _composed(conf, group, whole, mine), f"conf/{group}/{whole}")
    return found if count is None else limited(found, count)


def local(conf: Path) -> Local:
    """This machine's settings; all null where there is no conf/local/local.yaml."""
    import yaml

    path = conf / "local" / "local.yaml"
    return from_dict(Local, yaml.safe_load(path.read_text()) or {}, "conf/local/local") if path.exists() else Local()
