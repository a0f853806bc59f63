"""Encode and read questions with candidates: the rows of the table `statistics`."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from secateur.ecs.reading.engine import answer_logprobs, read
from secateur.ecs.reading.statistics import Base, of_base, of_pairs, of_served_pair, stacked
from secateur.ecs.reading.template import Passage, Question, answer_text, prompt
from secateur.models.causal import CausalLM
from secateur.models.encoding import Encoded
from secateur.models.served import Served

__all__ = ["Base", "Pairs", "base_readings", "base_rows", "encode", "families", "pair_rows", "total_logprobs"]

Pairs = Sequence[tuple[int, int]]  # (place of a question, place of a passage)


def encode(
    lm: CausalLM | Served, cfg, questions: Sequence[Question], shown: Sequence[Sequence[Passage]], answered: bool = True
) -> list[Encoded]:
    """Encode each question with the passages shown to it, and with its answer if `answered`."""
    texts = [prompt(q, passages, cfg.layout) for q, passages in zip(questions, shown, strict=True)]
    answers = [answer_text(q) if answered else "" for q in questions]
    labels = [f"question {q.id}" for q in questions]
    return lm.encoder.encode([text for text, _ in texts], answers, [span for _, span in texts], labels)


def base_readings(lm: CausalLM | Served, cfg, questions: Sequence[Question], context: Sequence[Passage] = ()) -> Base:
    """Read each question without a candidate, under the context C alone."""
    sequences = encode(lm, cfg, questions, [context] * len(questions))
    readings = dict(read(lm, sequences, [0] * len(sequences), cfg.horizon))
    return stacked(sequences, [readings[n] for n in range(len(sequences))], cfg.top_k)


def total_logprobs(
    lm: CausalLM | Served, cfg, questions: Sequence[Question], shown: Sequence[Sequence[Passage]], family: Sequence[Any]
) -> list[float]:
    """Log-probability in nats of each question's answer under the passages shown to it.

    family: sequences of the same family may share a prefix.
    """
    # The log-probability of the question is dropped, so that answers to one question share it as a prefix.
    sequences = [replace(sequence, asked=None) for sequence in encode(lm, cfg, questions, shown)]
    logprobs = dict(answer_logprobs(lm, sequences, family))
    return [logprobs[n] for n in range(len(sequences))]


def families(cfg, pairs: Pairs) -> list[int]:
    """The family of each pair, within which prefixes are shared.

    By passage if it stands first and has several questions; else by question, whose candidates share it or the context C.
    """
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
    """Rows of `statistics` for pairs, in their order; each candidate stands after the context C."""
    sequences = encode(lm, cfg, [questions[q] for q, _ in pairs], [[*context, passages[p]] for _, p in pairs])
    lengths = lm.encoder.count([p.text.strip() for p in passages])
    kin = families(cfg, pairs)
    asked = [q for q, _ in pairs]
    if isinstance(lm, Served):
        readings = read(lm, sequences, kin, cfg.horizon)
        each = (
            (n, of_served_pair(sequences[n], reading, base.readings[asked[n]], cfg.top_k, cfg.epsilon))
            for n, reading in readings
        )
    else:
        each = of_pairs(lm, cfg, sequences, kin, asked, base)
    rows = dict(each)
    return [
        {"question_id": questions[q].id, "passage_id": passages[p].id, "tokens": lengths[p]} | rows[n]
        for n, (q, p) in enumerate(pairs)
    ]


def base_rows(questions: Sequence[Question], base: Base) -> list[dict[str, Any]]:
    """Rows of `statistics` for questions without a candidate; passage_id is None."""
    return [
        {"question_id": question.id, "passage_id": None, "tokens": 0} | of_base(sequence, reading)
        for question, sequence, reading in zip(questions, base.sequences, base.readings, strict=True)
    ]
