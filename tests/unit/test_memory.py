"""What a session remembers: its runs, recalled coarse to fine, and the units its reader has been shown."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripts.build_preferences import _Replay

from secateur.config.compose import option
from secateur.memory.replay import Unit, replay, within
from secateur.memory.store import GOLD, Remembered, Store, Support, exchange, memories, symbols_of
from secateur.memory.transcript import Transcript

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


def test_a_question_recalls_the_runs_of_its_channel_that_are_most_like_it_and_no_empty_ones():
    made = store("zzz yyy", "bears eat fish", "qqq", "", "  \n")
    made.add(Remembered("q9", "answer", "bears eat moths", symbols_of("bears eat moths", ()), GOLD))
    assert recalled(made, "do bears eat fish", 1) == ["bears eat fish"]
    assert recalled(made, "bears eat", channel="answer") == ["bears eat moths"]
    assert set(recalled(made, "bears", most=9)) == {"zzz yyy", "bears eat fish", "qqq"}
    assert recalled(made, "bears", most=0) == recalled(store(), "bears") == []


def test_symbols_come_from_triples_and_from_the_text_where_there_are_none():
    triples = [("bear", "eats", "fish"), ("fish", "eats", "moth")]
    assert symbols_of("x", triples) == (["bear", "fish", "moth"], ["eats"], ["bear eats fish", "fish eats moth"])
    assert symbols_of("hydrogen", ()) == (["hydrogen"], ["hydrogen"], ["hydrogen"])


def test_a_session_stores_two_runs_and_their_support_and_an_answer_is_verified_if_it_is_gold():
    runs = [*exchange("q0", "Why?", ((["why"], [], ["why"]), ()), "", GOLD, lambda text: (), {})]
    asked = [("who", "came to", "UK")]
    runs += exchange("q1", "Who?", ((["who"], [], ["who"]), asked), "Ann.", "a model", ann, {"UK": "Britain"})
    placed = pl.DataFrame({"question_id": ["q0", "q1"], "session_id": ["s", "s"], "n": [0, 1]})
    shown = [Support("q1", "p1", "Ann came.", 0.5, (0,)), Support("q1", "p2", "Bob left.", -0.25)]
    found, added = memories(runs, [*shown, shown[0]], placed, BOOK)
    assert found.drop("question_id", "session_id").rows() == [
        (0, "question", 0, "Why?", None, None, None, []),
        (0, "answer", 0, "", True, GOLD, None, []),
        (1, "question", 0, "Who?", None, None, None, [1]),
        (1, "answer", 0, "Ann.", False, "a model", None, [0]),
        (1, "facts", 0, "Ann came.", None, "p1", 0.5, [0]),
        (1, "facts", 1, "Bob left.", None, "p2", -0.25, []),
    ]
    assert added.rows() == [(1, 2, 0, 1, "who", "came to", "Britain")]


EDGE = ("edge_id", "h", "r", "t")
BOOK = (
    pl.DataFrame({"entity_id": [0, 1], "text": ["Ann", "Britain"]}, schema_overrides={"entity_id": pl.Int32}),
    pl.DataFrame({"relation_id": [0], "text": ["came to"]}, schema_overrides={"relation_id": pl.Int32}),
    pl.DataFrame({"edge_id": [0], "h": [0], "r": [0], "t": [1]}, schema=dict.fromkeys(EDGE, pl.Int32)),
)


def ann(_):
    return [SimpleNamespace(head="Ann", relation="came to", tail="UK")]


@pytest.mark.parametrize(
    ("gold", "split", "source"), [(True, "train", GOLD), (True, "test", "lm"), (False, "train", "lm")]
)
def test_gold_is_stored_of_training_questions_alone_and_only_where_asked_for(gold, split, source):
    class Replay(_Replay):
        def __init__(self) -> None:
            self.cfg, self.lm = SimpleNamespace(memory=SimpleNamespace(gold=gold)), SimpleNamespace(name="lm")

    row = {"question_id": "q", "text": "Why?", "answer": "Because.", "split": split}
    stored = Replay().stored(row, SimpleNamespace(text="said"))
    assert stored == ("Because." if source == GOLD else "said", source)


@pytest.mark.parametrize(
    ("window", "questions"),
    [
        (100, [("aba", "ab", "ab"), ("bc", "c", "abc")]),  # only what is new, each once
        (20, [("ab", "ab", "ab"), ("c", "c", "bc"), ("a", "a", "ca")]),  # the oldest leave, and are sent again
        (5, [("ab", "ab", "ab"), ("ca", "c", "ac")]),  # what a question needs stays, though it overflows the window
    ],
)
def test_a_transcript_carries_what_is_new_and_holds_what_the_window_lets_it(window, questions):
    shown = Transcript(window)
    for asked, sent, held in questions:
        assert shown.show([(unit, 10) for unit in asked]) == list(sent)
        assert list(shown) == list(held)


@pytest.mark.parametrize(("most", "block"), [(20, 0), (10, 1), (9, 2), (0, 2)])
def test_a_later_question_gets_the_largest_block_whose_new_units_are_few_enough(most, block):
    sizes = [[("a", 10), ("b", 10), ("c", 10)], [("b", 10)], [("d", 10)]]
    shown = Transcript(100)
    assert shown.due(sizes, most) == sizes[0]  # the first has nothing to build on
    shown.show([("a", 10)])
    assert shown.due(sizes, most) == sizes[block]


@given(
    window=st.integers(0, 60),
    blocks=st.lists(st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 20)), min_size=1, max_size=6),
)
def test_a_reader_holds_all_that_its_question_needs_and_no_more_than_its_window_beyond(window, blocks):
    shown, sizes = Transcript(window), {}
    for block in blocks:
        block = {unit: sizes.setdefault(unit, tokens) for unit, tokens in block.items()}
        before = set(shown)
        fresh = shown.show(block.items())
        assert set(fresh) == set(block) - before
        assert set(block) <= set(shown) <= before | set(block)
        assert sum(sizes[unit] for unit in shown) <= max(window, sum(block.values()))


def unit(text: str, *needs: str) -> Unit:
    return Unit(text, 10, text, True, frozenset((need,) for need in needs))


def test_a_later_prompt_carries_what_its_reader_has_not_and_reuse_is_counted():
    blocks = {"q0": [[unit("a", "x", "y"), unit("b", "z")]], "q1": [[unit("b", "z"), unit("c", "x", "w")]], "q2": []}
    first, second, third = replay(["q0", "q1", "q2"], blocks, 100, most=100)
    assert (first.reused, first.grown) == (0, 3)
    assert [u.text for u in second.fresh] == ["c"]
    assert [u.text for u in second.held] == ["a", "b", "c"]
    assert second.reused == pytest.approx(2 / 3)
    assert second.grown == 1
    assert (third.fresh, third.reused, third.grown) == ([], None, 0)


def test_the_same_words_of_two_passages_are_two_units():
    said = [Unit("It rained.", 3, passage, True) for passage in ("p1", "p2")]
    first, second = replay(["q0", "q1"], {"q0": [said[:1]], "q1": [said[1:]]}, 100, most=100)
    assert (first.fresh, second.fresh) == (said[:1], said[1:])
    assert second.held == said


@pytest.mark.parametrize(
    ("window", "most", "blocks", "fresh", "held"),
    [
        (0, 100, ["bc"], "c", "bc"),  # a reader without a window holds its own block
        (100, 15, ["cd", "d"], "d", "abd"),  # a smaller block where its evidence is all new
    ],
)
def test_a_later_prompt_carries_what_is_new_of_a_block_that_is_small_enough(window, most, blocks, fresh, held):
    sizes = {"q0": [[unit("a"), unit("b")]], "q1": [[unit(text) for text in block] for block in blocks]}
    first, second = replay(["q0", "q1"], sizes, window, most=most)
    assert [u.text for u in first.fresh] == ["a", "b"]
    assert [u.text for u in second.fresh] == list(fresh)
    assert {u.text for u in second.held} == set(held)
    assert [u.text for u in second.block] == list(blocks[0])


def sized(**tokens: int) -> dict[str, Unit]:
    return {name: Unit(name, size, name, True) for name, size in tokens.items()}


@pytest.mark.parametrize(
    ("tokens", "kept"), [(100, "dcba"), (35, "cba"), (15, "ca"), (9, "c"), (0, "")]
)  # of 15, b does not fit and is passed over
def test_a_context_cut_to_some_tokens_keeps_what_smaller_ones_hold_first(tokens, kept):
    units = sized(a=10, b=20, c=5, d=40)
    sizes = [[units[name] for name in names] for names in ("dcba", "cba", "a")]
    assert [u.text for u in within(sizes, tokens, "best_last")] == list(kept)
    assert within([], tokens, "best_last") == []


def test_a_context_is_cut_best_first_whatever_its_placement():
    best, middle, worst = sized(best=20, middle=20, worst=20).values()
    assert within([[worst, middle, best]], 40, "best_last") == [middle, best]
    assert within([[best, middle, worst]], 40, "best_first") == [best, middle]
