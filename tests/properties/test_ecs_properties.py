"""Statistics of pairs equal those of one sequence at a time, whatever shares a pass, a prefix or a block with them."""

import numpy as np
import polars as pl
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from secateur.ecs.reading import engine
from secateur.ecs.reading.pairs import base_readings, encode, pair_rows
from secateur.ecs.reading.statistics import divergence, filled, jensen_shannon, lumped
from secateur.ecs.reading.sweep import statistics
from secateur.ecs.reading.template import Passage, Question
from secateur.ecs.scoring.score import score

TOLERANCE = 1e-4  # nats
WORDS = ["Mira", "Jonas", "spaniel", "mill", "June", "1994", "Ghent"]
WORDS += ["tennis", "ball", "£", "„so“", "🙂", "left", "the", "half"]
WORD = st.sampled_from(WORDS)
TEXT = st.lists(WORD, min_size=1, max_size=14).map(" ".join)
ANSWER = st.one_of(
    st.none(), TEXT.map(lambda t: t[:20]), st.sampled_from(["1994", '"The Mill"', "7 balls", "  June", "", "£3"])
)
PASSAGE = st.builds(
    Passage, st.just(""), st.one_of(TEXT, st.just(""), st.just(" \n")), st.sampled_from([None, "Mira"]), st.none()
)
LAYOUT = st.sampled_from(["passage_first", "question_first"])
SLOW = settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def asked(draw, most: int = 4):
    """Questions, passages, and some pairs of them in some order."""
    questions = [Question(f"q{n}", draw(TEXT), draw(ANSWER)) for n in range(draw(st.integers(1, 3)))]
    drawn = draw(st.lists(PASSAGE, min_size=1, max_size=most))
    passages = [Passage(f"p{n}", p.text, p.speaker, p.date) for n, p in enumerate(drawn)]
    every = [(q, p) for q in range(len(questions)) for p in range(len(passages))]
    return questions, passages, draw(st.permutations(every))[: draw(st.integers(1, len(every)))]


def texts(question: Question, passage: Passage | None, layout: str) -> tuple[str, str]:
    """Context and continuation, written out by hand."""
    line = passage.text.strip() if passage else ""
    line = f"{passage.speaker}: {line}\n" if line and passage.speaker else line + "\n" * bool(line)
    q, answer = question.text.strip(), (question.answer or "").strip()
    context = f"Question: {q}\n{line}Answer:" if layout == "question_first" else f"{line}Question: {q}\nAnswer:"
    return context, f" {answer}" if answer else ""


def alone(lm, naive, question, passage, layout):
    """Log-probability of the answer, of its first token, and the distributions along it, read one by one."""
    context, answer = texts(question, passage, layout)
    bos = lm.encoder.prefix
    ids = [*bos, *lm.tokenizer(context + answer, add_special_tokens=False).input_ids]
    start = len(bos) + len(lm.tokenizer(context, add_special_tokens=False).input_ids)
    said = naive(lm, ids)
    each = [said[n - 1, ids[n]] for n in range(start, len(ids))]
    return sum(each), each, said[start - 1 : max(len(ids) - 1, start)][:8]


def near(ours, expected) -> bool:
    return abs(ours - expected) <= TOLERANCE


def rows_of(lm, cfg, questions, passages, pairs):
    """(question's place, passage's place, statistics) of each pair, and the base."""
    base = base_readings(lm, cfg, questions)
    rows = pair_rows(lm, cfg, questions, passages, pairs, base)
    return [(*pair, row) for pair, row in zip(pairs, rows, strict=True)], base


