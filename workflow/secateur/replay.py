"""A session gone through question by question: what each prompt still has to carry, and what its reader then holds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from secateur.transcript import Transcript

__all__ = ["Step", "Unit", "replay"]


@dataclass(frozen=True)
class Unit:
    """A line of an evidence block: its text and tokens, the passage it comes from, and the symbols and edges it needs."""

    text: str
    tokens: int
    passage: str
    whole: bool
    needs: frozenset[tuple] = frozenset()


@dataclass(frozen=True)
class Step:
    """One question of a session. fresh: the units that its prompt carries; held: all that its reader then has before it;
    reused: share of the needed symbols and edges that the session knew; grown: how many it learns."""

    question_id: str
    block: list[Unit]
    fresh: list[Unit]
    held: list[Unit]
    reused: float | None
    grown: int


def replay(questions: Sequence[str], blocks: Mapping[str, Sequence[Unit]], window: int) -> Iterator[Step]:
    """The steps of one session, in order. window: tokens of shown evidence that the reader keeps."""
    transcript, known = Transcript(window), set()
    for question in questions:
        block = list(blocks.get(question, ()))
        fresh = transcript.show((unit, unit.tokens) for unit in block)
        needed = set().union(*(unit.needs for unit in block))
        reused = len(needed & known) / len(needed) if needed else None
        grown = len(needed - known)
        known |= needed
        yield Step(question, block, fresh, list(transcript), reused, grown)
