"""Prompts within a window, and answers cut where they repeat themselves, whatever they say."""

from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from secateur.answers.ending import finished, is_over
from secateur.answers.prompt import compose, units_cut
from secateur.evaluation.answers import token_f1

WORDS = st.lists(st.sampled_from(["red", "mill", "on", "the", "Rhine", "1,000", "…"]), max_size=9).map(" ".join)
RULES = SimpleNamespace(stop=("\n\n",), repeats=3, least_repeated=20)


def words(text: str) -> int:
    return len(text.split())


@given(units=st.lists(WORDS, max_size=8), question=WORDS.filter(bool), room=st.integers(0, 60))
def test_a_prompt_fits_its_window_and_lacks_no_line_that_would_have_fitted(units, question, room):
    window = words(compose("Answer.", [], question)) + room

    def size(cut: int) -> int:
        return words(compose("Answer.", units[cut:], question))

    cut = units_cut(len(units), size, window, "q")
    assert size(cut) <= window
    assert cut == 0 or size(cut - 1) > window


@given(said=WORDS, again=WORDS.filter(str.strip), times=st.integers(1, 12))
def test_an_answer_is_the_beginning_of_what_was_said_and_repeats_nothing_for_long(said, again, times):
    text = f"{said} {again} " * times
    answer, why = finished(text, RULES)
    assert text.strip().startswith(answer)
    assert (why is None) == (answer == text.strip())
    assert not is_over(answer, RULES)
    assert finished(answer, RULES) == (answer, None)


@given(answer=WORDS, gold=WORDS)
def test_f1_is_symmetric(answer, gold):
    assert token_f1(answer, gold) == token_f1(gold, answer)
