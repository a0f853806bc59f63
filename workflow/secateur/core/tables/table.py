"""Declares tables (schema, key, row checks, documentation), and writes and reads them with checks.

A table is checked when it is written and again when it is read. The Parquet metadata holds its version and the digest of
its declaration, so that no reader mistakes an old table for a new one.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from secateur.core.distinct import all_distinct
from secateur.core.errors import SecateurError
from secateur.core.tables.vectors import Packed, packed, stored, unpacked

__all__ = [
    "F32",
    "F64",
    "I32",
    "I64",
    "META",
    "VECTOR",
    "B",
    "Column",
    "S",
    "Table",
    "TableError",
    "check",
    "made_anew",
    "problems",
    "read_table",
    "read_tables",
    "read_vectors",
    "write_parts",
    "write_table",
]

META = b"secateur.table"
S, I32, I64, F32, F64, B = pa.string(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.bool_()
VECTOR = pa.binary(2)  # placeholder for the bytes of a vector, whose dimension the frame decides
EXAMPLES = 3  # keys in the message of each problem
ROWS = 50_000  # rows of a row group
DAMAGED = (pa.ArrowException, OSError, ValueError, pl.exceptions.PolarsError, pl.exceptions.PanicException)


class TableError(SecateurError):
    """A table that breaks its declaration."""


@dataclass(frozen=True)
class Column:
    """A column: Arrow type, documentation, and whether it may be null."""

    type: pa.DataType
    doc: str
    nullable: bool = False


@dataclass(frozen=True)
class Table:
    """Declaration of a table.

    checks: claim -> expression that is true for valid rows, or columns whose rows are distinct.
    """

    name: str
    version: int
    doc: str
    writer: str
    key: tuple[str, ...]
    columns: Mapping[str, Column]
    checks: Mapping[str, pl.Expr | tuple[str, ...]] = field(default_factory=dict)

    @property
    def schema(self) -> pa.Schema:
        """Arrow schema with the identity of the declaration in its metadata."""
        identity = f"{self.name}@{self.version}:{self.digest}".encode()
        fields = [pa.field(name, c.type, c.nullable) for name, c in self.columns.items()]
        return pa.schema(fields, metadata={META: identity})

    @property
    def digest(self) -> str:
        """Digest of names, types, nullability, key and checks; documentation is not part of it."""
        lines = [self.name, str(self.version), ",".join(self.key)]
        lines += [f"{name}:{c.type}:{c.nullable}" for name, c in self.columns.items()]
        lines += [f"{claim}:{_expression(check)}" for claim, check in self.checks.items()]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]

    def empty(self) -> pl.DataFrame:
        """A frame without rows."""
        return _frame(self, self.schema.empty_table())

    def frame(self, rows: Iterable[Sequence[Any] | Mapping[str, Any]]) -> pl.DataFrame:
        """A frame of rows: values in the order of the columns, or by name, where a column not named is null."""
        return pl.DataFrame(list(rows), schema=self.empty().schema, orient="row")


def _expression(check: pl.Expr | tuple[str, ...]) -> pl.Expr:
    """Expression that is true for valid rows."""
    if isinstance(check, pl.Expr):
        return check
    return (pl.col(check[0]) if len(check) == 1 else pl.struct(check)).is_unique()


def _rows(mask: pl.Series, frame: pl.DataFrame, key: tuple[str, ...]) -> str:
    """`12 rows (e.g. a, b, c)`: number and keys of the rows where the mask is true; whole rows for a table without a key."""
    bad = frame.filter(mask).head(EXAMPLES).select(key or frame.columns)
    named = ", ".join("/".join(str(value) for value in row) for row in bad.iter_rows())
    count = int(mask.sum())
    return f"{count} row{'s' if count != 1 else ''} (e.g. {named})"


def problems(table: Table, frame: pl.DataFrame) -> list[str]:
    """Differences between a frame and its declaration, each in a clause."""
    missing = [c for c in table.columns if c not in frame.columns]
    extra = [c for c in frame.columns if c not in table.columns]
    clauses = [f"column {c} missing" for c in missing] + [f"column {c} not declared" for c in extra]
    if missing:
        return clauses
    for name, column in table.columns.items():
        if not column.nullable and frame[name].null_count():
            clauses.append(f"{name} null in {_rows(frame[name].is_null(), frame, table.key)}")
    if table.key and not all_distinct(frame, table.key):
        twice = frame.select(pl.struct(table.key).is_duplicated()).to_series()
        if twice.any():
            clauses.append(f"key {', '.join(table.key)} duplicated in {_rows(twice, frame, table.key)}")
    for claim, declared in table.checks.items():
        if isinstance(declared, tuple) and all_distinct(frame, declared):
            continue
        try:
            bad = frame.select(~_expression(declared).fill_null(True)).to_series()
        except pl.exceptions.PolarsError as error:  # a column of a wrong type
            clauses.append(f"({claim}) cannot be checked: {str(error).splitlines()[0]}")
            continue
        if bad.any():
            clauses.append(f"not ({claim}) in {_rows(bad, frame, table.key)}")
    return clauses


def check(table: Table, frame: pl.DataFrame, where: str, fix: str) -> None:
    """Raises TableError with every problem of a frame at once."""
    clauses = problems(table, frame)
    if clauses:
        count = f"{len(clauses)} problem{'s' if len(clauses) > 1 else ''}"
        raise TableError(
            f"{table.name}@{table.version} written by {table.writer} ({where}): {count}; {'; '.join(clauses)}. Fix: {fix}"
        )


def write_table(table: Table, frame: pl.DataFrame, path: Path) -> int:
    """Checks a frame, sorts it by its key and writes it as zstd Parquet; returns the number of rows."""
    return write_parts(table, [frame], path)


def write_parts(table: Table, frames: Iterable[pl.DataFrame], path: Path) -> int:
    """`write_table` for a table in one or more parts with keys that rise from part to part; holds one part in memory.

    The bytes do not depend on the parts: row groups have ROWS rows. Checks over all rows (uniqueness, density) see one part
    only. After an error there is no file.
    """
    writer, rows, last, where = None, 0, None, f"{table.name}@{table.version} ({path})"
    waiting: pa.Table | None = None  # rows of a row group that is not full yet
    try:
        for frame in frames:
            checked = _checked(table, frame, path)
            if last is not None and checked.height and not last < checked.select(table.key).row(0):
                raise TableError(f"{where}: a part does not follow on {last} by its key")
            try:
                arrow = _arrow(table, checked)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
                raise TableError(f"{where}: a column has the wrong type: {error}") from error
            writer = writer or pq.ParquetWriter(path, arrow.schema, write_page_checksum=True, **_layout(table))
            if arrow.schema != writer.schema:
                raise TableError(f"{where}: a part has vectors of another length than the first part's")
            waiting = pa.concat_tables([waiting, arrow]) if waiting is not None else arrow
            while waiting.num_rows > ROWS:
                writer.write_table(waiting.slice(0, ROWS).combine_chunks())
                waiting = waiting.slice(ROWS)
            rows = rows + checked.height
            last = checked.select(table.key).row(-1) if table.key and checked.height else last
        if writer:
            writer.write_table(waiting.combine_chunks())
    except BaseException:
        if writer:
            writer.close()
            path.unlink(missing_ok=True)
        raise
    if writer:
        writer.close()
    return rows


def _checked(table: Table, frame: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Declared columns of a frame, sorted by the key. Raises TableError for a frame that breaks its declaration."""
    check(table, frame, str(path), f"this is a bug in the stage {table.writer} or its input; its log names both")
    frame = frame.select(list(table.columns))
    ordered = not table.key or (len(table.key) == 1 and frame[table.key[0]].is_sorted())
    return frame if ordered else frame.sort(table.key)


