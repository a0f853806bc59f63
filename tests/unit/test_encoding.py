"""Text to tokens: split where the context ends, BOS once, trailing spaces move, the context is cut from the left."""

import pytest

from secateur.core.errors import SecateurError
from secateur.models.marks import Rendered


def encode(lm, context, answer="", span=None):
    (one,) = lm.encoder.encode([context], [answer], [span], ["question q1"])
    return one


def tokens(lm, text):
    return tuple(lm.tokenizer(text, add_special_tokens=False).input_ids)


@pytest.mark.parametrize("answer", [" half a ball", " 1994", ' "The Mill"', " £3", " „so“", " 🙂"])
def test_context_and_answer_are_tokenised_together_and_split_at_the_contexts_length(tiny_lm, answer):
    lm = tiny_lm()
    one = encode(lm, "Question: What? Answer:", answer)
    assert one.ids == tokens(lm, "Question: What? Answer:" + answer)
    assert one.ids[: one.start] == tokens(lm, "Question: What? Answer:")
    assert lm.tokenizer.decode(one.ids[one.start :]) == answer
    assert encode(lm, "Answer:  ", answer) == encode(lm, "Answer:", f"  {answer}")  # its spaces are the answer's


def test_a_context_without_answer_is_read_as_it_stands(tiny_lm):
    lm = tiny_lm()
    one = encode(lm, Rendered("<|assistant|>\n"))
    assert one.ids == one.read == tokens(lm, "<|assistant|>\n")
    assert one.predicting == [one.start - 1]


def test_bos_stands_first_once_where_the_tokenizer_adds_one(tiny_lm):
    with_bos, without = tiny_lm(bos=True), tiny_lm()
    assert encode(with_bos, "Question:", " yes").ids[:2] == (0, *tokens(with_bos, "Question:")[:1])
    assert 0 not in encode(without, "Question:", " yes").ids
    written = encode(with_bos, Rendered("<s>Question:"), " yes")
    assert written == encode(with_bos, "Question:", " yes")
    assert written.ids.count(0) == 1
    without.tokenizer.add_special_tokens({"bos_token": "<s>"})  # it has one, and does not add it
    assert type(without.encoder)(without.tokenizer, 64).prefix == ()


@pytest.mark.parametrize("bos", [False, True])
def test_a_long_context_is_cut_from_the_left_and_counted(tiny_lm, bos):
    whole = encode(tiny_lm(bos=bos), "Mira left Ghent . " * 40 + "Question: What? Answer:", " June")
    cut = encode(tiny_lm(bos=bos, window=24), "Mira left Ghent . " * 40 + "Question: What? Answer:", " June")
    assert len(cut.read) == 24
    assert cut.cut == len(whole.ids) - len(cut.ids) > 0
    assert cut.ids[bos:] == whole.ids[bos + cut.cut :]
    assert cut.ids[: int(bos)] == (0,) * bos
    assert cut.ids[cut.start :] == whole.ids[whole.start :]


def test_the_last_token_of_an_answer_is_predicted_and_not_read(tiny_lm):
    one = encode(tiny_lm(), "Question: What? Answer:", " half a ball")
    exact = encode(tiny_lm(window=len(one.ids) - 1), "Question: What? Answer:", " half a ball")
    assert (exact.cut, exact.ids) == (0, one.ids)


@pytest.mark.parametrize("bos", [False, True])
def test_an_answer_longer_than_the_window_is_refused_with_its_question(tiny_lm, bos):
    with pytest.raises(SecateurError, match=r"question q1: its answer has \d+ tokens.*window is 16.*Fix: "):
        encode(tiny_lm(window=16, bos=bos), "Question: What? Answer:", " left" * 30)


def test_the_question_has_a_probability_only_where_it_is_whole(tiny_lm):
    text = "Mira left . Question: What had she swallowed?\nAnswer:"
    span = (text.index("What"), text.index("\n"))
    one = encode(tiny_lm(), text, " June", span)
    low, high = one.asked
    assert tiny_lm().tokenizer.decode(one.ids[low:high]).strip() == "What had she swallowed?"
    kept = encode(tiny_lm(window=len(one.read) - low + 1), text, " June", span)
    lost = encode(tiny_lm(window=len(one.read) - low), text, " June", span)
    assert kept.ids[slice(*kept.asked)] == one.ids[low:high]
    assert lost.asked is None
    assert encode(tiny_lm(), "What? Answer:", " June", (0, 5)).asked is None  # nothing stands before it
    assert encode(tiny_lm(bos=True), "What? Answer:", " June", (0, 5)).asked[0] == 1
