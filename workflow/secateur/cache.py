"""Content-addressed caches under one folder: replies by request, vectors by string.

A cache never decides a result: it is keyed by everything the result depends on, and deleting it
costs time only. Entries appear atomically, so that any number of jobs may share it.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from secateur.artifacts import atomic, write_text

__all__ = ["RequestCache", "VectorCache", "digest"]


def digest(*parts: Any) -> str:
    """Digest of JSON-able parts, canonical."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class RequestCache:
    """One JSON reply per request digest; `hits` and `misses` are counted."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.hits, self.misses = folder, 0, 0

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"

    def get(self, key: str) -> Any | None:
        """The stored reply, or None."""
        path = self._path(key)
        if not path.exists():
            self.misses += 1
            return None
        self.hits += 1
        return json.loads(path.read_text(encoding="utf-8"))

    def put(self, key: str, reply: Any) -> None:
        """Store a reply that parsed."""
        write_text(self._path(key), json.dumps(reply, ensure_ascii=False, separators=(",", ":")))


class VectorCache:
    """Vectors by string for one model, in append-only segments of planned blocks."""

    def __init__(self, folder: Path, dim: int) -> None:
        self.folder, self.dim, self.hits, self.misses = folder, dim, 0, 0

    @staticmethod
    def _key(text: str) -> bytes:
        return hashlib.blake2b(text.encode(), digest_size=16).digest()

    def get(self, texts: Sequence[str]) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
        """For n strings: which are known (n,), and their vectors (n, dim), zero where unknown."""
        wanted: dict[bytes, list[int]] = {}
        for n, text in enumerate(texts):
            wanted.setdefault(self._key(text), []).append(n)
        known, vectors = np.zeros(len(texts), bool), np.zeros((len(texts), self.dim), np.float32)
        for segment in sorted(self.folder.glob("*.npz")):
            with np.load(segment) as stored:
                rows = [(r, k) for r, k in enumerate(key.tobytes() for key in stored["keys"]) if k in wanted]
                if not rows:
                    continue
                block = stored["vectors"]
            for row, key in rows:
                for n in wanted[key]:
                    known[n], vectors[n] = True, block[row]
        self.hits += int(known.sum())
        self.misses += int((~known).sum())
        return known, vectors

    def put(self, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Store the vectors (n, dim) of n strings as one segment."""
        keys = np.frombuffer(b"".join(self._key(t) for t in texts), np.uint8).reshape(len(texts), 16)
        name = hashlib.sha256(keys.tobytes()).hexdigest()[:32]
        with atomic(self.folder / f"{name}.npz") as temporary, temporary.open("wb") as stream:
            np.savez(stream, keys=keys, vectors=vectors.astype(np.float32))
