"""Finds the files that corpora and data sets are read from: fetched files, paths, or a folder of the user's own."""

import re
import shlex
from collections.abc import Iterable, Mapping
from glob import glob
from pathlib import Path
from typing import Any

from secateur.core.artifacts import known_digest
from secateur.core.errors import SecateurError
from secateur.datasets.documents.read import suffix_of
from secateur.datasets.loaders import Spec, format_of
from secateur.datasets.registry import load_registry
from secateur.datasets.texts import documents_in
from secateur.models.locate import locate

__all__ = [
    "MODELS",
    "content_of_models",
    "existing",
    "folder_files",
    "listed_files",
    "located",
    "registry_entry",
]

MODELS = (
    "embedder.model",
    "extractor.settings",
    "reranker.spec",
    "assembly.form",
)  # keys that name models, but for conf/lm
FIX = "Fix: correct `files` in conf/corpus or conf/dataset."


def existing(path: str | Path | None, fix: str) -> str | Path:
    """The path of a file that no rule writes. Raises SecateurError, with the fix, if there is no such file."""
    if path is None or not Path(path).is_file():
        raise SecateurError(f"{path}: no such file. Fix: {fix}.")
    return path


def located(address: str) -> str:
    """The path of an address inside a package (package:PACKAGE/PATH), in a clone from its root; another path unchanged."""
    path, here = locate(address), Path.cwd()
    return str(Path(path).relative_to(here)) if path != address and Path(path).is_relative_to(here) else path


def listed_files(names: Iterable[str]) -> list[str]:
    """The files that `files` lists: names in the registry, paths (with a slash), and patterns (with a *), sorted.

    Raises SecateurError for a pattern without files.
    """
    paths = []
    for name in names:
        if Path(name).name == name:
            paths.append(f"results/raw/{name}/{name}")
        elif "*" not in name:
            paths.append(name)
        elif matches := sorted(glob(name)):  # noqa: PTH207 (Path.glob takes no absolute pattern)
            paths += matches
        else:
            raise SecateurError(f"{name}: no file of this pattern. {FIX}")
    return paths


def content_of_models(settings: Iterable[Any], cache: Path) -> str | None:
    """Digest of the models in files and folders that settings name, each as a text or under `model`.

    Another model may take the place of one. None where no setting names a path: a hub id's revision and a package's version
    are in the records of stages.
    """
    named = (each.get("model") if isinstance(each, Mapping) else each for each in settings)
    paths = sorted({Path(name) for name in named if isinstance(name, str)})
    files = [file for path in paths for file in (path, *sorted(path.rglob("*"))) if file.is_file()]
    return known_digest(files, cache / "files") if files else None


def registry_entry(registry: Path, name: str) -> dict[str, Any]:
    """The keys of a registered file that decide what is fetched. registry: the folder of registry files."""
    entry = load_registry(registry).get(name)
    if entry is None:
        raise SecateurError(f"{name}: not in data/registry. {FIX}")
    place = entry.registered_in.relative_to(registry.parents[1])
    keys = {key: getattr(entry, key) for key in ("name", "url", "sha256", "bytes", "instead", "keeps")}
    return keys | {"registered_in": str(place)}


def folder_files(spec: Spec, folder: str | None, part: str, experiment: str) -> list[str]:
    """The files of the user's folder that a format reads, plain or gzipped. part: `corpus` or `questions`.

    A pattern may have alternatives between bars, of which one must have files. Raises SecateurError without a folder, for
    a folder that lacks a file, and for a path with braces.
    """
    patterns = format_of(spec).FOLDER
    names = " and ".join(name for names in patterns.values() for name in names)
    if folder is None:
        run = f"secateur evaluate DIR --experiment {experiment}"
        raise SecateurError(f"experiment {experiment}: no folder given. Fix: {run} (with {names}).")
    paths = []
    for pattern in patterns[part]:
        alternatives = pattern.split("|")
        packed = [f"{name}.gz" for name in alternatives if suffix_of(Path(f"{name}.gz")) != ".gz" or "**/" not in name]
        matches = _matches(folder, [*alternatives, *packed])
        if twice := sorted({f"{path}.gz" for path in matches} & set(matches)):
            raise SecateurError(f"{twice[0]}: beside the same file without .gz. Fix: remove one of them.")
        if not matches:
            missing = f"{Path(folder) / pattern}: no such file, nor {pattern}.gz"
            drafted = f"; secateur questions {shlex.quote(folder)} drafts some" * pattern.startswith("questions.jsonl")
            raise SecateurError(f"{missing}. Fix: name a folder with {names} (docs/data.md){drafted}.")
        paths += matches
    if braced := next((path for path in paths if "{" in path or "}" in path), None):
        raise SecateurError(f"{braced}: Snakemake reads braces in a path as a wildcard. Fix: rename it, or link to it.")
    return paths


def _matches(folder: str, patterns: Iterable[str]) -> list[str]:
    files = (path for pattern in patterns for path in Path(folder).glob(_in_any_case(pattern)))
    return sorted(str(path) for path in documents_in(Path(folder), filter(Path.is_file, files)))


def _in_any_case(pattern: str) -> str:
    """A pattern that finds NOTES.TXT by `**/*.txt`; a file's whole name stands as it is.

    >>> _in_any_case("**/*.md"), _in_any_case("questions.jsonl")
    ('**/*.[mM][dD]', 'questions.jsonl')
    """
    is_any = pattern.startswith("**/")  # documents, whose names are nobody's convention
    return re.sub("[a-z]", lambda letter: f"[{letter[0]}{letter[0].upper()}]", pattern) if is_any else pattern
