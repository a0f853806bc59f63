"""Let candidates join a context in order of arrival (ECS, algorithm 1 as printed)."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from secateur.ecs.reading.judge import JUDGES, judge
from secateur.ecs.reading.pairs import Base, base_readings, base_rows, pair_rows
from secateur.ecs.reading.sweep import statistics_frame
from secateur.ecs.reading.template import Passage, Question
from secateur.ecs.scoring.score import columns, score
from secateur.models.causal import CausalLM

__all__ = ["MOST_AHEAD", "Arrivals", "in_order"]

MOST_AHEAD = 16  # candidates that are read together under one context
Utility = Callable[[tuple[int, ...], Sequence[int]], Sequence[float]]  # (context, candidates) -> utilities


def in_order(utility: Utility, count: int, tau: float) -> list[int]:
    """Select from candidates 0 to `count` - 1 in this order: each joins the context C if its utility given C is above tau.

    A candidate with utility NaN never joins. Candidates ahead are read together under the same C, more of them while none
    joins; utilities read before a candidate joined are dropped, so that the selection is that of reading one by one.
    """
    chosen: list[int] = []
    place, ahead = 0, 1
    while place < count:
        block = range(place, min(place + ahead, count))
        above = np.flatnonzero(np.asarray(utility(tuple(chosen), block)) > tau)
        if len(above):
            chosen.append(block[int(above[0])])
            place, ahead = chosen[-1] + 1, 1
        else:
            place, ahead = block.stop, min(2 * ahead, MOST_AHEAD)
    return chosen


@dataclass(frozen=True)
class Arrivals:
    """The candidates of one question in order of arrival, with a score as utility.

    spec: of the score. Its statistics are read under the context so far; a judge is asked about the candidate alone, as the
    algorithm states it. counts: `cut`, tokens of contexts that did not fit the window.
    """

    lm: CausalLM
    cfg: object
    question: Question
    passages: Sequence[Passage]
    spec: Mapping[str, Any]
    values: dict[tuple[tuple[int, ...], int], float] = field(default_factory=dict)
    bases: dict[tuple[int, ...], Base] = field(default_factory=dict)
    counts: Counter = field(default_factory=Counter)

    @property
    def judges(self) -> list[str]:
        """The judges that the score reads; they read no context."""
        return [name for name in columns(self.spec) if name in JUDGES]

    def utility(self, chosen: tuple[int, ...], candidates: Sequence[int]) -> list[float]:
        """Utilities of candidates given the chosen ones, each pair read once; NaN where undefined."""
        chosen = () if self.judges else chosen
        unread = [n for n in candidates if (chosen, n) not in self.values]
        if unread:
            read = self._read(chosen, [self.passages[n] for n in unread])
            self.values.update(zip(((chosen, n) for n in unread), read, strict=True))
        return [self.values[chosen, n] for n in candidates]

    def _read(self, chosen: tuple[int, ...], shown: Sequence[Passage]) -> list[float]:
        pairs = [(0, n) for n in range(len(shown))]
        if self.judges:
            verdicts = judge(self.lm, self.judges, [self.question], shown, pairs)
            ids = [
                {"question_id": self.question.id, "passage_id": passage} for passage in (None, *(p.id for p in shown))
            ]
            rows = [key | verdict for key, verdict in zip(ids, [{}, *verdicts], strict=True)]
        else:
            context = [self.passages[n] for n in chosen]
            if chosen not in self.bases:
                self.bases.clear()  # contexts only grow
                self.bases[chosen] = base_readings(self.lm, self.cfg, [self.question], context)
            base = self.bases[chosen]
            read = pair_rows(self.lm, self.cfg, [self.question], shown, pairs, base, context)
            rows = [*base_rows([self.question], base), *read]
            self.counts["cut"] += sum(row["cut"] for row in read)
        return score(statistics_frame(rows), self.spec)["value"].fill_null(np.nan).to_list()

    def quantile(self, random: Sequence[Passage], share: float) -> float:
        """The utility under the empty C that a share of random passages stays below."""
        values = np.array(self._read((), random))
        return float(np.nanquantile(values, share)) if np.isfinite(values).any() else float("inf")

    def select(self, tau: float) -> list[int]:
        """Places of the passages that join."""
        return in_order(self.utility, len(self.passages), tau)
