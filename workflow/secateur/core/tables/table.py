"""What a table is: schema, key, row checks, a line on each column; checked writing and reading.

A table is checked when it is written and again when it is read. Its version and the digest of its
declaration travel in the Parquet metadata, so that a reader never takes an old table for a new one.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

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
    "problems",
    "read_table",
    "read_tables",
    "read_vectors",
    "write_parts",
    "write_table",
]

META = b"secateur.table"
S, I32, I64, F32, F64, B = pa.string(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.bool_()
VECTOR = pa.binary(2)  # stands for the bytes of a vector of whatever dimension the frame has
EXAMPLES = 3  # keys named for each problem
DAMAGED = (pa.ArrowException, OSError, ValueError, pl.exceptions.PolarsError, pl.exceptions.PanicException)


class TableError(SecateurError):
    """A table that breaks its declaration."""


@dataclass(frozen=True)
class Column:
    """One column: Arrow type, meaning, and whether it may be null."""

    type: pa.DataType
    doc: str
    nullable: bool = False


@dataclass(frozen=True)
class Table:
    """One table's declaration.

    `checks` map a sentence to an expression that is true for good rows, or to columns whose rows are distinct.
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
        """The Arrow schema, with the declaration's identity in its metadata."""
        identity = f"{self.name}@{self.version}:{self.digest}".encode()
        fields = [pa.field(name, c.type, c.nullable) for name, c in self.columns.items()]
        return pa.schema(fields, metadata={META: identity})

    @property
    def digest(self) -> str:
        """Digest of what a reader relies on: names, types, nullability, key and checks; not the docs."""
        parts = [self.name, str(self.version), ",".join(self.key)]
        parts += [f"{name}:{c.type}:{c.nullable}" for name, c in self.columns.items()]
        parts += [f"{claim}:{_expression(check)}" for claim, check in self.checks.items()]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]

    def empty(self) -> pl.DataFrame:
        """A frame without rows."""
        return _frame(self, self.schema.empty_table())


def _expression(check: pl.Expr | tuple[str, ...]) -> pl.Expr:
    """True for good rows."""
    if isinstance(check, pl.Expr):
        return check
    return (pl.col(check[0]) if len(check) == 1 else pl.struct(check)).is_unique()


def _rows(mask: pl.Series, frame: pl.DataFrame, key: tuple[str, ...]) -> str:
    """`12 rows (e.g. a, b, c)` for the rows where the mask is true, by key; whole where a table has none."""
    bad = frame.filter(mask).head(EXAMPLES).select(key or frame.columns)
    named = ", ".join("/".join(str(value) for value in row) for row in bad.iter_rows())
    count = int(mask.sum())
    return f"{count} row{'s' if count != 1 else ''} (e.g. {named})"


def problems(table: Table, frame: pl.DataFrame) -> list[str]:
    """All the ways in which a frame breaks its declaration, each in a clause."""
    from secateur.core.distinct import (
        all_distinct,  # a check moves no byte, so it is in no digest, like all of this module
    )

    missing = [c for c in table.columns if c not in frame.columns]
    extra = [c for c in frame.columns if c not in table.columns]
    found = [f"column {c} missing" for c in missing] + [f"column {c} not declared" for c in extra]
    if missing:
        return found
    for name, column in table.columns.items():
        if not column.nullable and frame[name].null_count():
            found.append(f"{name} null in {_rows(frame[name].is_null(), frame, table.key)}")
    if table.key and not all_distinct(frame, table.key):
        twice = frame.select(pl.struct(table.key).is_duplicated()).to_series()
        if twice.any():
            found.append(f"key {', '.join(table.key)} duplicated in {_rows(twice, frame, table.key)}")
    for claim, declared in table.checks.items():
        if isinstance(declared, tuple) and all_distinct(frame, declared):
            continue
        try:
            bad = frame.select(~_expression(declared).fill_null(True)).to_series()
        except pl.exceptions.PolarsError as error:  # a column of a wrong type
            found.append(f"({claim}) cannot be checked: {str(error).splitlines()[0]}")
            continue
        if bad.any():
            found.append(f"not ({claim}) in {_rows(bad, frame, table.key)}")
    return found


def check(table: Table, frame: pl.DataFrame, where: str, fix: str) -> None:
    """Raise a TableError that lists every problem at once, or return."""
    found = problems(table, frame)
    if found:
        count = f"{len(found)} problem{'s' if len(found) > 1 else ''}"
        raise TableError(
            f"{table.name}@{table.version} written by {table.writer} ({where}): {count}; {'; '.join(found)}. Fix: {fix}"
        )


def write_table(table: Table, frame: pl.DataFrame, path: Path) -> int:
    """Check a frame, sort it by its key, write it as zstd Parquet; the number of rows."""
    return write_parts(table, [frame], path)


def write_parts(table: Table, frames: Iterable[pl.DataFrame], path: Path) -> int:
    """The same for a table that comes in parts, one or more, whose keys rise from each to the next; one is held at a time.

    A claim on all rows, that something is unique or dense, is checked in each part alone. After an error there is no file.
    """
    writer, rows, last, where = None, 0, None, f"{table.name}@{table.version} ({path})"
    try:
        for frame in frames:
            found = _checked(table, frame, path)
            if last is not None and found.height and not last < found.select(table.key).row(0):
                raise TableError(f"{where}: a part does not follow on {last} by its key")
            try:
                arrow = _arrow(table, found)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
                raise TableError(f"{where}: a column has the wrong type: {error}") from error
            writer = writer or pq.ParquetWriter(path, arrow.schema, write_page_checksum=True, **_layout(table))
            if arrow.schema != writer.schema:
                raise TableError(f"{where}: a part has vectors of another length than the first part's")
            writer.write_table(arrow)
            rows, last = rows + found.height, found.select(table.key).row(-1) if table.key and found.height else last
    except BaseException:
        if writer:
            writer.close()
            path.unlink(missing_ok=True)
        raise
    if writer:
        writer.close()
    return rows


