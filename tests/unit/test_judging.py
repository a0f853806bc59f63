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


def controlled(items: list[Item], reply, every: list[list[str]] | None = None) -> list[dict]:
    """The controls of a judge. every: the gold answers of each item, of which it has one by default."""
    golds = every or [[each.gold] for each in items]
    return controls(items, judged(items, by(reply)), golds, by(reply), PADDING)


def one(answer: str, **changes) -> Judgement:
    return judged([item(answer, **changes)], by(ruled))[0]


def test_the_figures_are_those_of_the_verdicts():
    found = one("It stands in Ghent. It is old. It was built in 1720.")
    assert (found.right, found.covered) == ([True, False, False], [False, True])
    assert (one(GOLD).facts, one("The sea is blue.").facts) == (1, 0)
    expected = {"facts": 1 / (1 + (2 + 1) / 2), "coverage": 1 / 2, "faithfulness": 2 / 3}
    assert found.figures == pytest.approx(expected | {"evidence": 1 / 2, "relevance": 1.0, "unread": 0.0})


def test_a_refusal_is_scored_and_says_nothing_that_could_be_unfaithful():
    for found in (one("I don't know.", refused=True), one("  ")):
        assert found.facts == 0
        assert found.figures["coverage"] == 0
        assert "faithfulness" not in found.figures
        assert found.figures["evidence"] == 1 / 2


@pytest.mark.parametrize("reply", ["I cannot say.", "[[1]]", '{"TP": 1}', "[1, 2", None])
def test_what_cannot_be_read_is_missing_and_counted(reply):
    (found,) = judged([item("It stands in Ghent.")], by(reply))
    assert found.figures == {"unread": 1.0}
    assert found.facts is None


def test_each_context_has_both_of_its_own_ratings():
    """Of the two ways of asking the first says the item's own number, the second one more."""
    items = [item(GOLD, question=f"Question {n}?") for n in (0, 1, 0, 1)]

    def rates(prompt: str) -> str:
        if "0:" not in prompt and "Could" not in prompt:
            return ruled(prompt)
        return str(("Question 1?" in prompt) + ("Could somebody" in prompt))

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
    judged([item(GOLD), item(GOLD)], by(lambda prompt: asked.append(prompt) or ruled(prompt)))
    verdicts = [prompt for prompt in asked if prompt.startswith("Break") or "Statements:" in prompt]
    assert len(verdicts) == len(set(verdicts)) == 4  # the text; what follows from it, and twice from the context


def test_a_perfect_judge_passes_its_controls():
    sea = item("The sea is blue.", gold="The sea is blue. It is deep.", question="And the sea?")
    found = controlled([item("It stands in Ghent. It is old."), sea], ruled)
    assert [(f["of_gold"], f["of_wrong"], f["backwards"]) for f in found] == [(1, 0, 1), (1, 0, 1)]
    assert all(f["padded"] < 0 for f in found)  # one more statement that the gold answer does not have


def test_a_judge_that_says_yes_to_all_or_takes_the_first_statement_is_seen_by_its_controls():
    def agrees(prompt):
        count = prompt.partition("\n\nStatements:\n")[2].count("\n") + 1
        return str(list(range(1, count + 1))) if "Statements:" in prompt else ruled(prompt)

    items = [item("One. Two. Three."), item("Four. Five.", gold="The sea is deep.")]
    assert [f["of_wrong"] for f in controlled(items, agrees)] == [1, 1]
    found = controlled(items, lambda prompt: "[1]" if "Statements:" in prompt else ruled(prompt))
    assert all(f["backwards"] < 0.5 for f in found)


@given(st.text(), st.integers(1, 5))
def test_any_reply_is_read_or_missing(reply, count):
    found, claims, value = supported(reply, count), statements(reply), rating(reply)
    assert found is None or len(found) == count
    assert claims is None or all(isinstance(claim, str) and claim.strip() == claim != "" for claim in claims)
    assert value in (None, 0.0, 0.5, 1.0)


SOME = st.lists(st.booleans(), min_size=1)


@given(SOME, SOME)
def test_facts_are_a_share_and_whole_only_where_all_is_right(right, covered):
    facts = Judgement(right=right, covered=covered).facts
    assert 0 <= facts <= 1
    assert (facts == 1) == (all(right) and all(covered))
    assert (facts == 0) == (not any(right))


def test_a_context_that_is_empty_holds_nothing_and_a_closed_book_has_none():
    found = one("It stands in Ghent.", context="", reads=True).figures
    assert (found["evidence"], found["relevance"], found["faithfulness"]) == (0, 0, 0)
    assert set(one("It stands in Ghent.", context="").figures) == {"facts", "coverage", "unread"}


def test_an_answer_without_a_statement_is_scored_and_read():
    (found,) = judged([item("Hm.")], by(lambda prompt: "[]" if "Hm." in prompt else ruled(prompt)))
    assert (found.facts, found.figures["coverage"], found.unread) == (0, 0, 0)


def test_a_reply_with_two_lists_is_not_read():
    assert supported("Statement [2] does not follow, the others do.\n[1, 3]", 3) is None
    assert supported("[1, 3]. That is [1, 3]", 3) == [True, False, True]
    assert statements('The text ["..."] gives: ["Ann built it."]') is None


def test_the_wrong_answer_of_a_control_is_no_right_one_and_one_gold_answer_for_all_has_none():
    items = [item("No.", gold=gold) for gold in ("Yes.", "yes.", "No.", "Yes.")]
    assert [f["of_wrong"] for f in controlled(items, ruled)] == [0, 0, 0, 0]
    assert all("of_wrong" not in f for f in controlled([item("One."), item("Two.")], ruled))


def test_another_gold_answer_of_the_item_is_no_wrong_one():
    items = [item("No.", gold=gold) for gold in ("NYC.", "New York City.", "Ghent.")]
    asked = []
    noted = lambda prompt: asked.append(prompt) or ruled(prompt)  # noqa: E731
    controlled(items, noted, [["NYC.", "New York City."], ["New York City.", "NYC."], ["Ghent."]])
    assert any("Ghent" in prompt and "NYC" in prompt for prompt in asked)
    assert not any("New York City" in prompt and "NYC" in prompt for prompt in asked)
