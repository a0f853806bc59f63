"""One option of one group, as Hydra composes it with the user's overrides."""

import os
import re
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

from secateur.config import inline
from secateur.config.experiment import Local
from secateur.config.groups import GROUPS
from secateur.config.limits import LIMITS, limited, unlimited
from secateur.core.cache import RequestCache, digest
from secateur.core.errors import nearest
from secateur.core.fields import ConfigError, from_dict

__all__ = ["exists", "literal", "local", "names", "option", "pattern"]

UNKEPT = re.compile(
    r"oc\.env|://[^/\s]*@"
)  # the environment says something else next time; a password is written nowhere
NODES = 100_000  # values of one file of options, aliases counted where they are used


def _files(conf: Path, group: str) -> list[str]:
    return sorted(path.stem for path in (conf / group).glob("[!_]*.yaml"))


def names(conf: Path, group: str) -> list[str]:
    """The options of a group: its files, and what another group's options bring along.

    A data set whose `corpus` holds settings brings a corpus of its name, a peer a system of its name.
    """
    found = {*_files(conf, group)}
    if group == "corpus":
        found |= {
            name for name in _files(conf, "dataset") if isinstance(_composed(conf, "dataset", name)["corpus"], dict)
        }
    if group == "system":
        found |= {*_files(conf, "peer")}
    return sorted(found)


def exists(conf: Path, group: str, name: str) -> bool:
    """Whether a group has an option of this name, one that is written inline included."""
    return _base(group, name)[0] in names(conf, group)


def pattern(conf: Path, group: str) -> str:
    """A regular expression for the names of a group's options in paths."""
    known = [*_files(conf, group), *_files(conf, "dataset")] if group == "corpus" else names(conf, group)
    after = LIMITS.get(group, "") if group in inline.FIXED else inline.SUFFIX
    return f"({'|'.join(known)}){after}"


def _base(group: str, name: str) -> tuple[str, dict[str, str]]:
    """The file of an option, and what is changed of it inline."""
    return (name, {}) if group in inline.FIXED else inline.split(name)


def literal(text: str) -> str:
    """A text as a value of an override that Hydra reads as just that, whatever is in it.

    >>> literal("/my data/a=b, it's ${here}")
    "'/my data/a=b, it\\\\'s \\\\${here}'"
    """
    text = re.sub(r"(\\+)(?='|$)", r"\1\1", text.replace("${", "\\${"))
    return "'" + text.replace("'", "\\'") + "'"


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
def _composed(conf: Path, group: str, name: str, mine: tuple[str, ...] = ()) -> dict[str, Any]:
    """One option as plain data, remembered under the content of its group: every job parses the Snakefile anew,
    and importing and calling Hydra costs more than most jobs."""
    groups = (group, "system") if group == "study" else (group,)  # a study begins as a system does
    files = [path for one in groups for path in sorted((conf / one).glob("*.yaml"))]
    texts = {path: _text(path) for path in files}
    key = digest(name, mine, [(path.name, text) for path, text in texts.items()])
    remembered = RequestCache(Path(os.environ.get("SECATEUR_CACHE", conf.resolve().parent / ".cache")) / "config")
    found = remembered.get(key)
    if found is None:
        for path, text in texts.items():
            _sized(path, text)
        found = _compose(conf, group, name, mine)
        if not any(UNKEPT.search(text) for text in (*texts.values(), *mine)):
            remembered.put(key, found)
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: is not UTF-8 ({error}). Fix: save it as UTF-8") from error


def _sized(path: Path, text: str) -> None:
    """Refuse a file whose aliases stand for more than an option can need: Hydra would be at it for minutes."""
    import yaml

    def nodes(value: Any) -> int:
        if id(value) not in counted:
            within = [*value.keys(), *value.values()] if isinstance(value, dict) else value
            counted[id(value)] = 1 + sum(map(nodes, within)) if isinstance(value, (dict, list)) else 1
        return counted[id(value)]

    counted: dict[int, int] = {}
    try:
        found = yaml.safe_load(text)
        if nodes(found) > NODES:
            raise ConfigError(
                f"{path}: its aliases stand for {nodes(found):,} values; allowed: {NODES:,}. Fix: cut them"
            )
    except yaml.YAMLError:
        return  # Hydra says where
    except RecursionError as error:
        raise ConfigError(f"{path}: an alias stands for itself. Fix: write its value out") from error
    if found is not None and not isinstance(found, dict):
        raise ConfigError(f"{path}: holds a {type(found).__name__}; allowed: keys with values. Fix: key: value")