@pytest.mark.parametrize(("kind", "bos"), [("llama", False), ("llama", True), ("mistral", True), ("gemma3_text", True)])
@SLOW
@given(data=asked(), layout=LAYOUT, pack=st.integers(16, 200))
def test_every_statistic_is_that_of_the_sequence_by_itself(tiny_lm, ecs, naive, kind, bos, data, layout, pack):
    (questions, passages, pairs), lm, cfg = data, tiny_lm(kind, bos=bos, pack=pack), ecs(layout=layout)
    for q, p, row in rows_of(lm, cfg, questions, passages, pairs)[0]:
        total, each, ours = alone(lm, naive, questions[q], passages[p], layout)
        _, _, prior = alone(lm, naive, questions[q], None, layout)
        assert row["answer_tokens"] == (len(each) or None)
        if each:
            assert near(row["answer_logprob"], total)
            assert near(row["answer_first"], each[0])
            steps = (np.exp(ours) * (ours - prior)).sum(1)
            assert np.allclose(row["kl_path"], steps, atol=TOLERANCE)
        assert near(row["kl"], (np.exp(ours[0]) * (ours[0] - prior[0])).sum())
        assert near(row["entropy"], -(np.exp(ours[0]) * ours[0]).sum())


@SLOW
@given(data=asked(), layout=LAYOUT)
def test_an_empty_candidate_is_the_base(tiny_lm, ecs, data, layout):
    questions, _, _ = data
    lm, cfg = tiny_lm(), ecs(layout=layout)
    blank = [Passage("p0", ""), Passage("p1", " \n\t", "Mira", "May")]
    rows, base = rows_of(lm, cfg, questions, blank, [(q, p) for q in range(len(questions)) for p in range(2)])
    for q, _, row in rows:
        assert row["kl"] <= TOLERANCE
        assert row["js"] <= TOLERANCE
        assert row["prompt_tokens"] == base.sequences[q].start
        if row["answer_tokens"]:
            assert near(row["answer_logprob"], float(base.readings[q].answer.sum()))


@SLOW
@given(data=asked())
def test_the_questions_probability_is_that_of_its_tokens(tiny_lm, ecs, naive, data):
    (questions, passages, pairs), lm = data, tiny_lm(bos=True)
    for q, p, row in rows_of(lm, ecs(), questions, passages, pairs)[0]:
        context, _ = texts(questions[q], passages[p], "passage_first")
        found = lm.tokenizer(context, add_special_tokens=False, return_offsets_mapping=True)
        low = context.rindex("Question: ") + len("Question: ")
        high = low + len(questions[q].text.strip())
        own = [n for n, (a, b) in enumerate(found.offset_mapping) if b > low and a < high]
        ids = [*lm.encoder.prefix, *found.input_ids]
        said = naive(lm, ids)
        expected = sum(said[n, ids[n + 1]] for n in own)  # BOS shifts tokens by one
        assert row["question_tokens"] == len(own)
        assert near(row["question_logprob"], expected)


def strings(names: str, rows: list[tuple]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dict.fromkeys(names.split(), pl.String), orient="row")


@SLOW
@given(data=asked(), pack=st.integers(16, 200), blocks=st.tuples(st.integers(1, 3), st.integers(1, 4)))
def test_blocks_and_packs_change_nothing(tiny_lm, ecs, data, pack, blocks):
    questions, passages, _ = data
    asks = strings("question_id group_id text answer", [(q.id, "g", q.text, q.answer) for q in questions])
    shown = [(p.id, "g", p.text, p.speaker, p.date) for p in passages]
    shown = strings("passage_id group_id text speaker date", shown)
    key = ["question_id", "passage_id"]
    whole = pl.concat(statistics(tiny_lm(), asks, shown, ecs())).sort(key)
    small = ecs(questions=blocks[0], passages=blocks[1])
    parts = pl.concat(statistics(tiny_lm(pack=pack), asks, shown.reverse(), small)).sort(key)
    assert parts.select(key).equals(whole.select(key))
    for column in ("answer_logprob", "question_logprob", "entropy", "kl", "js", "kl_tail"):
        assert np.allclose(*(t[column].fill_null(0.0) for t in (whole, parts)), atol=TOLERANCE), column


