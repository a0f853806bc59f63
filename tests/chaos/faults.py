"""What may happen to one stage: each fault names what it can strike of a job, and strikes one of it.

A strike is what is done before the stage, in its own process, and undone after it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

from secateur.core.tables.catalog import TABLES

from . import disks
from .jobs import Spec
from .process import Ended
from .tree import Tree

__all__ = ["FAULTS", "Fault", "Strike"]

CACHES = ("embeddings", "triples", "statistics", "answer_gain", "answers", "pmi_q", "policies", "models", "tokenizers")


@dataclass
class Strike:
    """at: the event before which the stage kills itself; inside: done in its process; names: what a refusal has to name."""

    at: int | None = None
    inside: Callable[[], None] = lambda: None
    env: dict[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    params: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Fault:
    """targets: what of a job it may strike (`Ended`: its undisturbed run); strike: strikes one, and takes it back."""

    name: str
    targets: Callable[[Tree, Spec, Ended], list[Any]]
    strike: Callable[[Tree, Spec, Any, Random], Any]  # a context manager, of a Strike
    needs: Callable[[], bool] = lambda: True
    skipped: str = ""  # why, where what it needs is not there
    kills: bool = False


def _phases(spec: Spec, ended: Ended) -> dict[str, list[int]]:
    """The numbers of a run's events before, during and after its commit: from the first name to that of the record."""
    named = [n for n, event in enumerate(ended.events, 1) if event.what == "os.rename" and event.to in spec.files]
    first, last = named[0], named[-1]
    numbers = range(1, len(ended.events) + 1)
    return {
        "before": [n for n in numbers if n < first],
        "during": [n for n in numbers if first <= n <= last],
        "after": [n for n in numbers if n > last],
    }


@contextmanager
def _killed(tree: Tree, spec: Spec, at: int, rng: Random) -> Iterator[Strike]:
    yield Strike(at=at)


def _kill(phase: str) -> Fault:
    return Fault(f"killed {phase} commit", lambda tree, spec, ended: _phases(spec, ended)[phase], _killed, kills=True)


# --- files that were harmed ------------------------------------------------------------------------


@contextmanager
def harmed(path: Path, content: bytes) -> Iterator[None]:
    """A file with another content; another file in its place, as others may be the same one."""
    aside = path.parents[1] / f".{path.name}.whole"  # not beside it: a folder in which one file is harmed may go
    path.rename(aside)
    path.write_bytes(content)
    try:
        yield
    finally:
        path.parent.mkdir(exist_ok=True)
        aside.replace(path)


def cut(content: bytes, rng: Random) -> bytes:
    """What is left of a file that was not written to its end."""
    return content[: rng.randrange(len(content))]


def flipped(content: bytes, rng: Random) -> bytes:
    """A file with one bit turned."""
    place = rng.randrange(len(content))
    return content[:place] + bytes([content[place] ^ 1 << rng.randrange(8)]) + content[place + 1 :]


def _harm(how: Callable[[bytes, Random], bytes], named: bool = True) -> Callable:
    @contextmanager
    def strike(tree: Tree, spec: Spec, path: str, rng: Random) -> Iterator[Strike]:
        whole = tree.root / path
        with harmed(whole, how(whole.read_bytes(), rng)):
            yield Strike(names=(path,) if named else ())

    return strike


def _harm_without_record(how: Callable[[bytes, Random], bytes]) -> Callable:
    @contextmanager
    def strike(tree: Tree, spec: Spec, path: str, rng: Random) -> Iterator[Strike]:
        record = (tree.root / path).with_name("run.json")
        aside = record.rename(record.with_name("run.json.aside"))
        try:
            with harmed(tree.root / path, how((tree.root / path).read_bytes(), rng)):
                yield Strike(names=(path,))
        finally:
            aside.rename(record)

    return strike


def _tables(tree: Tree, spec: Spec, ended: Ended) -> list[str]:
    return [path for path in spec.tables if (tree.root / path).stat().st_size]


