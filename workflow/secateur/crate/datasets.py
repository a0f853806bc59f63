"""The data sets of an experiment as a crate names them: what was read, whose it is, where it comes from."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from secateur.crate.material import Material
from secateur.datasets.registry import RegistryFile

__all__ = ["licence_of", "read_by", "registered"]

OURS = "Apache-2.0"
SHIPPED = ("data/toy/", "data/red_herrings/", "data/red_herrings_hard/")
UNSTATED = "not stated: a file of whoever ran the experiment"
READERS = ("prepare_corpus", "prepare_dataset")  # the stages that read what nobody here made


def registered(path: str, registry: Mapping[str, RegistryFile]) -> RegistryFile | None:
    """The entry of a file that was fetched; None for any other file."""
    return registry.get(Path(path).name) if path.startswith("results/raw/") else None


def licence_of(path: str, registry: Mapping[str, RegistryFile]) -> str:
    """What is said of the terms of a file that was read."""
    entry = registered(path, registry)
    return entry.licence if entry else OURS if path.startswith(SHIPPED) else UNSTATED


def read_by(found: Material) -> Iterator[tuple[str, list[str]]]:
    """(data set or corpus, the files that it was read from), sorted."""
    files: dict[str, set[str]] = {}
    for run in found.runs:
        if run.record["stage"] in READERS:
            axes: Mapping[str, Any] = run.record["axes"]
            own = {path for path in run.record["inputs"] if not path.endswith("/passages.parquet")}
            files.setdefault(axes.get("dataset") or axes["corpus"], set()).update(own)
    yield from ((name, sorted(paths)) for name, paths in sorted(files.items()))
