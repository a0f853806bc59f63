"""Answer gain: what a context adds to the log-probability of the gold answer, for each of its tokens.

Gain = (log p(a | context, q) - log p(a | q)) / |a|: the signed shift of definition 1 for a whole context. Beside it
stands a control, the context of another question: what a reader gains from any text of the kind.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from secateur.ecs.reading.engine import SHAPE, apart
from secateur.ecs.reading.pairs import encode
from secateur.ecs.reading.template import Passage, Question
from secateur.models.causal import CausalLM
from secateur.pipeline.cache import RequestCache, digest

__all__ = ["CLOSED", "answer_logprobs", "gain_rows", "unit_gains"]

CLOSED = ""  # the context of a closed book
Contexts = Mapping[tuple[str, int], str]  # (question id, budget) -> the text shown


def answer_logprobs(lm: CausalLM, cfg, question: Question, texts: Sequence[str], cache: Path) -> list[float]:
    """log p of the answer under each context, per token of the answer, in nats; equal contexts are read once."""
    known, found = RequestCache(cache / "answer_gain"), {}
    keys = {text: digest(lm.identity, SHAPE, cfg.layout, asdict(question), text) for text in dict.fromkeys(texts)}
    for text, key in keys.items():
        found[text] = known.get(key)
    missing = [text for text, value in found.items() if value is None]
    if missing:
        encoded = encode(lm, cfg, [question] * len(missing), [[Passage("", text)] for text in missing])
        for n, reading in apart(lm, [replace(one, asked=None) for one in encoded], 1):
            found[missing[n]] = float(reading.answer.double().mean())
            known.put(keys[missing[n]], found[missing[n]])
    return [found[text] for text in texts]


def unit_gains(lm: CausalLM, cfg, question: Question, units: Sequence[str], cache: Path) -> list[float | None]:
    """The gain of each unit alone, in nats per token of the answer; None for an answer that says nothing."""
    if not question.answer.strip():
        return [None] * len(units)
    closed, *under = answer_logprobs(lm, cfg, question, [CLOSED, *units], cache)
    return [value - closed for value in under]


def gain_rows(
    lm: CausalLM,
    cfg,
    questions: Sequence[Question],
    contexts: Contexts,
    budgets: Sequence[int],
    control: int | None,
    ctx,
) -> list[tuple[str, str, float]]:
    """(question id, metric, value): answer_gain@B at every budget, answer_gain_shuffled@B at the budget `control`, and
    closed_book, the log-probability of the answer per token that gain counts from. Without a control there is none.

    The shuffled context of a question is that of the next one, the last one's is the first's; one alone has none.
    """
    rows = []
    for n, question in ctx.progress(enumerate(questions), len(questions), "questions"):
        other = questions[(n + 1) % len(questions)]
        texts = [contexts.get((question.id, budget), CLOSED) for budget in budgets]
        closed, shuffled, *under = answer_logprobs(
            lm, cfg, question, [CLOSED, contexts.get((other.id, control), CLOSED), *texts], ctx.cache
        )
        rows += [(question.id, f"answer_gain@{b}", value - closed) for b, value in zip(budgets, under, strict=True)]
        if control is not None and other is not question:
            rows += [(question.id, f"answer_gain_shuffled@{control}", shuffled - closed)]
        rows += [(question.id, "closed_book", closed)]
    return rows