def _compose(conf: Path, group: str, name: str, mine: tuple[str, ...]) -> dict[str, Any]:
    from hydra import compose, initialize_config_dir
    from hydra.errors import HydraException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    forced = [text if text[0] in "+~" else f"++{text}" for text in mine]  # a mapping may get a new entry
    try:
        with initialize_config_dir(config_dir=str(conf.resolve()), version_base="1.3"):
            composed = compose(overrides=[f"+{group}={name}", *forced])
        return OmegaConf.to_container(composed, resolve=True)[group]
    except RecursionError as error:
        raise ConfigError(
            f"conf/{group}/{name}.yaml: its defaults lead back to itself. Fix: take it out of them"
        ) from error
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
    base, changes = _base(group, whole)
    if group != "corpus":
        _known(conf, group, base, asked_by)
    written = inline.overrides(group, changes)
    _check_overrides((*written, *overrides))
    mine = (*written, *(o for o in overrides if _group(o) == group))  # the command line has the last word
    if group == "corpus":
        found = _corpus(conf, base, overrides, asked_by)
    elif group == "dataset":
        found = _dataset(conf, base, mine)
    elif group == "system" and not (conf / "system" / f"{base}.yaml").is_file():
        found = _read(
            conf, group, "_default", ("system.family=peer", f"system.peer={base}", "system.orders=[aware]", *mine)
        )
    else:
        found = _read(conf, group, base, mine)
    return found if count is None else limited(found, count)


def _group(override: str) -> str:
    return override.lstrip("+~").partition(".")[0]


def _read(conf: Path, group: str, name: str, mine: tuple[str, ...]) -> Any:
    return from_dict(GROUPS[group], _composed(conf, group, name, mine), f"conf/{group}/{name}")


def _dataset(conf: Path, name: str, mine: tuple[str, ...]) -> Any:
    """A data set; a corpus of its own bears its name."""
    found = _composed(conf, "dataset", name, mine)
    if isinstance(found.get("corpus"), Mapping):
        if name in _files(conf, "corpus"):
            raise ConfigError(
                f"conf/dataset/{name}.yaml: corpus holds settings, and conf/corpus/{name}.yaml has the same name. "
                "Fix: keep one of them."
            )
        found = found | {"corpus": name}
    return from_dict(GROUPS["dataset"], found, f"conf/dataset/{name}")


def _corpus(conf: Path, name: str, overrides: tuple[str, ...], asked_by: str) -> Any:
    """A corpus from its file, or from the data set that holds its settings."""
    mine = tuple(o for o in overrides if _group(o) == "corpus")
    if name in _files(conf, "corpus"):
        return _read(conf, "corpus", name, mine)
    if name not in _files(conf, "dataset"):
        _known(conf, "corpus", name, asked_by)
    of_dataset = (o for o in overrides if o.lstrip("+~").startswith("dataset.corpus."))
    mine = (*of_dataset, *(re.sub("corpus", "dataset.corpus", o, count=1) for o in mine))
    found = _composed(conf, "dataset", name, mine)["corpus"]
    if not isinstance(found, Mapping):
        raise ConfigError(f"{asked_by}: data set {name!r} has no corpus of its own, its corpus is {found!r}")
    return from_dict(GROUPS["corpus"], found, f"conf/dataset/{name}", "dataset.corpus")


def local(conf: Path) -> Local:
    """This machine's settings; all null where there is no conf/local/local.yaml."""
    import yaml

    path = conf / "local" / "local.yaml"
    if not path.exists():
        return Local()
    try:
        found = yaml.safe_load(_text(path)) or {}
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: is no YAML ({' '.join(str(error).split())}). Fix: key: value") from error
    if not isinstance(found, dict):
        raise ConfigError(
            f"{path}: holds a {type(found).__name__}; allowed: keys with values. Fix: mirror: /path/to/mirror"
        )
    return from_dict(Local, found, "conf/local/local")
