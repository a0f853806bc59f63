"""The part of pmi_q that is of words which the passage lacks."""

import pytest

from secateur.ecs.reading.lacking import lacking
from secateur.ecs.reading.pairs import base_readings, pair_rows
from secateur.ecs.reading.template import Passage, Question, prompt

ASKED = Question("q", "What had the spaniels swallowed?", "half a tennis ball")


def said(lm, naive, text):
    """Log-probability of each token of the question in a text."""
    ids = lm.tokenizer(text).input_ids
    start = text.index(ASKED.text)
    spans = lm.tokenizer(text, return_offsets_mapping=True)["offset_mapping"]
    inside = [n for n, (low, high) in enumerate(spans) if high > start and low < start + len(ASKED.text)]
    told = naive(lm, ids)
    return {text[spans[n][0] : spans[n][1]].strip(): told[n - 1, ids[n]] for n in inside}


def row(lm, ecs, passage):
    return pair_rows(lm, ecs(), [ASKED], [passage], [(0, 0)], base_readings(lm, ecs(), [ASKED]))[0]


@pytest.mark.parametrize("bos", [False, True])
def test_it_is_the_shift_of_the_tokens_of_those_words_alone(tiny_lm, ecs, naive, bos):
    lm, passage = tiny_lm(bos=bos), Passage("p", "Mira has a spaniel.")
    under = said(lm, naive, prompt(ASKED, [passage], "passage_first")[0])
    alone = said(lm, naive, prompt(ASKED, [], "passage_first")[0])
    end = ASKED.text.index("swallowed")
    spans = lm.encoder.encode([ASKED.text], [""], [(0, len(ASKED.text))], ["q"])[0].spans
    new = [ASKED.text[low:high].strip() for low, high in spans if low < end + 9 and high > end]
    assert row(lm, ecs, passage)["question_new"] == pytest.approx(sum(under[t] - alone[t] for t in new), abs=1e-4)


def test_what_a_passage_shows_before_it_is_not_its_own(tiny_lm, ecs):
    shown = "Jonas: What had the spaniel swallowed?\nMira: A ball."
    whole, own = (row(tiny_lm(), ecs, Passage("p", shown, own=text)) for text in (None, "Mira: A ball."))
    assert whole["question_new"] == 0
    assert own["question_new"] != 0
    assert whole["question_logprob"] == own["question_logprob"]


def test_nothing_is_said_where_the_passage_stands_behind_the_question(tiny_lm, ecs):
    passage, cfg = Passage("p", "A ball."), ecs(layout="question_first")
    (found,) = pair_rows(tiny_lm(), cfg, [ASKED], [passage], [(0, 0)], base_readings(tiny_lm(), cfg, [ASKED]))
    assert "question_new" not in found


def test_words_are_told_apart_by_stem_and_case_and_function_words_are_none():
    text = "Can the Ponies' mother and I visit Ghent in May 2023?"
    spans = [(m, m + 1) for m in range(len(text))]
    new = "".join(c for c, is_new in zip(text, lacking(text, spans, "A pony, may it be"), strict=True) if is_new)
    assert new == "mothervisitGhent2023"
