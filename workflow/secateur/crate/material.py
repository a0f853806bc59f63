"""What a finished experiment rests on: the records of its stages, every file that they name, the code that they ran.

All of it is held against what the records say, so that a crate never vouches for something else.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from secateur.config import plugins
from secateur.config.groups import GROUPS
from secateur.config.limits import command
from secateur.core import layout
from secateur.core.artifacts import file_digest, read_json
from secateur.core.errors import SecateurError
from secateur.stage.ledger import upstream
from secateur.stage.provenance import code_digest

__all__ = ["FINAL", "File", "Material", "Run", "kinds_of", "material"]

FINAL = (
    "metrics.parquet",
    "comparisons.parquet",
    "report.html",
)  # what an experiment ends in; MLflow is told afterwards
SHOWN = 5  # missing files that are named
FAMILIES = {  # of the settings that name kinds
    f"{group}.{field.name}": field.metadata["family"]
    for group, settings in GROUPS.items()
    for field in fields(settings)
    if field.metadata["family"]
}


@dataclass(frozen=True)
class File:
    """A file that records name, as it stands on this disk."""

    path: str
    sha256: str
    bytes: int


@dataclass(frozen=True)
class Run:
    """One job: the path of its record, and what that says."""

    place: str
    record: dict[str, Any]


@dataclass(frozen=True)
class Material:
    """An experiment with all behind it: runs by the paths of their records, files by path."""

    experiment: str
    runs: tuple[Run, ...]
    files: Mapping[str, File]

    @property
    def home(self) -> str:
        """The folder of its own results."""
        return f"results/experiments/{self.experiment}"


def material(experiment: str, root: Path) -> Material:
    """What an experiment rests on, in a clone's root. Raises SecateurError where it is not finished, and for the first file
    and the first code that are not what a record says."""
    home = f"results/experiments/{experiment}"
    final = [f"{home}/{name}" for name in FINAL]
    _whole(experiment, [path for path in final if not (root / path).is_file()])
    found = {str(path.relative_to(root)): read_json(path) for path in sorted((root / "results").rglob("run.json"))}
    behind = {id(record) for record in upstream(found.values(), final)}
    runs = tuple(Run(place, record) for place, record in found.items() if id(record) in behind)
    made = {path for run in runs for path in run.record["outputs"].values()}
    read = {path for run in runs for path in run.record["inputs"]}
    wanted = {*final, *(path for path in read if path.startswith("results/") and not path.endswith("/run.json"))}
    _whole(experiment, [path for path in sorted({*made, *read}) if not (root / path).is_file()])
    _whole(experiment, [f"{path} (the record of its stage)" for path in sorted(wanted - made)])
    files = _held(experiment, root, list(_said(runs)))
    for run in runs:
        _same_code(experiment, root, run)
    return Material(experiment, runs, files)


def _whole(experiment: str, missing: list[str]) -> None:
    """Raise SecateurError where something is missing."""
    if missing:
        more = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
        raise SecateurError(
            f"{experiment} is not finished here; missing: {', '.join(missing[:SHOWN])}{more}. Fix: {command(experiment)}"
        )


def _said(runs: tuple[Run, ...]) -> Iterator[tuple[str, str | None, str]]:
    """(path, digest, record) of each file that a record names; a digest of None where it does not say one."""
    for run in runs:
        for path in run.record["outputs"].values():
            yield path, run.record.get("written", {}).get(path), run.place
        for path, digest in run.record["inputs"].items():
            yield path, digest, run.place


def _held(experiment: str, root: Path, said: list[tuple[str, str | None, str]]) -> dict[str, File]:
    """Every file, its content held against each record of it."""
    files: dict[str, File] = {}
    for path, expected, record in said:
        if path not in files:
            files[path] = File(path, file_digest(root / path), (root / path).stat().st_size)
        if files[path].sha256 != expected:
            fix = f"remove it, then {command(experiment)}" if path.startswith("results/") else "restore it"
            raise SecateurError(
                f"{path}: is not the file that {record} is of: found sha256 {files[path].sha256}, "
                f"expected {expected or 'one, and that record has none'}. Fix: {fix}."
            )
    return files


def kinds_of(config: Mapping[str, Any]) -> tuple[str, ...]:
    """The modules of the kinds that a record's settings name, sorted: those its code digest follows."""
    named = [(FAMILIES.get(path), value) for path, value in config.items()]
    return tuple(
        sorted(
            {
                plugins.module_of(family, kind)
                for family, value in named
                if family
                for kind in plugins.named(value)
                if kind != layout.NONE
            }
        )
    )


def _same_code(experiment: str, root: Path, run: Run) -> None:
    """Raise SecateurError where a job ran other code than stands here."""
    now = code_digest(run.record["stage"], root, kinds_of(run.record["config"]))
    if now != run.record["code"]:
        raise SecateurError(
            f"{run.place}: was made by other code than stands here: found {now}, expected {run.record['code']} "
            f"(commit {run.record['commit'] or 'unknown'}). Fix: {command(experiment)}, or check that commit out."
        )
