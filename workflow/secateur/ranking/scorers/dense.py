"""Cosine of the embedder's vectors."""

from dataclasses import dataclass

from secateur.ranking.group import Asked, Group, Scores


@dataclass(frozen=True)
class Settings:
    """Nothing to set."""


def score(settings: Settings, group: Group, asked: Asked, seed: int) -> Scores:
    """Inner products of unit vectors."""
    return (group.embed(asked.queries) @ group.embed(group.texts).T).astype(float)
