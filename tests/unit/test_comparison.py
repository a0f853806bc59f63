"""Means and paired differences on a frame small enough to check by hand."""

from types import SimpleNamespace

import polars as pl
import pytest

from secateur.evaluation.comparison import claims, compare, compare_answers, summarise

CFG = SimpleNamespace(resamples=200, permutations=200, confidence=0.95, min_clusters=2, seed=7, against=())
NAMED = SimpleNamespace(**vars(CFG) | {"against": ("bm25", "tfidf")})
SCHEMA = {
    "system": pl.String, "track": pl.String, "scorer": pl.String, "answer_aware": pl.Boolean, "metric": pl.String,
    "question_id": pl.String, "cluster_id": pl.String, "value": pl.Float64,
}  # fmt: skip


def rows(system, scorer, values, *, track="blind", aware=False, metric="exact@64") -> list[tuple]:
    return [(system, track, scorer, aware, metric, q, f"c{q}", v) for q, v in values.items()]


def frame(*parts) -> pl.DataFrame:
    return pl.DataFrame([row for part in parts for row in part], schema=SCHEMA, orient="row")


BM25 = rows("sentences", "bm25", {"q1": 0.0, "q2": 0.5, "q3": 1.0})
ZSUM = rows("sentences", "zsum", {"q1": 1.0, "q2": 0.5, "q3": 0.75})
GRAPH = rows("secateur", None, {"q1": 1.0, "q2": 1.0, "q3": 1.0})


def by_row(found: pl.DataFrame, column: str) -> dict:
    return {(system, scorer): value for system, scorer, value in found.select("system", "scorer", column).iter_rows()}


# --- claims ------------------------------------------------------------------------------------


def test_a_claim_is_each_questions_mean_over_the_budgets():
    parts = [
        rows("secateur", None, {"q1": v, "q2": 1.0}, metric=f"novel@{b}")
        for b, v in ((64, 0.2), (128, 0.6), (512, 0.9))
    ]
    found = claims(frame(*parts), (64, 128))
    assert dict(found.select("question_id", "value").iter_rows()) == pytest.approx({"q1": 0.4, "q2": 1.0})
    assert found["metric"].unique().to_list() == ["novel@claim"]


def test_a_claim_needs_every_one_of_its_budgets():
    assert claims(frame(rows("secateur", None, {"q1": 0.2}, metric="exact@64")), (64, 128)).is_empty()
    assert claims(frame(rows("secateur", None, {"q1": 90.0}, metric="prompt_tokens")), (64,)).is_empty()


# --- means -------------------------------------------------------------------------------------


def test_value_is_the_mean_over_questions_and_n_their_number():
    found = summarise(frame(BM25, ZSUM, GRAPH), CFG)
    assert by_row(found, "value") == {("sentences", "bm25"): 0.5, ("sentences", "zsum"): 0.75, ("secateur", None): 1.0}
    assert set(found["n"]) == {3}


def test_rows_over_different_questions_keep_their_own_n_and_value():
    aware = rows("sentences", "bm25+answer", {"q1": 1.0, "q3": 0.0}, aware=True)
    found = summarise(frame(BM25, aware, GRAPH), CFG)
    assert by_row(found, "n") == {("sentences", "bm25"): 3, ("sentences", "bm25+answer"): 2, ("secateur", None): 3}
    assert by_row(found, "value")["sentences", "bm25+answer"] == 0.5


def test_the_order_of_the_figures_is_of_no_account():
    whole = frame(BM25, ZSUM, GRAPH)
    names = ["system", "scorer"]
    assert summarise(whole.reverse(), CFG).sort(names).equals(summarise(whole, CFG).sort(names))
    assert compare(whole.reverse(), CFG).sort(names).equals(compare(whole, CFG).sort(names))


def test_an_interval_holds_its_mean():
    for low, value, high in summarise(frame(BM25, ZSUM, GRAPH), CFG).select("low", "value", "high").iter_rows():
        assert low <= value <= high


def test_one_question_has_no_interval():
    found = summarise(frame(rows("secateur", None, {"q1": 0.5})), CFG)
    assert found.select("value", "low", "high", "n").rows() == [(0.5, None, None, 1)]


def test_rows_without_a_track_are_kept():
    part = frame(rows("sentences", "bm25", {"q1": 1.0, "q2": 0.0}, track=None))
    assert summarise(part, CFG)["value"].to_list() == [0.5]


# --- differences -------------------------------------------------------------------------------


def test_the_baseline_is_the_sentence_scorer_with_the_best_mean():
    found = compare(frame(BM25, ZSUM, GRAPH), CFG)
    assert set(found["baseline"]) == {"zsum"}
    assert by_row(found, "difference") == {("sentences", "bm25"): -0.25, ("secateur", None): 0.25}


def test_equal_baselines_are_told_apart_by_name():
    twin = rows("sentences", "alpha", {"q1": 1.0, "q2": 0.5, "q3": 0.75})
    assert set(compare(frame(ZSUM, twin, GRAPH), CFG)["baseline"]) == {"alpha"}


def test_a_graph_system_is_no_baseline():
    assert "sentences" not in set(compare(frame(BM25, GRAPH), CFG)["system"])


def test_answer_aware_rows_meet_answer_aware_baselines_only():
    aware = rows("sentences", "bm25+answer", {"q1": 1.0, "q2": 1.0, "q3": 1.0}, aware=True)
    other = rows("sentences", "zsum+answer", {"q1": 0.0, "q2": 1.0, "q3": 1.0}, aware=True)
    found = compare(frame(BM25, ZSUM, aware, other), CFG)
    pairs = set(found.select("scorer", "baseline").rows())
    assert pairs == {("bm25", "zsum"), ("zsum+answer", "bm25+answer")}


