"""What a passage offers as a wrong answer, and how much of the likeliest one's surprise it explains."""

import pytest

from secateur.ecs.reading.rivals import rival_share, rivals
from secateur.ecs.reading.template import Passage, Question, prompt

ASKED = [Question("q1", "What had she swallowed?", "half a ball"), Question("q2", "Who left?", None)]
ASKED.append(Question("q3", "Is Jonas in?", "No"))
SHOWN = [Passage("p1", "half a tennis ball", "Mira", "May"), Passage("p2", ""), Passage("p3", "Jonas left . " * 3)]
PAIRS = [(q, p) for p in range(3) for q in range(3)]


@pytest.mark.parametrize(
    ("question", "answer", "passage", "offered"),
    [
        ("How many bells?", "six", "Six bells, 4 ropes (and 40 steps).", ["4", "ropes", "40", "steps"]),
        ("Who won?", "Mr Abel's niece", "Abel lost; his nieces, and Bo, won.", ["lost", "Bo"]),
        ("Who won?", "Bo", "Ann. Ann! “Ann” - Bo.", ["Ann"]),
        ("Is it open?", "Yes", "It is closed.", ["No"]),
        ("Is it open?", "no", "", ["yes"]),
        ("Who won?", "Bo", " It was Bo.", []),
    ],
)
def test_a_passage_offers_what_is_neither_asked_nor_right(question, answer, passage, offered):
    assert rivals(Question("q", question, answer), Passage("p", passage)) == offered


def logprob(lm, naive, question, shown, answer):
    """log p of an answer, read alone."""
    context, ids = prompt(question, shown, "passage_first")[0], lm.tokenizer
    before = [*lm.encoder.prefix, *ids(context, add_special_tokens=False).input_ids]
    whole = [*lm.encoder.prefix, *ids(f"{context} {answer}", add_special_tokens=False).input_ids]
    said = naive(lm, whole[:-1])
    return sum(said[n - 1, whole[n]] for n in range(len(before), len(whole)))


@pytest.mark.parametrize("pack", [16, 200])
def test_the_share_is_the_largest_of_any_rival_read_alone(tiny_lm, ecs, naive, pack):
    lm = tiny_lm(pack=pack)
    found = rival_share(lm, ecs(), ASKED, SHOWN, PAIRS)
    for (q, p), share in zip(PAIRS, found, strict=True):
        asked, shown = ASKED[q], SHOWN[p]
        words = rivals(asked, shown)
        by_hand = [1 - logprob(lm, naive, asked, [shown], w) / logprob(lm, naive, asked, [], w) for w in words]
        expected = pytest.approx(max(by_hand, default=0), abs=1e-4)
        assert share == (None if asked.answer is None else expected)
