"""Gold evidence paired with a context, as metrics measure it.

Passages of equal text are one class, named by its first passage, in gold evidence and contexts alike. Whatever system sends a
gold passage, or a quotation of it, word for word, holds it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

from secateur.contexts.table import SEARCHED, Read, names_passages, reads
from secateur.contexts.tracing import framed, has
from secateur.models.units import content_words
from secateur.models.words import lacks_words, words

__all__ = ["Case", "Gold", "gold_of", "has_sources", "words_of"]


@dataclass(frozen=True)
class Gold:
    """The gold evidence of a question.

    passages: class -> text of the resolved ones; texts: all evidence texts; quotations: class -> quotations from its passage.
    """

    question: str
    passages: Mapping[str, str]
    texts: tuple[str, ...]
    quotations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def measurable(self) -> dict[str, str]:
        """The gold passages with a word in any script; a metric that counts words is undefined for the others."""
        return {passage: text for passage, text in self.passages.items() if not lacks_words(text)}


@dataclass(frozen=True)
class Case:
    """The gold evidence of a question, and one context.

    has_sources: whether any context of its system names a passage, or holds gold evidence word for word. searched: whether
    passages were searched in its text, so that a context that names none holds none.
    """

    gold: Gold
    read: Read
    has_sources: bool = True
    searched: bool = False

    @cached_property
    def question_words(self) -> frozenset[str]:
        """Content words of the question."""
        return frozenset(content_words(self.gold.question))

    @cached_property
    def traceable(self) -> bool:
        """Whether the context's provenance is known, so that gold passages can be found in it."""
        if any(self.read.lines) and not self.searched:
            return bool(self.gold.passages) and any(self.read.passages)
        return bool(self.gold.passages) and self.has_sources

    @cached_property
    def lines(self) -> dict[str, list[str]]:
        """Lines of the context from each gold passage in it."""
        lines: dict[str, list[str]] = {}
        for line, passage in zip(self.read.lines, self.read.passages, strict=True):
            if passage in self.gold.passages:
                lines.setdefault(passage, []).append(line)
        return lines

    @cached_property
    def words(self) -> dict[str, tuple[frozenset[str], frozenset[str]]]:
        """Content words of each gold passage, and of its lines in the context; all words if it has no content words."""
        pairs = {}
        for passage, text in self.gold.passages.items():
            read = content_words if content_words(text) else words
            shown = map(read, self.lines.get(passage, ()))
            pairs[passage] = frozenset(read(text)), frozenset().union(*shown)
        return pairs

    @cached_property
    def whole(self) -> frozenset[str]:
        """Gold passages that the context holds word for word, under whatever name."""
        named = {p for p, whole in zip(self.read.passages, self.read.whole, strict=True) if whole}
        return frozenset(p for p, text in self.gold.passages.items() if p in named or self._has(text))

    @cached_property
    def _words(self) -> str:
        """The words of the context, as `framed`."""
        return f" {' '.join(filter(None, map(framed, self.read.lines)))} "

    def _has(self, text: str) -> bool:
        """Whether the words of a text stand in the context in order and without a gap."""
        return has("".join(self.read.lines), self._words, text)

    def holds(self, passage: str, min_content: float) -> bool:
        """Whether the context holds a gold passage.

        Word for word, or by a quotation of it, or in lines from that passage with a share `min_content` of its content words
        that are not in the question. A passage without such words is held by its content words, one without any by all its words.
        """
        if passage in self.whole or any(map(self._has, self.gold.quotations.get(passage, ()))):
            return True
        if passage not in self.lines:
            return False
        stated, shown = self.words[passage]
        telling = stated - self.question_words or stated
        return bool(telling) and len(telling & shown) / len(telling) >= min_content


def gold_of(questions: pl.DataFrame, evidence: pl.DataFrame, passages: pl.DataFrame) -> dict[str, Gold]:
    """The gold evidence of every question that has some, in file order. evidence: its passages by their class."""
    texts = dict(passages.select("passage_id", "text").iter_rows())
    rows = evidence.sort("question_id", "n").partition_by("question_id", as_dict=True)
    golds = {}
    for qid, question in questions.sort("position").select("question_id", "text").iter_rows():
        if (qid,) not in rows:
            continue
        evidence_rows = rows[(qid,)]
        resolved = {p: texts[p] for p in evidence_rows["passage_id"] if p is not None}
        pairs = evidence_rows.select("passage_id", "text").rows()
        stated = [texts[p] if t is None else t for p, t in pairs]
        quotations: dict[str, tuple[str, ...]] = {}
        for passage, text in pairs:
            if passage is not None and text is not None:
                quotations[passage] = (*quotations.get(passage, ()), text)
        golds[qid] = Gold(question, resolved, tuple(stated), quotations)
    return golds


def has_sources(golds: Mapping[str, Gold], contexts: pl.DataFrame) -> bool:
    """Whether evidence can be found in a table of contexts: one names a passage, or was searched and holds gold evidence."""
    if names_passages(contexts):
        return True
    searched = reads(contexts.filter(pl.col("scorer").is_in(SEARCHED)))
    cases = (Case(golds[question], read) for (question, _, _), read in searched if question in golds)
    return any(case.holds(passage, 1.0) for case in cases for passage in case.gold.passages)


def words_of(lines: Sequence[str]) -> set[str]:
    """Content words of some lines."""
    return set().union(*map(content_words, lines))
