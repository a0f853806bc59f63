"""Answer gain: what a context adds to the answer's log-probability per token, beside another question's context."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from secateur.core.shards import part_of
from secateur.ecs.answer_gain import CLOSED, CUT, answer_logprobs, gain_rows, unit_gains
from secateur.ecs.reading.pairs import encode
from secateur.ecs.reading.template import Passage, Question

ASKED = [
    Question("q1", "What had she swallowed?", "half a tennis ball"),
    Question("q2", "Who left his flat?", "Jonas"),
    Question("q3", "When?", "June 1994"),
]
CONTEXTS = {("q1", 64): "Mira treated a spaniel in Ghent .", ("q1", 128): "Mira treated a spaniel in Ghent ."}
CONTEXTS |= {("q2", 64): "Jonas left .", ("q2", 128): "Jonas left his flat by June 1994 ."}


@pytest.fixture
def context(tmp_path):
    counts = {}
    return SimpleNamespace(cache=tmp_path, progress=lambda rows, *_: rows, note_counts=counts.update, counts=counts)


def gains(lm, cfg, ctx, asked=ASKED, contexts=CONTEXTS, budgets=(64, 128), mine=None) -> dict[tuple[str, str], float]:
    mine = range(len(asked)) if mine is None else mine
    return {(q, metric): value for q, metric, value in gain_rows(lm, cfg, asked, contexts, budgets, 128, mine, ctx)}


def mean_logprob(lm, cfg, naive, question: Question, text: str) -> float:
    """log p of an answer per token, read by itself."""
    (one,) = encode(lm, cfg, [question], [[Passage("", text)]])
    logs = naive(lm, one.ids)
    each = [logs[n - 1, one.ids[n]] for n in range(one.start, len(one.ids))]
    return sum(each) / len(each)


@pytest.mark.parametrize("layout", ["passage_first", "question_first"])
def test_gain_and_control_are_those_of_one_sequence_at_a_time(tiny_lm, ecs, naive, context, layout):
    lm, cfg = tiny_lm(), ecs(layout=layout)
    found = gains(lm, cfg, context)
    for n, question in enumerate(ASKED):
        closed = mean_logprob(lm, cfg, naive, question, CLOSED)
        assert found[question.id, "closed_book"] == pytest.approx(closed, abs=1e-4)
        other = ASKED[(n + 1) % 3]
        for name, text in (
            ("answer_gain@64", CONTEXTS.get((question.id, 64), CLOSED)),
            ("answer_gain@128", CONTEXTS.get((question.id, 128), CLOSED)),
            ("answer_gain_shuffled@128", CONTEXTS.get((other.id, 128), CLOSED)),
        ):
            expected = mean_logprob(lm, cfg, naive, question, text) - closed
            assert found[question.id, name] == pytest.approx(expected, abs=1e-4)
        left = found[question.id, "answer_gain@128"] - found[question.id, "answer_gain_shuffled@128"]
        assert found[question.id, "answer_gain_own@128"] == pytest.approx(left, abs=1e-9)


@pytest.mark.parametrize("count", [2, 3, 5])
def test_shards_of_the_questions_say_what_all_of_them_say(tiny_lm, ecs, context, tmp_path, count):
    whole, parts = gains(tiny_lm(), ecs(), context), {}
    for n in range(count):
        fresh = SimpleNamespace(**vars(context) | {"cache": tmp_path / str(n)})
        parts |= gains(tiny_lm(), ecs(), fresh, mine=part_of(len(ASKED), f"{n}of{count}"))
    assert parts == whole


def test_equal_contexts_are_read_once_and_none_a_second_time_by_the_same_code(tiny_lm, ecs, context, monkeypatch):
    lm, read = tiny_lm(), []
    inner, lm.chunk = lm.chunk, lambda rows, *rest: read.append(sum(map(len, rows))) or inner(rows, *rest)
    first = gains(lm, ecs(), context)
    assert read != []
    assert first["q1", "answer_gain@64"] == first["q1", "answer_gain@128"]
    stored = len(list(context.cache.rglob("*.json")))
    assert stored == 3 + 3 + 2  # q1: none, its own, q2's; q2: none and its two, q3's is none; q3: none, q1's
    read.clear()
    assert gains(lm, ecs(), context) == first
    assert read == []
    monkeypatch.setattr("secateur.ecs.answer_gain.plugin_digest", lambda module: module)
    assert gains(lm, ecs(), context) == first
    assert read != []


def test_the_context_that_two_questions_share_is_computed_once(tiny_lm, ecs, context, tmp_path):
    lm, computed = tiny_lm(window=4096), []
    inner, lm.chunk = lm.chunk, lambda rows, *rest: computed.append(sum(map(len, rows))) or inner(rows, *rest)
    long = {(q.id, 128): " ".join(f"{q.id} left {n} flats by June ." for n in range(40)) for q in ASKED}
    together = gains(lm, ecs(), context, contexts=long, budgets=(128,))
    at_once, texts = sum(computed), [long[q.id, 128] for q in ASKED]
    computed.clear()
    pairs = [(q, text) for n, q in enumerate(ASKED) for text in (CLOSED, texts[n], texts[(n + 1) % 3])]
    alone = [answer_logprobs(lm, ecs(), [pair], tmp_path / "alone")[0] for pair in pairs]
    assert at_once < 0.6 * sum(computed)
    assert together["q1", "answer_gain@128"] == alone[1] - alone[0]
    assert together["q3", "answer_gain_shuffled@128"] == alone[8] - alone[6]


def test_what_the_window_cuts_off_a_context_is_counted_with_a_warm_cache_too(tiny_lm, ecs, context):
    lm, long = tiny_lm(window=40), {key: text * 30 for key, text in CONTEXTS.items()}
    for _ in range(2):
        gains(lm, ecs(), context, contexts=long)
        unique = [("q1", long["q1", 64]), ("q2", long["q2", 64]), ("q2", long["q2", 128])]  # q1 has one at both budgets
        unique += [("q1", long["q2", 128]), ("q3", long["q1", 128])]  # controls
        asked = {q.id: q for q in ASKED}
        found = [encode(lm, ecs(), [asked[q]], [[Passage("", text)]])[0].cut for q, text in unique]
        assert min(found) > 0
        assert context.counts == {CUT: sum(found)}
    gains(tiny_lm(), ecs(), context)
    assert context.counts == {CUT: 0}


def test_contexts_of_another_systems_length_are_named_by_it_and_their_control_is_as_long(tiny_lm, ecs, context):
    contexts = {(q, 0): text for (q, budget), text in CONTEXTS.items() if budget == 128}
    args = (tiny_lm(), ecs(), ASKED, contexts, [0], 0, range(len(ASKED)), context)
    found = {(q, metric): value for q, metric, value in gain_rows(*args, "myrag")}
    whole = gains(tiny_lm(), ecs(), context)
    for metric in ("answer_gain", "answer_gain_shuffled", "answer_gain_own"):
        for q in ("q1", "q2"):
            assert found[q, f"{metric}@myrag"] == whole[q, f"{metric}@128"]


def test_a_figure_needs_a_gain_and_its_control_at_one_budget_and_a_control_another_question(tiny_lm, ecs, context):
    found = {metric for _, metric in gains(tiny_lm(), ecs(), context, budgets=(64,))}
    assert found == {"answer_gain@64", "answer_gain_shuffled@128", "closed_book"}
    alone = {metric for _, metric in gains(tiny_lm(), ecs(), context, ASKED[:1])}
    assert alone == {"answer_gain@64", "answer_gain@128", "closed_book"}


def test_a_unit_supports_an_answer_by_what_it_alone_gains_and_no_answer_at_all(tiny_lm, ecs, naive, context):
    lm, cfg, units = tiny_lm(), ecs(), ["Mira keeps bees .", "Jonas left ."]
    closed = mean_logprob(lm, cfg, naive, ASKED[0], CLOSED)
    expected = [mean_logprob(lm, cfg, naive, ASKED[0], unit) - closed for unit in units]
    assert unit_gains(lm, cfg, ASKED[0], units, context.cache) == pytest.approx(expected, abs=1e-4)
    assert unit_gains(lm, cfg, replace(ASKED[0], answer="  "), units, context.cache) == [None, None]
    assert unit_gains(lm, cfg, ASKED[0], [], context.cache) == []