def _vectors(table: Table) -> list[str]:
    """Names of the vector columns."""
    return [name for name, column in table.columns.items() if column.type == VECTOR]


def _arrow(table: Table, frame: pl.DataFrame) -> pa.Table:
    """A frame in its stored form. Raises ArrowInvalid for a column of another type than declared."""
    schema, arrow = table.schema, frame.drop(_vectors(table)).to_arrow(compat_level=pl.CompatLevel.oldest())
    for name in _vectors(table):
        values, place = frame[name], schema.get_field_index(name)
        if not (isinstance(values.dtype, pl.Array) and values.dtype.inner.is_float() and len(values.dtype.shape) == 1):
            raise pa.ArrowInvalid(f"{name} holds {values.dtype}, arrays of numbers of one length are needed")
        vectors = values.to_numpy()
        if not np.isfinite(vectors).all():
            raise pa.ArrowInvalid(f"{name} holds numbers that are not finite")
        column = packed(vectors)
        schema = schema.set(place, schema.field(place).with_type(column.type))
        arrow = arrow.add_column(place, name, column)
    return arrow.cast(schema)


def _frame(table: Table, arrow: pa.Table) -> pl.DataFrame:
    """A stored table as a frame."""
    vectors = _vectors(table)
    frame = pl.from_arrow(arrow.drop_columns(vectors))
    return frame.with_columns(**{name: unpacked(arrow[name]) for name in vectors}).select(arrow.column_names)


