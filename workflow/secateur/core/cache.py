"""Content-addressed caches under one folder: replies by request, vectors by string.

A cache never decides a result: its key holds everything that the result depends on, and deleting it costs time only.
Entries appear atomically, so any number of jobs may share a cache. A damaged entry is removed and computed again.
"""

import hashlib
import json
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from secateur.core.artifacts import atomic, dropped, write_text

__all__ = ["RequestCache", "VectorCache", "digest"]

PATIENCE = 300  # seconds that a job waits for another job's block: some blocks of strings on a busy machine
READING = threading.Lock()  # numpy parses headers by `ast`, which fails in threads of Python 3.11.7 (gh-106905)
SMALL = 4096  # requests of at most so many strings are kept in memory


def digest(*parts: Any) -> str:
    """Canonical digest of parts that JSON can hold."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _seal(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@contextmanager
def _in_turn(path: Path) -> Iterator[None]:
    """Hold a lock on `path`; go on without it where the file system has no locks, or after 300 seconds."""
    lock = FileLock(path.with_name(f".{path.name}.lock.tmp"), timeout=PATIENCE)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except (Timeout, OSError):  # the lock only avoids double work
        pass
    try:
        yield
    finally:
        if lock.is_locked:
            with suppress(OSError):
                Path(lock.lock_file).unlink()
            lock.release()


class RequestCache:
    """One JSON reply per request digest. Counts `hits` and `misses`."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.hits, self.misses = folder, 0, 0

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"

    def get(self, key: str) -> Any | None:
        """The stored reply, or None."""
        path = self._path(key)
        try:
            seal, _, text = path.read_text(encoding="utf-8").partition("\n")
            if seal != _seal(text):
                raise ValueError("its content is not what was stored")
        except FileNotFoundError:
            self.misses += 1
            return None
        except ValueError as error:  # a flipped bit, a full disk, or a text that is not UTF-8
            dropped(path, error)
            self.misses += 1
            return None
        self.hits += 1
        return json.loads(text)

    def put(self, key: str, reply: Any) -> None:
        """Store a reply that parsed, sealed by the digest of its text."""
        text = json.dumps(reply, ensure_ascii=False, separators=(",", ":"))
        write_text(self._path(key), f"{_seal(text)}\n{text}")


class VectorCache:
    """Vectors of 16-bit floats by string for one model, in append-only segment files.

    Segments are indexed once per process. Small requests stay in memory, for stages that ask question by question.
    Safe for threads.
    """

    def __init__(self, folder: Path, dim: int) -> None:
        self.folder, self.dim, self.hits, self.misses = folder, dim, 0, 0
        self._index: dict[bytes, int] | None = None  # key -> row among all segments, one after another
        self._segments: list[Path] = []
        self._starts = [0]  # the first row of each segment, and of the next one
        self._indexing = threading.RLock()  # index and starts change together
        self._memory: dict[bytes, NDArray[np.float16]] = {}

    @staticmethod
    def _key(text: str) -> bytes:
        return hashlib.blake2b(text.encode(), digest_size=16).digest()

    def _add(self, segment: Path, keys: NDArray[np.uint8]) -> None:
        with self._indexing:
            index, first = self._indexed(), self._starts[-1]
            index.update(zip(keys.view("V16")[:, 0].tolist(), range(first, first + len(keys)), strict=True))
            self._segments.append(segment)
            self._starts.append(first + len(keys))

    def _indexed(self) -> dict[bytes, int]:
        with self._indexing:
            if self._index is None:
                self._index = {}
                for segment in sorted(self.folder.glob("*.npz")):
                    if (keys := self._stored(segment, "keys")) is not None:
                        self._add(segment, keys)
            return self._index

    @staticmethod
    def _stored(segment: Path, name: str) -> NDArray | None:
        """An array of a segment; None where the file is gone, or is damaged and therefore removed."""
        try:
            with READING, np.load(segment) as stored:
                return stored[name]
        except FileNotFoundError:  # another job dropped it meanwhile
            return None
        except (EOFError, ValueError, KeyError, BadZipFile, zlib.error) as error:
            dropped(segment, error)
            return None

    def get(self, texts: Sequence[str]) -> tuple[NDArray[np.bool_], NDArray[np.float16]]:
        """For n strings: (n,) which are known, and (n, dim) vectors, zero where unknown."""
        hit, vectors = np.zeros(len(texts), bool), np.zeros((len(texts), self.dim), np.float16)
        keys = [self._key(text) for text in texts]
        for n, key in enumerate(keys):
            if key in self._memory:
                hit[n], vectors[n] = True, self._memory[key]
        if not hit.all():
            self._read(keys, hit, vectors)
        if len(texts) <= SMALL:
            self._memory |= {key: vectors[n] for n, key in enumerate(keys) if hit[n]}
        self.hits += int(hit.sum())
        self.misses += int((~hit).sum())
        return hit, vectors

    def _read(self, keys: list[bytes], hit: NDArray[np.bool_], vectors: NDArray[np.float16]) -> None:
        """Fill in vectors from the segments, in place."""
        with self._indexing:
            index = self._indexed()
            places = np.array([-1 if done else index.get(key, -1) for key, done in zip(keys, hit, strict=True)])
            starts = np.array(self._starts)
        rows = np.flatnonzero(places >= 0)
        rows = rows[np.argsort(places[rows])]  # segment after segment
        segments = np.searchsorted(starts, places[rows], "right") - 1
        numbers, firsts = np.unique(segments, return_index=True)
        for segment, at in zip(numbers, np.split(rows, firsts)[1:], strict=True):
            if (block := self._stored(self._segments[segment], "vectors")) is not None:
                hit[at], vectors[at] = True, block[places[at] - starts[segment]]

    def _segment(self, texts: Sequence[str]) -> tuple[NDArray[np.uint8], Path]:
        """(n, 16) keys of n strings, and the segment file of exactly these strings."""
        keys = np.frombuffer(b"".join(self._key(t) for t in texts), np.uint8).reshape(len(texts), 16)
        return keys, self.folder / f"{hashlib.sha256(keys.tobytes()).hexdigest()[:32]}.npz"

    def made(self, texts: Sequence[str], make: Callable[[Sequence[str]], NDArray[np.float16]]) -> NDArray[np.float16]:
        """(n, dim) vectors of n unknown strings: read if another job has stored them meanwhile, else made and stored."""
        keys, path = self._segment(texts)
        with _in_turn(path):
            vectors = self._stored(path, "vectors") if path.is_file() else None
            if vectors is None:
                vectors = make(texts)
                self.put(texts, vectors)
            else:
                self._add(path, keys)
        return vectors

    def put(self, texts: Sequence[str], vectors: NDArray[np.float16]) -> None:
        """Store (n, dim) vectors of n strings as one segment."""
        keys, path = self._segment(texts)
        with atomic(path, lasting=False) as temporary, temporary.open("wb") as stream:
            np.savez(stream, keys=keys, vectors=vectors.astype(np.float16))
        self._add(path, keys)
