"""Figures kept of an experiment, and the tables made from them."""

import polars as pl
import pytest
from tests.support.refusals import message

from secateur.core.tables.catalog import TABLES
from secateur.report.kept import write_kept
from secateur.report.results import complete, quoted

PLACE = {"dataset": "toy", "order": "blind", "answer_aware": False, "subset": "all", "split": "all"}
FIGURE = PLACE | {"scorer": None, "low": 0.1, "high": 0.3, "n": 12, "units": 3, "published": False}
PAIR = PLACE | {"baseline": "plain", "baseline_scorer": None, "axis": "ranker", "p": 0.02, "p_holm": 0.04}
PAIR |= {"scorer": None, "difference": 0.05, "low": 0.1, "high": 0.3, "n": 12, "units": 3}
RECALL = {"metric": "evidence_recall@claim"}
METRICS = [
    FIGURE | RECALL | {"system": "ours", "value": 0.25},
    FIGURE | {"metric": "tokens@claim", "system": "ours", "value": 99.6},
    FIGURE | RECALL | {"system": "plain", "value": 0.2},
    FIGURE | RECALL | {"system": "plain", "value": 0.9, "order": "aware"},
    FIGURE | RECALL | {"system": "rankers", "scorer": "bm25", "value": 0.15, "n": 11},
    FIGURE | {"metric": "memory_evidence_recall_gain", "system": "sessions", "dataset": "talk", "value": 0.125},
]
COMPARISONS = [
    PAIR | RECALL | {"system": "ours"},
    PAIR | RECALL | {"system": "ours", "axis": "primary", "p_holm": 0.02},
    PAIR | {"metric": "token_recall@claim", "system": "ours", "low": None, "high": None},
]
SOURCE = {"command": "make run EXPERIMENT=toy", "commit": "0123456789abcdef", "finished": "2026-01-01", "digest": "f"}


def frame(table: str, rows: list[dict]) -> pl.DataFrame:
    empty = TABLES[table].empty()
    return pl.DataFrame(rows, schema_overrides=dict(empty.schema), infer_schema_length=None).select(empty.columns)


@pytest.fixture
def docs(tmp_path):
    for table, rows in (("metrics", METRICS), ("comparisons", COMPARISONS)):
        write_kept(frame(table, rows), tmp_path, "toy", table, SOURCE)
    return tmp_path


def page(rows: str, columns: str = "{recall: toy evidence_recall@claim}", order: str = "order: blind") -> str:
    mark = f"<!-- figures\nexperiment: toy\n{order}\ncolumns: {columns}\nrows: {rows}\n-->"
    return f"Before.\n\n{mark}\nold\n<!-- end -->\n\nAfter.\n"


def test_a_table_is_written_between_its_marks_and_nothing_else_is_touched(docs):
    made = quoted(page("[ours, plain, ours - plain]"), docs)
    assert made.startswith("Before.\n\n<!-- figures\nexperiment: toy\n")
    assert made.endswith("<!-- end -->\n\nAfter.\n")
    assert "old" not in made
    assert "| row | recall (n 12) |" in made
    assert "| ours | **0.250** (0.100 to 0.300) |" in made
    assert "| plain | 0.200 (0.100 to 0.300) |" in made  # that of the other order is .9
    assert "| ours minus plain | +0.050 (+0.100 to +0.300), p 0.04 |" in made
    assert "`make run EXPERIMENT=toy`, commit 0123456789." in made
    assert quoted(made, docs) == made
    assert quoted("Nothing.\n", docs) == "Nothing.\n"


def test_a_difference_is_read_from_either_side_rows_may_have_names_and_counts_that_differ_are_a_range(docs):
    assert "| plain minus ours | -0.050 (-0.300 to -0.100), p 0.04 |" in quoted(page("[plain - ours]"), docs)
    named = quoted(page("{graph: ours, BM25: rankers/bm25}"), docs)
    assert "| row | recall (n 11 to 12) |" in named
    assert "| BM25 | 0.150" in named
    assert "(unbounded)" in quoted(page("[ours - plain]", "{words: toy token_recall@claim}"), docs)


def test_a_difference_of_the_primary_family_has_the_p_of_that_family(docs):
    made = quoted(page("[ours - plain]", order="order: blind\nfamily: primary"), docs)
    assert "| ours minus plain | +0.050 (+0.100 to +0.300), p 0.02 |" in made
    assert "over the primary family" in made


@pytest.mark.parametrize(
    ("rows", "order", "said"),
    [
        ("[our]", "order: blind", "0 rows 'our'; did you mean 'ours'?"),
        ("[plain]", "", "2 rows 'plain'"),
        ("[ours - bm25]", "order: blind", "0 rows 'ours - bm25'"),
    ],
)
def test_a_row_that_is_not_there_once_is_refused_with_those_that_are(docs, rows, order, said):
    found = message(quoted, page(rows, order=order), docs)
    assert said in found and "rankers · bm25" in found


def test_a_mark_of_an_experiment_that_is_not_kept_names_the_command(docs):
    other = page("[ours]").replace("experiment: toy", "experiment: other")
    assert "metrics.parquet: not there. Fix: make keep NAME=other" in message(quoted, other, docs)


def test_the_complete_page_has_every_figure_difference_and_figure_of_memory(docs):
    made = complete(docs, "toy")
    assert "## toy, order-blind, all" in made
    assert "| ours | 0.250 (0.100 to 0.300) | 100 |" in made
    assert "| plain | 0.900 (0.100 to 0.300) |" in made
    assert "| ranker | ours | plain | +0.050 (+0.100 to +0.300), p 0.04 |" in made
    assert "| evidence recall that memory gives at equal tokens sent | 0.125 (0.100 to 0.300) | 12 |" in made
