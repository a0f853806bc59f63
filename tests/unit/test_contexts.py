"""Contexts without a graph: as many passages as the budget holds, the gold evidence, everything."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.contexts.simple import as_blocks, gold_units, last_units, ranked_units

from secateur.pipeline.tables.catalog import TABLES
from secateur.pipeline.tables.table import problems

PASSAGES = pl.DataFrame(
    [
        ("p2", "d1", "g", 1, "Two words"),
        ("p1", "d1", "g", 0, "One"),
        ("p3", "d2", "g", 0, "And three words"),
        ("p4", "d3", "h", 0, "Elsewhere"),
    ],
    schema={
        "passage_id": pl.String,
        "doc_id": pl.String,
        "group_id": pl.String,
        "position": pl.Int32,
        "text": pl.String,
    },
    orient="row",
)
ASKED = pl.DataFrame({"question_id": ["q2", "q1"], "group_id": ["h", "g"]})


def count(texts) -> np.ndarray:
    return np.array([len(text.split()) for text in texts], np.int64)


def ids(units: pl.DataFrame, question: str) -> list[str]:
    return units.filter(pl.col("question_id") == question)["passage_id"].to_list()


def ranking(texts: list[str]) -> pl.DataFrame:
    names = [f"p{n}" for n in range(len(texts))]
    schema = dict.fromkeys(("question_id", "passage_id", "text"), pl.String)
    return pl.DataFrame({"question_id": ["q"] * len(texts), "passage_id": names, "text": texts}, schema=schema)


@given(texts=st.lists(st.integers(1, 6).map(lambda n: " ".join(["w"] * n)), max_size=12), budget=st.integers(1, 30))
def test_a_ranking_gives_the_longest_prefix_that_fits_and_the_best_stands_next_to_the_question(texts, budget):
    best_first = ranked_units(ranking(texts), count, budget, best_last=False)
    kept = best_first["text"].to_list()
    assert kept == texts[: len(kept)]
    assert sum(count(kept)) <= budget
    assert len(kept) == len(texts) or sum(count(texts[: len(kept) + 1])) > budget
    best_last = ranked_units(ranking(texts), count, budget, best_last=True)
    assert best_last["passage_id"].to_list() == best_first["passage_id"].to_list()[::-1]


def test_gold_evidence_stands_in_text_order_and_what_resolves_to_nothing_behind_it():
    rows = [("q1", 0, "stated", "p3"), ("q1", 1, "Said otherwise.", None), ("q1", 2, None, "p1"), ("q1", 3, "x", "p3")]
    gold = pl.DataFrame(rows, schema=TABLES["evidence"].empty().schema, orient="row")
    units = gold_units(ASKED, gold, PASSAGES)
    assert ids(units, "q1") == ["p1", "p3", "q1 evidence 1"]
    assert units["text"].to_list() == ["One", "And three words", "Said otherwise."]
    assert ids(units, "q2") == []


@pytest.mark.parametrize(("window", "left"), [(6, ["p1", "p2", "p3"]), (5, ["p2", "p3"]), (2, [])])
def test_the_full_context_is_the_end_of_the_group_in_text_order(window, left):
    units = last_units(ASKED, PASSAGES, count(PASSAGES["text"]).tolist(), window)
    assert ids(units, "q1") == left
    assert ids(units, "q2") == ["p4"]


def test_units_become_the_table_of_blocks_at_one_budget():
    blocks = as_blocks(last_units(ASKED, PASSAGES, [1, 1, 1, 1], 9), count, 512)
    assert problems(TABLES["blocks"], blocks) == []
    own = blocks.filter(pl.col("question_id") == "q1").sort("n")
    assert own["tokens"].to_list() == [1, 2, 3]
    assert own["n"].to_list() == [0, 1, 2]
    assert set(blocks["budget"]) == {512}
    assert problems(TABLES["blocks"], as_blocks(blocks.clear(), count, 512)) == []
