"""Scores of a pool's candidates from features: what each kind gives, worked out by hand."""

import math

import numpy as np
import polars as pl
import pytest

from secateur.core.errors import SecateurError
from secateur.ecs.names import LENGTH, OVERLAP, SPEAKER, needed_features
from secateur.ecs.reading.sweep import statistics_frame
from secateur.ecs.scoring.combine import answer_aware, calibrated, features, joined, scorable, transferred
from secateur.ecs.scoring.fusion import fit_ranking, standardised

SCORES = {"signed": {"kind": "signed"}, "pmi_q": {"kind": "pmi_q"}}
MEASURED = [(None, -10.0, -6.0, None), ("a", -7.0, -5.0, 4), ("b", -9.0, -2.0, 2)]
NAMES = ("passage_id", "question_logprob", "answer_logprob", "tokens")
STATISTICS = statistics_frame([{"question_id": "q1"} | dict(zip(NAMES, row, strict=True)) for row in MEASURED])
POOL = pl.DataFrame(
    {"question_id": ["q1"] * 3, "passage_id": ["a", "b", "c"], "rank": [0, 1, None], "free": [True, False, False],
     "probed": [True, True, False], "quartile": [0, None, 0], "turn": [None, None, 0]}
)  # fmt: skip
QUESTIONS = pl.DataFrame({"question_id": ["q1"], "text": ["Which dog is Ana Lee's?"]})
PASSAGES = pl.DataFrame(
    {"passage_id": ["a", "b", "c"], "text": ["Oh.", "A spaniel.", ""], "speaker": ["Analee", "ANA", None]}
)
UTILITIES = pl.DataFrame(
    [("q1", "bm25", "a", 2.0), ("q1", "bm25", "x", 1.5), ("q1", "bm25+answer", "b", 3.0), ("q2", "dense", "a", 1.0)],
    ["question_id", "scorer", "passage_id", "value"],
    orient="row",
)


def test_a_scorer_is_answer_aware_where_what_it_is_made_of_is():
    assert answer_aware("signed", SCORES)
    assert answer_aware(["bm25", "bm25+neighbour+answer"], SCORES)
    assert not answer_aware(["bm25", "pmi_q"], SCORES)
    assert not answer_aware(["signed"], {})  # a ranking of that name is none under a model


@pytest.mark.parametrize(
    ("name", "scores", "expected"),
    [
        (LENGTH, SCORES, [math.log(4), math.log(11), 0.0]),
        (SPEAKER, SCORES, [0.0, 1.0, 0.0]),  # a whole word of the question
        ("bm25", SCORES, [2.0, 1.5, 1.5]),  # what a ranking does not keep has the lowest score that it keeps
        ("bm25+answer", SCORES, [3.0, 3.0, 3.0]),
        ("dense", SCORES, [None, None, None]),  # it does not rank this question
        ("pmi_q", SCORES, [3.0, 1.0, None]),
        ("signed", SCORES, [1.0, 4.0, None]),
        ("signed", SCORES | {"signed": {"kind": "signed", "length_penalty": 0.5}}, [-1.0, 3.0, None]),  # a token
    ],
)
def test_features_are_lengths_baselines_and_statistics_and_null_where_undefined(name, scores, expected):
    found = features(POOL, QUESTIONS, PASSAGES, UTILITIES, STATISTICS, scores, [name])
    assert found["passage_id"].to_list() == ["a", "b", "c"]
    assert found[name].to_list() == pytest.approx(expected)


def test_overlap_counts_the_question_s_content_words_in_what_is_said_and_by_whom():
    asked = QUESTIONS.with_columns(text=pl.lit("Which dogs, or which dog, has Ana?"))  # dog, dog, ana
    said = PASSAGES.with_columns(text=pl.Series(["Oh.", "A dog.", "Dogs!"]), speaker=pl.Series(["Ana", "ANA", None]))
    found = features(POOL, asked, said, UTILITIES, STATISTICS, SCORES, [OVERLAP])
    assert found[OVERLAP].to_list() == [1.0, 3.0, 2.0]


def test_an_unknown_feature_names_the_nearest_one_and_needed_are_all_features_and_labels_once():
    with pytest.raises(SecateurError, match=r"feature 'signd' is not known; allowed: bm25, bm25\+answer, .*'signed'"):
        features(POOL, QUESTIONS, PASSAGES, UTILITIES, STATISTICS, SCORES, ["signd"])
    made = {"a": {"kind": "null", "of": "js"}, "b": {"kind": "sum", "of": ["bm25", "pmi_q"]}}
    made |= {"c": {"kind": "distilled", "label": "kl_first", "of": ["bm25", "signed"]}}
    assert needed_features(SCORES, made) == ["signed", "pmi_q", "js", "bm25", "kl_first"]


def test_answer_free_scorers_choose_among_the_free_and_nobody_among_chance():
    assert scorable(POOL, aware=False)["passage_id"].to_list() == ["a"]
    assert scorable(POOL, aware=True)["passage_id"].to_list() == ["a", "b"]


