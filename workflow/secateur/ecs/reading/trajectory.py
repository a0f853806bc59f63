"""KL divergence along greedy answers of the model, with or without the candidate (ECS, definition 2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from secateur.ecs.reading.decode import Continuation, generate, greedily
from secateur.ecs.reading.engine import prefilled, read, read_on
from secateur.ecs.reading.pairs import Pairs, encode
from secateur.ecs.reading.statistics import divergence
from secateur.ecs.reading.template import Passage, Question
from secateur.models.causal import CausalLM, Prefix
from secateur.models.encoding import Encoded

__all__ = ["Prompts", "along_base", "along_context", "prefilled_prompts"]


@dataclass(frozen=True)
class Prompts:
    """Prompts of some pairs without an answer, prefilled once for all probes that continue them.

    questions: place of each prompt's question. prefilled: the tokens of each prompt, and the keys and values of all but
    the last.
    """

    contexts: Sequence[Encoded]
    questions: Sequence[int]
    prefilled: Sequence[tuple[Sequence[int], Prefix]]


def prefilled_prompts(
    lm: CausalLM, cfg, questions: Sequence[Question], passages: Sequence[Passage], pairs: Pairs
) -> Prompts:
    """The prompts of some pairs, all prefilled at once."""
    shown = [[passages[p]] for _, p in pairs]
    contexts = encode(lm, cfg, [questions[q] for q, _ in pairs], shown, answered=False)
    ids = [context.ids for context in contexts]
    return Prompts(contexts, [q for q, _ in pairs], list(zip(ids, prefilled(lm, ids), strict=True)))


def _summed(p: Sequence[Any], q: Sequence[Any]) -> float:
    """Sum of KL(P || Q) over the log-distributions (vocabulary,) at each step."""
    return sum(float(divergence(p_step, q_step)) for p_step, q_step in zip(p, q, strict=True))


def along_base(lm: CausalLM, cfg, answers: Sequence[Continuation], prompts: Prompts) -> list[float]:
    """`trajectory:base` of each prompt: sum of KL_t, t <= T, along the greedy answer without the candidate.

    answers: the greedy answer of each question.
    """
    sequences = [
        lm.encoder.continued(context, answers[q].tokens)
        for context, q in zip(prompts.contexts, prompts.questions, strict=True)
    ]
    readings = dict(read_on(lm, sequences, prompts.prefilled, cfg.horizon))
    return [_summed(readings[n].path, answers[q].logprobs) for n, q in enumerate(prompts.questions)]


def along_context(lm: CausalLM, cfg, base: Sequence[Encoded], prompts: Prompts) -> list[float]:
    """`trajectory:ctx` of each prompt: sum of KL_t, t <= T, along the greedy answer with the candidate.

    base: the prompt of each question without a candidate.
    """
    contexts, prefixes = zip(*prompts.prefilled, strict=True)
    answers = generate(lm, contexts, cfg.horizon, greedily, prefixes)
    sequences = [
        lm.encoder.continued(base[q], answer.tokens) for q, answer in zip(prompts.questions, answers, strict=True)
    ]
    readings = dict(read(lm, sequences, prompts.questions, cfg.horizon))
    return [_summed(answer.logprobs, readings[n].path) for n, answer in enumerate(answers)]
