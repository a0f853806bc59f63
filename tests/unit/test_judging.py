"""GraphRAG-Bench's protocol over a judge by rule, and over replies that are no verdicts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.rule_judge import ruled

from secateur.judging.controls import controls
from secateur.judging.prompts import rating, statements, supported
from secateur.judging.protocol import Item, Judgement, judged

GOLD = "The mill is red. It stands in Ghent."
CONTEXT = "It stands in Ghent. It was built in 1720."
PADDING = "That is what is to be said of it."


def item(answer: str, **changes) -> Item:
    base = {"question": "What of the mill?", "gold": GOLD, "context": CONTEXT}
    base |= {"evidence": ("It stands in Ghent.", "It burns.")}
    return Item(answer=answer, **base | changes)


def by(reply):
    """A judge that knows no limits, and one reply or rule."""
    return lambda prompts: [reply(prompt) if callable(reply) else reply for prompt in prompts]


def one(answer: str, **changes) -> Judgement:
    return judged([item(answer, **changes)], by(ruled))[0]


def test_the_figures_are_those_of_the_verdicts():
    found = one("It stands in Ghent. It is old. It was built in 1720.")
    assert (found.right, found.covered) == ([True, False, False], [False, True])
    assert found.figures == pytest.approx(
        {
            "facts": 1 / (1 + (2 + 1) / 2),
            "coverage": 1 / 2,
            "faithfulness": 2 / 3,
            "evidence": 1 / 2,
            "relevance": 1.0,
            "unread": 0.0,
        }
    )


def test_the_gold_answer_has_one_and_another_answer_none():
    assert one(GOLD).facts == 1
    assert one("The sea is blue.").facts == 0


def test_a_refusal_is_scored_and_says_nothing_that_could_be_unfaithful():
    for found in (one("I don't know.", refused=True), one("  ")):
        assert found.facts == 0
        assert found.figures["coverage"] == 0
        assert "faithfulness" not in found.figures
        assert found.figures["evidence"] == 1 / 2


def test_a_closed_book_has_no_figures_of_a_context():
    assert set(one(GOLD, context="").figures) == {"facts", "coverage", "unread"}


@pytest.mark.parametrize("reply", ["I cannot say.", "", "[[1]]", '{"TP": 1}', "[1, 2", None])
def test_what_cannot_be_read_is_missing_and_counted(reply):
    (found,) = judged([item("It stands in Ghent.")], by(reply))
    assert found.figures == {"unread": 1.0}
    assert found.facts is None


def test_each_context_has_both_of_its_own_ratings():
    """Of the two ways of asking the first says the item's own number, the second one more."""
    items = [item(GOLD, question=f"Question {n}?") for n in (0, 1, 0, 1)]

    def rates(prompt: str) -> str:
        return (
            str(("Question 1?" in prompt) + ("Could somebody" in prompt))
            if "0:" in prompt or "Could" in prompt
            else ruled(prompt)
        )

    found = judged(items, by(rates))
    assert [one.ratings for one in found] == [[0.0, 0.5], [0.5, 1.0]] * 2
    assert len({one.asked for one in found}) == 1


def test_a_verdict_too_many_is_none():
    """Numbers of statements that were not shown: the reply speaks of something else."""
    replies = by(lambda prompt: "[7]" if "Statements:" in prompt else ruled(prompt))
    (found,) = judged([item(GOLD)], replies)
    assert found.facts is None
    assert found.unread == 4  # right, covered, grounded, held


def test_prompts_are_asked_once():
    asked = []

    def ask(prompts):
        asked.extend(prompts)
        return [ruled(prompt) for prompt in prompts]

    judged([item(GOLD), item(GOLD)], ask)
    verdicts = [prompt for prompt in asked if prompt.startswith("Break") or "Statements:" in prompt]
    assert len(verdicts) == len(set(verdicts)) == 4  # the text; what follows from it, and twice from the context


def golds(items) -> list[list[str]]:
    """The gold answers of each item, of which it has one."""
    return [[each.gold] for each in items]


