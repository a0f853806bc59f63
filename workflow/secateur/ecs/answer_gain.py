"""Answer gain: what a context adds to the log-probability of the gold answer, for each of its tokens.

Gain = (log p(a | context, q) - log p(a | q)) / |a|: the signed shift of definition 1 for a whole context. Beside it
stands a control, the context of another question: what a reader gains from any text of the kind. A form can please gain by
its style alone, so what is left of it above the control is a figure of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from secateur.core.cache import RequestCache, digest
from secateur.ecs.reading.engine import SHAPE, apart
from secateur.ecs.reading.pairs import encode
from secateur.ecs.reading.template import Passage, Question
from secateur.models.causal import CausalLM

__all__ = ["CLOSED", "answer_logprobs", "gain_rows", "unit_gains"]

CLOSED = ""  # the context of a closed book
Contexts = Mapping[tuple[str, int], str]  # (question id, budget) -> the text shown
TOGETHER = 8  # questions read at once: a question's context and the next one's question begin alike


def answer_logprobs(lm: CausalLM, cfg, asked: Sequence[tuple[Question, str]], cache: Path) -> list[float]:
    """log p of each question's answer under a context, per token of the answer, in nats.

    Equal pairs are read once; of pairs whose texts begin alike the beginning is, which changes no bit.
    """
    known, found = RequestCache(cache / "answer_gain"), {}
    keys = {
        (question, text): digest(lm.identity, SHAPE, cfg.layout, asdict(question), text)
        for question, text in dict.fromkeys(asked)
    }
    for pair, key in keys.items():
        found[pair] = known.get(key)
    missing = [pair for pair, value in found.items() if value is None]
    if missing:
        shown = [[Passage("", text)] for _, text in missing]
        encoded = encode(lm, cfg, [question for question, _ in missing], shown)
        for n, reading in apart(lm, [replace(one, asked=None) for one in encoded], 1):
            found[missing[n]] = float(reading.answer.double().mean())
            known.put(keys[missing[n]], found[missing[n]])
    return [found[pair] for pair in asked]


def unit_gains(lm: CausalLM, cfg, question: Question, units: Sequence[str], cache: Path) -> list[float | None]:
    """The gain of each unit alone, in nats per token of the answer; None for an answer that says nothing."""
    if not question.answer.strip():
        return [None] * len(units)
    closed, *under = answer_logprobs(lm, cfg, [(question, text) for text in (CLOSED, *units)], cache)
    return [value - closed for value in under]


def gain_rows(
    lm: CausalLM,
    cfg,
    questions: Sequence[Question],
    contexts: Contexts,
    budgets: Sequence[int],
    control: int | None,
    mine: range,
    ctx,
) -> list[tuple[str, str, float]]:
    """(question id, metric, value): answer_gain@B at every budget; at the budget `control` answer_gain_shuffled@B and, where
    it is one of them, answer_gain_own@B, their difference; and closed_book, the log-probability of the answer per token that
    gain counts from. Without a control there is none.

    mine: the places of those that are measured. The shuffled context of a question is that of the next one of all, the
    last one's is the first's; one alone has none.
    """
    paired = [(questions[n], questions[(n + 1) % len(questions)]) for n in mine]
    blocks = [paired[n : n + TOGETHER] for n in range(0, len(paired), TOGETHER)]
    rows = []
    for block in ctx.progress(blocks, len(blocks), "blocks of questions"):
        asked = []
        for question, other in block:
            own = [contexts.get((question.id, budget), CLOSED) for budget in budgets]
            asked += [(question, text) for text in (CLOSED, contexts.get((other.id, control), CLOSED), *own)]
        said = answer_logprobs(lm, cfg, asked, ctx.cache)
        for n, (question, other) in enumerate(block):
            closed, shuffled, *under = said[n * len(asked) // len(block) :][: 2 + len(budgets)]
            rows += [(question.id, f"answer_gain@{b}", value - closed) for b, value in zip(budgets, under, strict=True)]
            if control is not None and other is not question:
                rows += [(question.id, f"answer_gain_shuffled@{control}", shuffled - closed)]
                if control in budgets:
                    own = under[budgets.index(control)] - shuffled
                    rows += [(question.id, f"answer_gain_own@{control}", own)]
            rows += [(question.id, "closed_book", closed)]
    return rows
