"""The plain ranker of a memory, and whether its ranking can have a price."""

from typing import Any

import numpy as np

from secateur.config import plugins
from secateur.config.ranking import Assembly, price_problems
from secateur.core.errors import SecateurError
from secateur.library.retrieved import Units
from secateur.ranking.group import Group, Questions, neighbour_smoothed
from secateur.ranking.rank import Ranker, expanded

__all__ = ["check_price", "ranked", "ranker_of"]

Scorers = dict[str, dict[str, Any]]  # of a list of rankers: name -> kind and settings


def ranker_of(scorers: Scorers, name: str | None, order: str) -> Ranker:
    """A ranker of a list in its form for an order. Raises SecateurError for an unknown one, and for one that reads gold evidence."""
    rankers = {ranker.name: ranker for ranker in expanded(scorers, ("+neighbour",))}
    full_name = f"{name}{'+neighbour' * (order == 'aware')}"
    if full_name not in rankers:
        raise SecateurError(
            f"ranker {name!r}: allowed: {', '.join(scorers)}. Fix: system='rankers/{next(iter(scorers))}'"
        )
    if rankers[full_name].module.READS_GOLD:
        raise SecateurError(
            f"ranker {name!r} reads the gold evidence, which a memory has not. Fix: run it in an experiment."
        )
    return rankers[full_name]


def check_price(key: str, system: str, assembly: Assembly, scorers: Scorers, ranking: str) -> None:
    """Raise SecateurError for a price that a memory's ranking cannot have. key: what asks for it."""
    if assembly.mean_tokens is not None:
        raise SecateurError(
            "assembly.mean_tokens: a mean over the questions of an experiment, which a memory does not know. "
            "Fix: assembly='priced', or retrieve(question, price=0.5)"
        )
    for problem in price_problems(key, scorers, ranking):
        raise SecateurError(f"system {system}: {problem}. Fix: the system of such a ranker; or a budget alone")


def ranked(ranker: Ranker, settings: Any, group: Group, question: str, seed: int) -> Units:
    """The ranking of whole passages; scores are rounded as in the table `rankings`. settings: of the list of rankers."""
    with plugins.calling("ranker", ranker.module):
        scores = np.asarray(ranker.module.score(ranker.settings, group, Questions([question]), seed))
    if ranker.neighbour:
        scores = neighbour_smoothed(scores, group.docs, settings.neighbour)
    best = np.argsort(-scores[0], kind="stable")[: settings.keep]
    best = best[np.isfinite(scores[0][best])]
    values = scores[0][best].astype(np.float32).tolist()
    return [(group.ids[n], None, value) for n, value in zip(best, values, strict=True)]
