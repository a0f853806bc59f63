"""Read the files of data sets, plain or gzipped: JSON, JSON lines and text.

Messages name the file and the place in it. All problems of a file come in one message, so that it is repaired once.
"""

import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from secateur.core.errors import SecateurError, nearest

__all__ = [
    "STRING",
    "STRINGS_OR_NULL",
    "STRING_OR_NULL",
    "TEXT",
    "Form",
    "Forms",
    "Problems",
    "Unreadable",
    "form_problems",
    "json_lines",
    "json_objects",
    "of_type",
    "parse_json",
    "read_json",
    "read_lines",
    "read_records",
    "read_text",
    "unique_ids",
    "valid_objects",
]

SHOWN = 20  # problems spelled out; the rest are counted
NUL_FIX = "save UTF-16 as UTF-8, or remove them"
DIGITS = 20  # of the longest 64-bit number, with its sign
TYPES = {str: "a text", int: "a number", float: "a number", list: "a list", dict: "an object", type(None): "null"}

Form = tuple[str, Callable[[Any], bool]]  # what a value must be, in words, and its test
Forms = Mapping[str, Form]  # of each key


def of_type(*types: type) -> Form:
    """The form of values of these types; True is no number."""
    words = " or ".join(dict.fromkeys(TYPES[name] for name in types))
    return words, lambda value: isinstance(value, types) and not isinstance(value, bool)


STRING, STRING_OR_NULL = of_type(str), of_type(str, type(None))
TEXT: Form = ("a text that is not empty", lambda value: isinstance(value, str) and bool(value.strip()))
STRINGS_OR_NULL: Form = (
    "a list of texts, or null",
    lambda value: value is None or (isinstance(value, list) and all(isinstance(text, str) for text in value)),
)


class Problems:
    """The problems of one file, each a clause that names its line, record or key."""

    def __init__(self, path: Path, fix: str):
        self.path, self.fix, self.clauses = path, fix, []

    def add(self, where: str, *clauses: str) -> None:
        """Note problems of one place."""
        self.clauses += [f"{where}: {clause}" for clause in clauses]

    def stop(self) -> None:
        """Raise a SecateurError with every problem noted so far, or return."""
        if not self.clauses:
            return
        count = f"{len(self.clauses)} problem{'s' if len(self.clauses) > 1 else ''}"
        more = len(self.clauses) - SHOWN
        shown = self.clauses[:SHOWN] + [f"and {more} more"] * (more > 0)
        raise SecateurError(f"{self.path}: {count}; {'; '.join(shown)}. Fix: {self.fix}")


def read_text(path: Path) -> str:
    """Text of a UTF-8 file, gzipped or not. Raises SecateurError where it is missing, damaged, not UTF-8 or has NULs."""
    try:
        with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as stream:
            text = stream.read().decode("utf-8-sig")
    except FileNotFoundError as error:
        raise SecateurError(f"{path}: no such file. Fix: run the stage that fetches it, or correct the path") from error
    except UnicodeDecodeError as error:
        raise SecateurError(f"{path}: not UTF-8 at byte {error.start}. Fix: save the file as UTF-8") from error
    except (OSError, EOFError, zlib.error) as error:
        raise SecateurError(f"{path}: not readable ({error}). Fix: fetch or compress the file again") from error
    if nuls := text.count("\0"):
        line = text[: text.index("\0")].count("\n") + 1
        raise SecateurError(f"{path}: {nuls} NUL characters, the first in line {line}. Fix: {NUL_FIX}")
    return text


class Unreadable:
    """The place of a value that is not strict JSON. It has no allowed form, so it stops only who reads its key."""

    def __init__(self, fault: str):
        self.fault = fault

    def __repr__(self) -> str:
        return self.fault


def parse_json(text: str, lenient: bool = False) -> Any:
    """Value of a JSON text, read strictly.

    Raises ValueError for all that is not JSON (NaN too) and for what readers take in different ways: a repeated key, a
    number of more than 64 bits, half of a surrogate pair. lenient: such a value is `Unreadable` instead.
    """
    faults: list[str] = []

    def unreadable(fault: str) -> Unreadable:
        faults.append(fault)
        return Unreadable(fault)

    def whole(digits: str) -> int | Unreadable:
        if len(digits) > DIGITS or not -(2**63) <= int(digits) < 2**63:
            return unreadable(f"{digits:.40} has more than 64 bits")
        return int(digits)

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key, value in pairs:
            values[key] = unreadable(f"the key {key!r:.80} stands twice in an object") if key in values else value
        return values

    try:
        value = json.loads(
            text,
            parse_constant=lambda constant: unreadable(f"{constant} is not JSON"),
            parse_int=whole,
            object_pairs_hook=unique,
        )
        json.dumps(value, ensure_ascii=False, default=repr).encode()
    except UnicodeEncodeError:
        value = _without_half_pairs(value, unreadable)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if faults and not lenient:
        raise ValueError(faults[0])
    return value


def _without_half_pairs(value: Any, unreadable: Callable[[str], Unreadable]) -> Any:
    """The value with `Unreadable` for each text that UTF-8 cannot hold; a key that it cannot hold is left out."""
    if isinstance(value, list):
        return [_without_half_pairs(item, unreadable) for item in value]
    if isinstance(value, dict):
        items = ((key, _without_half_pairs(item, unreadable)) for key, item in value.items())
        return {key: item for key, item in items if isinstance(_without_half_pairs(key, unreadable), str)}
    if isinstance(value, str) and any("\ud800" <= character <= "\udfff" for character in value):
        return unreadable("half of a surrogate pair (\\ud800 to \\udfff) in a text")
    return value


