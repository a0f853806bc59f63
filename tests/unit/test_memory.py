"""What a session remembers: its runs, recalled coarse to fine, and the units its reader has been shown."""

from pathlib import Path

import numpy as np
import pytest

from secateur.config import option
from secateur.memory import Remembered, Store, symbols_of
from secateur.replay import Unit, replay
from secateur.transcript import Transcript

RETRIEVER = option(Path(__file__).parents[2] / "conf", "retriever", "default")


class Letters:
    """Texts as unit vectors of their letters: alike where they share words."""

    def embed(self, texts):
        found = np.zeros((len(texts), 26), np.float32)
        for row, text in enumerate(texts):
            for letter in text.lower():
                if letter.isascii() and letter.isalpha():
                    found[row, ord(letter) - ord("a")] += 1
        return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)


def store(*texts: str, channel: str = "question") -> Store:
    made = Store(RETRIEVER, Letters())
    for n, text in enumerate(texts):
        made.add(Remembered(f"q{n}", channel, text, symbols_of(text, ())))
    return made


def recalled(made: Store, asked: str, most: int = 2, channel: str = "question") -> list[str]:
    return [run.text for run in made.recall(channel, symbols_of(asked, ()), most)]


# --- the store -----------------------------------------------------------------------------------


def test_a_question_recalls_the_run_that_is_most_like_it():
    assert recalled(store("zzz yyy", "bears eat fish", "qqq"), "do bears eat fish", 1) == ["bears eat fish"]


def test_a_new_session_remembers_nothing():
    assert recalled(Store(RETRIEVER, Letters()), "anything") == []


def test_channels_are_apart():
    made = store("bears eat fish")
    made.add(Remembered("q9", "answer", "bears eat moths", symbols_of("bears eat moths", ()), verified=True))
    assert recalled(made, "bears eat", channel="answer") == ["bears eat moths"]


def test_none_are_recalled_where_none_are_asked_for():
    assert recalled(store("bears eat fish"), "bears", most=0) == []


@pytest.mark.parametrize("nothing", ["", "  \n"])
def test_an_empty_answer_is_not_worth_a_run(nothing):
    assert recalled(store(nothing, "bears"), "bears") == ["bears"]


def test_symbols_come_from_triples_and_from_the_text_where_there_are_none():
    triples = [("bear", "eats", "fish"), ("fish", "eats", "moth")]
    assert symbols_of("x", triples) == (["bear", "fish", "moth"], ["eats"], ["bear eats fish", "fish eats moth"])
    assert symbols_of("hydrogen", ()) == (["hydrogen"], ["hydrogen"], ["hydrogen"])


# --- the transcript ------------------------------------------------------------------------------


def test_a_transcript_carries_only_what_is_new():
    shown = Transcript(100)
    assert shown.show([("a", 10), ("b", 10), ("a", 10)]) == ["a", "b"]
    assert shown.show([("b", 10), ("c", 10)]) == ["c"]
    assert list(shown) == ["a", "b", "c"]
    assert shown.tokens == 30


def test_the_oldest_units_leave_a_full_window_and_are_sent_again():
    shown = Transcript(20)
    shown.show([("a", 10), ("b", 10)])
    assert shown.show([("c", 10)]) == ["c"]
    assert "a" not in shown
    assert shown.show([("a", 10)]) == ["a"]


def test_what_was_just_sent_stays_even_where_it_overflows_the_window():
    shown = Transcript(5)
    assert shown.show([("a", 10), ("b", 10)]) == ["a", "b"]
    assert list(shown) == ["a", "b"]


# --- a session gone through ----------------------------------------------------------------------


def unit(text: str, *needs: str) -> Unit:
    return Unit(text, 10, text, True, frozenset((need,) for need in needs))


def test_a_later_prompt_carries_what_its_reader_has_not_and_reuse_is_counted():
    blocks = {"q0": [unit("a", "x", "y"), unit("b", "z")], "q1": [unit("b", "z"), unit("c", "x", "w")], "q2": []}
    first, second, third = replay(["q0", "q1", "q2"], blocks, 100)
    assert (first.reused, first.grown) == (0, 3)
    assert [u.text for u in second.fresh] == ["c"]
    assert [u.text for u in second.held] == ["a", "b", "c"]
    assert second.reused == pytest.approx(2 / 3)
    assert second.grown == 1
    assert (third.fresh, third.reused, third.grown) == ([], None, 0)
