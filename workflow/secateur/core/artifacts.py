"""Files that appear whole or not at all: temporary name, fsync, rename."""

import hashlib
import json
import logging
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from secateur.core.errors import SecateurError

__all__ = [
    "abandoned",
    "atomic",
    "dropped",
    "file_digest",
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
    """Say of what the file system refuses which file it was: of a write that finds no room it leaves that out."""
    try:
        yield
    except OSError as error:
        if error.errno and error.filename is None:
            error.filename = str(path)
        raise


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """A temporary path beside `path`; renamed to it on success, removed on failure."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with naming(path):
            yield temporary
            with temporary.open("rb") as stream:
                os.fsync(stream.fileno())
            os.replace(temporary, path)
    finally:
        with suppress(OSError):  # on a disk that is read-only, of which the error that led here tells
            temporary.unlink(missing_ok=True)


def abandoned(path: Path) -> list[Path]:
    """What processes that were killed while they wrote `path` left beside it. Its one writer asks, before it writes."""
    half = [*path.parent.glob(".*.tmp"), *path.parent.glob(".*.part")]
    return [one for one in half if one.name.lstrip(".").startswith(f"{path.name}.")]


def made_once(folder: Path, make: Callable[[Path], None]) -> Path:
    """A folder that is filled once, by whichever process comes first."""
    if folder.exists():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=".making-", dir=folder.parent))
    try:
        make(temporary)
        temporary.chmod(0o777 & ~_umask())  # mkdtemp's are its owner's alone, and a cache may be shared
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
    """Remove an entry of a cache that cannot be read, and say so: it is made anew."""
    cause = f"{type(error).__name__}: {error}".splitlines()[0]
    logging.getLogger("secateur").warning("%s: damaged (%s); removed, and made anew", path, cause)
    path.unlink(missing_ok=True)


def remade(path: Path, load: Callable[[Path], T], make: Callable[[Path], None]) -> T:
    """What `load` reads of a cache's file, which `make` writes where it is absent or damaged."""
    if path.exists():
        try:
            return load(path)
        except Exception as error:  # whatever a library says of a damaged file
            dropped(path, error)
    make(path)
    return load(path)


def seal(path: Path, files: Iterable[Path]) -> None:
    """Note beside files of a cache what they hold, for libraries that would read a flipped bit as a number."""
    write_json(path, {file.name: file_digest(file) for file in files})


def unsealed(path: Path) -> list[str]:
    """The files whose content is not what their seal says, those that are gone among them."""
    known = read_json(path)
    files = {name: path.with_name(name) for name in known}
    return [name for name, file in files.items() if not file.is_file() or file_digest(file) != known[name]]


def whole(path: Path, seal: Path) -> Path:
    """A file of a cache that is, with all under its seal, as it was written. Raises ValueError for any other."""
    if changed := unsealed(seal) if seal.is_file() else [seal.name]:
        raise ValueError(f"{', '.join(changed)}: not what was stored")
    return path


def file_digest(path: Path) -> str:
    """sha256 of a file's content."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Any) -> None:
    """Write JSON atomically, keys in the order given."""
    write_text(path, json.dumps(value, indent=1, ensure_ascii=False, default=str) + "\n")


def read_json(path: Path) -> Any:
    """Read JSON that the pipeline wrote. Raises SecateurError where it was damaged since."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise SecateurError(f"{path}: damaged ({error}). Fix: remove it and run again") from error
