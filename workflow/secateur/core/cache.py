"""Content-addressed caches under one folder: replies by request, vectors by string.

A cache never decides a result: it is keyed by everything the result depends on, and deleting it
costs time only. Entries appear atomically, so that any number of jobs may share it; a damaged one is removed and made
anew.
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

PATIENCE = 300  # seconds that a job waits for what another one makes: some blocks of strings on a busy machine
SMALL = 4096  # strings of one request that are kept in memory


def digest(*parts: Any) -> str:
    """Digest of JSON-able parts, canonical."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _seal(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@contextmanager
def _in_turn(path: Path) -> Iterator[None]:
    """One process after another, by a lock whose name is litter's; at once where a file system has no locks, or the other
    one takes too long."""
    lock = FileLock(path.with_name(f".{path.name}.lock.tmp"), timeout=PATIENCE)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except (Timeout, OSError):  # a lock spares work, and decides nothing
        pass
    try:
        yield
    finally:
        if lock.is_locked:
            with suppress(OSError):
                Path(lock.lock_file).unlink()
            lock.release()


class RequestCache:
    """One JSON reply per request digest; `hits` and `misses` are counted."""

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
        except ValueError as error:  # a flipped bit, a disk that was full, text that is no UTF-8
            dropped(path, error)
            self.misses += 1
            return None
        self.hits += 1
        return json.loads(text)

    def put(self, key: str, reply: Any) -> None:
        """Store a reply that parsed, under a digest of its own text."""
        text = json.dumps(reply, ensure_ascii=False, separators=(",", ":"))
        write_text(self._path(key), f"{_seal(text)}\n{text}")


class VectorCache:
    """Vectors by string for one model, in append-only segments of planned blocks.

    The segments are indexed once a process. Small requests are kept in memory, for stages that ask question by
    question. Threads may ask at once.
    """

    def __init__(self, folder: Path, dim: int) -> None:
        self.folder, self.dim, self.hits, self.misses = folder, dim, 0, 0
        self._index: dict[bytes, int] | None = None  # places: rows of all segments, one after another
        self._segments: list[Path] = []
        self._starts = [0]  # the first place of each segment, and that of the next one
        self._indexing = threading.RLock()  # a place means nothing without the starts
        self._memory: dict[bytes, NDArray[np.float32]] = {}

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
        """An array of a segment; None where it is damaged, and no more."""
        try:
            with np.load(segment) as stored:
                return stored[name]
        except FileNotFoundError:  # another job dropped it meanwhile
            return None
        except (EOFError, ValueError, KeyError, BadZipFile, zlib.error) as error:
            dropped(segment, error)
            return None

    def get(self, texts: Sequence[str]) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
        """For n strings: which are known (n,), and their vectors (n, dim), zero where unknown."""
        known, vectors = np.zeros(len(texts), bool), np.zeros((len(texts), self.dim), np.float32)
        keys = [self._key(text) for text in texts]
        for n, key in enumerate(keys):
            if key in self._memory:
                known[n], vectors[n] = True, self._memory[key]
        if not known.all():
            self._read(keys, known, vectors)
        if len(texts) <= SMALL:
            self._memory |= {key: vectors[n] for n, key in enumerate(keys) if known[n]}
        self.hits += int(known.sum())
        self.misses += int((~known).sum())
        return known, vectors

    def _read(self, keys: list[bytes], known: NDArray[np.bool_], vectors: NDArray[np.float32]) -> None:
        """Fill in, from the segments, what is not known yet."""
        with self._indexing:
            index = self._indexed()
            places = np.array([-1 if done else index.get(key, -1) for key, done in zip(keys, known, strict=True)])
            starts = np.array(self._starts)
        found = np.flatnonzero(places >= 0)
        found = found[np.argsort(places[found])]  # segment after segment
        segments = np.searchsorted(starts, places[found], "right") - 1
        numbers, firsts = np.unique(segments, return_index=True)
        for segment, at in zip(numbers, np.split(found, firsts)[1:], strict=True):
            if (block := self._stored(self._segments[segment], "vectors")) is not None:
                known[at], vectors[at] = True, block[places[at] - starts[segment]]

    def _segment(self, texts: Sequence[str]) -> tuple[NDArray[np.uint8], Path]:
        """The keys of n strings, and the file that holds just these."""
        keys = np.frombuffer(b"".join(self._key(t) for t in texts), np.uint8).reshape(len(texts), 16)
        return keys, self.folder / f"{hashlib.sha256(keys.tobytes()).hexdigest()[:32]}.npz"

    def made(self, texts: Sequence[str], make: Callable[[Sequence[str]], NDArray[np.float32]]) -> NDArray[np.float32]:
        """The vectors (n, dim) of n strings that are not known: what another job has made of just these meanwhile, else
        made and stored."""
        keys, path = self._segment(texts)
        with _in_turn(path):
            vectors = self._stored(path, "vectors") if path.is_file() else None
            if vectors is None:
                vectors = make(texts)
                self.put(texts, vectors)
            else:
                self._add(path, keys)
        return vectors

    def put(self, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Store the vectors (n, dim) of n strings as one segment."""
        keys, path = self._segment(texts)
        with atomic(path) as temporary, temporary.open("wb") as stream:
            np.savez(stream, keys=keys, vectors=vectors.astype(np.float32))
        self._add(path, keys)
