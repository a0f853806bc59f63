"""Selections as tables and in the report: ties to the passage that is read earlier, as many as the gold, above a threshold."""

import polars as pl
from tests.support.report_rows import metric

from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import check
from secateur.ranking.select import NOTHING, above, at_gold_size, gold_size, ranked
from secateur.report.sections.selection import selection_parts

PASSAGES = pl.DataFrame(
    {"passage_id": ["b0", "a2", "a0", "a1"], "doc_id": ["b", "a", "a", "a"], "position": [0, 2, 0, 1]}
)
EVIDENCE = pl.DataFrame({"question_id": ["q1", "q1", "q1", "q2", "q3"], "passage_id": ["a1", "a1", "b0", "a0", None]})


def scores(question: str, values: dict[str, float | None], scorer: str = "s") -> pl.DataFrame:
    schema = {"question_id": pl.String, "scorer": pl.String, "passage_id": pl.String, "value": pl.Float64}
    rows = [(question, scorer, passage, value) for passage, value in values.items()]
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(answer_aware=pl.lit(False))


def order(table: pl.DataFrame) -> list[tuple[int, str | None]]:
    return table.sort("question_id", "scorer", "rank").select("rank", "passage_id").rows()


def test_each_question_and_scorer_is_ranked_by_itself_and_ties_go_to_the_passage_that_is_read_earlier():
    found = ranked(scores("q1", {"b0": 1.0, "a2": 2.0, "a1": 1.0, "a0": 1.0}), PASSAGES)
    check(TABLES["rankings"], found, "here", "none")
    assert order(found) == [(0, "a2"), (1, "a0"), (2, "a1"), (3, "b0")]
    without = ranked(scores("q1", {"b0": None, "a2": float("nan"), "a1": float("inf"), "a0": -1.0}), PASSAGES)
    assert order(without) == [(0, "a0")]  # what has no value is not ranked
    both = pl.concat([scores("q1", {"a0": 1.0, "a1": 2.0}), scores("q2", {"a0": 3.0}), scores("q1", {"a1": 0.0}, "t")])
    assert order(ranked(both, PASSAGES)) == [(0, "a1"), (1, "a0"), (0, "a1"), (0, "a0")]


def test_at_gold_size_takes_as_many_of_the_best_and_leaves_out_questions_without_gold():
    assert dict(gold_size(EVIDENCE).iter_rows()) == {"q1": 2, "q2": 1}  # distinct passages that resolve
    every = pl.concat([scores(q, {"a0": 1.0, "a1": 3.0, "a2": 2.0}) for q in ("q1", "q2", "q3")])
    found = at_gold_size(ranked(every, PASSAGES), EVIDENCE)
    check(TABLES["selections"], found, "here", "none")
    expected = [("q1", "a1"), ("q1", "a2"), ("q2", "a1")]
    assert found.sort("question_id", "rank").select("question_id", "passage_id").rows() == expected


def test_above_a_threshold_is_strict_and_says_where_nothing_was_selected():
    given = pl.concat([scores("q1", {"a0": 1.0, "a1": 3.0, "a2": 2.0}), scores("q2", {"a0": 1.0})])
    found = above(given, 1.0, PASSAGES)
    check(TABLES["selections"], found, "here", "none")
    assert order(found) == [(0, "a1"), (1, "a2"), (NOTHING, None)]
    assert found.filter(rank=NOTHING)["question_id"].to_list() == ["q2"]
    for tau in (float("nan"), float("inf")):
        assert order(above(scores("q1", {"a0": 1.0, "a1": 3.0}), tau, PASSAGES)) == [(NOTHING, None)]
    assert above(scores("q1", {"a0": None, "a1": float("nan")}), 0.0, PASSAGES).is_empty()  # it was not asked


def test_a_scorer_that_lacks_one_question_is_drawn_and_one_of_few_is_named():
    counts = {"great": (0.6, 199), "dense": (0.35, 200), "probe": (0.9, 50)}
    rows = [metric(name, "f1_at_gold", value, n=n) for name, (value, n) in counts.items()]
    frame = pl.DataFrame(rows).with_columns(name="system", enough_data=pl.lit(value=True))
    plot, table = selection_parts("toy", frame, {})
    assert plot["note"] == "Not drawn, of fewer questions: probe."
    assert [row.cells[0] for row in table["table"].rows] == ["great", "dense", "probe"]
