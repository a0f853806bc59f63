"""The one error a user is meant to read: what is wrong, where, what is allowed, how to fix it; and one that may pass."""

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["SecateurError", "Unusable", "nearest"]


class SecateurError(Exception):
    """A problem the user can act on. Shown without a traceback; the exit code is 2."""


class Unusable(Exception):
    """An answer that may be better the next time; `wait` is what the endpoint asks for, in seconds."""

    def __init__(self, why: str, wait: float = 0.0) -> None:
        super().__init__(why)
        self.wait = wait


def nearest(word: str, allowed: Iterable[str]) -> str:
    """`; did you mean 'top_k'?` or nothing, for the end of a message about an unknown name."""
    match = get_close_matches(word, list(allowed), n=1, cutoff=0.5)
    return f"; did you mean {match[0]!r}?" if match else ""
