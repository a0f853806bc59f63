"""Plug-ins: each file in a family's folder is a plug-in, and its name is the file's.

A plug-in defines a frozen dataclass `Settings`, the names that its family needs, and a docstring, which is its documentation.
Files whose names begin with `_` are not plug-ins. A name with a dot (`mypackage.mine`) is a module outside this library.
There is no list of plug-ins: to add one, add a file.
"""

import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, is_dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from secateur.core.errors import DISK, SecateurError, absent, nearest
from secateur.core.fields import ConfigError, from_dict

__all__ = ["FAMILIES", "NoSettings", "calling", "load", "module_of", "names", "names_in", "rankers_that"]
__all__ += ["settings", "source_of", "takes_suffixes"]

LIBRARY = Path(__file__).parents[1]
FOLDER = {"corpus": ("passages.jsonl",), "questions": ("questions.jsonl",)}  # files of a user's folder


@dataclass(frozen=True)
class Family:
    """A family of plug-ins.

    package: its folder; needs: names that a plug-in must define besides `Settings`; capabilities: names that it may
    define, each with its default.
    """

    package: str
    needs: tuple[str, ...]
    capabilities: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class NoSettings:
    """Settings of a plug-in without any; such a plug-in imports it as `Settings`."""


FAMILIES: dict[str, Family] = {
    "format": Family(
        "secateur.datasets.formats",
        ("CORPUS_FILES", "QUESTION_FILES", "load_corpus", "load_questions"),
        {"SAMPLES": False, "LABELLED": False, "FOLDER": FOLDER},
    ),
    "extractor": Family(
        "secateur.graph.triples.extractors",
        ("FrontEnd",),
        {"GPU": False, "ENGLISH": False, "read": None, "problems": None},
    ),
    "reader": Family("secateur.models.readers", ("IN_PROCESS", "KEYS", "load")),
    "peer": Family("secateur.peers.adapters", ("SPLITS", "Peer", "context", "reply")),
    "walk": Family("secateur.graph.walks", ("walk",)),
    "ranker": Family(
        "secateur.ranking.scorers",
        ("score",),
        {
            "READS_QUESTION": True,
            "READS_GOLD": False,
            "ANSWER_AWARE": False,
            "ORDER_AWARE": False,
            "ASKS_AGAIN": False,
            "EMBEDS_TOKENS": False,
            "SHARES": False,
            "FITTED_WITH": None,
            "FILES": (),
            "check": None,
        },
    ),
    "score": Family("secateur.ecs.scores", ("score",)),
    "reranker": Family("secateur.ranking.rerankers", ("rerank",), {"GPU": True}),
    "form": Family("secateur.contexts.forms", ("form",), {"NEEDS_GRAPH": False, "NEEDS_SENT": False, "SYMBOLS": False}),
    "metric": Family("secateur.evaluation.metrics", ("FIGURE", "measure")),
}


def names(family: str) -> tuple[str, ...]:
    """Names of a family's plug-ins, from their files; nothing is imported."""
    package = source_of(FAMILIES[family].package)
    return tuple(sorted(path.stem for path in package.parent.glob("*.py") if _is_plugin(path))) if package else ()


def _is_plugin(path: Path) -> bool:
    return f"k{path.stem}".isidentifier() and not path.stem.startswith("_") and path.is_file()  # may begin with a digit


def module_of(family: str, name: str) -> str:
    """Dotted module of a plug-in, without importing it. Raises ConfigError for an unknown name."""
    if "." in name:
        return name
    package = source_of(FAMILIES[family].package)
    if package is None or not _is_plugin(package.with_name(f"{name}.py")):  # called too often to list the folder
        raise ConfigError(
            f"{family} {name!r} is unknown{nearest(name, names(family))}. Fix: use one of "
            f"{', '.join(names(family)) or 'none'}, or a module of yours, which has a dot (mypackage.{name})."
        )
    return f"{FAMILIES[family].package}.{name}"


def source_of(dotted: str, library: Path = LIBRARY) -> Path | None:
    """File of a module or package, None if there is none; no module of this library is executed to find it."""
    root, _, submodule = dotted.partition(".")
    spec = None if root == "secateur" else find_spec(root)
    folders = [library] if root == "secateur" else list((spec and spec.submodule_search_locations) or ())
    if not submodule and spec and not folders:  # a package without a folder is a single file
        return Path(spec.origin) if spec.has_location else None
    stems = [Path(folder, *submodule.split(".")) if submodule else Path(folder) for folder in folders]
    files = [file for stem in stems for file in (stem / "__init__.py", stem.with_suffix(".py"))]
    return next((file for file in files if file.is_file()), None)


