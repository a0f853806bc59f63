"""The prompt: instructions, context, question; and the cut that fits it to a window."""

from bisect import bisect_left
from collections.abc import Callable, Sequence

from secateur.core.errors import SecateurError

__all__ = ["compose", "units_cut"]


def compose(instructions: str, rows: Sequence[str], question: str) -> str:
    """The prompt, in the same words for every system; an empty context adds nothing.

    rows: of the context as sent, separators included.

    >>> compose("Be brief.", ["It was Ann.\\n", "She left."], "Who?")
    'Be brief.\\n\\nIt was Ann.\\nShe left.\\n\\nQuestion: Who?'
    """
    return "\n\n".join(part for part in (instructions.strip(), "".join(rows), f"Question: {question.strip()}") if part)


def units_cut(count: int, size: Callable[[int], int], window: int, name: str) -> int:
    """How many units to cut, from the first (farthest from the question), so that the prompt fits the window.

    size(cut): tokens of the prompt without the first `cut` units. Raises SecateurError, with the question's name, where
    the prompt does not fit without any context.
    """
    cut = bisect_left(range(count + 1), True, key=lambda cut: size(cut) <= window)
    if cut > count:
        raise SecateurError(
            f"question {name}: its prompt has {size(count)} tokens without any context, more than the {window} that "
            "answer.window and lm.window leave. Fix: shorter answer.instructions, or a higher answer.window."
        )
    return cut
