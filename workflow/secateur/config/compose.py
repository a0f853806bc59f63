"""Composes one option of a group with Hydra, overrides of the command line included."""

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from secateur.config import files, inline
from secateur.config.experiment import Local
from secateur.config.groups import GROUPS
from secateur.config.limits import LIMITS, limited, unlimited
from secateur.core.cache import RequestCache, digest
from secateur.core.errors import nearest
from secateur.core.fields import ConfigError, from_dict

__all__ = ["exists", "literal", "local", "names", "option", "pattern", "separated"]

UNCACHED = re.compile(r"oc\.env|://[^/\s]*@")  # an environment variable may change; a password is stored nowhere
OVERRIDE = re.compile(  # texts in quotes, and any character before the next key
    r"""(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|(?!\s+[+~]*\w[^\s="'\[\](){},]*=(?!=)).)+""", re.DOTALL
)


def names(conf: Path, group: str) -> list[str]:
    """Options of a group: those of its files, and what files of another group define.

    A data set whose `corpus` holds settings defines a corpus of its name; a peer defines a system of its name.
    """
    options = {*files.options(conf, group)}
    if group == "corpus":
        sets = files.options(conf, "dataset")
        options |= {name for name in sets if isinstance(_composed(conf, "dataset", name)["corpus"], Mapping)}
    if group == "system":
        options |= {*files.options(conf, "peer")}
    return sorted(options)


def exists(conf: Path, group: str, name: str) -> bool:
    """Whether a group has an option of this name, inline options included."""
    return _split(group, name)[0] in names(conf, group)


def pattern(conf: Path, group: str) -> str:
    """Regular expression of a group's options in paths."""
    # Any data set may define a corpus: composing them all here would slow down every job.
    options = (
        [*files.options(conf, group), *files.options(conf, "dataset")] if group == "corpus" else names(conf, group)
    )
    suffix = LIMITS.get(group, "") if group in inline.FILES_ONLY else inline.SUFFIX
    return f"({'|'.join(options)}){suffix}"


def _split(group: str, name: str) -> tuple[str, dict[str, Any]]:
    """The file of an option and its inline changes."""
    return (name, {}) if group in inline.FILES_ONLY else inline.split(name)


def literal(text: str) -> str:
    """A text quoted for an override, so that Hydra reads every character as it is.

    >>> literal("/my data/a=b, it's ${here}")
    "'/my data/a=b, it\\\\'s \\\\${here}'"
    """
    text = re.sub(r"(\\+)(?='|$)", r"\1\1", text.replace("${", "\\${"))
    return "'" + text.replace("'", "\\'") + "'"


def separated(given: str | Iterable[Any] | None) -> tuple[str, ...]:
    """The settings that Snakemake's --config passes as a list or as a text.

    In a text each begins at a `key=` after a blank, so that values may have blanks.

    >>> separated("dataset.folder=/my data eval.budgets=[64, 128]  lm.model='a b=c'")
    ('dataset.folder=/my data', 'eval.budgets=[64, 128]', "lm.model='a b=c'")
    """
    return tuple(OVERRIDE.findall(given.strip()) if isinstance(given, str) else map(str, given or ()))


def _check_name(conf: Path, group: str, name: str, asked_by: str) -> None:
    allowed = names(conf, group)
    if name not in allowed:
        raise ConfigError(
            f"{asked_by}: {group} {name!r} is no option of conf/{group}; allowed: {', '.join(allowed)}{nearest(name, allowed)}"
        )


def _check_overrides(overrides: tuple[str, ...]) -> None:
    """Each `group.key=value` must name a declared key."""
    for text in overrides:
        path, _, value = text.partition("=")
        group, _, setting = path.lstrip("+~").partition(".")
        if "=" not in text or not setting or value == "":
            raise ConfigError(f"override {text!r}: the form is group.key=value, e.g. retriever.top_k=100")
        if group not in GROUPS:
            raise ConfigError(
                f"override {text!r}: unknown group {group!r}; allowed: {', '.join(GROUPS)}{nearest(group, GROUPS)}"
            )
        allowed, name = [f.name for f in fields(GROUPS[group])], setting.split(".")[0]
        if name not in allowed:
            raise ConfigError(
                f"override {text!r}: conf/{group} has no key {name!r}; allowed: {', '.join(allowed)}{nearest(name, allowed)}"
            )


@cache
def _composed(conf: Path, group: str, name: str, overrides: tuple[str, ...] = ()) -> dict[str, Any]:
    """One option as plain data, cached by the content of its group's files and by the code that composes.

    Every job parses the Snakefile anew, and importing and calling Hydra costs more than most jobs.
    """
    groups = (group, "system") if group == "study" else (group,)  # a study inherits system/_default
    texts = [(path.name, files.text(path)) for folder in groups for path in sorted((conf / folder).glob("*.yaml"))]
    key = digest(name, overrides, texts, _composer())
    cached = RequestCache(Path(os.environ.get("SECATEUR_CACHE", conf.resolve().parent / ".cache")) / "config")
    values = cached.get(key)
    if values is None:
        files.mapping(files.file(conf, group, name))
        values = _compose(conf, group, name, overrides)
        if not any(UNCACHED.search(text) for text in (*(text for _, text in texts), *overrides)):
            cached.put(key, values)
    return values


@cache
def _composer() -> str:
    """Digest of what decides the meaning of a file and of an override, besides their texts."""
    return digest(
        *(files.text(Path(module)) for module in (__file__, files.__file__, inline.__file__)), version("hydra-core")
    )


