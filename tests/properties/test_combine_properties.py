"""Joined scores on any candidates: no label of its own question, no candidate found with the answer."""

from types import SimpleNamespace

import numpy as np
import polars as pl
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import check_grad
from scripts import combine_scores

from secateur.ecs.reading.sweep import statistics_frame
from secateur.ecs.scoring.fusion import cross_fitted, fit_ranking, fit_values, ranking_loss, standardised

SLOW = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
SIZES = st.lists(st.integers(1, 5), min_size=2, max_size=5)
NUMBERS = st.floats(-3, 3, width=32)


@st.composite
def problems(draw):
    """(features, starts, gold) of some questions, one of them at least with a gold candidate."""
    sizes = draw(SIZES)
    x = draw(arrays(np.float64, (sum(sizes), 2), elements=NUMBERS))
    gold = draw(arrays(np.bool_, sum(sizes)))
    return x, np.cumsum([0, *sizes[:-1]]), gold


@SLOW
@given(problems())
def test_standardised_columns_have_mean_0_and_deviation_1_or_0(problem):
    x, starts, _ = problem
    z = standardised(x, starts)
    for own, raw in zip(np.split(z, starts[1:]), np.split(x, starts[1:]), strict=True):
        np.testing.assert_allclose(own.mean(0), 0, atol=1e-5)
        for column, before in zip(own.T, raw.T, strict=True):
            if np.ptp(before) == 0:
                np.testing.assert_allclose(column, 0, atol=1e-5)
            elif np.std(before) > 1e-3:
                np.testing.assert_allclose(column.std(), 1, atol=1e-5)


@SLOW
@given(problems(), arrays(np.float64, 2, elements=NUMBERS))
def test_the_gradient_of_a_ranking_is_that_of_finite_differences(problem, w):
    x, starts, gold = problem
    assume(gold.any())
    value, slope = ranking_loss(w, x, gold, starts)
    assert np.isfinite(value)
    found = check_grad(lambda v: ranking_loss(v, x, gold, starts)[0], lambda v: ranking_loss(v, x, gold, starts)[1], w)
    assert found < 1e-4 * (1 + np.abs(slope).max())


@SLOW
@given(problems())
def test_a_fitted_ranking_is_a_minimum(problem):
    x, starts, gold = problem
    assume(gold.any())
    w = fit_ranking(x, gold, starts)
    assert np.abs(ranking_loss(w, x, gold, starts)[1]).max() < 1e-3


@SLOW
@given(st.integers(0, 10_000), st.integers(3, 8))
def test_a_ranking_finds_the_feature_that_tells_the_gold(seed, questions):
    rng = np.random.default_rng(seed)
    gold = np.tile([True, False, False, False], questions)
    x = np.column_stack([rng.normal(size=len(gold)), gold + rng.normal(0, 0.05, len(gold))])
    starts = np.arange(questions) * 4
    w = fit_ranking(standardised(x, starts), gold, starts)
    assert w[1] > max(0, abs(w[0]))


@SLOW
@given(problems(), st.data())
def test_a_fold_never_sees_its_own_labels(problem, data):
    x, starts, gold = problem
    folds = np.arange(len(starts)) % 2
    row_fold = np.repeat(folds, np.diff(np.append(starts, len(x))))
    assume(all(gold[row_fold == fold].any() for fold in (0, 1)))
    other = np.where(row_fold == 0, data.draw(arrays(np.bool_, len(x))), gold)
    assume(other[row_fold == 0].any())
    for fit, labels, changed in ((fit_ranking, gold, other), (fit_values, gold * 1.0, other * 2.0 - 1.0)):
        changed = np.where(row_fold == 0, changed, labels)
        (before, _), (after, _) = (cross_fitted(x, starts, folds, fit, y) for y in (labels, changed))
        np.testing.assert_array_equal(before[row_fold == 0], after[row_fold == 0])


SCORES = {"signed": {"kind": "signed"}, "pmi_q": {"kind": "pmi_q"}}
SPECS = {
    "signed@tau": {"kind": "threshold", "of": "signed"},
    "sum:aware": {"kind": "sum", "of": ["bm25+answer", "pmi_q"]},
    "pmi_q@null": {"kind": "null", "of": "pmi_q"},
    "pmi_q@tau": {"kind": "threshold", "of": "pmi_q"},
    "sum": {"kind": "sum", "of": ["bm25", "pmi_q"]},
    "fitted": {"kind": "fitted", "of": ["bm25", "pmi_q", "length"]},
    "distilled": {"kind": "distilled", "label": "signed", "of": ["bm25", "pmi_q"]},
}
COUNT = 7  # passages of each question


def values(draw, size: int) -> list[float]:
    return draw(st.lists(NUMBERS, min_size=size, max_size=size))


