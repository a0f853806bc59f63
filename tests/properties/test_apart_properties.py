"""What is cached one by one is a function of its sequence, to the bit: whatever is read with it, before it, after it."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.project import ROOT

from secateur.config import compose
from secateur.ecs.answer_gain import CLOSED, answer_logprobs
from secateur.ecs.reading.engine import read
from secateur.ecs.reading.independent import read_independently
from secateur.ecs.reading.pairs import encode
from secateur.ecs.reading.template import Passage, Question
from secateur.models.reader import load

CACHE = Path(os.environ.get("SECATEUR_CACHE", ROOT / ".cache"))  # the conversion of 135M weights is kept
FEW = settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
WORDS = ["Mira", "Jonas", "spaniel", "mill", "June", "1994", "Ghent"]
WORDS += ["tennis", "ball", "£", "„so“", "🙂", "left", "half"]
TEXT = st.lists(st.sampled_from(WORDS), max_size=90).map(" ".join)
BEGINNING = st.sampled_from(["", "Jonas left his flat by June 1994 . " * 9, "Mira treated a spaniel in Ghent . " * 20])
TEXTS = st.lists(st.builds(str.__add__, BEGINNING, TEXT), min_size=1, max_size=7, unique=True)
KINDS = [("llama", False), ("llama", True), ("mistral", True), ("gemma3_text", True)]
ASKED = Question("q", "What had she swallowed?", "half a tennis ball")


def sequences(lm, cfg, texts):
    return encode(lm, cfg, [ASKED] * len(texts), [[Passage("", text)] for text in texts])


def each(lm, found) -> list[tuple]:
    told = {}
    for n, reading in read_independently(lm, found, 3):
        asked = None if reading.asked is None else reading.asked.tolist()
        told[n] = asked, reading.answer.tolist(), reading.path.tolist()
    return [told[n] for n in range(len(found))]


def read_alike_in_any_order(lm, other, found, data) -> list[tuple]:
    """Readings of single sequences by `lm`, which `other` gives in any company and order too."""
    alone = [each(lm, [sequence])[0] for sequence in found]
    order = data.draw(st.lists(st.integers(0, len(found) - 1), min_size=1, max_size=12))
    assert each(other, [found[n] for n in order]) == [alone[n] for n in order]
    return alone


@pytest.mark.parametrize(("kind", "bos"), KINDS)
@FEW
@given(
    texts=TEXTS,
    data=st.data(),
    layout=st.sampled_from(["passage_first", "question_first"]),
    packs=st.tuples(*[st.integers(16, 900)] * 2),
)
def test_a_reading_is_that_of_its_sequence_alone_to_the_bit(tiny_lm, ecs, kind, bos, texts, data, layout, packs):
    """In any company, order and size of pack; and near what packed reading gives."""
    one, other = (tiny_lm(kind, bos, window=4096, pack=pack) for pack in packs)
    found = sequences(one, ecs(layout=layout), texts)
    alone = read_alike_in_any_order(one, other, found, data)
    for n, reading in read(one, found, [0] * len(found), 3):
        assert reading.answer.tolist() == pytest.approx(alone[n][1], abs=1e-3)


@FEW
@given(texts=TEXTS, data=st.data())
def test_where_a_sum_depends_on_the_number_of_rows_each_batch_has_the_same(tiny_lm, ecs, texts, data):
    lm, sizes = tiny_lm(window=4096, pack=256), set()
    lm.exact, threads = True, torch.get_num_threads()
    inner, lm.chunk = lm.chunk, lambda rows, *more: sizes.add((len(rows), len(rows[0]))) or inner(rows, *more)
    torch.set_num_threads(4)
    try:
        read_alike_in_any_order(lm, lm, sequences(lm, ecs(), texts), data)
    finally:
        torch.set_num_threads(threads)
    assert all(rows == 256 // width for rows, width in sizes)


def test_beginnings_are_computed_once(tiny_lm, ecs):
    lm, read = tiny_lm(window=4096, pack=512), []
    inner, lm.chunk = lm.chunk, lambda rows, *more, **named: read.append(len(rows)) or inner(rows, *more, **named)
    texts = ["Jonas left his flat by June 1994 . " * 20 + end for end in ("", "Mira .", "Ghent .", "half a ball .")]
    found = sequences(lm, ecs(), texts)
    each(lm, found)
    assert sum(read) < 2 * -(-max(len(one.read) for one in found) // 64) + 3


@pytest.fixture(scope="module")
def smollm2():
    return load(compose.option(ROOT / "conf", "lm", "smollm2"), CACHE)


@settings(max_examples=2, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=TEXTS, data=st.data())
def test_the_real_models_readings_are_their_sequences_own_to_the_bit(smollm2, ecs, texts, data):
    found = [replace(one, asked=None) for one in sequences(smollm2, ecs(), [text[:400] for text in texts[:4]])]
    read_alike_in_any_order(smollm2, smollm2, found, data)


@FEW
@given(texts=TEXTS, parts=st.lists(st.lists(st.integers(0, 6), max_size=5), max_size=3))
def test_lifts_do_not_depend_on_what_the_cache_held(tiny_lm, ecs, tmp_path_factory, texts, parts):
    lm, cfg, texts = tiny_lm(window=4096), ecs(), [CLOSED, *texts]
    cold, warm = tmp_path_factory.mktemp("cold"), tmp_path_factory.mktemp("warm")
    for part in parts:  # jobs that came first, or were killed
        answer_logprobs(lm, cfg, [(ASKED, texts[n % len(texts)]) for n in part], warm)
    asked = [(ASKED, text) for text in texts]
    assert answer_logprobs(lm, cfg, asked, warm) == answer_logprobs(lm, cfg, asked, cold)
