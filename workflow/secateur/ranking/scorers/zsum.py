"""Weighted sum of the z-scores of a lexical ranker and the cosine."""

from dataclasses import dataclass
from typing import Any

from secateur.config import plugins
from secateur.core.fields import key
from secateur.ranking.group import Group, Questions, Scores, z_scores
from secateur.ranking.scorers import dense


@dataclass(frozen=True)
class Settings:
    """The lexical ranker, and the weight of the cosine."""

    lexical: dict[str, Any] = key("plug-in (kind) and settings of the lexical ranker")
    dense: float = key("weight of the cosine's z-score beside the lexical ranker's", low=0, default=1.0)


def lexical(spec: dict[str, Any], group: Group, questions: Questions, seed: int) -> Scores:
    """(questions, passages) scores of a lexical ranker, from its spec."""
    settings = plugins.settings("ranker", spec, "conf/rankers", "lexical")
    return plugins.load("ranker", spec["kind"]).score(settings, group, questions, seed)


def score(settings: Settings, group: Group, questions: Questions, seed: int) -> Scores:
    """z(lexical) + dense * z(cosine)."""
    words = lexical(settings.lexical, group, questions, seed)
    return z_scores(words) + settings.dense * z_scores(dense.score(dense.Settings(), group, questions, seed))
