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
    "STRING_OR_NULL",
    "TEXT",
    "Form",
    "Forms",
    "Problems",
    "form_problems",
    "json_lines",
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
    """Text of a UTF-8 file, gzipped or not. Raises SecateurError where it is missing, damaged or not UTF-8."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            return stream.read().decode("utf-8-sig")
    except FileNotFoundError as error:
        raise SecateurError(f"{path}: no such file. Fix: run the stage that fetches it, or correct the path") from error
    except UnicodeDecodeError as error:
        raise SecateurError(f"{path}: not UTF-8 at byte {error.start}. Fix: save the file as UTF-8") from error
    except (OSError, EOFError, zlib.error) as error:
        raise SecateurError(f"{path}: not readable ({error}). Fix: fetch or compress the file again") from error


def parse_json(text: str) -> Any:
    """Value of a JSON text, read strictly.

    Raises ValueError for all that is not JSON (NaN too) and for what readers take in different ways: a repeated key, a
    number of more than 64 bits, half of a surrogate pair.
    """
    try:
        value = json.loads(text, parse_constant=_no_constant, parse_int=_int64, object_pairs_hook=_unique_keys)
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ValueError("half of a surrogate pair (\\ud800 to \\udfff) in a text") from error
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return value


def _no_constant(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _int64(digits: str) -> int:
    if len(digits) > DIGITS or not -(2**63) <= int(digits) < 2**63:
        raise ValueError(f"{digits:.40} has more than 64 bits")
    return int(digits)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in pairs:
        if key in values:
            raise ValueError(f"the key {key!r:.80} stands twice in an object")
        values[key] = value
    return values


def read_json(path: Path) -> Any:
    """Value of a JSON file. Raises SecateurError with file and line where it is malformed."""
    try:
        return parse_json(read_text(path))
    except ValueError as error:
        raise SecateurError(
            f"{path}: malformed JSON: {error}. Fix: correct that line, or fetch the file again"
        ) from error


def read_records(path: Path, forms: Forms) -> list[dict[str, Any]]:
    """Objects of a JSON list, each with these keys; other keys are allowed.

    Raises SecateurError where the file holds anything else, or nothing.
    """
    records = read_json(path)
    if not isinstance(records, list) or not records:
        content = "an empty list" if records == [] else type(records).__name__
        raise SecateurError(f"{path}: expected a list of objects, found {content}. Fix: fetch the file again")
    problems = Problems(path, f"each object has {', '.join(forms)}; fetch the file again, or correct it")
    for n, record in enumerate(records):
        problems.add(f"object {n}", *form_problems(record, forms, extra=True))
    problems.stop()
    return records


def json_lines(path: Path, problems: Problems) -> Iterator[tuple[str, Any]]:
    """("line 3", value) of each line that is not blank; lines that are not JSON go to `problems`."""
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            yield f"line {number}", parse_json(line)
        except ValueError as error:
            problems.add(f"line {number}", f"malformed JSON: {str(error).replace('line 1 ', '')}")


def form_problems(value: Any, forms: Forms, extra: bool = False) -> list[str]:
    """Clauses on the keys of an object that are missing, unknown or of another form.

    A key whose form allows null may be absent. extra: whether keys without a form are allowed.
    """
    if not isinstance(value, dict):
        return [f"expected an object, found {value!r:.80}"]
    unknown = [] if extra else [f"unknown key {key!r}{nearest(key, forms)}" for key in value if key not in forms]
    return unknown + [
        f"{key} is missing" if key not in value else f"{key} must be {words}, found {value[key]!r:.80}"
        for key, (words, holds) in forms.items()
        if not holds(value.get(key))
    ]


def read_lines(
    path: Path, forms: Forms, problems: Problems, key: str = "id", extra: bool = False
) -> list[tuple[str, dict[str, Any]]]:
    """Valid objects of a file of JSON lines, each with its line; the faults of others go to `problems`.

    key: the key whose values are unique; extra: whether keys without a form are allowed. Raises SecateurError for an
    empty file.
    """
    objects = list(json_lines(path, problems))
    if not objects and not problems.clauses:
        problems.add("the file", "is empty")
        problems.stop()
    return valid_objects(objects, forms, problems, key, extra)


def valid_objects(
    objects: Iterable[tuple[str, Any]], forms: Forms, problems: Problems, key: str = "id", extra: bool = False
) -> list[tuple[str, dict[str, Any]]]:
    """Objects of this form whose `key` has a new value, each with its place; the faults of others go to `problems`."""
    valid, first = [], {}
    for where, value in objects:
        clauses = form_problems(value, forms, extra)
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
