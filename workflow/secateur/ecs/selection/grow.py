"""A context grown passage by passage without the answer (ECS, algorithm 1): joined scores, one of them given C."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from secateur.ecs.reading.pairs import base_readings, base_rows, pair_rows
from secateur.ecs.reading.template import Passage, Question
from secateur.ecs.selection.greedy import greedy
from secateur.models.causal import CausalLM

__all__ = ["Growth"]


@dataclass(frozen=True)
class Growth:
    """One question's candidates. fixed: (n,) the part of their utility that C does not change; pmi_q: (n,) under the
    empty C, and its weight. What a candidate says of the question given C is scaled as it is without C. known: the
    utilities that were read: several selections of a question ask for the same ones."""

    lm: CausalLM
    cfg: object
    question: Question
    passages: Sequence[Passage]
    fixed: NDArray[np.float64]
    pmi_q: NDArray[np.float64]
    weight: float
    known: dict[tuple[tuple[int, ...], int], float] = field(default_factory=dict)

    def scaled(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """z-scores with the mean and deviation of the candidates under the empty C."""
        return (values - self.pmi_q.mean()) / max(float(self.pmi_q.std()), 1e-9)

    def utility(self, chosen: tuple[int, ...], candidates: Sequence[int]) -> Sequence[float]:
        """Utilities of candidates for a context that holds those chosen, in the order they joined."""
        if not chosen:
            return (self.fixed + self.weight * self.scaled(self.pmi_q))[list(candidates)].tolist()
        unread = [n for n in candidates if (chosen, n) not in self.known]
        if unread:
            self.known.update(zip(((chosen, n) for n in unread), self._read(chosen, unread), strict=True))
        return [self.known[chosen, n] for n in candidates]

    def _read(self, chosen: tuple[int, ...], candidates: Sequence[int]) -> list[float]:
        """The same under the language model."""
        context = [self.passages[n] for n in chosen]
        base = base_readings(self.lm, self.cfg, [self.question], context)
        shown = [self.passages[n] for n in candidates]
        rows = pair_rows(self.lm, self.cfg, [self.question], shown, [(0, n) for n in range(len(shown))], base, context)
        alone = base_rows([self.question], base)[0]["question_logprob"]
        shift = np.array([row["question_logprob"] - alone for row in rows])
        return (self.fixed[list(candidates)] + self.weight * self.scaled(shift)).tolist()

    def select(self, most: int, tau: float = -np.inf) -> list[int]:
        """At most so many candidates, each with a utility above tau when it joined."""
        return greedy(self.utility, [1] * len(self.passages), tau, most)

    def noise(self, percentile: float) -> float:
        """A utility that a share `percentile` of the candidates stays below under the empty C."""
        return float(np.quantile(self.utility((), range(len(self.passages))), percentile))
