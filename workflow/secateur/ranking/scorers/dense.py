"""Cosine of the embedder's vectors."""

from secateur.config.plugins import NoSettings as Settings
from secateur.ranking.group import Asked, Group, Scores


def score(settings: Settings, group: Group, asked: Asked, seed: int) -> Scores:
    """Inner products of unit vectors."""
    vectors = group.once("vectors", lambda: group.embed(group.texts))
    return (group.embed(asked.queries) @ vectors.T).astype(float)
