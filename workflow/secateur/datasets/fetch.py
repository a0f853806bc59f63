"""Fetch one registered file: from the mirror if it has it, else from its address; verified, then put in place."""

import gzip
import hashlib
import http.client
import os
import urllib.error
import urllib.request
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from secateur.core.artifacts import naming
from secateur.core.errors import SecateurError
from secateur.datasets.registry import RegistryFile

__all__ = ["FetchResult", "fetch"]

TIMEOUT = 60.0  # seconds without a byte
CHUNK = 1 << 20
UNREADABLE = (OSError, EOFError, zlib.error, http.client.HTTPException)  # of a path, a gzip stream, a connection


@dataclass(frozen=True)
class FetchResult:
    """Where the file came from, and the size and checksum of its uncompressed content."""

    source: str
    bytes: int
    sha256: str


def fetch(entry: RegistryFile, destination: Path, mirror: Path | None = None, timeout: float = TIMEOUT) -> FetchResult:
    """Write the verified, uncompressed file to `destination`; on any failure leave nothing there.

    Raises SecateurError for a mirror that is no folder, a file that nobody has, a failing connection, and
    content of another size or checksum than registered, or without a registered one.
    """
    destination = Path(destination)
    source = _in_mirror(entry, mirror) or entry.url
    if source is None:
        raise SecateurError(_unobtainable(entry, mirror))
    destination.parent.mkdir(parents=True, exist_ok=True)
    part = destination.with_name(f".{destination.name}.part")
    try:
        size, checksum = _copy(entry, source, mirror, part, timeout)
        _verify(entry, source, size, checksum)
        os.replace(part, destination)
    finally:
        part.unlink(missing_ok=True)
    return FetchResult(str(source), size, checksum)


def _in_mirror(entry: RegistryFile, mirror: Path | None) -> Path | None:
    """The mirror's copy, plain before gzipped, or None where it has none."""
    if mirror is None:
        return None
    mirror = Path(mirror)
    if not mirror.is_dir():
        raise SecateurError(
            f"mirror {mirror}: no such folder. Fix: correct MIRROR=DIR (SECATEUR_MIRROR) or leave it out to download"
        )
    copies = (mirror / entry.name, mirror / f"{entry.name}.gz")
    return next((copy for copy in copies if copy.is_file()), None)


def _copy(entry: RegistryFile, source: Path | str, mirror: Path | None, part: Path, timeout: float) -> tuple[int, str]:
    """Stream the content to `part` and its disk; its size and checksum."""
    digest, size = hashlib.sha256(), 0
    with naming(part), part.open("wb") as copy:
        for chunk in _chunks(entry, source, mirror, timeout):
            digest.update(chunk)
            size += len(chunk)
            if entry.bytes is not None and size > entry.bytes:
                raise SecateurError(
                    f"{entry.name}: {source} holds more than the {entry.bytes} bytes that {entry.registered_in} says; "
                    f"nothing of it is kept. {_replace_hint(source)}"
                )
            copy.write(chunk)
        copy.flush()
        os.fsync(copy.fileno())
    return size, digest.hexdigest()


def _chunks(entry: RegistryFile, source: Path | str, mirror: Path | None, timeout: float) -> Iterator[bytes]:
    """The uncompressed content, piece by piece. Only reading is guarded: a full disk is not the source's fault."""
    try:
        with _opened(source, timeout) as stream:
            while chunk := stream.read(CHUNK):
                yield chunk
    except UNREADABLE as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()  # it holds the connection open
        cause = f"{type(error).__name__}: {error}"
        if isinstance(source, Path):
            raise SecateurError(f"{source}: not readable ({cause}). {_replace_hint(source)}") from error
        raise SecateurError(
            f"{entry.name}: could not be downloaded from {source} ({cause}). {_mirror_hint(entry, mirror)}"
        ) from error


@contextmanager
def _opened(source: Path | str, timeout: float) -> Iterator[BinaryIO]:
    """A path, gzipped or not, or an address, as a stream of bytes."""
    if isinstance(source, str):
        request = urllib.request.Request(source, headers={"User-Agent": "secateur"})
        with urllib.request.urlopen(request, timeout=timeout) as stream:
            yield stream
    else:
        with gzip.open(source) if source.suffix == ".gz" else source.open("rb") as stream:
            yield stream


def _verify(entry: RegistryFile, source: Path | str, size: int, checksum: str) -> None:
    """Raise where the content is not the registered one, or none is registered."""
    if entry.sha256 is None:
        raise SecateurError(
            f"{entry.name}: no checksum registered; {source} holds sha256 {checksum}, {size} bytes. "
            f"Fix: if you trust it, enter both in {entry.registered_in} and run again"
        )
    if checksum == entry.sha256 and entry.bytes in (None, size):
        return
    short = " (truncated)" if entry.bytes is not None and size < entry.bytes else ""
    raise SecateurError(
        f"{entry.name}: wrong checksum; {source} has sha256 {checksum} in {size} bytes{short}, "
        f"{entry.registered_in} says {entry.sha256} in {entry.bytes}. {_replace_hint(source)}"
    )


def _replace_hint(source: Path | str) -> str:
    if isinstance(source, Path):
        return "Fix: replace the mirror's copy, or remove it to download"
    return "Fix: try again, or put a good copy into a folder and name it with MIRROR=DIR (SECATEUR_MIRROR)"


def _mirror_hint(entry: RegistryFile, mirror: Path | None) -> str:
    asked = f"The mirror {mirror} has neither {entry.name} nor {entry.name}.gz. " if mirror else ""
    return f"{asked}Fix: name a folder that holds {entry.name} or {entry.name}.gz with MIRROR=DIR (SECATEUR_MIRROR)"


def _unobtainable(entry: RegistryFile, mirror: Path | None) -> str:
    instead = f"; or use {' or '.join(entry.instead)} instead" if entry.instead else ""
    return f"{entry.name}: has no address of its own, only a mirror can have it. {_mirror_hint(entry, mirror)}{instead}"
