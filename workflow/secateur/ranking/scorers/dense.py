"""Cosine of embeddings."""

from secateur.config.plugins import NoSettings as Settings
from secateur.ranking.group import Group, Questions, Scores


def score(settings: Settings, group: Group, questions: Questions, seed: int) -> Scores:
    """Inner products of unit vectors."""
    vectors = group.once("vectors", lambda: group.embed(group.texts))
    return (group.embed(questions.queries) @ vectors.T).astype(float)
