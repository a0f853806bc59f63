"""Plug-ins: a file in a family's folder is a kind, found by its name.

A kind has a frozen `Settings` dataclass, what its family asks for (a function, mostly), and a docstring that is its documentation. Files
that begin with `_` are none. A name with a dot is a module of somebody else's code, which serves in the same way.
No list of kinds is kept anywhere: to add one, add a file.
"""

import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, is_dataclass
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


@dataclass(frozen=True)
class Family:
    """Where the kinds of a family stand, and what each of them defines, besides `Settings`."""

    package: str
    needs: tuple[str, ...]


@dataclass(frozen=True)
class NoSettings:
    """The settings of a kind that has none, imported there as `Settings`."""


FAMILIES: dict[str, Family] = {
    "format": Family("secateur.datasets.formats", ("CORPUS_FILES", "QUESTION_FILES", "load_corpus", "load_questions")),
    "extractor": Family("secateur.graph.triples.extractors", ("FrontEnd",)),
    "reader": Family("secateur.models.readers", ("IN_PROCESS", "KEYS", "load")),
    "peer": Family("secateur.peers.adapters", ("SPLITS", "Peer", "context", "reply")),
    "walk": Family("secateur.graph.walks", ("walk",)),
    "ranker": Family("secateur.ranking.scorers", ("score",)),
    "score": Family("secateur.ecs.scores", ("score",)),
    "reranker": Family("secateur.ranking.rerankers", ("rerank",)),
    "form": Family("secateur.contexts.forms", ("form",)),
    "metric": Family("secateur.evaluation.metrics", ("FIGURE", "measure")),
}


def names(family: str) -> tuple[str, ...]:
    """The kinds of a family, by the names of their files; nothing is imported."""
    package = source_of(FAMILIES[family].package)
    return tuple(sorted(path.stem for path in package.parent.glob("*.py") if _is_kind(path))) if package else ()


def _is_kind(path: Path) -> bool:
    return f"k{path.stem}".isidentifier() and not path.stem.startswith("_") and path.is_file()  # may begin with a digit


def module_of(family: str, name: str) -> str:
    """The dotted module of a kind, which is not imported. Raises ConfigError for a name that no file has."""
    if "." in name:
        return name
    package = source_of(FAMILIES[family].package)
    if package is None or not _is_kind(package.with_name(f"{name}.py")):  # asked far too often to list the folder
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
    """The module of a kind.

    Raises SecateurError for an unknown name, a module that cannot be imported, and one that is no kind of the family.
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
            f"Fix: a kind of this family has a frozen dataclass Settings, {', '.join(FAMILIES[family].needs)}."
        )
    return module


@contextmanager
def calling(family: str, module: ModuleType) -> Iterator[None]:
    """What a kind raises while it works becomes one SecateurError that names its file and line."""
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
    """The settings of a kind from `{kind: NAME, **its own}`, or from NAME alone; read as strictly as any option.

    `where` is the option (conf/corpus/locomo), `path` what its keys begin with in messages. Raises ConfigError with
    every problem at once.
    """
    path = path or family
    own = {"kind": spec} if isinstance(spec, str) else dict(spec) if isinstance(spec, Mapping) else {}
    name = own.pop("kind", None)
    if not isinstance(name, str):
        raise ConfigError(f"{where}.yaml: {path} is {spec!r}, a kind's name or a mapping with `kind` is needed.")
    return configured(family, name, own, where, path)


def configured(family: str, name: str, own: Mapping[str, Any], where: str, path: str) -> Any:
    """The same from a kind's name and its own settings, where an option keeps them apart."""
    try:
        module = load(family, name)
    except SecateurError as error:
        raise ConfigError(f"{where}.yaml: {path}: {error}") from error
    return from_dict(module.Settings, own, where, path)


def named(spec: Any) -> tuple[str, ...]:
    """The kinds that a value of the configuration names: a name, one `{kind: NAME, ...}`, or several of them.

    A kind's settings may name further ones of its family, each as a mapping with `kind`.
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
    """What keeps a module from being a kind of a family, each in a clause."""
    own = getattr(module, "Settings", None)
    frozen = isinstance(own, type) and is_dataclass(own) and own.__dataclass_params__.frozen
    found = [] if frozen else ["has no Settings" if own is None else "has a Settings that is no frozen dataclass"]
    found += [f"has no {name}" for name in FAMILIES[family].needs if not hasattr(module, name)]
    package, _, name = module.__name__.rpartition(".")
    if package == FAMILIES[family].package and Path(module.__file__).stem != name:  # Python prefers a folder to a file
        found.append(f"hides {name}.py, which has the same name")
    return found
