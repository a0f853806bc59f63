"""GraphRAG-Bench's protocol (Xiang et al. 2025, section 4) over a judge's verdicts on statements.

A judge breaks an answer and the gold answer into statements, and says which follow from which text. Of these verdicts:

    facts         F1 of the answer's statements that follow from the gold answer (TP, else FP) and of the gold answer's that
                  do not follow from the answer (FN); ACC = .75 of it + .25 (1 + cosine of both answers) / 2
    coverage      share of the gold answer's statements that follow from the answer
    faithfulness  share of the answer's statements that follow from the context that the reader got
    evidence      share of the gold evidence that follows from that context
    relevance     mean of two ratings of that context
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from secateur.judging.prompts import rating, relevance, split, statements, supported, supporting

__all__ = ["Ask", "Item", "Judgement", "grounded", "judged"]

Ask = Callable[[Sequence[str]], list[str | None]]  # prompts to replies; None for a prompt that the window cannot hold
Verdicts = list[bool] | None  # None: could not be read


@dataclass(frozen=True)
class Item:
    """An answer to judge. context: what the reader read; evidence: gold passages; refused: the reader gave no answer.

    reads: whether its system gives contexts, an empty one of which holds nothing; a closed book has none to judge.
    """

    question: str
    answer: str
    gold: str
    context: str
    evidence: tuple[str, ...]
    refused: bool = False
    reads: bool = False

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts to split into statements: the gold answer, and the answer if there is one."""
        return (self.gold, self.answer) if self.answered else (self.gold,)

    @property
    def answered(self) -> bool:
        """Whether there is an answer."""
        return bool(self.answer.strip()) and not self.refused


@dataclass
class Judgement:
    """The verdicts on one item. asked: number of verdicts; unread: how many of them could not be read.

    right: statements of the answer that follow from the gold answer; covered: statements of the gold answer that follow
    from the answer; grounded: statements of the answer that follow from the context; supported: gold evidence that does.
    """

    right: Verdicts = None
    covered: Verdicts = None
    grounded: Verdicts = None
    supported: Verdicts = None
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
        """All figures that could be read; a share of no statements is undefined and left out."""
        shares = {"coverage": self.covered, "faithfulness": self.grounded, "evidence": self.supported}
        values = {name: sum(verdicts) / len(verdicts) for name, verdicts in shares.items() if verdicts}
        values |= {"facts": self.facts} if self.facts is not None else {}
        values |= {"relevance": sum(self.ratings) / len(self.ratings)} if self.ratings else {}
        return values | ({"unread": self.unread / self.asked} if self.asked else {})

    def count(self, replies: Iterable[object]) -> None:
        """Count replies, and those that could not be read (None)."""
        for reply in replies:
            self.asked += 1
            self.unread += reply is None


@dataclass(frozen=True)
class _Check:
    """Statements to check against a text; the verdicts go to a field of a judgement."""

    judgement: Judgement
    field: str
    text: str
    claims: tuple[str, ...]


def judged(items: Sequence[Item], ask: Ask, *, backwards: bool = False) -> list[Judgement]:
    """A judgement of each item. backwards: statements are shown in the opposite order; verdicts are returned in order."""
    judgements = [Judgement() for _ in items]
    split_texts = _split([(item.question, text) for item in items for text in item.texts], ask)
    checks: list[_Check] = []
    for item, judgement in zip(items, judgements, strict=True):
        gold = split_texts[item.question, item.gold]
        claims = split_texts[item.question, item.answer] if item.answered else []
        judgement.count([gold, claims] if item.answered else [gold])
        if claims == []:  # a refusal, or an answer without a statement, states nothing right, and covers nothing
            judgement.right, judgement.covered = [], [False] * len(gold) if gold else None
        elif gold and claims:
            checks.append(_Check(judgement, "right", item.gold, tuple(claims)))
            checks.append(_Check(judgement, "covered", item.answer, tuple(gold)))
        if item.context and claims:
            checks.append(_Check(judgement, "grounded", item.context, tuple(claims)))
        if item.context and item.evidence:
            checks.append(_Check(judgement, "supported", item.context, item.evidence))
        if item.reads and not item.context:  # nothing follows from an empty context
            judgement.grounded = [False] * len(claims or ())
            judgement.supported, judgement.ratings = [False] * len(item.evidence), [0.0]
    _verdicts(checks, ask, backwards)
    _ratings([(judgement, item) for judgement, item in zip(judgements, items, strict=True) if item.context], ask)
    return judgements


def grounded(items: Sequence[Item], ask: Ask) -> list[float | None]:
    """Faithfulness alone. 0 for an answer that states nothing and for an empty context; None for an unreadable reply."""
    judgements, checks = [Judgement() for _ in items], []
    supportable = [item for item in items if item.answered and item.context]
    texts = _split([(item.question, item.answer) for item in supportable], ask)
    for item, judgement in zip(items, judgements, strict=True):
        if claims := texts.get((item.question, item.answer)):
            checks += [_Check(judgement, "grounded", item.context, tuple(claims))] if item.context else []
    _verdicts(checks, ask, backwards=False)
    return [
        judgement.figures.get("faithfulness")
        if item.answered and item.context and texts[item.question, item.answer] != []
        else 0.0
        for item, judgement in zip(items, judgements, strict=True)
    ]


def _split(texts: list[tuple[str, str]], ask: Ask) -> Mapping[tuple[str, str], list[str] | None]:
    """(question, text) -> the text's statements; None where the reply cannot be read."""
    distinct = list(dict.fromkeys(texts))
    replies = ask([split(*pair) for pair in distinct])
    read = (None if reply is None else statements(reply) for reply in replies)
    return dict(zip(distinct, read, strict=True))


def _verdicts(checks: list[_Check], ask: Ask, backwards: bool) -> None:
    """Ask which statements follow from which text; equal prompts are asked once."""
    shown = [check.claims[::-1] if backwards else check.claims for check in checks]
    prompts = [supporting(check.text, claims) for check, claims in zip(checks, shown, strict=True)]
    distinct = list(dict.fromkeys(prompts))
    replies = dict(zip(distinct, ask(distinct), strict=True))
    for check, prompt in zip(checks, prompts, strict=True):
        reply = replies[prompt]
        verdicts = None if reply is None else supported(reply, len(check.claims))
        check.judgement.count([verdicts])
        setattr(check.judgement, check.field, verdicts[::-1] if verdicts and backwards else verdicts)


def _ratings(contexts: list[tuple[Judgement, Item]], ask: Ask) -> None:
    """Two ratings of the relevance of each context."""
    prompts = [relevance(item.question, item.context) for _, item in contexts]
    replies = iter(ask([prompt for pair in prompts for prompt in pair]))
    for (judgement, _), pair in zip(contexts, prompts, strict=True):
        read = [None if reply is None else rating(reply) for reply in islice(replies, len(pair))]
        judgement.count(read)
        judgement.ratings = [value for value in read if value is not None]
