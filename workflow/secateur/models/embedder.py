"""Strings to unit vectors, computed once per distinct string, and cached in 16-bit floats by (weights, string)."""

import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from secateur.config.code import plugin_digest
from secateur.core.artifacts import file_digest, remade
from secateur.core.cache import VectorCache, digest
from secateur.core.errors import SecateurError
from secateur.models import encoders
from secateur.models.encoders import PARTS, STEP, device, encoder, engine
from secateur.models.hub import embedder_folder
from secateur.models.kernels import STEADY
from secateur.models.prompts import Prompts
from secateur.models.token_vectors import TokenVectors
from secateur.models.word_pieces import word_piece_counter

__all__ = ["Embedder"]

# Files of a model's folder that a vector depends on: weights, poolings and layers after them, tokenizer.
FILES = ("*.safetensors", "*.bin", "*.json", "*.txt", "*.model")


class Embedder:
    """A sentence-transformers model behind a cache.

    Missing vectors are computed in blocks of similar length. A vector does not depend on the other strings of its block,
    so results do not depend on the cache, on other jobs, or on a kill.
    """

    def __init__(self, cfg, cache: Path, log=None) -> None:
        self.cfg, self.log, self._run, self._by_token = cfg, log, None, None
        self._turns = threading.Lock()  # the engine reuses its output memory
        self.prompts = Prompts.of(cfg, Path(embedder_folder(cfg.model)))
        self.identity = self._digest()
        self.cache = VectorCache(cache / "embeddings" / digest(self.identity, plugin_digest(__name__)), cfg.dim)

    def _digest(self) -> str:
        """Digest of all that a vector depends on, except its string."""
        folder = Path(embedder_folder(self.cfg.model))
        files = sorted(path for pattern in FILES for path in folder.rglob(pattern)) if folder.is_dir() else []
        identity = [(path.relative_to(folder).as_posix(), file_digest(path)) for path in files] or [self.cfg.model]
        return digest(
            engine(self.cfg), self.cfg.max_tokens, self.cfg.dim, PARTS, STEP[device(self.cfg)], STEADY, *identity
        )

    def split(self, texts: Iterable[str]) -> int:
        """Number of strings longer than the model's window; 0 where the model's folder has no tokenizer.json."""
        room = self.cfg.max_tokens - 2  # two special tokens
        long = [t for t in texts if len(t.encode()) > room]  # a token has one byte or more
        if not long or not (Path(embedder_folder(self.cfg.model)) / "tokenizer.json").exists():
            return 0
        return int((word_piece_counter(self.cfg.model)(long) > room).sum())

    def tell_split(self, texts: Iterable[str], what: str, ctx) -> None:
        """Count strings that are read in parts, in the job's record, with a warning."""
        count = ctx.counts["split"] = self.split(texts)
        if count:
            ctx.warn(
                f"{count} {what} are longer than the embedder's window of {self.cfg.max_tokens} tokens: read in parts"
            )

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, d) vectors of length one of n strings, in order: of passages, and of questions (`asked`)."""
        texts = self.prompts.before(texts)
        plan = sorted(sorted(set(texts)), key=len)
        is_cached, vectors = self.cache.get(plan)
        if not is_cached.all():
            self._fill(plan, is_cached, vectors)
        place = {text: n for n, text in enumerate(plan)}
        return _of_length_one(vectors[[place[t] for t in texts]] if texts else vectors)

    def _fill(self, plan: list[str], is_cached: NDArray[np.bool_], vectors: NDArray[np.float16]) -> None:
        """Compute missing vectors in place, block by block."""
        todo = np.flatnonzero(~is_cached)
        block = self.cfg.block[device(self.cfg)]
        for start in range(0, len(todo), block):
            part = todo[start : start + block]
            vectors[part] = self.cache.made([plan[n] for n in part], self._halves)
            if self.log:
                self.log.info("embedded %d of %d strings", start + len(part), len(todo))

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, d) vectors of length one of n strings as they are, without the cache: for strings that do not recur."""
        return _of_length_one(self._halves(texts))

    def _halves(self, texts: Sequence[str]) -> NDArray[np.float16]:
        """(n, d) vectors of n strings as they are stored: rounded when they are made, so that a cold cache equals a warm one."""
        with self._turns:
            self._run = self._run or encoder(self.cfg, self.cache.folder, (self.prompts.query, self.prompts.document))
            vectors = self._run(texts)
        if vectors.shape[1] != self.cfg.dim:
            raise SecateurError(
                f"embedder {self.cfg.model}: vectors have {vectors.shape[1]} dimensions, embedder.dim says {self.cfg.dim}. "
                f"Fix: set embedder.dim={vectors.shape[1]} in its option file."
            )
        return vectors.astype(np.float16)

    def embed_tokens(self, texts: Sequence[str]) -> TokenVectors:
        """The vectors of the tokens of n strings, without prompts, in order, stored block by block in a byte a number."""
        texts = list(map(str, texts))
        plan = sorted(sorted(set(texts)), key=len)
        block, blocks = self.cfg.block[device(self.cfg)], []
        for start in range(0, len(plan), block):
            part = plan[start : start + block]
            path = self.cache.folder / "tokens" / f"{digest(part)}.npz"
            blocks.append(remade(path, TokenVectors.load, lambda path, part=part: self._store_tokens(part, path)))
            if self.log:
                self.log.info("vectors of tokens of %d of %d strings", start + len(part), len(plan))
        place = {text: n for n, text in enumerate(plan)}
        return TokenVectors.joined(blocks).at(np.array([place[text] for text in texts], np.int64))

    def _store_tokens(self, texts: Sequence[str], path: Path) -> None:
        with self._turns:
            self._by_token = self._by_token or encoders.token_encoder(self.cfg, self.cache.folder)
            TokenVectors.of(self._by_token(texts)).save(path)


def _of_length_one(vectors: NDArray[np.float16]) -> NDArray[np.float32]:
    """(n, d) vectors, each divided by its length."""
    whole = vectors.astype(np.float32)
    return whole / np.maximum(np.sqrt((whole * whole).sum(1, keepdims=True)), np.finfo(np.float32).tiny)
