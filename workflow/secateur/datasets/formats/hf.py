"""Tables of a hub's data set, or of one's own: Parquet, JSON lines or CSV files, whose columns a map names.

`columns` says which column holds what: keys as in a folder of one's own (docs/data.md), a field of a column after a dot
(`answer: answers.text`). A row whose text is a list holds as many passages; other lists of that length go with it. Without
an id, equal texts of a document are one passage. Of a list of answers the first counts. Files are read in the order in
which they are named, those of a pattern sorted. One called train, validation or test (`train-00000-of-00002.parquet`) says
to which split its questions belong.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from secateur.core.errors import SecateurError, nearest
from secateur.core.fields import key
from secateur.datasets.formats._objects import PASSAGE, QUESTION, corpus_of, questions_of
from secateur.datasets.problems import Problems
from secateur.datasets.reading import Forms, sound
from secateur.datasets.schema import Asked, Corpus, Questions

__all__ = ["CORPUS_FILES", "QUESTION_FILES", "Settings", "load_corpus", "load_questions"]

CORPUS_FILES, QUESTION_FILES = ("table", ...), ("table", ...)
READ = {".parquet": pl.read_parquet, ".jsonl": pl.read_ndjson, ".csv": pl.read_csv}
SPLITS = {"train": "train", "validation": "dev", "dev": "dev", "test": "test"}
NAMES = ("id", "doc", "group", "session", "evidence")  # keys whose value is a name: numbers stand for their digits
LISTS = ("evidence", "evidence_text", "hops", "grades")  # keys whose value is a list; one text stands for a list of one


@dataclass(frozen=True)
class Settings:
    """What stands in which column."""

    columns: dict[str, str] = key("a key of your own data (docs/data.md): the column, or COLUMN.FIELD, that holds it")


def load_corpus(files: Mapping[str, Path], settings: Settings) -> Corpus:
    """The passages of all files.

    Raises SecateurError for a file that is no table, a column it does not have, and with all problems of the rows.
    """
    problems, objects, seen = _problems(files, PASSAGE), [], set()
    for where, row in _rows(files, settings, PASSAGE, "text"):
        for passage in _passages(row):
            if "id" not in settings.columns:
                same = repr((passage.get("doc"), passage["text"]))  # of any form: what is no text is told below
                if same in seen:
                    continue
                seen.add(same)
                passage["id"] = f"p{len(objects)}"
            objects.append((where, passage))
    return corpus_of(sound(objects, PASSAGE, problems), problems)


def load_questions(asked: Asked, files: Mapping[str, Path], passages: pl.DataFrame, settings: Settings) -> Questions:
    """The questions of all files and their evidence. Raises SecateurError as `load_corpus` does."""
    problems, objects = _problems(files, QUESTION), []
    for where, row in _rows(files, settings, QUESTION, "question"):
        question = {key: _listed(value) if key in LISTS else _first(value) for key, value in row.items()}
        question.setdefault("id", f"q{len(objects)}")
        question["split"] = SPLITS.get(question.get("split") or _split_of(where), question.get("split"))
        objects.append((where, question))
    return questions_of(asked, sound(objects, QUESTION, problems), passages, problems)


def _rows(
    files: Mapping[str, Path], settings: Settings, forms: Forms, needed: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """("NAME row 3", key -> value) of each row of each file, rows from 0."""
    columns = settings.columns
    wrong = [f"{key} is unknown{nearest(key, forms)}" for key in columns if key not in forms]
    if wrong := wrong + [f"{needed} is missing"] * (needed not in columns):
        raise SecateurError(
            f"format hf: columns: {'; '.join(wrong)}. Fix: name the column of {needed}, and of any of {', '.join(forms)}"
        )
    for path in files.values():
        table = _table(path)
        known = {key: _values(path, table, column) for key, column in columns.items()}
        known |= {key: [_name(value) for value in known[key]] for key in NAMES if key in known}
        for n, values in enumerate(zip(*known.values(), strict=True)):
            yield f"{path.name} row {n}", dict(zip(known, values, strict=True))


def _table(path: Path) -> pl.DataFrame:
    if path.suffix not in READ:
        raise SecateurError(f"{path}: not a table. Fix: name a file that ends in {', '.join(READ)}")
    try:
        return READ[path.suffix](path)
    except (pl.exceptions.PolarsError, OSError) as error:
        said = " ".join(str(error).split())[:200]
        raise SecateurError(f"{path}: not readable as a table ({said}). Fix: fetch or save the file again") from error


def _values(path: Path, table: pl.DataFrame, column: str) -> list[Any]:
    """The values of a column, or of a field of it."""
    name, *fields = [column] if column in table.columns else column.split(".")
    if name not in table.columns:
        raise SecateurError(
            f"{path}: no column {name!r}{nearest(name, table.columns)}. Fix: under `columns` name one of "
            f"{', '.join(table.columns)}"
        )
    values = table[name]
    for one in fields:
        held = [field.name for field in values.dtype.fields] if isinstance(values.dtype, pl.Struct) else []
        if one not in held:
            raise SecateurError(
                f"{path}: column {name!r} has no field {one!r}{nearest(one, held)}. Fix: under `columns` name one of "
                f"{', '.join(f'{name}.{field}' for field in held) or 'the columns themselves'}"
            )
        values = values.struct.field(one)
    return values.to_list()


def _name(value: Any) -> Any:
    if isinstance(value, list):
        return [_name(one) for one in value]
    return str(value) if type(value) is int else value


def _passages(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A passage a text; a text that is itself a list of sentences is joined."""
    if not isinstance(row["text"], list):
        yield dict(row)
        return
    count = len(row["text"])
    for n, text in enumerate(row["text"]):
        own = {
            key: value[n] if isinstance(value, list) and len(value) == count else value for key, value in row.items()
        }
        yield own | {"text": " ".join(map(str.strip, text)) if isinstance(text, list) else text}


def _listed(value: Any) -> Any:
    return value if value is None or isinstance(value, list) else [value]


def _first(value: Any) -> Any:
    return (value or [None])[0] if isinstance(value, list) else value


def _split_of(where: str) -> str:
    """The first word of a file's name, as hubs name the files of a split."""
    return re.split(r"[^a-z]", where, maxsplit=1)[0]


def _problems(files: Mapping[str, Path], forms: Forms) -> Problems:
    return Problems(next(iter(files.values())).parent, f"correct those rows, or `columns`; keys: {', '.join(forms)}")
