"""KL divergence along greedy answers of the model, with or without the candidate (ECS, definition 2)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from secateur.ecs.reading.decode import Continuation, generate, greedily
from secateur.ecs.reading.engine import Predictions, few, first_rows, passes, passes_after, prefilled, received
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


def _summed(
    lm: CausalLM, readings: Iterator[Predictions], sequences: Sequence[Encoded], references: Sequence[Any], after: bool
) -> list[float]:
    """Sum over an answer's tokens of the divergence between read and reference log-distributions, of each sequence.

    references: (tokens, vocabulary) of each sequence; after: whether the readings are those with the candidate, P.
    """
    sums = {}
    for (places, counts), values in received(lm, _divergences(lm, readings, sequences, references, after)):
        for n, part in zip(places, np.split(values, np.cumsum(counts)[:-1]), strict=True):
            sums[n] = float(part.sum(dtype=np.float64))
    return [sums[n] for n in range(len(sequences))]


def _divergences(lm: CausalLM, readings, sequences, references, after: bool) -> Iterator[tuple[Any, Any, Any]]:
    """((places, counts), norms, (tokens,) divergences) of each pass."""
    import torch

    for predictions in readings:
        firsts = first_rows(sequences, predictions)
        counts = [len(references[n]) for n in predictions.places]
        (rows,) = lm.indices([first + step for first, n in zip(firsts, counts, strict=True) for step in range(n)])
        stored = torch.cat([references[n] for n in predictions.places])
        size = few(predictions.logits)
        values = [
            divergence(*((read, other) if after else (other, read)))
            for read, other in (
                (predictions.logprobs(r), s) for r, s in zip(rows.split(size), stored.split(size), strict=True)
            )
        ]
        yield (predictions.places, counts), predictions.norms, torch.cat(values)


def along_base(lm: CausalLM, cfg, answers: Sequence[Continuation], prompts: Prompts) -> list[float]:
    """`trajectory:base` of each prompt: sum of KL_t, t <= T, along the greedy answer without the candidate.

    answers: the greedy answer of each question.
    """
    import torch

    sequences = [
        lm.encoder.continued(context, answers[q].tokens)
        for context, q in zip(prompts.contexts, prompts.questions, strict=True)
    ]
    references = {q: torch.stack(answers[q].logprobs) for q in set(prompts.questions)}
    readings = passes_after(lm, sequences, prompts.prefilled)
    return _summed(lm, readings, sequences, [references[q] for q in prompts.questions], after=True)


def along_context(lm: CausalLM, cfg, base: Sequence[Encoded], prompts: Prompts) -> list[float]:
    """`trajectory:ctx` of each prompt: sum of KL_t, t <= T, along the greedy answer with the candidate.

    base: the prompt of each question without a candidate.
    """
    import torch

    contexts, prefixes = zip(*prompts.prefilled, strict=True)
    answers = generate(lm, contexts, cfg.horizon, greedily, prefixes)
    sequences = [
        lm.encoder.continued(base[q], answer.tokens) for q, answer in zip(prompts.questions, answers, strict=True)
    ]
    references = [torch.stack(answer.logprobs) for answer in answers]
    return _summed(lm, passes(lm, sequences, prompts.questions), sequences, references, after=False)
