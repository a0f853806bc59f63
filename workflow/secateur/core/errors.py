"""The one error a user is meant to read: what is wrong, where, what is allowed, how to fix it; and one that may pass."""

import errno
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

__all__ = ["DISK", "SecateurError", "Unusable", "nearest", "refused"]

ROOM = "make room there; `secateur gc` lists what no result rests on"
RIGHT = "give yourself the right to read and write there, or work in a clone of your own"
AWAY = "move it away, another kind of file is needed there"
FIXES = {  # of what the file system refuses; ours are the paths, so what is in the way is not
    errno.ENOSPC: ROOM,
    errno.EDQUOT: ROOM,
    errno.EFBIG: "raise the limit on the size of files (ulimit -f)",
    errno.EACCES: RIGHT,
    errno.EPERM: RIGHT,
    errno.EROFS: "work in a clone on a disk that can be written to",
    errno.ENOTDIR: AWAY,
    errno.EISDIR: AWAY,
    errno.EEXIST: AWAY,
    errno.ENOENT: "correct the path; commands are given in the root of a clone",
}
DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EPERM, errno.EROFS}  # never the code's fault


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


def refused(error: OSError) -> str:
    """What to say of an error of the file system: where, what it says, and what to do.

    >>> refused(OSError(errno.ENOSPC, "No space left on device", "results/a.parquet"))
    'results/a.parquet: No space left on device. Fix: make room there; `secateur gc` lists what no result rests on'
    """
    fix = FIXES.get(error.errno, "`secateur doctor` says what is wrong on this machine")
    if error.errno is None:  # of a network
        return f"{error}. Fix: {fix}"
    return f"{error.filename or Path.cwd()}: {error.strerror}. Fix: {fix}"
