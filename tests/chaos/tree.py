"""A finished run to be harmed, beside one that stays as it is."""

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from secateur.core.artifacts import read_json
from secateur.planning.cleaning import orphaned
from tests.support.project import PARTS

from .jobs import Spec, found

__all__ = ["EXPERIMENT", "Tree"]

EXPERIMENT = "smoke"
HELD = ("results", "logs", ".cache", ".snakemake", "mlflow.db", "mlruns")
EXACT = (".parquet", ".safetensors", "model.json")  # a page names what its rows took, a record when it was made
SHARED = ("models", "tokenizers", "config", "code")  # of caches what a cold one has: converted anew, they take minutes
SAID = (Path("logs/snakemake.log"), Path("logs/mlflow.log"))  # what drivers say, for people
HALF = (".*.tmp", ".*.tmp.*", ".*.part", ".making-*")


def _linked(source: str, target: str) -> None:
    """Converted weights are the same file: who harms one writes another in its place."""
    (os.link if ".cache/models/" in source or source.endswith("model.bin") else shutil.copy2)(source, target)


class Tree:
    """A copy of a finished run; `kept` is the run itself."""

    def __init__(self, kept: Path, root: Path) -> None:
        self.kept, self.root = kept.resolve(), root.resolve()
        self.root.mkdir()
        for name in (*PARTS, *HELD):
            source, target = self.kept / name, self.root / name
            if source.is_dir():
                shutil.copytree(
                    source, target, symlinks=True, copy_function=_linked, ignore=shutil.ignore_patterns("__pycache__")
                )
            elif source.exists():
                shutil.copy2(source, target)
        if (composed := self.root / ".cache/config").is_symlink():  # shared by copies; a scene harms its own
            shared = composed.resolve()
            composed.unlink()
            shutil.copytree(shared, composed)
        self.specs = found(self.root, EXPERIMENT)
        self.names = set(self._names())
        self.read: dict[str, list[str]] = {}  # by job what it reads of caches, once it was looked at
        self.driven = 0  # events of a driver of one job, once they were counted
        self.changes: tuple[str, ...] = ()  # words in the names of changes of repeated runs; all where there are none

    def _names(self) -> list[str]:
        """Every file of results and logs, half-made ones included."""
        roots = [self.root / name for name in ("results", "logs")]
        files = [path.relative_to(self.root) for one in roots for path in one.rglob("*") if not path.is_dir()]
        return [str(path) for path in files if path not in SAID]

    def clear(self, spec: Spec) -> None:
        """Delete what a job has made, as Snakemake does before it runs it."""
        for path in spec.output.values():
            (self.root / path).unlink(missing_ok=True)

    def restore(self, spec: Spec) -> None:
        for path in (*spec.output.values(), spec.log):
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)  # Snakemake removes empty folders
            shutil.copy2(self.kept / path, self.root / path)
        (self.root / spec.output["record"]).with_name("failure.json").unlink(missing_ok=True)

    def wrong(self, spec: Spec, partly: bool = False) -> str | None:
        """The first file of a job that is not what it was; `partly`: some need not be there, but what is there is whole."""
        for path in spec.files:
            there = self.root / path
            if not there.exists():
                if partly:
                    continue
                return f"{path} is not there"
            if path.endswith(EXACT) and _digest(there) != _digest(self.kept / path):
                return f"{path} differs"
            if path == spec.output["record"]:
                record, known = read_json(there), read_json(self.kept / path)
                for name in ("rows", "code", "failure"):
                    if record[name] != known[name]:
                        return f"{path}: {name} differs"
        return None

    def litter(self) -> list[str]:
        """Files of results and logs that an undisturbed run has not; those in caches that nobody would ever remove."""
        more = [path for path in self._names() if path not in self.names]
        caches = [path for name in (".cache", "cold") for half in HALF for path in (self.root / name).rglob(half)]
        for path in caches:
            os.utime(path, (0, 0))
        known = {path for name in (".cache", "cold") for path, _ in orphaned(self.root, self.root / name)}
        return more + [str(path) for path in caches if not known & {path, *path.parents}]

    @contextmanager
    def watched(self, spec: Spec) -> Iterator[None]:
        """Note what a job reads of caches while it runs, whichever library does: by when a file was last read."""
        files = [path for path in (self.root / ".cache").rglob("*") if path.is_file()]
        for path in files:
            os.utime(path, (0, path.stat().st_mtime))
        yield
        read = [path for path in files if path.exists() and path.stat().st_atime]
        self.read[spec.name] = sorted(str(path.relative_to(self.root)) for path in read)

    def swept(self) -> None:
        for path in self._names():
            if path not in self.names:
                (self.root / path).unlink()
        for path in [path for half in HALF for path in (self.root / ".cache").rglob(half)]:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        shutil.rmtree(self.root / "cold", ignore_errors=True)

    def cold(self) -> dict[str, str]:
        """A cache without anything that a stage puts into one; the environment that names it."""
        shutil.rmtree(self.root / "cold", ignore_errors=True)
        for path in (self.root / ".cache").rglob("*"):
            inside = path.relative_to(self.root / ".cache")
            if path.is_file() and (inside.parts[0] in SHARED or path.stem == "model"):
                target = self.root / "cold" / inside
                target.parent.mkdir(parents=True, exist_ok=True)
                os.link(path, target)
        return {"SECATEUR_CACHE": str(self.root / "cold")}


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
