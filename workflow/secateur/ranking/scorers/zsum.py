"""The weighted sum of a lexical ranker's and the cosine's z-scores."""

from dataclasses import dataclass
from typing import Any

from secateur.core.fields import key
from secateur.ranking.group import Asked, Group, Scores, z_scores
from secateur.ranking.scorers import dense
from secateur.ranking.scorers._lexical import lexical


@dataclass(frozen=True)
class Settings:
    """Which lexical ranker, and what the cosine weighs beside it."""

    lexical: dict[str, Any] = key("kind and settings of the lexical ranker")
    dense: float = key("weight of the cosine's z-score beside the lexical ranker's", low=0, default=1.0)


def score(settings: Settings, group: Group, asked: Asked, seed: int) -> Scores:
    """z(lexical) + dense * z(cosine)."""
    words = lexical(settings.lexical)(group, asked, seed)
    return z_scores(words) + settings.dense * z_scores(dense.score(dense.Settings(), group, asked, seed))
