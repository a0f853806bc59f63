"""Read what loaders are given, plain or gzipped: JSON, JSON lines and texts, with messages that name the place."""

import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from secateur.core.errors import SecateurError, nearest
from secateur.datasets.problems import Problems

__all__ = [
    "TEXT",
    "Forms",
    "check_fields",
    "form_problems",
    "json_lines",
    "parse_json",
    "read_json",
    "read_records",
    "read_text",
    "sound",
    "unique_ids",
    "well_formed",
]

NAMES = {str: "a text", int: "a number", float: "a number", list: "a list", dict: "an object", type(None): "null"}

DIGITS = 20  # of the longest 64-bit number, with its sign
Forms = Mapping[str, tuple[str, Callable[[Any], bool]]]  # what a value must be, in words, and the test for it
TEXT = ("a text that is not empty", lambda v: isinstance(v, str) and bool(v.strip()))


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, gzipped or not. Raises SecateurError where it is missing, damaged or not UTF-8."""
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
    """A JSON value. Raises ValueError for anything that is not JSON, NaN included, and for what a reader would take in
    one of several ways: a key that stands twice in an object, a number of more than 64 bits."""
    try:
        value = json.loads(text, parse_constant=_refuse, parse_int=_whole, object_pairs_hook=_once)
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ValueError("half of a surrogate pair (\\ud800 to \\udfff) in a text") from error
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return value


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _whole(digits: str) -> int:
    if len(digits) > DIGITS or not -(2**63) <= int(digits) < 2**63:
        raise ValueError(f"{digits:.40} has more than 64 bits")
    return int(digits)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(
            f"the key {next(name for name in names if names.count(name) > 1)!r:.80} stands twice in an object"
        )
    return found


def read_json(path: Path) -> Any:
    """The value of a JSON file. Raises SecateurError with file and line where it is malformed."""
    try:
        return parse_json(read_text(path))
    except ValueError as error:
        raise SecateurError(
            f"{path}: malformed JSON: {error}. Fix: correct that line, or fetch the file again"
        ) from error


def read_records(path: Path, fields: Mapping[str, tuple[type, ...]]) -> list[dict[str, Any]]:
    """A JSON list of objects that have these fields with these types.

    Raises SecateurError where the file holds anything else, or nothing.
    """
    records = read_json(path)
    if not isinstance(records, list) or not records:
        found = "an empty list" if records == [] else type(records).__name__
        raise SecateurError(f"{path}: expected a list of objects, found {found}. Fix: fetch the file again")
    problems = Problems(path, f"each object has {', '.join(fields)}; fetch the file again, or correct it")
    for n, record in enumerate(records):
        for clause in check_fields(record, fields):
            problems.add(f"object {n}", clause)
    problems.stop()
    return records


def check_fields(record: Any, fields: Mapping[str, tuple[type, ...]]) -> list[str]:
    """What is missing or has the wrong type, each in a clause; a field that may be null may be absent."""
    if not isinstance(record, dict):
        return [f"expected an object, found {record!r:.80}"]
    return [
        f"{name} is missing" if name not in record else f"{name} must be {_either(types)}, found {record[name]!r:.80}"
        for name, types in fields.items()
        if not _is_a(record.get(name), types)
    ]


def _is_a(value: Any, types: tuple[type, ...]) -> bool:
    return isinstance(value, types) and not isinstance(value, bool)  # True is an int to Python, not to a reader


def _either(types: tuple[type, ...]) -> str:
    return " or ".join(dict.fromkeys(NAMES[kind] for kind in types))


def unique_ids(path: Path, ids: list[str], repeats: frozenset[str] = frozenset()) -> list[str]:
    """The ids, where the second occurrence of one in `repeats` becomes `id#2`.

    Raises SecateurError for any other id that occurs twice.
    """
    problems = Problems(path, "ids are unique within a file; give the later one another id")
    first: dict[str, int] = {}
    seen: dict[str, int] = {}
    unique = []
    for n, name in enumerate(ids):
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1 and name not in repeats:
            problems.add(f"object {n}", f"id {name!r} is already used by object {first[name]}")
        first.setdefault(name, n)
        unique.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    problems.stop()
    return unique


def json_lines(path: Path, problems: Problems) -> Iterator[tuple[str, Any]]:
    """("line 3", its JSON value) of each line that is not blank; what is no JSON goes to `problems`."""
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            yield f"line {number}", parse_json(line)
        except ValueError as error:
            problems.add(f"line {number}", f"malformed JSON: {str(error).replace('line 1 ', '')}")


def form_problems(value: Any, forms: Forms) -> list[str]:
    """The ways in which a value breaks the form, each in a clause."""
    if not isinstance(value, dict):
        return [f"expected an object, found {value!r:.80}"]
    found = [f"unknown key {key!r}{nearest(key, forms)}" for key in value if key not in forms]
    return found + [
        f"{key} is missing" if key not in value else f"{key} must be {form}, found {value[key]!r:.80}"
        for key, (form, holds) in forms.items()
        if not holds(value.get(key))
    ]


def well_formed(
    path: Path, forms: Forms, problems: Problems, key: str = "id", others: bool = False
) -> list[tuple[str, dict[str, Any]]]:
    """The well-formed objects of a file of JSON lines, each with its line; what is wrong with the others goes to
    `problems`, a repeated `key` too. others: keys that are in no form are passed over. An empty file stops at once."""
    objects = list(json_lines(path, problems))
    if not objects and not problems.found:
        problems.add("the file", "is empty")
        problems.stop()
    known = [
        (where, {name: one for name, one in value.items() if name in forms})
        if others and isinstance(value, dict)
        else (where, value)
        for where, value in objects
    ]
    return sound(known, forms, problems, key)


def sound(
    objects: Iterable[tuple[str, Any]], forms: Forms, problems: Problems, key: str = "id"
) -> list[tuple[str, dict[str, Any]]]:
    """The objects of this form whose `key` no earlier one has; what is wrong with the others goes to `problems`."""
    good, first = [], {}
    for where, value in objects:
        clauses = form_problems(value, forms)
        if not clauses and value[key] in first:
            clauses = [f"{key} {value[key]!r} is already used in {first[value[key]]}"]
        for clause in clauses:
            problems.add(where, clause)
        if not clauses:
            first[value[key]] = where
            good.append((where, value))
    return good
