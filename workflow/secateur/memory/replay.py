"""Replay of a session, question by question: the evidence that each prompt adds, and what its reader then has."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from secateur.memory.transcript import Transcript

__all__ = ["Step", "Unit", "replay", "within"]


@dataclass(frozen=True)
class Unit:
    """A row of a context: text, tokens, source passage, and the symbols and edges that it needs."""

    text: str
    tokens: int
    passage: str
    whole: bool
    needs: frozenset[tuple] = frozenset()


@dataclass(frozen=True)
class Step:
    """One question of a session.

    block: the units of its context, were it alone; fresh: the units that its prompt adds; held: all units that its reader
    then has; reused: share of the needed symbols and edges that the session had; grown: number of new ones.
    """

    question_id: str
    block: list[Unit]
    fresh: list[Unit]
    held: list[Unit]
    reused: float | None
    grown: int


def replay(
    questions: Sequence[str], blocks: Mapping[str, Sequence[Sequence[Unit]]], window: int, most: int | None
) -> Iterator[Step]:
    """The steps of one session, in order.

    blocks: contexts of each question, the largest first; window: tokens of shown evidence that the reader keeps; most:
    tokens of new evidence in a later prompt, where some context is that small.
    """
    transcript, seen = Transcript(window), set()
    for question in questions:
        sizes = [[(unit, unit.tokens) for unit in block] for block in blocks.get(question, ())] or [[]]
        due = transcript.due(sizes, most)
        fresh = transcript.show(due)
        needed = set().union(*(unit.needs for unit, _ in due))
        reused = len(needed & seen) / len(needed) if needed else None
        grown = len(needed - seen)
        seen |= needed
        yield Step(question, [unit for unit, _ in sizes[0]], fresh, list(transcript), reused, grown)


def within(sizes: Sequence[Sequence[Unit]], tokens: int, placement: str) -> list[Unit]:
    """A question's context cut to a number of tokens: what a prompt without memory shows at the same cost.

    sizes: its contexts, the largest first, each placed `best_first` or `best_last`. Units of smaller contexts rank higher;
    a unit that does not fit is skipped.
    """
    step = -1 if placement == "best_last" else 1
    best_first = dict.fromkeys(unit for block in reversed(sizes) for unit in block[::step])
    chosen, used = set(), 0
    for unit in best_first:
        if used + unit.tokens <= tokens:
            chosen.add(unit)
            used += unit.tokens
    return [unit for unit in dict.fromkeys(unit for block in sizes for unit in block) if unit in chosen]