def _checked(table: Table, frame: pl.DataFrame, path: Path) -> pl.DataFrame:
    """The declared columns, sorted by the key. Raises TableError for a frame that breaks its declaration."""
    check(table, frame, str(path), f"this is a bug in the stage {table.writer} or its input; its log names both")
    frame = frame.select(list(table.columns))
    ordered = not table.key or (len(table.key) == 1 and frame[table.key[0]].is_sorted())
    return frame if ordered else frame.sort(table.key)


def _vectors(table: Table) -> list[str]:
    """The columns that hold vectors."""
    return [name for name, column in table.columns.items() if column.type == VECTOR]


def _arrow(table: Table, frame: pl.DataFrame) -> pa.Table:
    """A frame as it is stored. Raises ArrowInvalid for a column of another type than declared."""
    schema, found = table.schema, frame.drop(_vectors(table)).to_arrow(compat_level=pl.CompatLevel.oldest())
    for name in _vectors(table):
        values, place = frame[name], schema.get_field_index(name)
        if not (isinstance(values.dtype, pl.Array) and values.dtype.inner.is_float() and len(values.dtype.shape) == 1):
            raise pa.ArrowInvalid(f"{name} holds {values.dtype}, arrays of numbers of one length are needed")
        vectors = values.to_numpy()
        if not np.isfinite(vectors).all():
            raise pa.ArrowInvalid(f"{name} holds numbers that are not finite")
        column = packed(vectors)
        schema = schema.set(place, schema.field(place).with_type(column.type))
        found = found.add_column(place, name, column)
    return found.cast(schema)


def _frame(table: Table, arrow: pa.Table) -> pl.DataFrame:
    """What was stored as a frame."""
    vectors = _vectors(table)
    frame = pl.from_arrow(arrow.drop_columns(vectors))
    return frame.with_columns(**{name: unpacked(arrow[name]) for name in vectors}).select(arrow.column_names)


def _layout(table: Table) -> dict[str, Any]:
    """How a table is laid out on the disk: each column before it is compressed; measured on the tables of STEM.

    The first integer of a key rises, other numbers share their upper bytes, strings repeat in neighbouring rows.
    """
    found = {}
    for name, column in table.columns.items():
        if pa.types.is_string(column.type):
            found[name] = "DELTA_LENGTH_BYTE_ARRAY"
        elif pa.types.is_integer(column.type) and table.key[:1] == (name,):
            found[name] = "DELTA_BINARY_PACKED"
        elif pa.types.is_primitive(column.type) and not pa.types.is_boolean(column.type):
            found[name] = "BYTE_STREAM_SPLIT"
    return {"compression": "zstd", "use_dictionary": False, "column_encoding": found}


def read_table(table: Table, path: Path) -> pl.DataFrame:
    """Read a table after checking that it was written under today's declaration, and what it holds.

    Raises TableError where the file is absent, is no Parquet file, or was written by another version.
    """
    with _opened(table, path) as file:
        frame = _frame(table, file.read())
    check(table, frame, str(path), f"remove it, then {_made_anew(path)}")
    return frame


def read_vectors(table: Table, path: Path) -> Packed:
    """The vectors of a table whose key is their place, 0 and up; they stay packed. Raises what `read_table` raises."""
    (key,), (name,) = table.key, _vectors(table)
    with _opened(table, path) as file:
        places = file.read(columns=[key])[key].to_numpy()
        if not np.array_equal(places, np.arange(len(places))):
            raise TableError(f"{path}: {key} is not 0, 1, 2, ... Fix: remove it, then {_made_anew(path)}")
        rows = np.empty((len(places), file.schema_arrow.field(name).type.byte_width), np.int8)
        start = 0
        for group in range(file.num_row_groups):  # `iter_batches` would hold the whole file beside them
            for part in file.read_row_group(group, columns=[name])[name].chunks:
                rows[start : start + len(part)] = stored(part)
                start += len(part)
    return Packed(rows, places)


def _made_anew(path: Path) -> str:
    return f"snakemake --config experiment={os.environ.get('SECATEUR_EXPERIMENT', 'NAME')} -- {path}"


@contextmanager
def _opened(table: Table, path: Path) -> Iterator[pq.ParquetFile]:
    """A file that holds the table as it is declared today; what is damaged in it is a TableError, also while it is read."""
    path = Path(path)
    if not path.exists():
        raise TableError(f"{path}: no such table; {table.writer} writes it. Fix: {_made_anew(path)}")
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            metadata = file.schema_arrow.metadata or {}
            identity, expected = metadata.get(META, b"no table identity").decode(), table.schema.metadata[META].decode()
            if identity != expected:
                rebuilt = f"run the pipeline again, it rebuilds {table.name} with {table.writer}"
                raise TableError(f"{path}: holds {identity}, this version reads {expected}. Fix: {rebuilt}")
            yield file
    except DAMAGED as error:
        if getattr(error, "errno", None):  # of the file system: the file itself may be whole
            raise
        cause = f"{type(error).__name__}: {error}".splitlines()[0]
        raise TableError(
            f"{path}: not a readable Parquet file ({cause}). Fix: remove it, then {_made_anew(path)}"
        ) from error


def read_tables(table: Table, paths: list[Path]) -> pl.DataFrame:
    """Several shards of one table as one frame, in the order given."""
    return pl.concat([read_table(table, path) for path in paths]) if paths else table.empty()
