"""Files that appear whole or not at all: temporary name, fsync, rename."""

import hashlib
import json
import logging
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from secateur.core.errors import SecateurError

__all__ = [
    "abandoned",
    "atomic",
    "dropped",
    "file_digest",
    "known_digest",
    "made_once",
    "naming",
    "read_json",
    "remade",
    "seal",
    "unsealed",
    "whole",
    "write_json",
    "write_text",
]
T = TypeVar("T")


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Add the file's name to an OSError that lacks one, such as a write on a full disk."""
    try:
        yield
    except OSError as error:
        if error.errno and error.filename is None:
            error.filename = str(path)
        raise


@contextmanager
def atomic(path: Path, lasting: bool = True) -> Iterator[Path]:
    """A temporary path beside `path`; renamed to it on success, removed on failure.

    lasting: wait until the disk has it. Of a cache that knows its damaged files, a power failure may take the last ones.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with naming(path):
            yield temporary
            if lasting:
                with temporary.open("rb") as stream:
                    os.fsync(stream.fileno())
            os.replace(temporary, path)
    finally:
        with suppress(OSError):  # a read-only disk: the first error already says so
            temporary.unlink(missing_ok=True)


def abandoned(path: Path) -> list[Path]:
    """Temporary files of `path` left by killed processes. For the single writer of `path`, before it writes."""
    half = [*path.parent.glob(".*.tmp"), *path.parent.glob(".*.part")]
    return [file for file in half if file.name.lstrip(".").startswith(f"{path.name}.")]


def made_once(folder: Path, make: Callable[[Path], None]) -> Path:
    """A folder that the first process to come fills, once."""
    if folder.exists():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=".making-", dir=folder.parent))
    try:
        make(temporary)
        temporary.chmod(0o777 & ~_umask())  # mkdtemp is private to its owner, and a cache may be shared
        try:
            temporary.rename(folder)
        except OSError:  # another job was first; both hold the same bytes
            if not folder.exists():
                raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return folder


def _umask() -> int:
    now = os.umask(0o022)
    os.umask(now)
    return now


def dropped(path: Path, error: Exception) -> None:
    """Remove an unreadable cache entry, with a warning; it is computed again."""
    cause = f"{type(error).__name__}: {error}".splitlines()[0]
    logging.getLogger("secateur").warning("%s: damaged (%s); removed, will be computed again", path, cause)
    path.unlink(missing_ok=True)


def remade(path: Path, load: Callable[[Path], T], make: Callable[[Path], None]) -> T:
    """What `load` reads from a cache file, which `make` writes first where it is absent or damaged."""
    if path.exists():
        try:
            return load(path)
        except Exception as error:  # libraries raise anything for a damaged file
            dropped(path, error)
    make(path)
    return load(path)


def seal(path: Path, files: Iterable[Path]) -> None:
    """Write the digests of cache files, for libraries that would read a flipped bit as a number."""
    write_json(path, {file.name: file_digest(file) for file in files})


def unsealed(path: Path) -> list[str]:
    """Names of files that are missing or differ from their seal."""
    digests = read_json(path)
    files = {name: path.with_name(name) for name in digests}
    return [name for name, file in files.items() if not file.is_file() or file_digest(file) != digests[name]]


def whole(path: Path, seal: Path) -> Path:
    """The path, if all files under the seal are as written. Raises ValueError otherwise."""
    if changed := unsealed(seal) if seal.is_file() else [seal.name]:
        raise ValueError(f"{', '.join(changed)}: differs from its seal")
    return path


def file_digest(path: Path) -> str:
    """sha256 of a file's content."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def known_digest(files: Sequence[Path], folder: Path) -> str:
    """sha256 of files, one after the other, kept in a folder while their sizes, inodes and times stay: gigabytes take seconds.

    The time of change of an inode tells a file that was replaced and given its old date.
    """
    stats = [(str(path.resolve()), path.stat()) for path in files]
    seen = [(path, s.st_size, s.st_ino, s.st_mtime_ns, s.st_ctime_ns) for path, s in stats]
    note = folder / hashlib.sha256(repr(seen).encode()).hexdigest()
    if not note.is_file():
        write_text(note, _together(files))
    return note.read_text(encoding="utf-8")


def _together(files: Iterable[Path]) -> str:
    """sha256 of files, one after the other."""
    whole = hashlib.sha256()
    for path in files:
        with path.open("rb") as stream:
            while piece := stream.read(1 << 20):
                whole.update(piece)
    return whole.hexdigest()


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Any) -> None:
    """Write JSON atomically, keys in the order given."""
    write_text(path, json.dumps(value, indent=1, ensure_ascii=False, default=str) + "\n")


def read_json(path: Path) -> Any:
    """Read JSON that the pipeline wrote. Raises SecateurError where it is damaged."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise SecateurError(f"{path}: damaged ({error}). Fix: remove it and run again") from error
