"""Plug-ins: a file in a family's folder is a plug-in, found by its name.

A plug-in defines a frozen dataclass `Settings`, the names its family needs, and a docstring, which is its documentation.
Files whose name begins with `_` are no plug-ins. A name with a dot (`mypackage.mine`) is a module of other code, used in
the same way. No list of plug-ins is kept anywhere: to add one, add a file.
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

from secateur.core.errors import DISK, SecateurError, nearest
from secateur.core.fields import ConfigError, from_dict

__all__ = [
    "FAMILIES",
    "NoSettings",
    "calling",
    "configured",
    "load",
    "module_of",
    "named",
    "names",
    "settings",
    "source_of",
]

LIBRARY = Path(__file__).parents[1]
FOLDER = {"corpus": ("passages.jsonl",), "questions": ("questions.jsonl",)}  # files of a user's folder


@dataclass(frozen=True)
class Family:
    """A family of plug-ins: its package, and what each defines besides `Settings`.

    needs: names that a plug-in must define. capabilities: names that it may define, with the value of one that does not.
    """

    package: str
    needs: tuple[str, ...]
    capabilities: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class NoSettings:
    """The settings of a plug-in that has none, imported there as `Settings`."""


FAMILIES: dict[str, Family] = {
    "format": Family(
        "secateur.datasets.formats",
        ("CORPUS_FILES", "QUESTION_FILES", "load_corpus", "load_questions"),
        {"SAMPLES": False, "LABELLED": False, "FOLDER": FOLDER},
    ),
    "extractor": Family(
        "secateur.graph.triples.extractors", ("FrontEnd",), {"GPU": False, "read": None, "problems": None}
    ),
    "reader": Family("secateur.models.readers", ("IN_PROCESS", "KEYS", "load")),
    "peer": Family("secateur.peers.adapters", ("SPLITS", "Peer", "context", "reply")),
    "walk": Family("secateur.graph.walks", ("walk",)),
    "ranker": Family(
        "secateur.ranking.scorers",
        ("score",),
        {"READS_QUESTION": True, "READS_GOLD": False, "ANSWER_AWARE": False, "FILES": (), "check": None},
    ),
    "score": Family("secateur.ecs.scores", ("score",)),
    "reranker": Family("secateur.ranking.rerankers", ("rerank",)),
    "form": Family("secateur.contexts.forms", ("form",), {"NEEDS_GRAPH": False, "NEEDS_SENT": False, "SYMBOLS": False}),
    "metric": Family("secateur.evaluation.metrics", ("FIGURE", "measure")),
}


def names(family: str) -> tuple[str, ...]:
    """The plug-ins of a family, by the names of their files; nothing is imported."""
    package = source_of(FAMILIES[family].package)
    return tuple(sorted(path.stem for path in package.parent.glob("*.py") if _is_plugin(path))) if package else ()


def _is_plugin(path: Path) -> bool:
    return f"k{path.stem}".isidentifier() and not path.stem.startswith("_") and path.is_file()  # may begin with a digit


def module_of(family: str, name: str) -> str:
    """The dotted module of a plug-in, not imported. Raises ConfigError for a name that no file has."""
    if "." in name:
        return name
    package = source_of(FAMILIES[family].package)
    if package is None or not _is_plugin(package.with_name(f"{name}.py")):  # asked far too often to list the folder
        raise ConfigError(
            f"{family} {name!r} is unknown{nearest(name, names(family))}. Fix: use one of "
            f"{', '.join(names(family)) or 'none'}, or a module of yours, which has a dot (mypackage.{name})."
        )
    return f"{FAMILIES[family].package}.{name}"


def source_of(dotted: str, library: Path = LIBRARY) -> Path | None:
    """The file of a module, found without executing anything, its packages included; None where there is none."""
    root, _, rest = dotted.partition(".")
    found = None if root == "secateur" else find_spec(root)
    folders = [library] if root == "secateur" else list((found and found.submodule_search_locations) or ())
    if not rest and found and not folders:  # a package without a folder is a single file
        return Path(found.origin) if found.has_location else None
    stems = [Path(folder, *rest.split(".")) if rest else Path(folder) for folder in folders]
    files = [file for stem in stems for file in (stem / "__init__.py", stem.with_suffix(".py"))]
    return next((file for file in files if file.is_file()), None)


def load(family: str, name: str) -> ModuleType:
    """The module of a plug-in, its capabilities set: those it does not define have the family's value.

    Raises SecateurError for an unknown name, a module that cannot be imported, and one that lacks what the family needs.
    """
    dotted = module_of(family, name)
    try:
        module = import_module(dotted)
    except SecateurError:
        raise
    except Exception as error:  # whatever a plug-in raises is the plug-in's
        raise SecateurError(_not_imported(family, dotted, error)) from error
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
    """Turn what a plug-in raises into one SecateurError that names its file and line."""
    try:
        yield
    except SecateurError:
        raise
    except Exception as error:  # whatever a plug-in raises is the plug-in's, but for a disk that is full or read-only
        if isinstance(error, OSError) and error.errno in DISK:
            raise
        lines = [at.lineno for at in traceback.extract_tb(error.__traceback__) if at.filename == module.__file__]
        where = ":".join([str(module.__file__), *map(str, lines[-1:])])
        raise SecateurError(
            f"{family} {module.__name__}: {where}: {type(error).__name__}: {error}. Fix: correct that file."
        ) from error


def settings(family: str, spec: str | Mapping[str, Any], where: str, path: str = "") -> Any:
    """A plug-in's Settings from `{kind: NAME, **settings}`, or from NAME alone; read as strictly as any option.

    where: the option (conf/corpus/locomo); path: what its keys begin with in messages. Raises ConfigError with every
    problem at once.
    """
    path = path or family
    own = {"kind": spec} if isinstance(spec, str) else dict(spec) if isinstance(spec, Mapping) else {}
    name = own.pop("kind", None)
    if not isinstance(name, str):
        raise ConfigError(f"{where}.yaml: {path} is {spec!r}, a plug-in's name or a mapping with `kind` is needed.")
    return configured(family, name, own, where, path)


def configured(family: str, name: str, own: Mapping[str, Any], where: str, path: str) -> Any:
    """A plug-in's Settings from its name and a mapping."""
    try:
        module = load(family, name)
    except SecateurError as error:
        raise ConfigError(f"{where}.yaml: {path}: {error}") from error
    return from_dict(module.Settings, own, where, path)


