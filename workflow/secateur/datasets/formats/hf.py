"""Tables of a hub's data set or of your own: Parquet, JSON, JSON lines or CSV files with a map of columns.

`columns` maps a key of your own data (docs/data.md) to the column with its values, or to a field of a column (`answer:
answers.text`) or of the objects in its lists (`text: paragraphs.paragraph_text`). A row whose text is a list holds as
many passages; other lists of that length are split with it. Without an id, equal texts of a document are one passage.
Every cell of a CSV file is text; in other files numbers, true and false are read as text. Files are read in the order
in which they are named, those of a pattern sorted. A file called train, validation or test
(`train-00000-of-00002.parquet`) sets the split of its questions.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from secateur.core.errors import SecateurError, nearest
from secateur.core.fields import key
from secateur.datasets.formats._objects import PASSAGE, QUESTION, corpus_of, questions_of
from secateur.datasets.reading import Forms, Problems, form_problems, json_objects, read_text, valid_objects
from secateur.datasets.schema import Corpus, Files, Questions, Request

CORPUS_FILES, QUESTION_FILES = ("table", ...), ("table", ...)
ENDINGS = (".parquet", ".jsonl", ".json", ".csv")  # the last three also with .gz
SPLITS = {"train": "train", "validation": "dev", "dev": "dev", "test": "test"}
GRADE = re.compile(r"\d{1,9}(\.0+)?")
LISTS = (
    "answer_aliases",
    "evidence",
    "evidence_text",
    "hops",
    "grades",
)  # keys of lists: a single value is read as a list of one


@dataclass(frozen=True)
class Settings:
    """The map of columns."""

    columns: dict[str, str] = key("a key of your own data (docs/data.md): the column, or COLUMN.FIELD, that holds it")


def load_corpus(files: Files, settings: Settings) -> Corpus:
    """The passages of all files.

    Raises SecateurError for a file that is no table, a missing column, and with all problems of the rows.
    """
    problems = _problems(files, PASSAGE)
    objects, seen = [], set()
    for where, row in _rows(files, settings, PASSAGE, "text"):
        for passage in _passages(row):
            if "id" not in settings.columns:
                # By repr, since invalid values may not be hashable.
                content = repr((passage.get("group"), passage.get("doc"), passage["text"]))
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
        question = {key: _as_list(value) if key in LISTS else _first(key, value) for key, value in row.items()}
        if question.get("grades"):
            question["grades"] = [_as_grade(value) for value in question["grades"]]
        question.setdefault("id", f"q{len(objects)}")
        stem = re.split(r"[^a-z]", where, maxsplit=1)[0]  # hubs begin a file's name with its split
        split = question.get("split") or stem
        question["split"] = SPLITS.get(split, question.get("split")) if isinstance(split, str) else split
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
        values = {key: [_as_text(value) for value in _values(path, table, column)] for key, column in columns.items()}
        for n, row in enumerate(zip(*values.values(), strict=True)):
            yield f"{path.name} row {n}", dict(zip(values, row, strict=True))


def _table(path: Path) -> Mapping[str, Sequence[Any]]:
    """The values of a file by column. Raises SecateurError for a file that is no table."""
    ending = Path(path.name.removesuffix(".gz")).suffix
    if ending not in ENDINGS or path.name.endswith(".parquet.gz"):
        raise SecateurError(f"{path}: not a table. Fix: name a file that ends in {', '.join(ENDINGS)}")
    try:
        if not path.exists():
            raise FileNotFoundError("no such file")
        if ending == ".parquet":
            return pl.read_parquet(path).to_dict()
        if ending == ".csv":
            return pl.read_csv(read_text(path).encode(), infer_schema=False).to_dict()
    except (pl.exceptions.PolarsError, OSError) as error:
        cause = " ".join(str(error).split())[:200]
        raise SecateurError(f"{path}: not readable as a table ({cause}). Fix: fetch or save the file again") from error
    problems = Problems(path, "one JSON object a line, or a list of objects")
    objects = json_objects(path, problems)
    for where, value in objects:
        problems.add(where, *form_problems(value, {}, extra=True))
    problems.stop()
    names = dict.fromkeys(name for _, value in objects for name in value)
    return {name: [value.get(name) for _, value in objects] for name in names}


def _values(path: Path, table: Mapping[str, Sequence[Any]], column: str) -> list[Any]:
    """The values of a column, or of a field of its objects, in lists as they stand."""
    name, *fields = [column] if column in table else column.split(".")
    if name not in table:
        raise SecateurError(
            f"{path}: no column {name!r}{nearest(name, table)}. Fix: under `columns` name one of {', '.join(table)}"
        )
    values = table[name].to_list() if isinstance(table[name], pl.Series) else list(table[name])
    for field in fields:
        leaves = list(_leaves(values))
        present = dict.fromkeys(inner for leaf in leaves if isinstance(leaf, dict) for inner in leaf)
        if leaves and field not in present:
            raise SecateurError(
                f"{path}: column {name!r} has no field {field!r}{nearest(field, present)}. Fix: under `columns` name "
                f"one of {', '.join(f'{name}.{inner}' for inner in present) or 'the columns themselves'}"
            )
        values = [_field(value, field) for value in values]
    return values


def _leaves(values: Iterable[Any]) -> Iterator[Any]:
    """What stands in some values and in their lists, nulls left out."""
    for value in values:
        if isinstance(value, list):
            yield from _leaves(value)
        elif value is not None:
            yield value


def _field(value: Any, field: str) -> Any:
    """A field of an object, or of each object of a list."""
    if isinstance(value, list):
        return [_field(item, field) for item in value]
    return value.get(field) if isinstance(value, dict) else value


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
        if isinstance(text, list) and all(isinstance(sentence, str) for sentence in text):
            text = " ".join(map(str.strip, text))
        yield passage | {"text": text}


def _as_text(value: Any) -> Any:
    """A whole number as its digits, true and false as these words, in lists too."""
    if isinstance(value, list):
        return [_as_text(item) for item in value]
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int) else value


def _as_grade(value: Any) -> Any:
    """The whole number that a text or a number stands for; any other value as it is."""
    return int(float(value)) if GRADE.fullmatch(str(value)) else value


def _as_list(value: Any) -> Any:
    return value if value is None or isinstance(value, list) else [value]


def _first(key: str, value: Any) -> Any:
    """The one value of a list, null for none; every gold answer. Of several it would be a guess, and the list is refused."""
    present = [item for item in value if item is not None] if isinstance(value, list) else []
    alone = isinstance(value, list) and key != "answer" and len({repr(item) for item in present}) < 2
    return (present or [None])[0] if alone else value


def _problems(files: Files, forms: Forms) -> Problems:
    return Problems(next(iter(files.values())).parent, f"correct those rows, or `columns`; keys: {', '.join(forms)}")