def read_json(path: Path) -> Any:
    """Value of a JSON file; what only some keys hold wrongly is `Unreadable`.

    Raises SecateurError with file and line where the file is malformed.
    """
    return _parsed(path, read_text(path))


def _parsed(path: Path, text: str) -> Any:
    try:
        return parse_json(text, lenient=True)
    except ValueError as error:
        raise SecateurError(
            f"{path}: malformed JSON: {error}. Fix: correct that line, or fetch the file again"
        ) from error


def json_objects(path: Path, problems: Problems) -> list[tuple[str, Any]]:
    """(place, value) of each entry of a JSON list or of JSON lines, whatever the file's name ends in.

    Lines that are not JSON go to `problems`. Raises SecateurError for a file of one value that is no list.
    """
    text = read_text(path)
    if not text.strip() or _begins_with_object(text):
        return list(_lines(text, problems, lenient=True))
    value = _parsed(path, text)
    if not isinstance(value, list):
        raise SecateurError(
            f"{path}: expected a list of objects, found {type(value).__name__}. Fix: fetch the file again"
        )
    return [(f"object {n}", entry) for n, entry in enumerate(value)]


def _begins_with_object(text: str) -> bool:
    """Whether the first line that is not blank is a JSON object by itself."""
    start = text.lstrip()
    if not start.startswith("{"):
        return False
    try:
        return isinstance(json.loads(start.partition("\n")[0]), dict)
    except (ValueError, RecursionError):
        return False


def read_records(path: Path, forms: Forms) -> list[dict[str, Any]]:
    """Objects of a JSON list or of JSON lines, each with these keys; other keys are allowed and not judged.

    Raises SecateurError where the file holds anything else, or nothing.
    """
    problems = Problems(path, f"each object has {', '.join(forms)}; fetch the file again, or correct it")
    objects = json_objects(path, problems)
    if not objects and not problems.clauses:
        raise SecateurError(f"{path}: expected a list of objects, found an empty list. Fix: fetch the file again")
    for where, record in objects:
        problems.add(where, *form_problems(record, forms, extra=True))
    problems.stop()
    return [record for _, record in objects]


def json_lines(path: Path, problems: Problems, lenient: bool = False) -> Iterator[tuple[str, Any]]:
    """("line 3", value) of each line that is not blank; lines that are not JSON go to `problems`."""
    return _lines(read_text(path), problems, lenient)


def _lines(text: str, problems: Problems, lenient: bool) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            yield f"line {number}", parse_json(line, lenient)
        except ValueError as error:
            problems.add(f"line {number}", f"malformed JSON: {str(error).replace('line 1 ', '')}")


def form_problems(value: Any, forms: Forms, extra: bool = False) -> list[str]:
    """Clauses on the keys of an object that are missing, unknown, of another form or with NUL characters.

    A key whose form allows null may be absent. extra: whether keys without a form are allowed.
    """
    if not isinstance(value, dict):
        return [f"expected an object, found {value!r:.80}"]
    unknown = [] if extra else [f"unknown key {key!r}{nearest(key, forms)}" for key in value if key not in forms]
    unknown += [f"{key} holds NUL characters (\\u0000): {NUL_FIX}" for key in forms if _has_nul(value.get(key))]
    return unknown + [
        f"{key} is missing" if key not in value else f"{key} must be {words}, found {value[key]!r:.80}"
        for key, (words, holds) in forms.items()
        if not holds(value.get(key))
    ]


def _has_nul(value: Any) -> bool:
    """Whether a text, or any text of a list, has a NUL character."""
    return any(map(_has_nul, value)) if isinstance(value, list) else isinstance(value, str) and "\0" in value


def read_lines(path: Path, forms: Forms, problems: Problems) -> list[tuple[str, dict[str, Any]]]:
    """Valid objects of a file of JSON lines, each with its line; the faults of others go to `problems`.

    Values of `id` are unique. Raises SecateurError for an empty file.
    """
    objects = list(json_lines(path, problems))
    if not objects and not problems.clauses:
        problems.add("the file", "is empty")
        problems.stop()
    return valid_objects(objects, forms, problems)


def valid_objects(
    objects: Iterable[tuple[str, Any]], forms: Forms, problems: Problems, key: str = "id"
) -> list[tuple[str, dict[str, Any]]]:
    """Objects of this form whose `key` has a new value, each with its place; the faults of others go to `problems`."""
    valid, first = [], {}
    for where, value in objects:
        clauses = form_problems(value, forms)
        if not clauses and value[key] in first:
            clauses = [f"{key} {value[key]!r} is already used in {first[value[key]]}"]
        problems.add(where, *clauses)
        if not clauses:
            first[value[key]] = where
            valid.append((where, value))
    return valid


def unique_ids(path: Path, ids: list[str], repeats: frozenset[str] = frozenset()) -> list[str]:
    """The ids, where the second occurrence of an id in `repeats` becomes `id#2`.

    Raises SecateurError for any other id that occurs twice.
    """
    problems = Problems(path, "ids are unique within a file; give the later one another id")
    places: dict[str, list[int]] = {}
    unique = []
    for n, name in enumerate(ids):
        seen = places.setdefault(name, [])
        if seen and name not in repeats:
            problems.add(f"object {n}", f"id {name!r} is already used by object {seen[0]}")
        seen.append(n)
        unique.append(name if len(seen) == 1 else f"{name}#{len(seen)}")
    problems.stop()
    return unique
