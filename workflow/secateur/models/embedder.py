"""Strings to unit vectors, computed in fp32 once per distinct string and cached by (weights, string)."""

import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from secateur.core.artifacts import file_digest
from secateur.core.cache import VectorCache, digest
from secateur.core.errors import SecateurError
from secateur.models.encoders import PARTS, STEP, encoder, engine
from secateur.models.kernels import STEADY
from secateur.models.locate import locate
from secateur.models.word_pieces import word_piece_counter

__all__ = ["Embedder"]


class Embedder:
    """A sentence-transformers model behind a cache.

    What the cache lacks is computed in blocks of like length. A vector does not depend on what it is computed with, so
    neither do the results on what was known before, on other jobs, or on a kill.
    """

    def __init__(self, cfg, cache: Path, log=None) -> None:
        self.cfg, self.log, self._run = cfg, log, None
        self._turns = threading.Lock()  # a model has one place for what it computes
        self.identity = self._digest()
        self.cache = VectorCache(cache / "embeddings" / self.identity, cfg.dim)

    def _digest(self) -> str:
        """Of everything that a vector depends on besides its string."""
        folder = Path(locate(self.cfg.model))
        weights = sorted(folder.glob("*.safetensors")) if folder.is_dir() else []
        identity = [file_digest(w) for w in weights] or [self.cfg.model]
        return digest(engine(self.cfg), self.cfg.max_tokens, self.cfg.dim, PARTS, STEP, STEADY, *identity)

    def split(self, texts: Iterable[str]) -> int:
        """How many strings are longer than the model's window (counted only where a tokenizer is at hand)."""
        room = self.cfg.max_tokens - 2  # the window holds two special tokens
        long = [t for t in texts if len(t) > room]  # a token is one character at least
        if not long or not (Path(locate(self.cfg.model)) / "tokenizer.json").exists():
            return 0
        return int((word_piece_counter(self.cfg.model)(long) > room).sum())

    def tell_split(self, texts: Iterable[str], what: str, ctx) -> None:
        """Count in a job's record how many strings are read in parts, and say so on screen where some are."""
        count = ctx.counts["split"] = self.split(texts)
        if count:
            ctx.warn(
                f"{count} {what} are longer than the embedder's window of {self.cfg.max_tokens} tokens; they were read in "
                "parts"
            )

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, d) unit vectors of n strings, in order."""
        plan = sorted(sorted(set(texts)), key=len)
        known, vectors = self.cache.get(plan)
        if not known.all():
            self._fill(plan, known, vectors)
        place = {text: n for n, text in enumerate(plan)}
        return vectors[[place[t] for t in texts]] if texts else vectors

    def _fill(self, plan: list[str], known: NDArray[np.bool_], vectors: NDArray[np.float32]) -> None:
        """Compute the vectors that are not known, in place, block by block."""
        todo = np.flatnonzero(~known)
        for start in range(0, len(todo), self.cfg.block):
            part = todo[start : start + self.cfg.block]
            vectors[part] = self.cache.made([plan[n] for n in part], self.encode)
            if self.log:
                self.log.info("embedded %d of %d strings", start + len(part), len(todo))

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, d) unit vectors of n strings, past the cache: for strings that are not asked for again."""
        with self._turns:
            self._run = self._run or encoder(self.cfg, self.cache.folder)
            vectors = self._run(texts)
        if vectors.shape[1] != self.cfg.dim:
            raise SecateurError(
                f"embedder {self.cfg.model}: vectors have {vectors.shape[1]} dimensions, embedder.dim says {self.cfg.dim}. "
                f"Fix: set embedder.dim={vectors.shape[1]} in its option file."
            )
        return vectors