def test_a_calibrated_score_is_the_z_score_over_the_other_drawn_passages():
    rows = [("d2", 0, 2, 5.0), ("c", 0, None, 6.0), ("d0", 0, 0, 1.0), ("d1", 0, 1, 3.0), ("other", None, None, 9.0)]
    drawn = pl.DataFrame(rows, ["passage_id", "quartile", "turn", "x"], orient="row")
    found = calibrated(drawn.with_columns(question_id=pl.lit("q1")), "x", 2)
    values = {p: (value, chance) for p, value, chance in found.drop("question_id").iter_rows()}
    root = math.sqrt(2)  # deviation of two values that are 2 apart
    assert values["c"] == (pytest.approx(4 / root), False)  # from d0 and d1: mean 2
    assert values["d0"] == (pytest.approx(-3 / root), True)  # from d1 and d2: mean 4
    assert values["d1"] == (pytest.approx(0), True)
    assert values["d2"] == (pytest.approx(3 / root), True)
    assert values["other"][0] is None  # no null was drawn for it


def table(questions: int = 4) -> tuple[pl.DataFrame, pl.DataFrame, dict[str, int]]:
    """Candidates whose gold one has the highest x, and y says nothing; (features, gold, folds)."""
    rng = np.random.default_rng(3)
    rows = [
        (f"q{q}", f"p{p}", p, True, float(p == q % 3) + rng.normal(0, 0.1), rng.normal(), float(p == q % 3))
        for q in range(questions)
        for p in range(3)
    ]
    names = ["question_id", "passage_id", "rank", "free", "x", "y", "label"]
    gold = pl.DataFrame([(f"q{q}", f"p{q % 3}") for q in range(questions)], schema=names[:2], orient="row")
    return pl.DataFrame(rows, schema=names, orient="row"), gold, {f"q{q}": q % 2 for q in range(questions)}


def test_a_sum_adds_z_scores_over_the_candidates_of_a_question():
    one = pl.DataFrame(
        {"question_id": ["q1"] * 3, "passage_id": ["c", "a", "b"], "rank": [0, 1, 2], "free": [True] * 3,
         "x": [1.0, 3.0, None], "y": [9.0, 9.0, 9.0]}
    )  # fmt: skip
    found, weights = joined(one, {"kind": "sum", "of": ["x", "y"]}, False, one, {})
    assert found.select("passage_id").rows() == [("a",), ("c",)]  # b lacks x
    assert found["value"].to_list() == pytest.approx([1, -1])
    assert weights == {}


@pytest.mark.parametrize("spec", [{"kind": "fitted"}, {"kind": "distilled", "label": "label"}])
def test_fitted_and_distilled_scorers_find_the_feature_that_tells_the_gold(spec):
    features_, gold, folds = table()
    found, weights = joined(features_, spec | {"of": ["x", "y"]}, False, gold, folds)
    assert weights["x"] > 3 * abs(weights["y"])
    best = found.sort("value", descending=True).group_by("question_id").first()
    assert set(best.select("question_id", "passage_id").iter_rows()) == set(gold.iter_rows())


FITTED = {"kind": "fitted", "of": ["x"]}
DISTILLED = {"kind": "distilled", "label": "label", "of": ["x"]}
FEATURES, GOLD, FOLDS = table()
UNLABELLED, ELSEWHERE = FEATURES.with_columns(label=pl.lit(None, pl.Float64)), GOLD.with_columns(passage_id=pl.lit("p"))
ONE_FOLD = dict.fromkeys(FOLDS, 0)


@pytest.mark.parametrize(
    ("spec", "frame", "gold", "folds", "message"),
    [
        (FITTED, FEATURES, GOLD, ONE_FOLD, r"there is no question in the other folds\. Fix: leave it out"),
        (DISTILLED, FEATURES, GOLD, ONE_FOLD, r"there is no question in the other folds\. Fix: leave it out"),
        (DISTILLED, UNLABELLED, GOLD, FOLDS, "distilled over x: no candidate has a label in the other folds"),
        (FITTED, FEATURES, ELSEWHERE, FOLDS, "fitted over x: no question has a gold candidate in the other folds"),
    ],
)
def test_a_scorer_that_has_nothing_to_fit_to_says_so(spec, frame, gold, folds, message):
    with pytest.raises(SecateurError, match=message):
        joined(frame, spec, False, gold, folds)


def test_weights_of_other_sets_are_those_of_all_their_questions_and_score_this_set():
    own = FEATURES.with_columns(x=pl.col("y"), y=pl.col("x"))  # here y tells the gold, elsewhere x
    z = lambda names: standardised(FEATURES.select(names).to_numpy(), np.arange(4) * 3)  # noqa: E731
    hits = FEATURES["label"].to_numpy() == 1
    starts = np.arange(8) * 3
    expected = fit_ranking(np.concatenate([z(["x", "y"])] * 2), np.concatenate([hits] * 2), starts)
    values, weights = transferred(own, {"of": ["x", "y"], "kind": "fitted"}, False, [(FEATURES, GOLD)] * 2)
    assert list(weights.values()) == pytest.approx(expected)
    assert weights["x"] > 3 * abs(weights["y"])
    assert values["value"].to_list() == pytest.approx(z(["y", "x"]) @ expected)


def test_weights_of_sets_without_gold_or_candidates_are_refused():
    empty = FEATURES.with_columns(x=pl.lit(None, pl.Float64))
    for others in ([(FEATURES, GOLD.clear())], [(empty, GOLD)]):
        with pytest.raises(SecateurError, match=r"the other sets of rankers\.fitted_on have no gold candidate\. Fix: "):
            transferred(FEATURES, FITTED, False, others)
    assert transferred(empty, FITTED, False, [(FEATURES, GOLD)])[0].is_empty()
    nothing, weights = joined(empty, FITTED, False, GOLD, FOLDS)
    assert (nothing.columns, nothing.height, weights) == (["question_id", "passage_id", "value"], 0, {})
