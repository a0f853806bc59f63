"""Grow a context passage by passage without the answer (ECS, algorithm 1)."""

import heapq
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from secateur.ecs.reading.pairs import base_readings, base_rows, pair_rows
from secateur.ecs.reading.template import Passage, Question
from secateur.models.causal import CausalLM

__all__ = ["Growth", "greedy"]

Utility = Callable[[tuple[int, ...], Sequence[int]], Sequence[float]]  # (context, candidates) -> utilities


def greedy(utility: Utility, tokens: Sequence[int], tau: float, max_tokens: int) -> list[int]:
    """Select candidates one by one: the best joins the context C, the rest are scored again under it.

    Stops if the best utility is at most tau, or its candidate would exceed `max_tokens`; may select nothing. Candidates
    with utility NaN are never selected. Ties go to the earlier candidate.

    Scoring is lazy: a utility under a smaller C serves as an upper bound, and a candidate is scored again only when it
    leads. This is exact if utilities fall as C grows.
    """
    initial = utility((), range(len(tokens)))
    heap = [(-value, n, 0) for n, value in enumerate(initial) if not np.isnan(value)]  # utility, candidate, |C|
    heapq.heapify(heap)
    chosen: list[int] = []
    remaining = max_tokens
    while heap:
        value, n, scored_at = heapq.heappop(heap)
        if scored_at < len(chosen):
            (updated,) = utility(tuple(chosen), [n])
            if not np.isnan(updated):
                heapq.heappush(heap, (-updated, n, len(chosen)))
        elif -value <= tau or tokens[n] > remaining:
            break
        else:
            chosen.append(n)
            remaining -= tokens[n]
    return chosen


@dataclass(frozen=True)
class Growth:
    """Contexts of one question, grown by a weighted sum of a fixed part and query likelihood given the context C.

    fixed: (n,) utility that C does not change. pmi_q: (n,) under the empty C, in nats; its mean and deviation scale all
    later values. weight: of the scaled pmi_q. cache: utilities by context and candidate, which several selections share.
    counts: `cut`, tokens of contexts that did not fit the window.
    """

    lm: CausalLM
    cfg: object
    question: Question
    passages: Sequence[Passage]
    fixed: NDArray[np.float64]
    pmi_q: NDArray[np.float64]
    weight: float
    cache: dict[tuple[tuple[int, ...], int], float] = field(default_factory=dict)
    counts: Counter = field(default_factory=Counter)

    def scaled(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """z-scores by the mean and deviation of the candidates under the empty C."""
        return (values - self.pmi_q.mean()) / max(float(self.pmi_q.std()), 1e-9)

    def utility(self, chosen: tuple[int, ...], candidates: Sequence[int]) -> Sequence[float]:
        """Utilities of candidates given the chosen passages, in the order in which these joined."""
        if not chosen:
            return (self.fixed + self.weight * self.scaled(self.pmi_q))[list(candidates)].tolist()
        unread = [n for n in candidates if (chosen, n) not in self.cache]
        if unread:
            self.cache.update(zip(((chosen, n) for n in unread), self._read(chosen, unread), strict=True))
        return [self.cache[chosen, n] for n in candidates]

    def _read(self, chosen: tuple[int, ...], candidates: Sequence[int]) -> list[float]:
        """Utilities read with the language model."""
        context = [self.passages[n] for n in chosen]
        base = base_readings(self.lm, self.cfg, [self.question], context)
        shown = [self.passages[n] for n in candidates]
        rows = pair_rows(self.lm, self.cfg, [self.question], shown, [(0, n) for n in range(len(shown))], base, context)
        prior = base_rows([self.question], base)[0]["question_logprob"]
        self.counts["cut"] += sum(row["cut"] for row in rows)
        gains = np.array([row["question_logprob"] - prior for row in rows])
        return (self.fixed[list(candidates)] + self.weight * self.scaled(gains)).tolist()

    def select(self, count: int, tau: float = -np.inf) -> list[int]:
        """At most `count` candidates, each with a utility above tau when it joined."""
        return greedy(self.utility, [1] * len(self.passages), tau, count)

    def quantile(self, share: float) -> float:
        """The utility that a share of the candidates stays below under the empty C."""
        return float(np.quantile(self.utility((), range(len(self.passages))), share))
