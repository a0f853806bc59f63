"""The lexical ranker that another ranker is built on, by its kind and settings."""

from collections.abc import Callable
from functools import partial
from typing import Any

from secateur.config import plugins
from secateur.ranking.group import Asked, Group, Scores

__all__ = ["lexical"]


def lexical(spec: dict[str, Any]) -> Callable[[Group, Asked, int], Scores]:
    """How it scores: group, questions, seed -> (questions, passages)."""
    settings = plugins.settings("ranker", spec, "conf/rankers", "lexical")
    return partial(plugins.load("ranker", spec["kind"]).score, settings)
