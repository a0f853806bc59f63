"""Questions with candidates, encoded and read: the rows of the table of statistics."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from secateur.ecs.reading.engine import Reading, read
from secateur.ecs.reading.statistics import of_base, of_pair
from secateur.ecs.reading.template import Passage, Question, answer_text, prompt
from secateur.models.causal import CausalLM
from secateur.models.encoding import Encoded
from secateur.models.served import Served

__all__ = ["Base", "Pairs", "base_readings", "base_rows", "encode", "families", "logprobs", "pair_rows"]

Base = list[tuple[Encoded, Reading]]  # one of each question
Pairs = Sequence[tuple[int, int]]  # places of a question and of a passage


def encode(
    lm: CausalLM | Served, cfg, questions: Sequence[Question], shown: Sequence[Sequence[Passage]], answered: bool = True
) -> list[Encoded]:
    """Each question with the passages shown to it, and its answer where it is known and wanted."""
    texts = [prompt(q, passages, cfg.layout) for q, passages in zip(questions, shown, strict=True)]
    answers = [answer_text(q) if answered else "" for q in questions]
    names = [f"question {q.id}" for q in questions]
    return lm.encoder.encode([text for text, _ in texts], answers, [span for _, span in texts], names)


def base_readings(lm: CausalLM | Served, cfg, questions: Sequence[Question], context: Sequence[Passage] = ()) -> Base:
    """What the model says of each question without a candidate: under the context C alone."""
    sequences = encode(lm, cfg, questions, [context] * len(questions))
    readings = dict(read(lm, sequences, [0] * len(sequences), cfg.horizon))
    return [(one, readings[n]) for n, one in enumerate(sequences)]


def logprobs(
    lm: CausalLM | Served,
    cfg,
    questions: Sequence[Question],
    shown: Sequence[Sequence[Passage]],
    kin: Sequence[Any],
) -> list[float]:
    """log p of each question's answer under the passages shown to it; kin: what may share a prefix."""
    # Without the question's own probability, so that the question is read once for all answers to it.
    sequences = [replace(one, asked=None) for one in encode(lm, cfg, questions, shown)]
    found = {n: float(reading.answer.double().sum()) for n, reading in read(lm, sequences, kin, 1)}
    return [found[n] for n in range(len(sequences))]


def families(cfg, pairs: Pairs) -> list[int]:
    """What may share a prefix: a passage with all its questions where it stands first, else a question with all its
    candidates, which share the question or the context C."""
    by_passage = cfg.layout == "passage_first" and len({q for q, _ in pairs}) > 1
    return [p if by_passage else q for q, p in pairs]


def pair_rows(
    lm: CausalLM | Served,
    cfg,
    questions: Sequence[Question],
    passages: Sequence[Passage],
    pairs: Pairs,
    base: Base,
    context: Sequence[Passage] = (),
) -> list[dict[str, Any]]:
    """Statistics of pairs (question, passage, by place), in their order, for candidates that are added to C."""
    sequences = encode(lm, cfg, [questions[q] for q, _ in pairs], [[*context, passages[p]] for _, p in pairs])
    lengths = lm.encoder.count([p.text.strip() for p in passages])
    found: list[dict[str, Any]] = [{}] * len(pairs)
    for n, reading in read(lm, sequences, families(cfg, pairs), cfg.horizon):
        q, p = pairs[n]
        ids = {"question_id": questions[q].id, "passage_id": passages[p].id, "tokens": lengths[p]}
        found[n] = ids | of_pair(sequences[n], reading, *base[q], cfg.top_k, cfg.epsilon)
    return found


def base_rows(questions: Sequence[Question], base: Base) -> list[dict[str, Any]]:
    return [
        {"question_id": q.id, "passage_id": None, "tokens": 0} | of_base(one, reading)
        for q, (one, reading) in zip(questions, base, strict=True)
    ]
