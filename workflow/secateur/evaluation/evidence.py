"""Gold evidence and what a reader has before it: the pairs that metrics measure. F1 of a selection."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from secateur.contexts.table import Read
from secateur.models.words import content_words

__all__ = ["Case", "Gold", "f1_at_gold", "gold_of", "words_of"]


@dataclass(frozen=True)
class Gold:
    """A question's gold evidence. passages: passage id -> text of what resolved; texts: every evidence text."""

    question: str
    passages: Mapping[str, str]
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Case:
    """A question's gold evidence beside one context. sourced: whether a context of its kind ever names a passage; searched:
    whether passages were looked for in it, so that text without any holds none."""

    gold: Gold
    read: Read
    sourced: bool = True
    searched: bool = False

    @cached_property
    def asked(self) -> frozenset[str]:
        """The content words that the question gives."""
        return frozenset(content_words(self.gold.question))

    @cached_property
    def traced(self) -> bool:
        """Whether evidence can be looked for under its provenance."""
        unsaid = self.read.lines and not self.searched
        return bool(self.gold.passages) and (any(self.read.passages) if unsaid else self.sourced)

    @cached_property
    def lines(self) -> dict[str, list[str]]:
        """The lines under each gold passage that has any."""
        found: dict[str, list[str]] = {}
        for line, passage in zip(self.read.lines, self.read.passages, strict=True):
            if passage in self.gold.passages:
                found.setdefault(passage, []).append(line)
        return found

    @cached_property
    def words(self) -> dict[str, set[str]]:
        """The content words under each of these."""
        return {passage: words_of(lines) for passage, lines in self.lines.items()}

    @cached_property
    def whole(self) -> frozenset[str]:
        """The gold passages that are there word for word."""
        return frozenset(p for p, whole in zip(self.read.passages, self.read.whole, strict=True) if whole)

    def there(self, passage: str, min_content: float) -> bool:
        """Whether a gold passage is there: word for word, or with this share of the content words that the question does
        not already give, under its provenance."""
        if passage in self.whole:
            return True
        new = content_words(self.gold.passages[passage]) - self.asked
        kept = len(new & self.words.get(passage, set())) / len(new) if new else 1.0
        return passage in self.lines and kept >= min_content


def gold_of(questions: pl.DataFrame, evidence: pl.DataFrame, passages: pl.DataFrame) -> dict[str, Gold]:
    """Gold of every question that has evidence, in file order."""
    texts = dict(passages.select("passage_id", "text").iter_rows())
    rows = evidence.sort("question_id", "n").partition_by("question_id", as_dict=True)
    found = {}
    for qid, question in questions.sort("position").select("question_id", "text").iter_rows():
        if (qid,) not in rows:
            continue
        own = rows[(qid,)]
        resolved = {p: texts[p] for p in own["passage_id"] if p is not None}
        stated = [texts[p] if t is None else t for p, t in own.select("passage_id", "text").iter_rows()]
        found[qid] = Gold(question, resolved, tuple(stated))
    return found


def words_of(lines: Sequence[str]) -> set[str]:
    """The content words of some lines."""
    return set().union(*map(content_words, lines))


def f1_at_gold(selected: Sequence[str], gold: Sequence[str]) -> float:
    """F1 of a selection against the gold passages.

    >>> f1_at_gold(["a", "b"], ["b", "c"])
    0.5
    """
    hits = len(set(selected) & set(gold))
    return 2 * hits / (len(selected) + len(gold)) if hits else 0.0