def load(family: str, name: str) -> ModuleType:
    """Imports a plug-in and sets the defaults of the capabilities that it does not define.

    Raises SecateurError for an unknown name, a module that cannot be imported, and one that lacks what the family needs.
    """
    dotted = module_of(family, name)
    try:
        module = import_module(dotted)
    except SecateurError:
        raise
    except Exception as error:  # a plug-in may raise anything
        raise SecateurError(_import_failure(family, dotted, error)) from error
    faults = _faults(family, module)
    if faults:
        raise SecateurError(
            f"{family} {name}: {module.__file__} {', '.join(faults)}. "
            f"Fix: a plug-in of this family has a frozen dataclass Settings, {', '.join(FAMILIES[family].needs)}."
        )
    for capability, default in FAMILIES[family].capabilities.items():
        vars(module).setdefault(capability, default)
    return module


@contextmanager
def calling(family: str, module: ModuleType) -> Iterator[None]:
    """Turns an exception of a plug-in into a SecateurError that names its file and line."""
    try:
        yield
    except SecateurError:
        raise
    except Exception as error:  # a plug-in may raise anything; a full or read-only disk is not its fault
        if isinstance(error, OSError) and error.errno in DISK:
            raise
        if isinstance(error, ModuleNotFoundError) and (missing := absent(error)):
            raise missing from error
        lines = [at.lineno for at in traceback.extract_tb(error.__traceback__) if at.filename == module.__file__]
        where = ":".join([str(module.__file__), *map(str, lines[-1:])])
        raise SecateurError(
            f"{family} {module.__name__}: {where}: {type(error).__name__}: {error}. Fix: correct that file."
        ) from error


def settings(family: str, spec: str | Mapping[str, Any], where: str, path: str = "") -> Any:
    """Settings of a plug-in from NAME or `{kind: NAME, **settings}`, read as strictly as any option.

    where: the option, e.g. conf/corpus/locomo; path: prefix of its keys in messages, the family by default. Raises
    ConfigError with every problem at once.
    """
    path = path or family
    values = {"kind": spec} if isinstance(spec, str) else dict(spec) if isinstance(spec, Mapping) else {}
    name = values.pop("kind", None)
    if not isinstance(name, str):
        raise ConfigError(f"{where}.yaml: {path} is {spec!r}, a plug-in's name or a mapping with `kind` is needed.")
    try:
        module = load(family, name)
    except SecateurError as error:
        raise ConfigError(f"{where}.yaml: {path}: {error}") from error
    return from_dict(module.Settings, values, where, path)


def takes_suffixes(ranker: ModuleType) -> bool:
    """Whether a ranker has forms with suffixes: it reads the question, and not the neighbours already."""
    return ranker.READS_QUESTION and not ranker.ORDER_AWARE


def rankers_that(capability: str, scorers: Mapping[str, Mapping[str, Any]]) -> int:
    """The number of rankers of a list that have a capability, such as ASKS_AGAIN."""
    return sum(getattr(load("ranker", spec["kind"]), capability) for spec in scorers.values())


def names_in(spec: Any) -> tuple[str, ...]:
    """Names of the plug-ins in a configuration value: a name, `{kind: NAME, ...}`, or a list or mapping of these.

    Settings of a plug-in may contain further plug-ins of its family, each a mapping with `kind`.
    """
    if isinstance(spec, str):
        return (spec,)
    if isinstance(spec, Mapping):
        inner = [value for value in spec.values() if isinstance(value, Mapping) and "kind" in value]
        spec = [spec["kind"], *inner] if "kind" in spec else list(spec.values())
    return tuple(dict.fromkeys(name for value in spec or () for name in names_in(value)))


def _import_failure(family: str, dotted: str, error: Exception) -> str:
    """Message for a module that does not exist or raised an error on import."""
    missing = getattr(error, "name", None) if isinstance(error, ModuleNotFoundError) else None
    if missing and f"{dotted}.".startswith(f"{missing}."):
        return (
            f"{family} {dotted}: no module {missing} on the Python path. "
            "Fix: install it, or put the folder that holds it on PYTHONPATH."
        )
    return (
        f"{family} {dotted}: {source_of(dotted) or dotted} cannot be imported ({type(error).__name__}: {error}). "
        "Fix: correct that file; libraries that may be missing are imported inside its functions."
    )


def _faults(family: str, module: ModuleType) -> list[str]:
    """What a module lacks to be a plug-in of a family, each in a clause."""
    settings = getattr(module, "Settings", None)
    frozen = isinstance(settings, type) and is_dataclass(settings) and settings.__dataclass_params__.frozen
    absent = "has no Settings" if settings is None else "has a Settings that is no frozen dataclass"
    faults = [] if frozen else [absent]
    faults += [f"has no {name}" for name in FAMILIES[family].needs if not hasattr(module, name)]
    package, _, name = module.__name__.rpartition(".")
    if package == FAMILIES[family].package and Path(module.__file__).stem != name:  # Python prefers a folder to a file
        faults.append(f"hides {name}.py, which has the same name")
    return faults
