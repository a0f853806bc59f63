"""All problems of one file in one message, so that a user repairs a file once and not line by line."""

from pathlib import Path

from secateur.core.errors import SecateurError

__all__ = ["SHOWN", "Problems"]

SHOWN = 20  # problems spelled out; the rest are counted


class Problems:
    """What is wrong with one file, each problem a clause that names its line, record or key."""

    def __init__(self, path: Path, fix: str):
        self.path, self.fix, self.found = path, fix, []

    def add(self, where: str, what: str) -> None:
        """Note one problem."""
        self.found.append(f"{where}: {what}")

    def stop(self) -> None:
        """Raise a SecateurError with every problem noted so far, or return."""
        if not self.found:
            return
        count = f"{len(self.found)} problem{'s' if len(self.found) > 1 else ''}"
        rest = len(self.found) - SHOWN
        more = [f"and {rest} more"] if rest > 0 else []
        raise SecateurError(f"{self.path}: {count}; {'; '.join(self.found[:SHOWN] + more)}. Fix: {self.fix}")
