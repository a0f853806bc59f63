"""Answer gain: how much a context raises the log-probability of the gold answer, per answer token.

    gain = (log p(a | context, q) - log p(a | q)) / |a|

This is the signed shift of ECS, definition 1, for a whole context. The control is the gain under the context of another
question: a form can raise the answer's probability by its style alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path

from secateur.config.code import plugin_digest
from secateur.core.cache import RequestCache, digest
from secateur.ecs.reading.independent import SHAPE, read_independently
from secateur.ecs.reading.pairs import encode
from secateur.ecs.reading.template import Passage, Question
from secateur.models.causal import CausalLM
from secateur.models.encoding import Encoded

__all__ = ["CLOSED", "CUT", "answer_logprobs", "gain_rows", "tokens_cut", "unit_gains"]

CLOSED = ""  # the context of a closed book
CUT = "context_tokens_beyond_the_window"
Contexts = Mapping[tuple[str, int], str]  # (question id, budget) -> text of the context
BLOCK = 8  # questions of one batch: the context of a question and the control of the one before begin alike


def answer_logprobs(lm: CausalLM, cfg, requests: Sequence[tuple[Question, str]], cache: Path) -> list[float]:
    """Mean log-probability per answer token, in nats, of each (question, context).

    Equal requests and common beginnings are read once; this changes no bit of a value.
    """
    store, values = RequestCache(cache / "answer_gain"), {}
    keys = {
        (question, text): digest(plugin_digest(__name__), lm.identity, SHAPE, cfg.layout, asdict(question), text)
        for question, text in dict.fromkeys(requests)
    }
    for request, key in keys.items():
        values[request] = store.get(key)
    missing = [request for request, value in values.items() if value is None]
    if missing:
        sequences = [replace(sequence, asked=None) for sequence in _encoded(lm, cfg, missing)]
        for n, reading in read_independently(lm, sequences, 1):
            values[missing[n]] = float(reading.answer.double().mean())
            store.put(keys[missing[n]], values[missing[n]])
    return [values[request] for request in requests]


def _encoded(lm: CausalLM, cfg, requests: Iterable[tuple[Question, str]]) -> list[Encoded]:
    questions, texts = zip(*requests, strict=True)
    return encode(lm, cfg, questions, [[Passage("", text)] for text in texts])


def tokens_cut(lm: CausalLM, cfg, requests: Iterable[tuple[Question, str]]) -> int:
    """Tokens of contexts beyond the window, without which `answer_logprobs` reads them."""
    unique = dict.fromkeys(requests)
    return sum(sequence.cut for sequence in _encoded(lm, cfg, unique)) if unique else 0


def unit_gains(lm: CausalLM, cfg, question: Question, units: Sequence[str], cache: Path) -> list[float | None]:
    """Answer gain of each unit as the only context, in nats per token; None for an empty answer."""
    if not question.answer.strip():
        return [None] * len(units)
    closed, *logprobs = answer_logprobs(lm, cfg, [(question, text) for text in (CLOSED, *units)], cache)
    return [logprob - closed for logprob in logprobs]


def gain_rows(
    lm: CausalLM,
    cfg,
    questions: Sequence[Question],
    contexts: Contexts,
    budgets: Sequence[int],
    control: int,
    shard: range,
    ctx,
    length: str | None = None,
) -> list[tuple[str, str, float]]:
    """Rows (question id, metric, value) for the questions of a shard.

    Metrics, in nats per answer token:
    - `answer_gain@B` for each budget B;
    - `answer_gain_shuffled@C`, the gain under the next question's context at the control budget C;
    - `answer_gain_own@C`, the gain minus the shuffled gain, if C is among the budgets;
    - `closed_book`, the log-probability without a context.

    shard: places in `questions`. The next question of the last is the first. A single question has no shuffled gain. ctx:
    counts the tokens beyond the window. length: the system that sets the contexts' length, in place of budgets.
    """
    with_next, cut = [(questions[n], questions[(n + 1) % len(questions)]) for n in shard], 0
    blocks = [with_next[n : n + BLOCK] for n in range(0, len(with_next), BLOCK)]
    rows = []
    for block in ctx.progress(blocks, len(blocks), "blocks of questions"):
        requests = []
        for question, other in block:
            texts = [contexts.get((question.id, budget), CLOSED) for budget in budgets]
            requests += [(question, text) for text in (CLOSED, contexts.get((other.id, control), CLOSED), *texts)]
        logprobs = iter(answer_logprobs(lm, cfg, requests, ctx.cache))
        cut = cut + tokens_cut(lm, cfg, requests)
        for question, other in block:
            closed, shuffled, *with_context = islice(logprobs, 2 + len(budgets))
            gain_of = {budget: value - closed for budget, value in zip(budgets, with_context, strict=True)}
            rows += [(question.id, f"answer_gain@{length or budget}", gain) for budget, gain in gain_of.items()]
            if other is not question:
                rows += [(question.id, f"answer_gain_shuffled@{length or control}", shuffled - closed)]
                if control in gain_of:
                    rows += [
                        (question.id, f"answer_gain_own@{length or control}", gain_of[control] - (shuffled - closed))
                    ]
            rows += [(question.id, "closed_book", closed)]
    ctx.note_counts({CUT: cut})
    return rows
