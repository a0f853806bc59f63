"""What is cached one by one is a function of its sequence, to the bit: whatever is read with it, before it, after it."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from secateur.config import compose
from secateur.ecs.answer_gain import CLOSED, answer_logprobs
from secateur.ecs.reading.engine import read
from secateur.ecs.reading.independent import read_independently
from secateur.ecs.reading.pairs import encode
from secateur.ecs.reading.template import Passage, Question
from secateur.models.reader import load

ROOT = Path(__file__).parents[2]
CACHE = Path(os.environ.get("SECATEUR_CACHE", ROOT / ".cache"))  # the conversion of 135M weights is kept
FEW = settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
WORDS = ["Mira", "Jonas", "spaniel", "mill", "June", "1994", "Ghent"]
WORDS += ["tennis", "ball", "£", "„so“", "🙂", "left", "half"]
TEXT = st.lists(st.sampled_from(WORDS), max_size=90).map(" ".join)
BEGINNING = st.sampled_from(["", "Jonas left his flat by June 1994 . " * 9, "Mira treated a spaniel in Ghent . " * 20])
TEXTS = st.lists(st.builds(str.__add__, BEGINNING, TEXT), min_size=1, max_size=7, unique=True)
KINDS = [("llama", False), ("llama", True), ("mistral", True), ("gemma3_text", True)]
ASKED = Question("q", "What had she swallowed?", "half a tennis ball")


def sequences(lm, cfg, texts, question=ASKED):
    return encode(lm, cfg, [question] * len(texts), [[Passage("", text)] for text in texts])


def told(reading) -> tuple:
    asked = None if reading.asked is None else reading.asked.tolist()
    return asked, reading.answer.tolist(), reading.path.tolist()


def each(lm, found) -> list[tuple]:
    by_place = {n: told(reading) for n, reading in read_independently(lm, found, 3)}
    return [by_place[n] for n in range(len(found))]


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
    alone = [each(one, [sequence])[0] for sequence in found]
    order = data.draw(st.lists(st.integers(0, len(texts) - 1), min_size=1, max_size=12))
    assert each(other, [found[n] for n in order]) == [alone[n] for n in order]
    for n, reading in read(one, found, [0] * len(found), 3):
        assert told(reading)[1] == pytest.approx(alone[n][1], abs=1e-3)


@FEW
@given(texts=TEXTS, data=st.data())
def test_where_a_sum_depends_on_the_number_of_rows_each_batch_has_the_same(tiny_lm, ecs, texts, data):
    lm, sizes = tiny_lm(window=4096, pack=256), set()
    lm.exact, threads = True, torch.get_num_threads()
    inner, lm.chunk = lm.chunk, lambda rows, *more: sizes.add((len(rows), len(rows[0]))) or inner(rows, *more)
    found = sequences(lm, ecs(), texts)
    torch.set_num_threads(4)
    try:
        alone = [each(lm, [sequence])[0] for sequence in found]
        order = data.draw(st.lists(st.integers(0, len(texts) - 1), min_size=1, max_size=12))
        assert each(lm, [found[n] for n in order]) == [alone[n] for n in order]
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
    alone = [each(smollm2, [sequence])[0] for sequence in found]
    order = data.draw(st.permutations(range(len(found))))
    assert each(smollm2, [found[n] for n in order]) == [alone[n] for n in order]


@FEW
@given(texts=TEXTS, parts=st.lists(st.lists(st.integers(0, 6), max_size=5), max_size=3))
def test_lifts_do_not_depend_on_what_the_cache_held(tiny_lm, ecs, tmp_path_factory, texts, parts):
    lm, cfg, texts = tiny_lm(window=4096), ecs(), [CLOSED, *texts]
    cold, warm = tmp_path_factory.mktemp("cold"), tmp_path_factory.mktemp("warm")
    for part in parts:  # jobs that came first, or were killed
        answer_logprobs(lm, cfg, [(ASKED, texts[n % len(texts)]) for n in part], warm)
    asked = [(ASKED, text) for text in texts]
    assert answer_logprobs(lm, cfg, asked, warm) == answer_logprobs(lm, cfg, asked, cold)
