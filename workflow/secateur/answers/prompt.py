"""What a model is asked: instructions, context, question; and how much of a context its window holds."""

from bisect import bisect_left
from collections.abc import Callable, Sequence

from secateur.core.errors import SecateurError

__all__ = ["compose", "units_cut"]


def compose(instructions: str, rows: Sequence[str], question: str) -> str:
    """The same words for every system, whatever its context; nothing stands for an empty one. rows: of the context as it
    is sent, what separates them included.

    >>> compose("Be brief.", ["It was Ann.\\n", "She left."], "Who?")
    'Be brief.\\n\\nIt was Ann.\\nShe left.\\n\\nQuestion: Who?'
    """
    return "\n\n".join(part for part in (instructions.strip(), "".join(rows), f"Question: {question.strip()}") if part)


def units_cut(count: int, size: Callable[[int], int], window: int, name: str) -> int:
    """How many of `count` units must go, from the first on, which is the farthest from the question, so that the prompt
    fits. size: tokens of the prompt without the first so many units.

    Raises SecateurError, with the question's name, where it does not fit without any context.
    """
    found = bisect_left(range(count + 1), True, key=lambda cut: size(cut) <= window)
    if found > count:
        raise SecateurError(
            f"question {name}: its prompt has {size(count)} tokens without any context, more than the {window} that "
            "answer.window and lm.window leave. Fix: shorter answer.instructions, or a higher answer.window."
        )
    return found