def named(spec: Any) -> tuple[str, ...]:
    """The plug-ins that a configuration value names: a name, one `{kind: NAME, ...}`, or several of them.

    A plug-in's settings may name further plug-ins of its family, each as a mapping with `kind`.
    """
    if isinstance(spec, str):
        return (spec,)
    if isinstance(spec, Mapping):
        inner = [one for one in spec.values() if isinstance(one, Mapping) and "kind" in one]
        spec = [spec["kind"], *inner] if "kind" in spec else list(spec.values())
    return tuple(dict.fromkeys(name for one in spec or () for name in named(one)))


def _not_imported(family: str, dotted: str, error: Exception) -> str:
    """Why a module was not imported: it does not exist, or what it raised."""
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
    own = getattr(module, "Settings", None)
    frozen = isinstance(own, type) and is_dataclass(own) and own.__dataclass_params__.frozen
    found = [] if frozen else ["has no Settings" if own is None else "has a Settings that is no frozen dataclass"]
    found += [f"has no {name}" for name in FAMILIES[family].needs if not hasattr(module, name)]
    package, _, name = module.__name__.rpartition(".")
    if package == FAMILIES[family].package and Path(module.__file__).stem != name:  # Python prefers a folder to a file
        found.append(f"hides {name}.py, which has the same name")
    return found
