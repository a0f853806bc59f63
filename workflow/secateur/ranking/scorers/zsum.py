"""Weighted sum of the z-scores of a lexical ranker and the cosine."""

from dataclasses import dataclass
from typing import Any

from secateur.core.fields import key
from secateur.ranking.group import Group, Questions, Scores, scores_of, z_scores
from secateur.ranking.scorers import dense


@dataclass(frozen=True)
class Settings:
    """The lexical ranker, and the weight of the cosine."""

    lexical: dict[str, Any] = key("plug-in (kind) and settings of the lexical ranker")
    dense: float = key("weight of the cosine's z-score beside the lexical ranker's", low=0, default=1.0)


def score(settings: Settings, group: Group, questions: Questions, seed: int) -> Scores:
    """z(lexical) + dense * z(cosine)."""
    words = scores_of(settings.lexical, "lexical", group, questions, seed)
    return z_scores(words) + settings.dense * z_scores(dense.score(dense.Settings(), group, questions, seed))
