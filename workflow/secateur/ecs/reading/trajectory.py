"""Trajectories that the model chooses itself, greedily, with the candidate or without it (ECS, definition 2)."""

from collections.abc import Sequence

from secateur.ecs.reading.decode import follow, greedily
from secateur.ecs.reading.engine import Reading, read
from secateur.ecs.reading.pairs import Pairs, encode, families
from secateur.ecs.reading.statistics import path_divergence
from secateur.ecs.reading.template import Passage, Question
from secateur.models.causal import CausalLM
from secateur.models.encoding import Encoded

__all__ = ["along_base", "along_context"]


def _readings(lm: CausalLM, sequences: Sequence[Encoded], kin: Sequence[int], horizon: int) -> list[Reading]:
    found = dict(read(lm, sequences, kin, horizon))
    return [found[n] for n in range(len(sequences))]


def _summed(ours: Reading, base: Reading) -> float:
    return float(path_divergence(ours, base, len(ours.answer)).sum())


def along_base(
    lm: CausalLM, cfg, questions: Sequence[Question], passages: Sequence[Passage], pairs: Pairs
) -> list[float]:
    """`trajectory:base`: sum of KL_t, t <= T, along what the model says without the candidate."""
    alone = encode(lm, cfg, questions, [()] * len(questions), answered=False)
    paths = follow(lm, [one.ids for one in alone], cfg.horizon, greedily)
    base = _readings(
        lm, [lm.encoder.continued(o, p) for o, p in zip(alone, paths, strict=True)], [0] * len(alone), cfg.horizon
    )
    contexts = encode(lm, cfg, [questions[q] for q, _ in pairs], [[passages[p]] for _, p in pairs], answered=False)
    sequences = [lm.encoder.continued(one, paths[q]) for one, (q, _) in zip(contexts, pairs, strict=True)]
    found = [0.0] * len(pairs)
    for n, reading in read(lm, sequences, families(cfg, pairs), cfg.horizon):
        found[n] = _summed(reading, base[pairs[n][0]])
    return found


def along_context(
    lm: CausalLM, cfg, questions: Sequence[Question], passages: Sequence[Passage], pairs: Pairs
) -> list[float]:
    """`trajectory:ctx`: sum of KL_t, t <= T, along what the model says with the candidate.

    Each pair has its own path, so as many pairs are held at once as there are questions in a block.
    """
    alone = encode(lm, cfg, questions, [()] * len(questions), answered=False)
    found: list[float] = []
    for start in range(0, len(pairs), cfg.questions):
        part = pairs[start : start + cfg.questions]
        shown = [[passages[p]] for _, p in part]
        contexts = encode(lm, cfg, [questions[q] for q, _ in part], shown, answered=False)
        paths = follow(lm, [one.ids for one in contexts], cfg.horizon, greedily)
        ours = [lm.encoder.continued(one, path) for one, path in zip(contexts, paths, strict=True)]
        base = [lm.encoder.continued(alone[q], path) for (q, _), path in zip(part, paths, strict=True)]
        with_it = _readings(lm, ours, families(cfg, part), cfg.horizon)
        without = _readings(lm, base, [q for q, _ in part], cfg.horizon)
        found += [_summed(a, b) for a, b in zip(with_it, without, strict=True)]
    return found
