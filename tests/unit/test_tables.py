"""A table that breaks its declaration is never written and never read."""

from dataclasses import replace

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from polars.testing import assert_frame_equal
from tests.support.refusals import message

from secateur.core.tables import vectors
from secateur.core.tables.catalog import TABLES, joined
from secateur.core.tables.table import (
    TableError,
    check,
    problems,
    read_table,
    read_tables,
    read_vectors,
    write_parts,
    write_table,
)
from secateur.core.tables.vectors import Packed
from secateur.stage.contract import Inputs, Outputs

EVIDENCE, RUNS, LINES, METRICS = (TABLES[name] for name in ("evidence", "runs", "lines", "question_metrics"))
NAMES = ["question_id", "n", "text", "passage_id", "hop", "grade"]


def evidence(*rows) -> pl.DataFrame:
    return EVIDENCE.frame([(*row, None, None) for row in rows])


def lines(count: int, dim: int = 4) -> pl.DataFrame:
    vectors = np.random.default_rng(0).normal(size=(count, dim)).astype(np.float32)
    ids = pl.Series(range(count), dtype=pl.Int32)
    return pl.DataFrame({"line_id": ids, "embedding": pl.Series(vectors, dtype=pl.Array(pl.Float32, dim))})


GOOD = evidence(("q1", 0, "Bears.", "p1"), ("q1", 1, None, "p2"), ("q2", 0, "Fish.", None))


GRADED = GOOD.with_columns(grade=pl.Series([2, 0, None], dtype=pl.Int32))
TWICE = evidence(("q1", 0, "a", None), ("q1", 0, "b", None), ("q2", 0, "c", None))
EMPTY = evidence(*((f"q{n}", 0, None, None) for n in range(9)))


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (GOOD, []),
        (GOOD.rename({"hop": "hpo"}), ["column hop missing", "column hpo not declared"]),
        (evidence((None, 1, "b", None)), ["question_id null in 1 row (e.g. None/1)"]),
        (TWICE, ["key question_id, n duplicated in 2 rows (e.g. q1/0, q1/0)"]),
        (GRADED, ["not (grade above 0) in 1 row (e.g. q1/1)"]),
        (EMPTY, ["not (text or passage_id) in 9 rows (e.g. q0/0, q1/0, q2/0)"]),
    ],
    ids=["none", "renamed column", "null", "duplicated key", "grade 0", "more rows than examples"],
)
def test_a_problem_names_its_column_and_at_most_three_rows(frame, expected):
    assert problems(EVIDENCE, frame) == expected


def test_a_problem_of_a_table_without_a_key_names_the_whole_row_and_a_wrong_type_is_no_crash():
    frame = METRICS.frame([("q1", None, None, False, "token_recall@64", None, float("nan"))])
    row = "q1/None/None/False/token_recall@64/None/nan"
    assert problems(METRICS, frame) == [f"not (value finite) in 1 row (e.g. {row})"]
    frame = pl.DataFrame({"run_id": [1], "doc_id": ["d"], "channel": ["facts"], "size": ["three"]})
    said = message(check, RUNS, frame, "here", "nothing")
    assert "runs@1" in said and "size" in said.partition("runs@1")[2]


def test_all_problems_are_reported_at_once_with_table_writer_and_fix_and_nothing_is_written(tmp_path):
    frame = evidence(("q1", 0, None, None), ("q1", 0, "b", None), (None, 1, "c", None)).with_columns(more=1)
    said = message(check, EVIDENCE, frame, "x.parquet", "run it again")
    assert said.startswith("evidence@3 written by prepare_dataset (x.parquet): 4 problems; column more not declared; ")
    assert said.endswith("; not (text or passage_id) in 1 row (e.g. q1/0). Fix: run it again")
    assert "prepare_dataset" in message(write_table, EVIDENCE, evidence(("q1", 0, None, None)), tmp_path / "e.parquet")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(TableError, match="runs is declared twice"):
        joined([RUNS, RUNS])


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("passages", "text", "  "), ("questions", "text", ""), ("questions", "split", "validation"),
        ("triples", "head", ""), ("triples", "relation", ""), ("triples", "tail", ""), ("runs", "size", 0),
        ("rankings", "value", float("inf")), ("contexts", "tokens", 2), ("comparisons", "p", 0.0),
        ("comparisons", "p_holm", 0.25), ("comparisons", "baseline_scorer", "x"),
        ("question_metrics", "value", float("inf")),
    ],
)  # fmt: skip
def test_every_declared_check_can_fail(table, column, value):
    (problem,) = problems(TABLES[table], one_row(TABLES[table], {column: value}))
    assert problem.startswith("not (")


def one_row(table, values) -> pl.DataFrame:
    """A row that keeps the declaration but for `values`."""
    stand_in = {pl.String: "x", pl.Boolean: True, pl.Int32: 1, pl.Float32: 0.5, pl.Float64: 0.5}
    known = {"split": "dev", "metric": "token_recall@64", "baseline_scorer": "y"} | values
    schema = table.empty().schema
    row = {n: known.get(n, [] if isinstance(t, pl.List) else stand_in.get(t.base_type())) for n, t in schema.items()}
    return pl.DataFrame([row], schema=schema)