def test_every_row_is_compared_with_the_best_baseline_and_with_those_that_are_named():
    found = compare(frame(BM25, ZSUM, GRAPH), NAMED)
    assert set(found.select("system", "scorer", "baseline", "best", "difference").rows()) == {
        ("secateur", None, "zsum", True, 0.25),
        ("sentences", "bm25", "zsum", True, -0.25),
        ("secateur", None, "bm25", False, 0.5),
        ("sentences", "zsum", "bm25", False, 0.25),
    }


def test_a_named_baseline_that_is_the_best_is_compared_with_once():
    found = compare(frame(BM25, GRAPH), NAMED)
    assert found.select("scorer", "baseline", "best").rows() == [(None, "bm25", True)]


def test_an_answer_aware_row_meets_the_answer_form_of_a_named_baseline():
    values = {"bm25+answer": 0.0, "zsum+answer": 0.5, "signed": 1.0}
    parts = [
        rows("ecs" if name == "signed" else "sentences", name, dict.fromkeys(("q1", "q2"), value), aware=True)
        for name, value in values.items()
    ]
    found = compare(frame(*parts), NAMED).filter(pl.col("scorer") == "signed")
    assert set(found.select("baseline", "best", "difference").rows()) == {
        ("zsum+answer", True, 0.5),
        ("bm25+answer", False, 1.0),
    }


def test_tracks_are_compared_apart():
    other = rows("sentences", "zsum+neighbour", {"q1": 1.0, "q2": 1.0, "q3": 1.0}, track="aware")
    graph = rows("secateur", None, {"q1": 0.5, "q2": 1.0, "q3": 1.0}, track="aware")
    found = compare(frame(BM25, GRAPH, other, graph), CFG)
    assert set(found.select("track", "baseline").rows()) == {("blind", "bm25"), ("aware", "zsum+neighbour")}


def test_a_policy_is_compared_within_its_own_variant():
    def of(system, scorer, value):
        return rows(system, scorer, {f"q{n}": value + n for n in range(3)}, metric="policy_utility")

    values = {("policy", "fixed"): 0.5, ("policy", "policy"): 0.75, ("policy:none", "fixed"): 0.25}
    values[("policy:none", "policy")] = 0.125
    against = SimpleNamespace(**vars(CFG) | {"against": ("fixed",)})
    found = compare(frame(BM25, *(of(*row, value) for row, value in values.items())), against)
    assert by_row(found, "difference") == {("policy", "policy"): 0.25, ("policy:none", "policy"): -0.125}
    assert set(found["system"]) == {"policy", "policy:none"}


def test_only_questions_both_rows_answer_are_paired():
    found = compare(frame(ZSUM, rows("secateur", None, {"q1": 1.0, "q3": 1.0, "q9": 0.0})), CFG)
    assert found.select("difference", "n").rows() == [(0.125, 2)]


def test_a_metric_without_a_sentence_baseline_has_no_comparison():
    cost = rows("secateur", None, {"q1": 400.0}, metric="prompt_tokens")
    assert compare(frame(cost), CFG).height == 0


@pytest.mark.parametrize("function", [summarise, compare])
def test_no_figures_make_an_empty_table_that_stacks_on_a_full_one(function):
    full, empty = function(frame(BM25, ZSUM, GRAPH), CFG), function(frame(), CFG)
    assert pl.concat([empty, full]).height == full.height
    assert pl.concat([full, empty]).height == full.height


def test_p_is_large_for_three_questions_and_small_for_many():
    many = {f"q{n}": 0.0 for n in range(30)}
    strong = compare(frame(rows("sentences", "bm25", many), rows("secateur", None, dict.fromkeys(many, 0.5))), CFG)
    assert strong["p"].to_list() == [pytest.approx(1 / 201)]
    assert compare(frame(BM25, GRAPH), CFG)["p"][0] > 0.2


# --- answers -----------------------------------------------------------------------------------

CLOSED = rows("closed_book", None, {"q1": 0.0, "q2": 0.5, "q3": 0.1}, metric="rouge_l")
RANKED = rows("rag_zsum", None, {"q1": 0.5, "q2": 0.5, "q3": 0.4}, metric="rouge_l")
AWARE = rows("secateur", None, {"q1": 1.0, "q2": 0.5, "q3": 0.7}, metric="rouge_l", track="aware")
ANSWERS = SimpleNamespace(**vars(CFG) | {"answers_against": ("rag_zsum", "closed_book")})


def test_answers_are_compared_with_the_systems_named_whatever_the_track():
    found = compare_answers(frame(CLOSED, RANKED, AWARE, GRAPH, ZSUM), ANSWERS)
    means = {(s, b): d for s, b, d in found.select("system", "baseline", "difference").iter_rows()}
    assert means == pytest.approx(
        {
            ("closed_book", "rag_zsum"): -0.8 / 3,
            ("secateur", "rag_zsum"): 0.8 / 3,
            ("rag_zsum", "closed_book"): 0.8 / 3,
            ("secateur", "closed_book"): 1.6 / 3,
        }
    )
    assert set(found["metric"]) == {"rouge_l"}
    assert not found["best"].any()
    assert set(found["n"]) == {3}


def test_without_answers_or_without_their_baseline_there_is_nothing_to_compare():
    assert compare_answers(frame(GRAPH, ZSUM), ANSWERS).is_empty()
    assert compare_answers(frame(AWARE), ANSWERS).is_empty()
    assert compare(frame(CLOSED, RANKED, AWARE), CFG).is_empty()
