"""Trajectories that the model chooses itself, greedily, with the candidate or without it (ECS, definition 2)."""

from collections.abc import Sequence
from typing import Any

from secateur.ecs.reading.decode import follow, greedily
from secateur.ecs.reading.engine import read
from secateur.ecs.reading.pairs import Pairs, encode, families
from secateur.ecs.reading.statistics import divergence
from secateur.ecs.reading.template import Passage, Question
from secateur.models.causal import CausalLM

__all__ = ["along_base", "along_context"]


def _summed(p: Sequence[Any], q: Sequence[Any]) -> float:
    """Sum of KL(P || Q) over (vocabulary,) log-distributions at each step of one path."""
    return sum(float(divergence(ours, other)) for ours, other in zip(p, q, strict=True))


def along_base(
    lm: CausalLM, cfg, questions: Sequence[Question], passages: Sequence[Passage], pairs: Pairs
) -> list[float]:
    """`trajectory:base`: sum of KL_t, t <= T, along what the model says without the candidate."""
    alone = encode(lm, cfg, questions, [()] * len(questions), answered=False)
    paths = follow(lm, [one.ids for one in alone], cfg.horizon, greedily)
    contexts = encode(lm, cfg, [questions[q] for q, _ in pairs], [[passages[p]] for _, p in pairs], answered=False)
    sequences = [lm.encoder.continued(one, paths[q].tokens) for one, (q, _) in zip(contexts, pairs, strict=True)]
    found = [0.0] * len(pairs)
    for n, reading in read(lm, sequences, families(cfg, pairs), cfg.horizon):
        found[n] = _summed(reading.path, paths[pairs[n][0]].said)
    return found


def along_context(
    lm: CausalLM, cfg, questions: Sequence[Question], passages: Sequence[Passage], pairs: Pairs
) -> list[float]:
    """`trajectory:ctx`: sum of KL_t, t <= T, along what the model says with the candidate.

    Each pair has its own path, so as many pairs are held at once as there are questions in a block.
    """
    alone = encode(lm, cfg, questions, [()] * len(questions), answered=False)
    found = [0.0] * len(pairs)
    for start in range(0, len(pairs), cfg.questions):
        part = pairs[start : start + cfg.questions]
        shown = [[passages[p]] for _, p in part]
        contexts = encode(lm, cfg, [questions[q] for q, _ in part], shown, answered=False)
        paths = follow(lm, [one.ids for one in contexts], cfg.horizon, greedily)
        base = [lm.encoder.continued(alone[q], path.tokens) for (q, _), path in zip(part, paths, strict=True)]
        for n, reading in read(lm, base, [q for q, _ in part], cfg.horizon):
            found[start + n] = _summed(paths[n].said, reading.path)
    return found