def test_what_is_written_is_read_in_key_order_and_its_bytes_depend_on_no_order_of_rows_or_columns(tmp_path):
    variants = [GOOD, GOOD.reverse(), GOOD.select(NAMES[::-1]), GOOD.sample(fraction=1, shuffle=True, seed=3)]
    variants.append(GOOD.with_columns(pl.col("n").cast(pl.Int64)))  # wider integers are narrowed
    for n, frame in enumerate(variants):
        assert write_table(EVIDENCE, frame, tmp_path / str(n)) == 3
        assert_frame_equal(read_table(EVIDENCE, tmp_path / str(n)), GOOD)
    assert len({(tmp_path / str(n)).read_bytes() for n in range(len(variants))}) == 1


@pytest.mark.parametrize("name", sorted(TABLES))
def test_a_table_without_rows_is_good_and_read_as_written(tmp_path, name):
    assert write_table(TABLES[name], TABLES[name].empty(), tmp_path / name) == 0
    assert_frame_equal(read_table(TABLES[name], tmp_path / name), TABLES[name].empty())


@pytest.mark.parametrize("dim", [1, 4, 384])
def test_vectors_round_trip_in_bytes_in_any_dimension_and_what_was_stored_is_stored_alike_again(tmp_path, dim):
    frame = lines(5, dim)
    write_table(LINES, frame, tmp_path / "e.parquet")
    found, given = (f["embedding"].to_numpy() for f in (read_table(LINES, tmp_path / "e.parquet"), frame))
    assert found.shape == (5, dim)
    assert found.dtype == np.float32
    assert (np.abs(found - given).max(1) <= np.abs(given).max(1) / 126).all()
    assert str(pq.read_schema(tmp_path / "e.parquet").field("embedding").type) == f"fixed_size_binary[{dim + 1}]"
    write_table(LINES, read_table(LINES, tmp_path / "e.parquet"), tmp_path / "again.parquet")
    assert (tmp_path / "again.parquet").read_bytes() == (tmp_path / "e.parquet").read_bytes()


def embedded(values: list[list[float]]) -> pl.DataFrame:
    dtype = pl.Array(pl.Float32, 2) if len(values[0]) == 2 else pl.List(pl.Float32)
    return lines(2).with_columns(embedding=pl.Series(values, dtype=dtype))


@pytest.mark.parametrize(
    ("table", "frame", "said"),
    [
        (EVIDENCE, GOOD.with_columns(n=pl.Series([2**40, 1, 2])), "evidence@3 .*wrong type"),
        (EVIDENCE, GOOD.with_columns(n=pl.Series([[0], [1], [2]])), "evidence@3 .*wrong type"),
        (LINES, embedded([[np.nan, 1], [1, 2]]), "embedding holds numbers that are not finite"),
        (LINES, embedded([[1], [1, 2]]), "lines@1"),
    ],
    ids=["too large an integer", "lists", "NaN", "of two lengths"],
)
def test_values_of_a_wrong_type_are_refused(tmp_path, table, frame, said):
    with pytest.raises(TableError, match=said):
        write_table(table, frame, tmp_path / "x.parquet")


@pytest.fixture
def written(tmp_path):
    write_table(EVIDENCE, GOOD, tmp_path / "e.parquet")
    return tmp_path / "e.parquet"


@pytest.mark.parametrize(
    "changes",
    [
        {"version": 4},
        {"key": ("question_id",)},
        {"columns": dict(reversed(EVIDENCE.columns.items()))},
        {"columns": EVIDENCE.columns | {"text": replace(EVIDENCE.columns["text"], nullable=False)}},
        {"checks": {"text or passage_id": pl.col("text").is_not_null()}},
    ],
    ids=["version", "key", "order of columns", "nullability", "another check"],
)
def test_another_declaration_is_refused_and_better_words_in_it_change_nothing(written, changes):
    with pytest.raises(TableError, match=r"holds evidence@3:\w+, this version reads evidence@.*Fix: run the pipeline"):
        read_table(replace(EVIDENCE, **changes), written)
    columns = {name: replace(column, doc="Better.") for name, column in EVIDENCE.columns.items()}
    assert read_table(replace(EVIDENCE, doc="Better.", columns=columns), written).height == 3
    one, other = ({"split": pl.col("split").is_in(values)} for values in (["train"], ["test"]))
    assert replace(EVIDENCE, checks=one).digest != replace(EVIDENCE, checks=other).digest


def test_a_flipped_bit_is_never_read_as_data(written):
    """Of the pages, which hold the rows; the footer, which says what they are, is read or refused."""
    whole = written.read_bytes()
    pages = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    refused = []
    for place in range(4, pages, 7):
        written.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        try:
            assert read_table(EVIDENCE, written).equals(GOOD), place
        except TableError as error:
            refused.append(str(error))
    assert refused
    assert all("Fix: remove it, then snakemake" in said for said in refused)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"not parquet at all, but long enough to look at"])
