"""GraphRAG-Bench's protocol (Xiang et al. 2025, section 4) over a judge's verdicts on statements.

A judge breaks an answer and the gold answer into statements, and says which follow from which text. Of these verdicts:

    facts         F1 of the answer's statements that follow from the gold answer (TP, else FP) and of the gold answer's that
                  do not follow from the answer (FN); ACC = .75 of it + .25 (1 + cosine of both answers) / 2
    coverage      share of the gold answer's statements that follow from the answer
    faithfulness  share of the answer's statements that follow from the context that was read
    evidence      share of the gold evidence that follows from that context
    relevance     mean of two ratings of that context
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from secateur.judging.prompts import rating, relevance, split, statements, supported, supporting

__all__ = ["Ask", "Item", "Judgement", "judged"]

Ask = Callable[[Sequence[str]], list[str | None]]  # prompts to replies; None for a prompt that the window cannot hold
Verdicts = list[bool] | None  # None: not read


@dataclass(frozen=True)
class Item:
    """What is judged. context: what was read, empty for a closed book; evidence: gold passages; refused: no answer is given."""

    question: str
    answer: str
    gold: str
    context: str
    evidence: tuple[str, ...]
    refused: bool = False


@dataclass
class Judgement:
    """The verdicts on one item. asked, unread: how many verdicts there should be, and how many could not be read."""

    right: Verdicts = None
    covered: Verdicts = None
    grounded: Verdicts = None
    held: Verdicts = None
    ratings: list[float] = field(default_factory=list)
    asked: int = 0
    unread: int = 0

    @property
    def facts(self) -> float | None:
        """F1 = TP / (TP + (FP + FN) / 2)."""
        if self.right is None or self.covered is None:
            return None
        true, wrong, missed = sum(self.right), self.right.count(False), self.covered.count(False)
        return true / (true + (wrong + missed) / 2) if true else 0.0

    @property
    def figures(self) -> dict[str, float]:
        """All that could be read; a share of no statements is none."""
        shares = {"coverage": self.covered, "faithfulness": self.grounded, "evidence": self.held}
        found = {name: sum(verdicts) / len(verdicts) for name, verdicts in shares.items() if verdicts}
        found |= {"facts": self.facts} if self.facts is not None else {}
        found |= {"relevance": sum(self.ratings) / len(self.ratings)} if self.ratings else {}
        return found | ({"unread": self.unread / self.asked} if self.asked else {})


def judged(items: Sequence[Item], ask: Ask, *, backwards: bool = False) -> list[Judgement]:
    """A judgement of each item. backwards: statements are shown in the opposite order, the verdicts come in their own."""
    found = [Judgement() for _ in items]
    told = _split([(item.question, text) for item in items for text in (item.gold, *_said(item))], ask)
    wanted: list[tuple[Judgement, str, str, tuple[str, ...]]] = []  # judgement, verdicts, text, statements
    for item, one in zip(items, found, strict=True):
        gold = told[item.question, item.gold]
        own = told[item.question, item.answer] if _said(item) else []
        _count(one, [gold] if not _said(item) else [gold, own])
        if not _said(item):  # a refusal says nothing right, and covers nothing
            one.right, one.covered = [], None if gold is None else [False] * len(gold)
        elif gold and own:
            wanted += [(one, "right", item.gold, tuple(own)), (one, "covered", item.answer, tuple(gold))]
        if item.context:
            wanted += [(one, "grounded", item.context, tuple(own))] if own else []
            wanted += [(one, "held", item.context, item.evidence)] if item.evidence else []
    _verdicts(wanted, ask, backwards)
    _ratings([(one, item) for one, item in zip(found, items, strict=True) if item.context], ask)
    return found


def _said(item: Item) -> tuple[str, ...]:
    """The answer, where there is one."""
    return (item.answer,) if item.answer.strip() and not item.refused else ()


def _count(one: Judgement, replies: Iterable[object]) -> None:
    for reply in replies:
        one.asked += 1
        one.unread += reply is None


def _split(texts: list[tuple[str, str]], ask: Ask) -> Mapping[tuple[str, str], list[str] | None]:
    """(question, text) -> its statements; of a text without one, which is no text, None."""
    known = dict.fromkeys(texts)
    replies = ask([split(*one) for one in known])
    read = (None if reply is None else statements(reply) for reply in replies)
    return {one: found or None for one, found in zip(known, read, strict=True)}


def _verdicts(wanted: list[tuple[Judgement, str, str, tuple[str, ...]]], ask: Ask, backwards: bool) -> None:
    """Which statements follow from which text, put where they are wanted."""
    shown = [claims[::-1] if backwards else claims for *_, claims in wanted]
    prompts = dict.fromkeys(supporting(text, claims) for (_, _, text, _), claims in zip(wanted, shown, strict=True))
    replies = dict(zip(prompts, ask(list(prompts)), strict=True))
    for (one, name, text, _), claims in zip(wanted, shown, strict=True):
        reply = replies[supporting(text, claims)]
        verdicts = None if reply is None else supported(reply, len(claims))
        _count(one, [verdicts])
        setattr(one, name, verdicts[::-1] if verdicts and backwards else verdicts)


def _ratings(wanted: list[tuple[Judgement, Item]], ask: Ask) -> None:
    """Both ratings of each context."""
    prompts = [relevance(item.question, item.context) for _, item in wanted]
    replies = iter(ask([prompt for own in prompts for prompt in own]))
    for (one, _), own in zip(wanted, prompts, strict=True):
        read = [None if reply is None else rating(reply) for reply in islice(replies, len(own))]
        _count(one, read)
        one.ratings = [value for value in read if value is not None]