def _with_records(tree: Tree, spec: Spec, ended: Ended) -> list[str]:
    return [path for path in spec.tables if (tree.root / path).with_name("run.json").exists()]


def _read_of_caches(tree: Tree, spec: Spec, ended: Ended) -> list[str]:
    """The files that a stage reads of its caches, whichever library reads them."""
    return tree.read[spec.name]


# --- disks -----------------------------------------------------------------------------------------


def _folders(tree: Tree, spec: Spec, ended: Ended | None) -> list[str]:
    return sorted({str(Path(path).parent) for path in spec.files})


@contextmanager
def _full_output(tree: Tree, spec: Spec, folder: str, rng: Random) -> Iterator[Strike]:
    made = sum((tree.kept / path).stat().st_size for path in spec.files if str(Path(path).parent) == folder)
    room = rng.randrange(made)
    yield Strike(inside=lambda: disks.full(tree.root / folder, room), names=(folder,))


def _stored(tree: Tree, spec: Spec, ended: Ended) -> list[str]:
    """The caches that a stage writes to where they are cold."""
    read = {Path(path).parts[1] for path in tree.read[spec.name]}
    return sorted(read & set(CACHES) - {"models", "tokenizers"})


@contextmanager
def _full_cache(tree: Tree, spec: Spec, name: str, rng: Random) -> Iterator[Strike]:
    env, room = tree.cold(), rng.randrange(4) * disks.PAGE
    yield Strike(inside=lambda: disks.full(tree.root / "cold" / name, room), env=env, names=("cold",))


@contextmanager
def _full_log(tree: Tree, spec: Spec, _: Any, rng: Random) -> Iterator[Strike]:
    folder = Path(spec.log).parent
    (tree.root / spec.log).unlink(missing_ok=True)
    yield Strike(inside=lambda: disks.full(tree.root / folder, 0), names=(str(folder),))


@contextmanager
def _read_only(tree: Tree, spec: Spec, _: Any, rng: Random) -> Iterator[Strike]:
    yield Strike(inside=lambda: disks.read_only(tree.root / "results"), names=tuple(_folders(tree, spec, None)))


@contextmanager
def _no_right(tree: Tree, spec: Spec, folder: str, rng: Random) -> Iterator[Strike]:
    place = tree.root / folder
    mode = place.stat().st_mode
    place.chmod(0o555)
    try:
        yield Strike(inside=disks.without_rights, names=(folder,))
    finally:
        place.chmod(mode)


# --- another version -------------------------------------------------------------------------------


@contextmanager
def _newer(tree: Tree, spec: Spec, name: str, rng: Random) -> Iterator[Strike]:
    def bump() -> None:
        TABLES[name] = replace(TABLES[name], version=TABLES[name].version + 1)

    yield Strike(inside=bump, names=tuple(spec.input[name]))


def _tables_by_name(tree: Tree, spec: Spec, ended: Ended) -> list[str]:
    return [name for name, paths in spec.input.items() if name in TABLES and paths]


def _once(tree: Tree, spec: Spec, ended: Ended) -> list[None]:
    return [None]


MOUNTS = {"needs": disks.may_mount, "skipped": "this user may not mount"}
FAULTS = (
    *map(_kill, ("before", "during", "after")),
    Fault("an input is cut short", _tables, _harm(cut)),
    Fault("a bit of an input is flipped", _tables, _harm(flipped)),
    Fault("the same, and its record is lost", _with_records, _harm_without_record(flipped)),
    Fault("a file of a cache is cut short", _read_of_caches, _harm(cut, named=False)),
    Fault("a bit of a file of a cache is flipped", _read_of_caches, _harm(flipped, named=False)),
    Fault("the disk of the output is full", _folders, _full_output, **MOUNTS),
    Fault("the disk of a cache is full", _stored, _full_cache, **MOUNTS),
    Fault("the disk of the log is full", _once, _full_log, **MOUNTS),
    Fault("results are read-only", _once, _read_only, **MOUNTS),
    Fault("no right to write beside the output", _folders, _no_right),
    Fault("an input of another version", _tables_by_name, _newer),
)