def _forced(override: str) -> list[str]:
    """Hydra's overrides for one of ours: a key may be new, and a mapping replaces what stood there, also where Hydra merges.

    >>> _forced("experiment.axes={}"), _forced("eval.seed=1")
    (['++experiment.axes=null', '++experiment.axes={}'], ['++eval.seed=1'])
    """
    if override[0] in "+~":
        return [override]
    key, _, value = override.partition("=")
    return [f"++{key}=null"] * value.lstrip().startswith("{") + [f"++{override}"]


def _compose(conf: Path, group: str, name: str, overrides: tuple[str, ...]) -> dict[str, Any]:
    from hydra import compose, initialize_config_dir
    from hydra.core.config_store import ConfigStore
    from hydra.errors import HydraException, OverrideParseException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    forced = [change for text in overrides for change in _forced(text)]
    for derived, (base, keys) in files.derived(conf, group).items():
        ConfigStore.instance().store(derived, {"defaults": [base, "_self_"], **keys}, group)
    try:
        with initialize_config_dir(config_dir=str(conf.resolve()), version_base="1.3"):
            composed = compose(overrides=[f"+{group}={name}", *forced])
        values = OmegaConf.to_container(composed, resolve=True).get(group) or {}
        values.pop(files.DERIVED, None)
        return values
    except RecursionError as error:
        raise ConfigError(
            f"{files.place(conf, group, name)}.yaml: its defaults or an alias refer to themselves. Fix: remove that reference"
        ) from error
    except (HydraException, OmegaConfBaseException, YAMLError) as error:
        deepest = error
        while deepest.__cause__ is not None:
            deepest = deepest.__cause__
        where = " with ".join(filter(None, (f"{files.place(conf, group, name)}.yaml", " ".join(overrides))))
        quoting = ". Fix: write the value in quotes, e.g. dataset.folder='/my data'"
        is_value = isinstance(error, OverrideParseException)
        raise ConfigError(f"{where}: {deepest}{quoting if is_value else ''}") from error


@cache
def option(
    conf: Path, group: str, name: str, overrides: tuple[str, ...] = (), asked_by: str = "the command line"
) -> Any:
    """One option of a group as its dataclass, inheritance and overrides applied; `NAME@20` has its first 20 questions.

    Raises ConfigError for an unknown group, option or key, a wrong type, and a value out of range.
    """
    whole, count = unlimited(name)
    if count is None and "@" in name:
        raise ConfigError(f"{asked_by}: {name!r}: behind @ stands a number of questions, 1 at least. Fix: LIMIT=20")
    base, changes = _split(group, whole)
    if group != "corpus":
        _check_name(conf, group, base, asked_by)
    written = tuple(f"{group}.{key}={json.dumps(value)}" for key, value in changes.items())
    _check_overrides((*written, *overrides))
    changed = (*written, *_of_group(overrides, group))  # the command line has the last word
    if group == "corpus":
        config = _corpus(conf, base, overrides, asked_by)
    elif group == "dataset":
        config = _dataset(conf, base, changed)
    elif group == "system" and base not in files.options(conf, "system"):  # a peer
        changed = ("system.family=peer", f"system.peer={base}", "system.orders=[aware]", *changed)
        config = _read(conf, group, "_default", changed)
    else:
        config = _read(conf, group, base, changed)
    return config if count is None else limited(config, count)


def _of_group(overrides: tuple[str, ...], group: str) -> tuple[str, ...]:
    return tuple(text for text in overrides if text.lstrip("+~").partition(".")[0] == group)


def _read(conf: Path, group: str, name: str, overrides: tuple[str, ...]) -> Any:
    return from_dict(GROUPS[group], _composed(conf, group, name, overrides), files.place(conf, group, name))


def _dataset(conf: Path, name: str, overrides: tuple[str, ...]) -> Any:
    """A data set; the corpus whose settings it holds has its name."""
    values = _composed(conf, "dataset", name, overrides)
    if isinstance(values.get("corpus"), Mapping):
        if name in files.options(conf, "corpus"):
            raise ConfigError(
                f"{files.place(conf, 'dataset', name)}.yaml: corpus holds settings, and conf/corpus/{name}.yaml has the same name. "
                "Fix: keep one of them."
            )
        values = values | {"corpus": name}
    return from_dict(GROUPS["dataset"], values, files.place(conf, "dataset", name))


def _corpus(conf: Path, name: str, overrides: tuple[str, ...], asked_by: str) -> Any:
    """A corpus from its file, or from the data set that holds its settings."""
    changed = _of_group(overrides, "corpus")
    if name in files.options(conf, "corpus"):
        return _read(conf, "corpus", name, changed)
    if name not in files.options(conf, "dataset"):
        _check_name(conf, "corpus", name, asked_by)
    nested = (text for text in overrides if text.lstrip("+~").startswith("dataset.corpus."))
    changed = (*nested, *(re.sub("corpus", "dataset.corpus", text, count=1) for text in changed))
    values = _composed(conf, "dataset", name, changed)["corpus"]
    if not isinstance(values, Mapping):
        raise ConfigError(f"{asked_by}: data set {name!r} holds no settings of a corpus; its corpus is {values!r}")
    return from_dict(GROUPS["corpus"], values, files.place(conf, "dataset", name), "dataset.corpus")


def local(conf: Path) -> Local:
    """Settings of this machine; all null without conf/local/local.yaml."""
    path = conf / "local" / "local.yaml"
    return from_dict(Local, files.mapping(path), "conf/local/local") if path.exists() else Local()
