"""Options of context utility."""

from dataclasses import dataclass
from typing import Literal

from secateur.core.fields import key

__all__ = ["Ecs"]


@dataclass(frozen=True)
class Ecs:
    """Utility of context under a language model (ECS paper, section 3)."""

    shards: int = key("jobs the questions are spread over", low=1, high=1000)
    pooled_by: dict[str, float] = key("weight of each ranking (z) by whose sum a question's candidates are found")
    pool: int = key("candidates of each question, by that sum", low=1)
    pool_aware: int = key(
        "candidates found by the sum of the +answer forms besides, for answer-aware scorers only", low=0
    )
    before: int = key("passages of the document shown before a candidate", low=0)
    probes: tuple[str, ...] = key("columns of the statistics that take passes of their own, for probed questions")
    grow_by: dict[str, float] = key("greedy selection: weight of each score (z) in a candidate's utility given C")
    layout: Literal["passage_first", "question_first"] = key("order of passage and question in the template")
    horizon: int = key("T: steps of a trajectory (definition 2)", low=1, high=64)
    top_k: int = key("tokens of the top-k divergences", low=1)
    epsilon: float = key("kl_topk: probability of a token that is not in the base's top k", low=1e-30, high=1)
    draws: int = key("m: random passages that make a null distribution", low=2)
    folds: int = key("folds of fitted weights, by conversation; each a fold of its own where there are no more", low=2)
    percentile: float = key("percentile of the null that gives tau", low=0.5, high=1)
    threshold: float = key("tau as the paper fixes it, for every scorer alike (ECS, table 2)")
    quantiles: tuple[float, ...] = key("quantiles of each score's distributions that are tabled", low=0, high=1)
    pseudo_answers: int = key("policy: answers sampled without a context", low=1)
    pseudo_tokens: int = key("policy: tokens of such an answer at most", low=1)
    temperature: float = key("policy: temperature of these samples", low=0.01)
    seed: int = key("seed of samples and of the null's passages", low=0)
    questions: int = key("questions of one conversation swept together", low=1)
    passages: int = key("passages swept and cached together; a killed job repeats one such block at most", low=1)
