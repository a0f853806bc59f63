"""The lexical ranker inside another ranker."""

from collections.abc import Callable
from functools import partial
from typing import Any

from secateur.config import plugins
from secateur.ranking.group import Group, Questions, Scores

__all__ = ["lexical"]


def lexical(spec: dict[str, Any]) -> Callable[[Group, Questions, int], Scores]:
    """The `score` of a lexical ranker, from its spec: group, questions, seed -> (questions, passages)."""
    settings = plugins.settings("ranker", spec, "conf/rankers", "lexical")
    return partial(plugins.load("ranker", spec["kind"]).score, settings)
