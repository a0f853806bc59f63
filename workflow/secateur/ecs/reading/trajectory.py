"""Trajectories that the model chooses itself, greedily, with the candidate or without it (ECS, definition 2)."""

from collections.abc import Sequence
from typing import Any

from secateur.ecs.reading.decode import Path, follow, greedily
from secateur.ecs.reading.engine import read, read_on
from secateur.ecs.reading.statistics import divergence
from secateur.ecs.reading.trunk import Trunk
from secateur.models.causal import CausalLM
from secateur.models.encoding import Encoded

__all__ = ["along_base", "along_context"]


def _summed(p: Sequence[Any], q: Sequence[Any]) -> float:
    """Sum of KL(P || Q) over (vocabulary,) log-distributions at each step of one path."""
    return sum(float(divergence(ours, other)) for ours, other in zip(p, q, strict=True))


def along_base(lm: CausalLM, cfg, paths: Sequence[Path], trunk: Trunk) -> list[float]:
    """`trajectory:base`: sum of KL_t, t <= T, along what the model says without the candidate. paths: of each question."""
    sequences = [lm.encoder.continued(one, paths[q].tokens) for one, q in zip(trunk.contexts, trunk.asked, strict=True)]
    said = dict(read_on(lm, sequences, trunk.held, cfg.horizon))
    return [_summed(said[n].path, paths[q].said) for n, q in enumerate(trunk.asked)]


def along_context(lm: CausalLM, cfg, alone: Sequence[Encoded], trunk: Trunk) -> list[float]:
    """`trajectory:ctx`: sum of KL_t, t <= T, along what the model says with the candidate."""
    contexts, held = zip(*trunk.held, strict=True)
    paths = follow(lm, contexts, cfg.horizon, greedily, held)
    base = [lm.encoder.continued(alone[q], path.tokens) for q, path in zip(trunk.asked, paths, strict=True)]
    said = dict(read(lm, base, trunk.asked, cfg.horizon))
    return [_summed(path.said, said[n].path) for n, path in enumerate(paths)]
