"""Caches of a memory in this process: vectors, triples and token counts of recent questions.

They are not files: an application asks without end, and a file per question would be too many.
"""

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from secateur.models.embedder import Embedder
from secateur.models.word_pieces import Counter

__all__ = ["Counted", "Replies", "Vectors"]

KEPT = 4096  # entries before a cache is cleared


class Vectors:
    """An embedder that caches vectors of recent strings. Safe for threads."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder, self.lock = embedder, threading.Lock()
        self.known: dict[str, NDArray[np.float32]] = {}

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, d) unit vectors of n strings, in order."""
        texts = self.embedder.prompts.before(texts)
        with self.lock:
            new = [text for text in dict.fromkeys(texts) if text not in self.known]
            if new:
                if len(self.known) > KEPT:
                    self.known.clear()
                    new = list(dict.fromkeys(texts))
                self.known |= zip(new, self.embedder.encode(new), strict=True)
            dim = self.embedder.cfg.dim
            return np.stack([self.known[text] for text in texts]) if texts else np.zeros((0, dim), np.float32)


class Replies:
    """Triples of recent questions, with the interface of a request cache."""

    def __init__(self) -> None:
        self.known: dict[str, Any] = {}

    def get(self, key: str) -> Any | None:
        """The cached triples, or None."""
        return self.known.get(key)

    def put(self, key: str, reply: Any) -> None:
        """Cache triples."""
        if len(self.known) >= KEPT:
            self.known.clear()
        self.known[key] = reply


class Counted:
    """A counter of tokens that has counted some texts in advance, each as a line."""

    def __init__(self, count: Counter, texts: Sequence[str]) -> None:
        lines = list(dict.fromkeys(f"{text}\n" for text in texts))
        self.count, self.known = count, dict(zip(lines, count(lines).tolist(), strict=True))

    def __call__(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """(n,) token counts."""
        new = [text for text in texts if text not in self.known]
        counts = self.known | dict(zip(new, self.count(new).tolist(), strict=True)) if new else self.known
        return np.array([counts[text] for text in texts], np.int64)
