"""Fetch a registered file from a mirror or its address, verify it, and put it in place."""

import gzip
import hashlib
import http.client
import json
import os
import urllib.error
import urllib.request
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from secateur.core.artifacts import naming
from secateur.core.errors import SecateurError
from secateur.datasets.registry import RegistryFile
from secateur.models.network import through

__all__ = ["FetchResult", "fetch"]

TIMEOUT = 60.0  # seconds without a byte
CHUNK = 1 << 20  # bytes
UNREADABLE = (  # raised by a path, a gzip stream, a connection, the address of a proxy
    *(OSError, EOFError, zlib.error, http.client.HTTPException, ValueError),
)


@dataclass(frozen=True)
class FetchResult:
    """Source of a file, with size (bytes) and checksum of its uncompressed content."""

    source: str
    bytes: int
    sha256: str


def fetch(entry: RegistryFile, destination: Path, mirror: Path | None = None, timeout: float = TIMEOUT) -> FetchResult:
    """Write the verified, uncompressed file to `destination`; a failure leaves nothing there.

    Raises SecateurError for a mirror that is no folder, a file without a source, a failing connection, and content
    whose size or checksum is wrong or not registered.
    """
    destination = Path(destination)
    source = _in_mirror(entry, mirror) or entry.url
    if source is None:
        instead = f"; or use {' or '.join(entry.instead)} instead" if entry.instead else ""
        raise SecateurError(
            f"{entry.name}: has no address; only a mirror has it. {_mirror_hint(entry, mirror)}{instead}"
        )
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
    """The mirror's copy of a file, plain before gzipped; None if it has none."""
    if mirror is None:
        return None
    mirror = Path(mirror)
    if not mirror.is_dir():
        raise SecateurError(
            f"mirror {mirror}: no such folder. Fix: correct MIRROR=DIR (SECATEUR_MIRROR), or omit it to download"
        )
    copies = (mirror / entry.name, mirror / f"{entry.name}.gz")
    return next((copy for copy in copies if copy.is_file()), None)


def _copy(entry: RegistryFile, source: Path | str, mirror: Path | None, part: Path, timeout: float) -> tuple[int, str]:
    """Stream the content to `part`, synced to disk; return its size and checksum."""
    digest, size = hashlib.sha256(), 0
    chunks = _chunks(entry, source, mirror, timeout)
    if entry.keeps and not isinstance(source, Path):
        chunks = iter([_selection(entry, b"".join(chunks))])
    with naming(part), part.open("wb") as copy:
        for chunk in chunks:
            digest.update(chunk)
            size += len(chunk)
            if entry.bytes is not None and size > entry.bytes:
                raise SecateurError(
                    f"{entry.name}: {source} holds more than the {entry.bytes} bytes registered in "
                    f"{entry.registered_in}. Nothing is kept. {_replace_hint(source)}"
                )
            copy.write(chunk)
        copy.flush()
        os.fsync(copy.fileno())
    return size, digest.hexdigest()


def _selection(entry: RegistryFile, content: bytes) -> bytes:
    """The registered part of what the address holds: a JSON list, JSON lines, or one object.

    Records that have all keys of `keeps` stay, with these keys in this order. Raises SecateurError for no JSON.
    """
    try:
        text = content.decode("utf-8-sig")
        try:
            value = json.loads(text)
        except ValueError:
            value = [json.loads(line) for line in text.split("\n") if line.strip()]
    except ValueError as error:
        raise SecateurError(
            f"{entry.name}: {entry.url} is neither JSON nor JSON lines ({error}). {_replace_hint(str(entry.url))}"
        ) from error
    if isinstance(value, list):
        kept: Any = [_keep(record, entry.keeps) for record in value if _has(record, entry.keeps)]
    else:
        kept = _keep(value, entry.keeps) if _has(value, entry.keeps) else None
    return json.dumps(kept, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _has(record: Any, keys: Sequence[str]) -> bool:
    return isinstance(record, dict) and all(key in record for key in keys)


def _keep(record: dict[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    return {key: record[key] for key in keys}


def _chunks(entry: RegistryFile, source: Path | str, mirror: Path | None, timeout: float) -> Iterator[bytes]:
    """The uncompressed content in chunks. Only reading is guarded: a full disk is no fault of the source."""
    try:
        with _open(source, timeout) as stream:
            while chunk := stream.read(CHUNK):
                yield chunk
    except UNREADABLE as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()  # else the connection stays open
        cause = f"{type(error).__name__}: {error}"
        if isinstance(source, Path):
            raise SecateurError(f"{source}: not readable ({cause}). {_replace_hint(source)}") from error
        raise SecateurError(
            f"{entry.name}: could not be downloaded from {source} ({cause}{through(source)}). {_mirror_hint(entry, mirror)}"
        ) from error


def _open(source: Path | str, timeout: float) -> BinaryIO:
    """Byte stream of a path, gzipped or not, or of an address."""
    if isinstance(source, Path):
        return gzip.open(source) if source.suffix == ".gz" else source.open("rb")
    request = urllib.request.Request(source, headers={"User-Agent": "secateur"})
    return urllib.request.urlopen(request, timeout=timeout)


def _verify(entry: RegistryFile, source: Path | str, size: int, checksum: str) -> None:
    """Raise a SecateurError unless size and checksum are those registered."""
    if entry.sha256 is None:
        raise SecateurError(
            f"{entry.name}: no checksum is registered; {source} has sha256 {checksum} in {size} bytes. "
            f"Fix: if you trust it, enter both in {entry.registered_in} and run again"
        )
    if checksum == entry.sha256 and entry.bytes in (None, size):
        return
    short = " (truncated)" if entry.bytes is not None and size < entry.bytes else ""
    raise SecateurError(
        f"{entry.name}: wrong checksum; {source} has sha256 {checksum} in {size} bytes{short}, "
        f"registered in {entry.registered_in}: {entry.sha256} in {entry.bytes}. {_replace_hint(source)}"
    )


def _replace_hint(source: Path | str) -> str:
    if isinstance(source, Path):
        return "Fix: replace the mirror's copy, or remove it to download"
    return "Fix: try again, or put a good copy into a folder and name it with MIRROR=DIR (SECATEUR_MIRROR)"


def _mirror_hint(entry: RegistryFile, mirror: Path | None) -> str:
    absent = f"The mirror {mirror} has neither {entry.name} nor {entry.name}.gz. " if mirror else ""
    return f"{absent}Fix: name a folder that holds {entry.name} or {entry.name}.gz with MIRROR=DIR (SECATEUR_MIRROR)"
