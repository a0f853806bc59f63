"""Which questions a row speaks of."""

import polars as pl

from secateur.evaluation.subsets import answered, members

ASKED = [("q1", "g1", 3, "1"), ("q2", "g1", 0, "5"), ("q3", "g1", 1, "1"), ("q4", "g2", 2, None), ("q5", "g2", 4, "2")]
HELD = [("q1", "p1"), ("q1", "p2"), ("q2", "p1"), ("q3", None), ("q4", "p9"), ("q5", "p8")]
QUESTIONS = pl.DataFrame(ASKED, ["question_id", "group_id", "position", "type"], orient="row")
EVIDENCE = pl.DataFrame(HELD, ["question_id", "passage_id"], orient="row")


def subsets(**spec) -> dict[str, set[str]]:
    return members(QUESTIONS, EVIDENCE, {"types": {}, "first": {}} | spec)


def test_a_subset_is_all_questions_those_of_some_types_or_the_first_scorable_ones_of_each_group_in_file_order():
    assert subsets() == {"all": {"q1", "q2", "q3", "q4", "q5"}}
    typed = subsets(types={"main": ["1", "2"], "none": ["9"]})
    assert (typed["main"], typed["none"]) == ({"q1", "q3", "q5"}, set())
    assert subsets(first={"F1": 1})["F1"] == {"q2", "q4"}
    assert subsets(first={"F2": 2})["F2"] == {"q2", "q1", "q4", "q5"}  # not one whose evidence does not resolve


WITH_ANSWERS = [(f"q{n}", "dev" if n % 2 else "test", "an answer") for n in range(20)]
WITHOUT = [("none", "test", None), ("blank", "test", "  ")]
ANSWERED = pl.DataFrame([*WITH_ANSWERS, *WITHOUT], ["question_id", "split", "answer"], orient="row")


def test_only_questions_of_the_split_that_have_an_answer_are_drawn():
    assert set(answered(ANSWERED, "test", 99)["question_id"]) == {f"q{n}" for n in range(0, 20, 2)}
    assert answered(ANSWERED, "all", 99).height == 20
    assert answered(ANSWERED, "train", 99).is_empty()


def test_the_draw_depends_on_the_ids_alone_and_grows_by_adding():
    few, more = (answered(ANSWERED, "all", count) for count in (5, 9))
    assert few["question_id"].to_list() == more["question_id"].to_list()[:5]
    assert answered(ANSWERED.reverse(), "all", 5).equals(few)
    assert few["question_id"].to_list() != ANSWERED["question_id"].to_list()[:5]
    assert few.columns == ANSWERED.columns
