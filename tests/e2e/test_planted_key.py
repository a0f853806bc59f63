"""A planted key and a planted password are looked for in every byte that a run and a tracker leave behind."""

import base64
import gzip
import io
import sqlite3
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import polars as pl
import pyarrow.parquet as pq
import pytest
from tests.support.planted import KEY, PASSWORD, WRONG


def forms(secret: str) -> set[bytes]:
    """A secret as it is, percent-encoded, in hexadecimal, and in base64 wherever it stands in what was encoded."""
    raw, found = secret.encode(), {secret.encode(), quote(secret, safe="").encode(), secret.encode().hex().encode()}
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for before in range(3):
            text = encode(bytes(before) + raw + bytes(3))
            found.add(text[-(-before * 4 // 3) :][: (len(raw) * 4 // 3) - 4])  # without what its neighbours decide
    return found


def layers(name: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    """(where, bytes) of a file: as it stands, and what is in it where it is packed, compressed, or a table."""
    yield name, content
    if content.startswith(b"\x1f\x8b"):
        yield from layers(f"{name}!gzip", gzip.decompress(content))
    if content.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for member in archive.namelist():
                yield from layers(f"{name}!{member}", archive.read(member))
    if content.startswith(b"PAR1"):
        table = pq.read_table(io.BytesIO(content))
        yield f"{name}!schema", repr(table.schema.metadata).encode()
        for column in pl.from_arrow(table).iter_columns():
            yield f"{name}!{column.name}", repr(column.to_list()).encode()


def rows(path: Path) -> Iterator[tuple[str, bytes]]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as store:
        for (table,) in store.execute("select name from sqlite_master where type = 'table'").fetchall():
            yield f"{path}!{table}", repr(store.execute(f'select * from "{table}"').fetchall()).encode()


def traces(folder: Path, *secrets: str) -> list[str]:
    """Where in a folder a secret is found: names of files and folders, and all that is in them."""
    wanted, found = set().union(*map(forms, secrets)), []
    for path in sorted(folder.rglob("*")):
        seen = [(f"{path} (its name)", str(path).encode())]
        if path.is_file():
            content = path.read_bytes()
            seen += layers(str(path), content)
            seen += rows(path) if content.startswith(b"SQLite format 3") else []
        found += [where for where, text in seen if any(form in text for form in wanted)]
    return found


@pytest.mark.slow
def test_no_planted_secret_is_left_in_any_byte(served):
    folder = served.project.root.parent
    made = {path.suffix for path in folder.rglob("*") if path.is_file()}
    assert {".parquet", ".html", ".json", ".log", ".db"} <= made
    for place in ("results/ledger", "logs", ".cache/replies", ".snakemake/metadata", "mlruns"):
        assert any((served.project.root / place).rglob("*")), f"{place}: nothing there, so nothing was searched"
    assert traces(folder, KEY, WRONG, PASSWORD) == []


@pytest.mark.slow
def test_the_secrets_were_there_to_be_hidden(served):
    assert "Incorrect API key provided: Bearer ***" in served.said
    assert "MLflow at http://***@127.0.0.1:9" in served.said
    assert "without user, password and query" in served.said


@pytest.mark.parametrize(
    "encode", [str.encode, lambda s: quote(s, safe="").encode(), lambda s: base64.b64encode(b"a:" + s.encode())]
)
@pytest.mark.parametrize("pack", ["plain", "gzip", "zip", "parquet", "sqlite"])
def test_the_search_finds_what_is_hidden_in_each_form_and_container(tmp_path, encode, pack):
    text, path = encode(KEY), tmp_path / "held"
    if pack == "plain":
        path.write_bytes(b"before " + text)
    elif pack == "gzip":
        path.write_bytes(gzip.compress(text * 3))
    elif pack == "zip":
        inner = io.BytesIO()
        with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a", text * 3)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("b.zip", inner.getvalue())
    elif pack == "parquet":
        pl.DataFrame({"a": [["x", text.decode()]]}).write_parquet(path, compression="zstd")
    else:
        with closing(sqlite3.connect(path)) as store:
            store.execute("create table t (a text)")
            store.execute("insert into t values (?)", (text.decode(),))
            store.commit()
    assert traces(tmp_path, KEY)
    assert not traces(tmp_path, PASSWORD)
