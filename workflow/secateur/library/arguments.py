"""Arguments of the public functions: one message says what was found, what is allowed, and a call that works."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from numbers import Integral, Real
from pathlib import Path
from reprlib import repr as short
from typing import Any

from secateur.core.errors import SecateurError, absent, refused
from secateur.core.threads import limited

__all__ = ["as_texts", "check", "is_amount", "is_count", "is_folder", "is_mapping", "is_text", "reported"]

SURROGATE = re.compile("[\ud800-\udfff]")  # half a character, which no tokenizer reads


def check(fits: bool, name: str, value: Any, allowed: str, fix: str) -> None:
    """Raise SecateurError for an argument that does not fit."""
    if not fits:
        raise SecateurError(f"{name}: found {' '.join(short(value).split())}; allowed: {allowed}. Fix: {fix}")


def is_text(value: Any) -> bool:
    """Whether a value is a string of whole characters."""
    return isinstance(value, str) and (value.isascii() or not SURROGATE.search(value))


def is_count(value: Any) -> bool:
    """Whether a value is a whole number, 1 or more."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1


def is_amount(value: Any) -> bool:
    """Whether a value is a finite number, 0 or more."""
    return isinstance(value, Real) and not isinstance(value, bool) and 0 <= float(value) < math.inf


def is_mapping(value: Any) -> bool:
    """Whether a value is a mapping whose keys are texts."""
    return isinstance(value, Mapping) and all(map(is_text, value))


def is_folder(value: Any) -> bool:
    """Whether a value can be the path of a folder."""
    return isinstance(value, str | Path) and str(value) != "" and "\0" not in str(value)


def as_texts(name: str, value: Any, allowed: str, fix: str) -> tuple[str, ...]:
    """The texts of a list or another iterable; a string alone is refused, since its items are characters."""
    check(isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping), name, value, allowed, fix)
    texts = tuple(value)
    for number, text in enumerate(texts):
        check(is_text(text), f"{name}[{number}]", text, "a text", fix)
    return texts


@contextmanager
def reported() -> Iterator[None]:
    """Turn errors of the file system, and of packages that only the pipeline needs, into a SecateurError; limit threads."""
    try:
        with limited():
            yield
    except OSError as error:
        raise SecateurError(refused(error)) from error
    except ModuleNotFoundError as error:
        if (message := absent(error)) is None:
            raise
        raise message from error
