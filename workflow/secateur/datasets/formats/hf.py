"""Tables of a hub's data set or of your own: Parquet, JSON lines or CSV files with a map of columns.

`columns` maps a key of your own data (docs/data.md) to the column with its values, or to a field of a column (`answer:
answers.text`). A row whose text is a list holds as many passages; other lists of that length are split with it. Without
an id, equal texts of a document are one passage. Of a list of answers the first counts. Files are read in the order in
which they are named, those of a pattern sorted. A file called train, validation or test
(`train-00000-of-00002.parquet`) sets the split of its questions.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from secateur.core.errors import SecateurError, nearest
from secateur.core.fields import key
from secateur.datasets.formats._objects import PASSAGE, QUESTION, corpus_of, questions_of
from secateur.datasets.reading import Forms, Problems, valid_objects
from secateur.datasets.schema import Corpus, Files, Questions, Request

CORPUS_FILES, QUESTION_FILES = ("table", ...), ("table", ...)
READ = {".parquet": pl.read_parquet, ".jsonl": pl.read_ndjson, ".csv": pl.read_csv}
SPLITS = {"train": "train", "validation": "dev", "dev": "dev", "test": "test"}
NAMES = ("id", "doc", "group", "session", "evidence")  # keys of names: a number is read as its digits
LISTS = ("evidence", "evidence_text", "hops", "grades")  # keys of lists: a single value is read as a list of one


@dataclass(frozen=True)
class Settings:
    """The map of columns."""

    columns: dict[str, str] = key("a key of your own data (docs/data.md): the column, or COLUMN.FIELD, that holds it")


def load_corpus(files: Files, settings: Settings) -> Corpus:
    """The passages of all files.

    Raises SecateurError for a file that is no table, a missing column, and with all problems of the rows.
    """
    problems, objects, seen = _problems(files, PASSAGE), [], set()
    for where, row in _rows(files, settings, PASSAGE, "text"):
        for passage in _passages(row):
            if "id" not in settings.columns:
                content = repr((passage.get("doc"), passage["text"]))  # repr: invalid values may not be hashable
                if content in seen:
                    continue
                seen.add(content)
                passage["id"] = f"p{len(objects)}"
            objects.append((where, passage))
    return corpus_of(valid_objects(objects, PASSAGE, problems), problems)


def load_questions(request: Request, files: Files, passages: pl.DataFrame, settings: Settings) -> Questions:
    """The questions of all files and their evidence. Raises SecateurError as `load_corpus` does."""
    problems, objects = _problems(files, QUESTION), []
    for where, row in _rows(files, settings, QUESTION, "question"):
        question = {key: _as_list(value) if key in LISTS else _first(value) for key, value in row.items()}
        question.setdefault("id", f"q{len(objects)}")
        stem = re.split(r"[^a-z]", where, maxsplit=1)[0]  # hubs begin a file's name with its split
        question["split"] = SPLITS.get(question.get("split") or stem, question.get("split"))
        objects.append((where, question))
    return questions_of(request, valid_objects(objects, QUESTION, problems), passages, problems)


def _rows(files: Files, settings: Settings, forms: Forms, required: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """("NAME row 3", values by key) of each row of each file, rows from 0."""
    columns = settings.columns
    clauses = [f"{key} is unknown{nearest(key, forms)}" for key in columns if key not in forms]
    if clauses := clauses + [f"{required} is missing"] * (required not in columns):
        raise SecateurError(
            f"format hf: columns: {'; '.join(clauses)}. "
            f"Fix: name the column of {required}, and of any of {', '.join(forms)}"
        )
    for path in files.values():
        table = _table(path)
        values = {key: _values(path, table, column) for key, column in columns.items()}
        values |= {key: [_as_name(value) for value in values[key]] for key in NAMES if key in values}
        for n, row in enumerate(zip(*values.values(), strict=True)):
            yield f"{path.name} row {n}", dict(zip(values, row, strict=True))


def _table(path: Path) -> pl.DataFrame:
    if path.suffix not in READ:
        raise SecateurError(f"{path}: not a table. Fix: name a file that ends in {', '.join(READ)}")
    try:
        return READ[path.suffix](path)
    except (pl.exceptions.PolarsError, OSError) as error:
        cause = " ".join(str(error).split())[:200]
        raise SecateurError(f"{path}: not readable as a table ({cause}). Fix: fetch or save the file again") from error


def _values(path: Path, table: pl.DataFrame, column: str) -> list[Any]:
    """The values of a column, or of a field of it."""
    name, *fields = [column] if column in table.columns else column.split(".")
    if name not in table.columns:
        raise SecateurError(
            f"{path}: no column {name!r}{nearest(name, table.columns)}. Fix: under `columns` name one of "
            f"{', '.join(table.columns)}"
        )
    values = table[name]
    for field in fields:
        present = [inner.name for inner in values.dtype.fields] if isinstance(values.dtype, pl.Struct) else []
        if field not in present:
            raise SecateurError(
                f"{path}: column {name!r} has no field {field!r}{nearest(field, present)}. Fix: under `columns` name "
                f"one of {', '.join(f'{name}.{inner}' for inner in present) or 'the columns themselves'}"
            )
        values = values.struct.field(field)
    return values.to_list()


def _passages(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """One passage for each text of a row; a text that is a list of sentences is joined."""
    if not isinstance(row["text"], list):
        yield dict(row)
        return
    count = len(row["text"])
    for n, text in enumerate(row["text"]):
        passage = {
            key: value[n] if isinstance(value, list) and len(value) == count else value for key, value in row.items()
        }
        yield passage | {"text": " ".join(map(str.strip, text)) if isinstance(text, list) else text}


def _as_name(value: Any) -> Any:
    if isinstance(value, list):
        return [_as_name(item) for item in value]
    return str(value) if type(value) is int else value


def _as_list(value: Any) -> Any:
    return value if value is None or isinstance(value, list) else [value]


def _first(value: Any) -> Any:
    return (value or [None])[0] if isinstance(value, list) else value


def _problems(files: Files, forms: Forms) -> Problems:
    return Problems(next(iter(files.values())).parent, f"correct those rows, or `columns`; keys: {', '.join(forms)}")
