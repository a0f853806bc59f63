"""The text a model reads: context passages, one candidate, the question, the answer (ECS, section 3.1)."""

from collections.abc import Sequence
from dataclasses import dataclass

from secateur.core.errors import SecateurError

__all__ = ["Passage", "Question", "answer_text", "passage_line", "prompt", "require_pmi_q"]


@dataclass(frozen=True)
class Passage:
    """A candidate u, or a passage of the context C. The model never reads its id."""

    id: str
    text: str
    speaker: str | None = None
    date: str | None = None


@dataclass(frozen=True)
class Question:
    """A question q with its gold answer a*, or None."""

    id: str
    text: str
    answer: str | None = None


def passage_line(passage: Passage) -> str:
    """`{speaker} ({date}): {text}` without the missing parts; empty for a passage without text.

    >>> passage_line(Passage("1", "Hello.", "Ann", "May 4"))
    'Ann (May 4): Hello.'
    >>> passage_line(Passage("1", "Hello.", date="May 4"))
    '(May 4): Hello.'
    >>> passage_line(Passage("1", "  "))
    ''
    """
    text = passage.text.strip()
    head = " ".join(part for part in (passage.speaker, f"({passage.date})" if passage.date else None) if part)
    return f"{head}: {text}" if head and text else text


def answer_text(question: Question) -> str:
    """The continuation: a space and the answer; empty without an answer."""
    answer = (question.answer or "").strip()
    return f" {answer}" if answer else ""


def prompt(question: Question, passages: Sequence[Passage], layout: str) -> tuple[str, tuple[int, int] | None]:
    """The prompt up to `Answer:`, and the character span (start, end) of the question in it.

    The span is None if the question stands before the passages: its probability under them is then undefined.

    >>> prompt(Question("1", "Who?"), [], "passage_first")
    ('Question: Who?\\nAnswer:', (10, 14))
    >>> prompt(Question("1", "Who?"), [Passage("1", "It was Ann.")], "question_first")
    ('Question: Who?\\nIt was Ann.\\nAnswer:', None)
    """
    text = question.text.strip()
    lines = [line for line in map(passage_line, passages) if line]
    if layout == "question_first":
        return "\n".join([f"Question: {text}", *lines, "Answer:"]), None
    before = "\n".join([*lines, "Question: "])
    return f"{before}{text}\nAnswer:", (len(before), len(before) + len(text))


def require_pmi_q(cfg, what: str) -> None:
    """Raise SecateurError if the layout leaves the query likelihood undefined. cfg: an `ecs` option."""
    if cfg.layout != "passage_first":
        raise SecateurError(
            f"{what} needs pmi_q, which ecs.layout {cfg.layout} leaves undefined. Fix: ecs.layout=passage_first."
        )
