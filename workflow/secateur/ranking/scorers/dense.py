"""Cosine of embeddings."""

from secateur.config.plugins import NoSettings as Settings
from secateur.core.products import cosines, first_of_equal
from secateur.models.prompts import asked
from secateur.ranking.group import Group, Questions, Scores


def score(settings: Settings, group: Group, questions: Questions, seed: int) -> Scores:
    """Inner products of unit vectors."""
    first = group.once("first", lambda: first_of_equal(group.texts))
    return cosines(group.embed(asked(questions.queries)), group.vectors, first)
