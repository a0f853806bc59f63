"""Options of measuring."""

from dataclasses import dataclass
from typing import Any

from secateur.core.fields import key

__all__ = ["Eval"]


@dataclass(frozen=True)
class Eval:
    """How contexts are measured (budgets, intervals)."""

    budgets: tuple[int, ...] = key("tokens of the context at which evidence is measured", low=1)
    metrics: tuple[Any, ...] = key(
        "what is measured of contexts: names, or {kind: NAME, its settings} (evaluation/metrics)", family="metric"
    )
    claim: tuple[int, ...] = key("budgets whose mean is the claim: metric@claim, tested in pairs", low=1)
    against: tuple[str, ...] = key(
        "scorers (of system sentences, or of the policy) every row is compared with besides the best, where they have rows"
    )
    gain_budgets: tuple[int, ...] = key("tokens of the context at which answer gain is measured", low=1)
    gain_shards: int = key("jobs that the questions of a row's answer gain are spread over", low=1, high=1000)
    gain_control: int = key("the budget at which the context of another question is shown", low=1)
    resamples: int = key("bootstrap resamples", low=100)
    permutations: int = key("sign flips of a paired test", low=100)
    confidence: float = key("coverage of the intervals", low=0.5, high=0.999)
    min_clusters: int = key("below this many clusters questions are resampled instead", low=1)
    seed: int = key("seed of resampling, of the random scorer and of samples", low=0)
    samples: int = key("questions of each data set that the report draws, hits and misses in turn", low=0)
    max_edges: int = key("edges of one drawing", low=1)
    read_shares: tuple[float, ...] = key(
        "shares of the passages after which the codebook is counted", low=0.0001, high=1
    )
    min_units: int = key("resampling units below which no verdict is given", low=1)