def test_a_perfect_judge_passes_its_controls():
    items = [
        item("It stands in Ghent. It is old."),
        item("The sea is blue.", gold="The sea is blue. It is deep.", question="And the sea?"),
    ]
    own = judged(items, by(ruled))
    found = controls(items, own, golds(items), by(ruled), PADDING)
    assert [(f["of_gold"], f["of_wrong"], f["backwards"]) for f in found] == [(1, 0, 1), (1, 0, 1)]
    assert all(f["padded"] < 0 for f in found)  # one more statement that the gold answer does not have


def test_a_judge_that_says_yes_to_all_is_seen_by_its_controls():
    def agrees(prompt):
        count = prompt.partition("\n\nStatements:\n")[2].count("\n") + 1
        return str(list(range(1, count + 1))) if "Statements:" in prompt else ruled(prompt)

    items = [item("Nonsense. More of it."), item("No.", gold="The sea is deep.")]
    found = controls(items, judged(items, by(agrees)), golds(items), by(agrees), PADDING)
    assert [f["of_wrong"] for f in found] == [1, 1]


def test_a_judge_that_takes_the_first_statement_is_seen_by_its_controls():
    items = [item("One. Two. Three."), item("Four. Five.")]
    first = by(lambda prompt: "[1]" if "Statements:" in prompt else ruled(prompt))
    found = controls(items, judged(items, first), golds(items), first, PADDING)
    assert all(f["backwards"] < 0.5 for f in found)


def test_one_gold_answer_for_all_has_no_wrong_one():
    items = [item("One."), item("Two.")]
    assert all("of_wrong" not in f for f in controls(items, judged(items, by(ruled)), golds(items), by(ruled), PADDING))


@given(st.text(), st.integers(1, 5))
def test_any_reply_is_read_or_missing(reply, count):
    found, claims, value = supported(reply, count), statements(reply), rating(reply)
    assert found is None or len(found) == count
    assert claims is None or all(isinstance(claim, str) and claim.strip() == claim != "" for claim in claims)
    assert value in (None, 0.0, 0.5, 1.0)


@given(st.lists(st.booleans(), min_size=1), st.lists(st.booleans(), min_size=1))
def test_facts_are_a_share_and_whole_only_where_all_is_right(right, covered):
    facts = Judgement(right=right, covered=covered).facts
    assert 0 <= facts <= 1
    assert (facts == 1) == (all(right) and all(covered))
    assert (facts == 0) == (not any(right))


def test_a_context_that_is_empty_holds_nothing_and_a_closed_book_has_none():
    found = one("It stands in Ghent.", context="", reads=True).figures
    assert (found["evidence"], found["relevance"], found["faithfulness"]) == (0, 0, 0)
    assert not {"evidence", "relevance", "faithfulness"} & set(one("It stands in Ghent.", context="").figures)


def test_an_answer_without_a_statement_is_scored_and_read():
    found = judged([item("Hm.")], by(lambda prompt: "[]" if "Hm." in prompt else ruled(prompt)))[0]
    assert (found.facts, found.figures["coverage"], found.unread) == (0, 0, 0)


def test_a_reply_with_two_lists_is_not_read():
    assert supported("Statement [2] does not follow, the others do.\n[1, 3]", 3) is None
    assert supported("[1, 3]. That is [1, 3]", 3) == [True, False, True]
    assert statements('The text ["..."] gives: ["Ann built it."]') is None


def test_the_wrong_answer_of_a_control_is_no_right_one():
    items = [item("No.", gold=gold) for gold in ("Yes.", "yes.", "No.", "Yes.")]
    found = controls(items, judged(items, by(ruled)), golds(items), by(ruled), PADDING)
    assert [f["of_wrong"] for f in found] == [0, 0, 0, 0]


def test_another_gold_answer_of_the_item_is_no_wrong_one():
    items = [item("No.", gold=gold) for gold in ("NYC.", "New York City.", "Ghent.")]
    every = [["NYC.", "New York City."], ["New York City.", "NYC."], ["Ghent."]]
    asked = []

    def ask(prompts):
        asked.extend(prompts)
        return [ruled(prompt) for prompt in prompts]

    controls(items, judged(items, by(ruled)), every, ask, PADDING)
    assert any("Ghent" in prompt and "NYC" in prompt for prompt in asked)
    assert not any("New York City" in prompt and "NYC" in prompt for prompt in asked)