@st.composite
def pools(draw):
    """Inputs of the stage: three conversations of one question each; the first passage is free, and gold."""
    pool, rows, bm25, passages = [], [], [], []
    for q in ("q0", "q1", "q2"):
        names, free = [f"{q}.{n}" for n in range(COUNT)], [True, *draw(st.lists(st.booleans(), min_size=4, max_size=4))]
        pool += [(q, p, n, free[n], 0, None) for n, p in enumerate(names[:5])]
        pool += [(q, p, None, False, 0, n) for n, p in enumerate(names[5:])]
        logs, asked, lexical, aware = (values(draw, COUNT) for _ in range(4))
        rows.append({"question_id": q, "passage_id": None, "answer_logprob": 0.0, "question_logprob": 0.0})
        rows += [
            {"question_id": q, "passage_id": p, "tokens": 1, "answer_logprob": a, "question_logprob": b}
            for p, a, b in zip(names, logs, asked, strict=True)
        ]
        bm25 += [(q, "bm25", p, v) for p, v in zip(names, lexical, strict=True)]
        bm25 += [(q, "bm25+answer", p, v) for p, v in zip(names, aware, strict=True)]
        passages += [(p, q, n, p * (n + 1)) for n, p in enumerate(names)]
    gold = [(q, f"{q}.0") for q in ("q0", "q1", "q2")]
    columns = ["question_id", "passage_id", "rank", "free", "quartile", "turn"]
    return {
        "pool": pl.DataFrame(pool, schema=columns, orient="row").with_columns(probed=pl.lit(True)),
        "statistics": statistics_frame(rows),
        "rankings": pl.DataFrame(bm25, schema=["question_id", "scorer", "passage_id", "value"], orient="row"),
        "passages": pl.DataFrame(passages, schema=["passage_id", "doc_id", "position", "text"], orient="row"),
        "questions": pl.DataFrame({"question_id": ["q0", "q1", "q2"], "cluster_id": ["c0", "c1", "c2"]}),
        "evidence": pl.DataFrame(gold, schema=["question_id", "passage_id"], orient="row"),
    }


def combined(ecs, *sets) -> dict[str, pl.DataFrame]:
    """What the stage writes of the first data set; the others are those of `rankers.fitted_on`."""
    rankers = SimpleNamespace(scores=SCORES, utilities=SPECS)
    cfg = SimpleNamespace(rankers=rankers, ecs=ecs(draws=2), eval=SimpleNamespace(min_clusters=2))
    outputs, each = {}, lambda name: [tables[name] for tables in sets]
    combine_scores.run(cfg, SimpleNamespace(each=each, paths=each), outputs, None)
    return outputs


@SLOW
@given(pools())
def test_a_candidate_found_with_the_answer_is_never_chosen_by_a_scorer_that_sees_none(ecs, inputs):
    free = set(inputs["pool"].filter("free").select("question_id", "passage_id").iter_rows())
    known = set(inputs["pool"].drop_nulls("rank").select("question_id", "passage_id").iter_rows())
    for table in combined(ecs, inputs).values():
        shown = table.drop_nulls("passage_id")
        for aware, allowed in ((False, free), (True, known)):
            own = shown.filter(pl.col("answer_aware") == aware).select("question_id", "passage_id")
            assert set(own.iter_rows()) <= allowed


@SLOW
@given(pools(), st.data())
def test_an_answer_free_score_depends_on_no_answer_of_its_own_question(ecs, inputs, data):
    statistics = inputs["statistics"]
    own = (pl.col("question_id") == "q0") & pl.col("passage_id").is_not_null()
    other = pl.Series(values(data.draw, statistics.height))
    changed = statistics.with_columns(answer_logprob=pl.when(own).then(other).otherwise("answer_logprob"))
    before, after = (combined(ecs, inputs | {"statistics": s})["rankings"] for s in (statistics, changed))
    same = (pl.col("question_id") == "q0") & ~pl.col("answer_aware")
    assert before.filter(same).equals(after.filter(same))


@settings(SLOW, max_examples=10)
@given(pools(), pools(), st.integers(1, 4))
def test_weights_of_other_sets_rest_on_no_evidence_of_the_set_that_they_score(ecs, inputs, other, place):
    elsewhere = inputs["evidence"].with_columns(passage_id=pl.col("question_id") + f".{place}")
    changed = inputs | {"evidence": pl.concat([inputs["evidence"], elsewhere])}
    before, after = (combined(ecs, tables, other)["rankings"] for tables in (inputs, changed))
    same = pl.col("scorer") == "fitted@other_sets"
    assert before.filter(same).height
    assert before.filter(same).equals(after.filter(same))
    assert set(combined(ecs, inputs)["rankings"]["scorer"]) == set(before["scorer"]) - {"fitted@other_sets"}