def test_a_file_that_is_no_parquet_is_named(tmp_path, content):
    (tmp_path / "x.parquet").write_bytes(content)
    found = message(read_table, RUNS, tmp_path / "x.parquet")
    assert found.startswith(str(tmp_path / "x.parquet")) and "not a readable Parquet file" in found


def test_an_absent_table_names_who_writes_it_and_another_table_or_a_file_of_another_origin_is_refused(written):
    none = message(read_table, RUNS, written.with_name("none.parquet"))
    assert "no such table; build_runs writes it. Fix: snakemake" in none and none.endswith("none.parquet")
    assert "holds evidence@3" in message(read_table, RUNS, written)
    GOOD.write_parquet(written)
    assert "no table identity" in message(read_table, EVIDENCE, written)


def test_shards_are_stacked_in_the_order_given(tmp_path):
    for n, part in enumerate((GOOD[:1], GOOD[1:])):
        write_table(EVIDENCE, part, tmp_path / str(n))
    assert_frame_equal(read_tables(EVIDENCE, [tmp_path / "1", tmp_path / "0"]), pl.concat([GOOD[1:], GOOD[:1]]))
    assert_frame_equal(read_tables(EVIDENCE, []), EVIDENCE.empty())


def test_a_table_that_the_file_system_refuses_is_not_called_damaged(written, monkeypatch):
    def refused(*_, **__):
        raise PermissionError(13, "Permission denied", str(written))

    monkeypatch.setattr(pq, "ParquetFile", refused)
    with pytest.raises(PermissionError):
        read_table(TABLES["evidence"], written)


def test_a_table_in_parts_has_the_bytes_of_the_table_and_a_stage_writes_and_reads_it_so(tmp_path, monkeypatch):
    monkeypatch.setattr("secateur.core.tables.table.ROWS", 4)
    whole = lines(11)
    write_table(LINES, whole, tmp_path / "whole")
    assert write_parts(LINES, (whole[at : at + 3] for at in range(0, 11, 3)), tmp_path / "parts") == 11
    assert pq.ParquetFile(tmp_path / "parts").num_row_groups == 3
    assert (tmp_path / "parts").read_bytes() == (tmp_path / "whole").read_bytes()
    outputs = Outputs({"lines": tmp_path / "lines.parquet"})
    outputs.in_parts("lines", [whole[:3], whole[3:]])
    outputs.commit()
    assert outputs.rows == {"lines": 11}
    packed = Inputs({"lines": [tmp_path / "lines.parquet"]}).vectors("lines")
    np.testing.assert_allclose(packed[np.arange(11)], whole["embedding"].to_numpy(), atol=0.02)


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (lines(5)[2:], r"a part does not follow on \(2,\) by its key"),
        (lines(5)[:2], r"a part does not follow on \(2,\) by its key"),
        (pl.concat([lines(5)[3:], lines(5)[4:]]), "key line_id duplicated"),
        (lines(5)[3:].with_columns(line_id=pl.lit(None, pl.Int32)), "line_id null in 2 rows"),
        (lines(5, dim=3)[3:], "lines@1 .*parts.*vectors of another length"),
    ],
    ids=["from a key back", "before it", "twice the same", "without a key", "of another length"],
)
def test_a_wrong_part_is_refused_and_leaves_no_file(tmp_path, part, said):
    with pytest.raises(TableError, match=said):
        write_parts(LINES, [lines(5)[:3], part], tmp_path / "parts")
    assert not list(tmp_path.iterdir())


def test_vectors_that_stay_packed_are_those_of_the_table(tmp_path):
    write_parts(LINES, [lines(9)[:4], lines(9)[4:]], tmp_path / "lines")
    whole = read_table(LINES, tmp_path / "lines")["embedding"].to_numpy()
    found = read_vectors(LINES, tmp_path / "lines")
    assert len(found) == 9
    assert np.array_equal(found[np.arange(9)], whole)
    assert np.array_equal(found.at(np.array([5, 1, 5]))[np.array([2, 1])], whole[[5, 1]])
    assert np.array_equal(Packed.of(lines(9)["embedding"].to_numpy())[np.arange(9)], whole)


@pytest.mark.parametrize("held", [0, 100])
def test_products_with_packed_vectors_are_those_with_the_vectors(monkeypatch, held):
    monkeypatch.setattr(vectors, "BLOCK", 4)
    monkeypatch.setattr(vectors, "HELD", held)
    packed, others = Packed.of(lines(11)["embedding"].to_numpy()), lines(3)["embedding"].to_numpy()
    np.testing.assert_allclose(packed.products(others), others @ packed[np.arange(11)].T, rtol=1e-6)


def test_vectors_that_are_damaged_or_whose_keys_are_not_their_places_are_refused(tmp_path):
    path = tmp_path / "lines"
    write_table(LINES, lines(5)[2:], path)
    assert "line_id is not 0, 1, 2, ... Fix: remove it" in message(read_vectors, LINES, path)
    write_table(LINES, lines(500), path)
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 2] ^= 1
    path.write_bytes(whole)
    assert "not a readable Parquet file" in message(read_vectors, LINES, path)