def _layout(table: Table) -> dict[str, Any]:
    """Parquet options: the encoding of each column before compression, chosen by size on the tables of STEM.

    The first integer of a key rises, other numbers share their upper bytes, strings repeat in neighbouring rows.
    """
    encodings = {}
    for name, column in table.columns.items():
        if pa.types.is_string(column.type):
            encodings[name] = "DELTA_LENGTH_BYTE_ARRAY"
        elif pa.types.is_integer(column.type) and table.key[:1] == (name,):
            encodings[name] = "DELTA_BINARY_PACKED"
        elif pa.types.is_primitive(column.type) and not pa.types.is_boolean(column.type):
            encodings[name] = "BYTE_STREAM_SPLIT"
    return {"compression": "zstd", "use_dictionary": False, "column_encoding": encodings}


def read_table(table: Table, path: Path) -> pl.DataFrame:
    """Reads a table and checks its declaration and its rows.

    Raises TableError for a missing or damaged file, another version of the table, and rows that break the declaration.
    """
    with _opened(table, path) as file:
        frame = _frame(table, file.read())
    check(table, frame, str(path), f"remove it, then {made_anew(path)}")
    return frame


def read_vectors(table: Table, path: Path) -> Packed:
    """Vectors of a table, still packed; its key must be 0, 1, 2, ... Raises the errors of `read_table`."""
    (key,), (name,) = table.key, _vectors(table)
    with _opened(table, path) as file:
        places = file.read(columns=[key])[key].to_numpy()
        if not np.array_equal(places, np.arange(len(places))):
            raise TableError(f"{path}: {key} is not 0, 1, 2, ... Fix: remove it, then {made_anew(path)}")
        rows = np.empty((len(places), file.schema_arrow.field(name).type.byte_width), np.int8)
        start = 0
        for group in range(file.num_row_groups):  # `iter_batches` would hold the whole file in memory too
            for part in file.read_row_group(group, columns=[name])[name].chunks:
                rows[start : start + len(part)] = stored(part)
                start += len(part)
    return Packed(rows, places)


def made_anew(path: Path) -> str:
    """The command that makes a file of a stage again, under the overrides of the run that asks."""
    experiment = Path(path).parent.name if "experiments" in Path(path).parts else "NAME"
    overrides = os.environ.get("SECATEUR_OVERRIDES", "[]")
    asked = f"experiment={os.environ.get('SECATEUR_EXPERIMENT', experiment)}"
    asked += f" {quote(f'overrides={overrides}')}" * (overrides != "[]")
    return f"snakemake --config {asked} -- {path}"


@contextmanager
def _opened(table: Table, path: Path) -> Iterator[pq.ParquetFile]:
    """An open file of the table under today's declaration; damage in it raises TableError, also while it is read."""
    path = Path(path)
    if not path.exists():
        raise TableError(f"{path}: no such table; {table.writer} writes it. Fix: {made_anew(path)}")
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            metadata = file.schema_arrow.metadata or {}
            identity, expected = metadata.get(META, b"no table identity").decode(), table.schema.metadata[META].decode()
            if identity != expected:
                rebuilt = f"run the pipeline again, it rebuilds {table.name} with {table.writer}"
                raise TableError(f"{path}: holds {identity}, this version reads {expected}. Fix: {rebuilt}")
            yield file
    except DAMAGED as error:
        if getattr(error, "errno", None):  # an error of the file system: the file may be intact
            raise
        cause = f"{type(error).__name__}: {error}".splitlines()[0]
        raise TableError(
            f"{path}: not a readable Parquet file ({cause}). Fix: remove it, then {made_anew(path)}"
        ) from error


def read_tables(table: Table, paths: list[Path]) -> pl.DataFrame:
    """Shards of a table as one frame, in the order of the paths."""
    return pl.concat([read_table(table, path) for path in paths]) if paths else table.empty()