@SLOW
@given(data=asked())
def test_shared_prefixes_are_computed_once(tiny_lm, ecs, data):
    questions, passages, pairs = data
    lm, cfg = tiny_lm(), ecs()
    read = []
    inner, lm._forward = lm._forward, lambda s, p, r: read.append(sum(map(len, s))) or inner(s, p, r)
    sequences = encode(lm, cfg, [questions[q] for q, _ in pairs], [[passages[p]] for _, p in pairs])
    list(engine.read(lm, sequences, [p for _, p in pairs], cfg.horizon))
    assert sum(read) == engine.cost(sequences, [p for _, p in pairs])
    assert sum(read) <= sum(len(one.read) for one in sequences)


SHAPE = st.tuples(st.integers(2, 300), st.integers(0, 10_000), st.floats(0.1, 6))


def distributions(shape):
    """Two random log-distributions over one vocabulary."""
    size, seed, spread = shape
    logits = torch.randn(2, size, generator=torch.Generator().manual_seed(seed)) * spread
    return logits.log_softmax(-1)


@given(SHAPE)
def test_divergences_keep_their_bounds(shape):
    p, q = distributions(shape)
    assert float(divergence(p, q)) >= 0
    assert float(divergence(p, p)) == pytest.approx(0, abs=1e-6)
    assert float(jensen_shannon(p, q)) == pytest.approx(float(jensen_shannon(q, p)), abs=1e-6)
    assert 0 <= float(jensen_shannon(p, q)) <= np.log(2) + 1e-6


@given(SHAPE)
def test_the_lumped_divergence_grows_to_the_exact_one(shape):
    p, q = distributions(shape)
    sizes = sorted({1, 2, 5, 50, shape[0]})
    values = [float(lumped(p, q, p.topk(min(k, shape[0])).indices)) for k in sizes]
    assert all(a <= b + 1e-5 for a, b in zip(values, values[1:], strict=False))
    assert values[-1] == pytest.approx(float(divergence(p, q)), abs=1e-5)


@given(SHAPE, st.integers(1, 60))
def test_the_papers_divergence_fills_what_the_base_does_not_rank(shape, k):
    p, q = distributions(shape)
    k = min(k, shape[0])
    own, known = (x.topk(k).indices for x in (p, q))
    told = [float(q[n]) if n in known else np.log(1e-10) for n in own]
    expected = sum(np.exp(float(p[n])) * (float(p[n]) - base) for n, base in zip(own, told, strict=True))
    assert float(filled(p, q, own, known, 1e-10)) == pytest.approx(expected, abs=1e-4)


NUMBER = st.floats(-50, -0.01)


@given(st.lists(st.tuples(NUMBER, st.floats(0, 5)), min_size=2, max_size=12), NUMBER, st.integers(1, 9))
def test_within_a_question_signed_scores_rank_as_the_answers_probability_does(rows, base, tokens):
    alike = {"question_id": "q", "tokens": 3, "answer_tokens": tokens}
    alike |= {"answer_first": base, "question_logprob": base, "entropy": 1.0}
    seen = {"passage_id": [None, *(f"p{n}" for n in range(len(rows)))]}
    seen |= {"answer_logprob": [base, *(value for value, _ in rows)], "kl": [None, *(kl for _, kl in rows)]}
    table = pl.DataFrame(alike | seen)
    probability = [value for value, _ in rows]
    better = np.sign(np.subtract.outer(probability, probability))
    for name in ("signed", "signed_mean"):
        value = score(table, name)["value"].to_numpy()
        assert (better * np.subtract.outer(value, value) >= -1e-9).all()
    signs = score(table, "signed_kl")["value"].to_numpy()
    signed = score(table, "signed")["value"].to_numpy()
    assert (signs * signed >= 0).all()
    assert np.allclose(abs(signs), np.where(signed == 0, 0, [kl for _, kl in rows]))
