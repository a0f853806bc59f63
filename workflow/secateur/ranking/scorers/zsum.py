"""The sum of a lexical ranker's and the cosine's z-scores."""

from dataclasses import dataclass
from typing import Any

from secateur.pipeline import kinds
from secateur.pipeline.config.fields import key
from secateur.ranking.group import Asked, Group, Scores, z_scores
from secateur.ranking.scorers import dense


@dataclass(frozen=True)
class Settings:
    """Which lexical ranker."""

    lexical: dict[str, Any] = key("kind and settings of the lexical ranker")


def score(settings: Settings, group: Group, asked: Asked, seed: int) -> Scores:
    """z(lexical) + z(cosine)."""
    own = kinds.settings("ranker", settings.lexical, "conf/rankers", "lexical")
    lexical = kinds.load("ranker", settings.lexical["kind"]).score(own, group, asked, seed)
    return z_scores(lexical) + z_scores(dense.score(dense.Settings(), group, asked, seed))
