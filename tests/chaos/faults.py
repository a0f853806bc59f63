"""What may happen to one stage: each fault names what it can strike of a job, and strikes one of it.

A strike is what is done before the stage, in its own process, and undone after it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

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
    place = rng.randrange(len(content))
    return content[:place] + bytes([content[place] ^ 1 << rng.randrange(8)]) + content[place + 1 :]


def broken(content: bytes, rng: Random) -> bytes:
    """One of both."""
    return rng.choice((cut, flipped))(content, rng)


@contextmanager
def _harm(tree: Tree, spec: Spec, path: str, rng: Random) -> Iterator[Strike]:
    with harmed(tree.root / path, broken((tree.root / path).read_bytes(), rng)):
        yield Strike(names=(path,) if path in spec.tables else ())


@contextmanager
def _harm_without_record(tree: Tree, spec: Spec, path: str, rng: Random) -> Iterator[Strike]:
    record = (tree.root / path).with_name("run.json")
    aside = record.rename(record.with_name("run.json.aside"))
    try:
        with harmed(tree.root / path, flipped((tree.root / path).read_bytes(), rng)):
            yield Strike(names=(path,))
    finally:
        aside.rename(record)


def _tables(tree: Tree, spec: Spec, ended: Ended) -> list[str]:
    return [path for path in spec.tables if (tree.root / path).stat().st_size]


def _with_records(tree: Tree, spec: Spec, ended: Ended) -> list[str]:
    return [path for path in spec.tables if (tree.root / path).with_name("run.json").exists()]


def _read_of_caches(tree: Tree, spec: Spec, ended: Ended) -> list[str]:
    return tree.read[spec.name]


# --- disks -----------------------------------------------------------------------------------------


def _folders(tree: Tree, spec: Spec, ended: Ended) -> list[str]:
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
def _no_right(tree: Tree, spec: Spec, folder: str, rng: Random) -> Iterator[Strike]:
    place = tree.root / folder
    mode = place.stat().st_mode
    place.chmod(0o555)
    try:
        yield Strike(inside=disks.without_rights, names=(folder,))
    finally:
        place.chmod(mode)


def _once(tree: Tree, spec: Spec, ended: Ended) -> list[None]:
    return [None]


MOUNTS = {"needs": disks.may_mount, "skipped": "this user may not mount"}
FAULTS = (
    *map(_kill, ("before", "during", "after")),
    Fault("an input is cut short, or a bit of it flipped", _tables, _harm),
    Fault("a bit of an input is flipped and its record lost", _with_records, _harm_without_record),
    Fault("a file of a cache is cut short, or a bit of it flipped", _read_of_caches, _harm),
    Fault("the disk of the output is full", _folders, _full_output, **MOUNTS),
    Fault("the disk of a cache is full", _stored, _full_cache, **MOUNTS),
    Fault("the disk of the log is full", _once, _full_log, **MOUNTS),
    Fault("no right to write beside the output", _folders, _no_right),
)
