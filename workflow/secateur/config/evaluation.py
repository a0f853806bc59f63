"""Options of measuring: context utility under a language model, and everything measured of contexts."""

from dataclasses import dataclass
from typing import Any, Literal

from secateur.core.fields import key

__all__ = ["Ecs", "Eval"]


@dataclass(frozen=True)
class Ecs:
    """Utility of context under a language model (ECS paper, section 3)."""

    shards: int = key("jobs that share the questions", low=1, high=1000)
    pooled_by: dict[str, float] = key("ranking: weight of its z-score in the sum that pools a question's candidates")
    pool: int | None = key(
        "candidates per question, the best by that sum; null: every passage of its group, without a ranking", low=1
    )
    pool_aware: int = key("further candidates for answer-aware scorers, by the sum of the +answer variants", low=0)
    before: int = key("passages of the same session that are shown before a candidate", low=0)
    probes: tuple[str, ...] = key("statistics columns that need extra passes, for probed questions")
    grow_by: dict[str, float] | None = key(
        "score: weight of its z-score in a candidate's utility given the context so far, in greedy selection, best first; "
        "null: none"
    )
    arrival: dict[str, dict[str, Any]] = key(
        "scores by which candidates join a context in order of arrival (ECS, algorithm 1), as in rankers.scores",
        family="score",
    )
    layout: Literal["passage_first", "question_first"] = key("order of passage and question in the template")
    horizon: int = key("T, steps of a trajectory (definition 2)", low=1, high=64)
    top_k: int = key("tokens of the top-k divergences", low=1)
    epsilon: float = key("kl_topk: probability of a token outside the base's top k", low=1e-30, high=1)
    draws: int = key("m, random passages per null distribution", low=2)
    folds: int = key("folds of fitted weights, by conversation; fewer conversations: one fold for each of them", low=2)
    percentile: float = key("percentile of the null distribution that becomes tau", low=0.5, high=1)
    threshold: float = key("tau as the paper fixes it, for every scorer (ECS, table 2)")
    quantiles: tuple[float, ...] = key("quantiles of each score's distributions in the tables", low=0, high=1)
    policy_budgets: tuple[int, ...] = key("policy: budgets of its contexts; a question's id draws one", low=1)
    policy_judge: str | None = key(
        "policy: option of conf/judge that says which statements of an answer its context supports; null: the reader's "
        "log-probability"
    )
    pseudo_answers: int = key("policy: answers sampled without a context", low=1)
    pseudo_tokens: int = key("policy: maximum tokens of such an answer", low=1)
    temperature: float = key("policy: sampling temperature of such answers", low=0.01)
    seed: int = key("seed of sampled answers and of the null distribution's passages", low=0)
    questions: int = key("questions of a conversation read together", low=1)
    passages: int = key("passages read and cached together; a killed job repeats at most one such block", low=1)


@dataclass(frozen=True)
class Eval:
    """How contexts are measured: budgets, metrics, intervals, tests."""

    budgets: tuple[int, ...] = key("context tokens at which evidence is measured", low=1)
    metrics: tuple[Any, ...] = key(
        "metrics of contexts: names, or {kind: NAME, its settings} (evaluation/metrics)", family="metric"
    )
    prices: tuple[float, ...] = key("prices of utility@PRICE, measured where an assembly has a price", low=0)
    claim: tuple[int, ...] = key("budgets whose mean is metric@claim, tested in pairs", low=1)
    against: tuple[str, ...] = key(
        "rankers of a list, or baselines of the policy, that each scorer of a system with several is compared with, "
        "besides the strongest ranker"
    )
    reference: str = key("system whose quality others are to reach at the fewest tokens, if the experiment has it")
    gain_budgets: tuple[int, ...] = key("context tokens at which answer gain is measured", low=1)
    gain_shards: int = key("jobs that share the questions of a row's answer gain", low=1, high=1000)
    gain_control: int = key("budget of the control, the context of another question", low=1)
    resamples: int = key("bootstrap resamples, for the interval of tokens at equal quality", low=100)
    permutations: int = key("sign flips of a paired test", low=100)
    permutations_at_floor: int = key("sign flips where none of `permutations` is as extreme as what is observed", low=0)
    min_clusters: int = key(
        "documents or conversations with questions, below which questions are resampled, and scores fitted on folds of them",
        low=1,
    )
    seed: int = key("seed of resampling, of the random scorer and of samples", low=0)
    samples: int = key("questions per data set that the report draws, hits and misses in turn", low=0)
    max_edges: int = key("maximum edges of a drawing", low=1)
    read_shares: tuple[float, ...] = key(
        "shares of the passages after which the codebook is counted", low=0.0001, high=1
    )
    min_units: int = key("resampled units below which there is no verdict", low=1)
