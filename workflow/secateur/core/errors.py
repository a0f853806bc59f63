"""The error a user reads: what is wrong, where, what is allowed, the fix. And the error that a second try may pass."""

import errno
from collections.abc import Iterable
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path

__all__ = ["DISK", "EXTRAS", "PIPELINE", "SecateurError", "Unusable", "absent", "explained", "nearest", "needs"]
__all__ += ["one_of", "refused"]

ROOM = "free space there; `secateur clean` lists what can be deleted"
RIGHT = "give yourself the right to read and write there, or work in a workspace of your own, with SECATEUR_CACHE in a folder of yours"
AWAY = "move it away: another type of file is needed there"
FIXES = {  # by the error number of the file system
    errno.ENOSPC: ROOM,
    errno.EDQUOT: ROOM,
    errno.EFBIG: "raise the limit on the size of files (ulimit -f)",
    errno.EACCES: RIGHT,
    errno.EPERM: RIGHT,
    errno.EROFS: "work in a workspace on a disk that can be written to",
    errno.ENOTDIR: AWAY,
    errno.EISDIR: AWAY,
    errno.EEXIST: AWAY,
    errno.ENOENT: "correct the path; commands run in a clone or a workspace",
}
DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EPERM, errno.EROFS}  # never a fault of the code
PIPELINE = {
    *("snakemake", "mlflow", "rank_bm25", "nltk", "rouge_score", "ir_measures"),
    *("defusedxml", "networkx", "matplotlib", "jinja2"),
}
EXTRAS = {  # modules that `import secateur` does without, and what they do
    "pipeline": (PIPELINE, "the pipeline needs"),
    "documents": ({"selectolax", "pypdfium2", "docx"}, "reads this kind of document"),
    "graph": ({"spacy", "faiss"}, "finds triples in texts and clusters their names"),
    "endpoints": ({"httpx"}, "asks endpoints"),
}


class SecateurError(Exception):
    """A problem that the user can solve. Shown without a traceback; the exit code is 2."""


class Unusable(Exception):
    """A reply that a second request may better. wait: seconds that the endpoint asks for."""

    def __init__(self, why: str, wait: float = 0.0) -> None:
        super().__init__(why)
        self.wait = wait


def nearest(word: str, allowed: Iterable[str]) -> str:
    """`; did you mean 'top_k'?`, or an empty text: the end of a message about an unknown name."""
    match = get_close_matches(word, list(allowed), n=1, cutoff=0.5)
    return f"; did you mean {match[0]!r}?" if match else ""


def one_of(what: str, name: str, names: Iterable[str]) -> str:
    """The name, if it is one of `names`. Raises SecateurError with the allowed names and the nearest for another."""
    allowed = list(dict.fromkeys(names))
    if name not in allowed:
        raise SecateurError(f"{what} {name!r}: allowed: {', '.join(allowed)}{nearest(name, allowed)}")
    return name


def refused(error: OSError) -> str:
    """The message for an error of the file system: path, error, fix.

    >>> refused(OSError(errno.ENOSPC, "No space left on device", "results/a.parquet"))
    'results/a.parquet: No space left on device. Fix: free space there; `secateur clean` lists what can be deleted'
    """
    fix = FIXES.get(error.errno, "`secateur doctor` names what is wrong on this machine")
    if error.errno is None:  # a network error
        return f"{error}. Fix: {fix}"
    return f"{error.filename or Path.cwd()}: {error.strerror}. Fix: {fix}"


def explained(error: BaseException) -> str:
    """The message of an error, by `refused` where the file system raised it."""
    return refused(error) if isinstance(error, OSError) else str(error)


def absent(error: ModuleNotFoundError) -> SecateurError | None:
    """The message for a module of an extra that is not installed; None for another module.

    >>> str(absent(ModuleNotFoundError(name="mlflow.entities")))
    "the package mlflow is not installed, which the pipeline needs. Fix: pip install 'secateur[pipeline]'; in a clone, make setup"
    """
    name = (error.name or "").partition(".")[0]
    for extra, (modules, does) in EXTRAS.items():
        if name in modules:
            fix = f"pip install 'secateur[{extra}]'; in a clone, make setup"
            return SecateurError(f"the package {name} is not installed, which {does}. Fix: {fix}")
    return None


def needs(module: str) -> None:
    """Raise `absent`'s error where a module that another process runs is not installed."""
    if find_spec(module) is None and (error := absent(ModuleNotFoundError(name=module))):
        raise error
