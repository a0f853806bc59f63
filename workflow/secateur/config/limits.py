"""The first questions alone: `peers@20` is the experiment `peers` with 20 questions of each data set.

They are kept apart from whole runs by their name, which every path and every table shows.
"""

import re
from dataclasses import fields, replace
from typing import Any

from secateur.config import plugins
from secateur.config.datasets import Corpus, Dataset
from secateur.config.experiment import Experiment

__all__ = ["LIMITS", "command", "limited", "unlimited"]

LIMITS = {"corpus": r"(@\d+)?", "dataset": r"(@\d+)?"}  # group: what may stand behind the names of its options in paths

NAME = re.compile(r"(.+)@([1-9]\d*)")


def unlimited(name: str) -> tuple[str, int | None]:
    """An option's name without its number of questions, and that.

    >>> unlimited("musique@20"), unlimited("musique")
    (('musique', 20), ('musique', None))
    """
    found = NAME.fullmatch(name)
    return (found[1], int(found[2])) if found else (name, None)


def command(experiment: str) -> str:
    """What runs an experiment.

    >>> command("peers@20")
    'make run EXPERIMENT=peers LIMIT=20'
    """
    whole, count = unlimited(experiment)
    return f"make run EXPERIMENT={whole}" + (f" LIMIT={count}" if count else "")


def limited(option: Any, count: int) -> Any:
    """An option with so many questions: of a pooled set with their own paragraphs alone, else of the whole text."""
    if isinstance(option, Experiment):
        return replace(option, datasets=tuple(f"{name}@{count}" for name in option.datasets))
    if not isinstance(option, Corpus | Dataset):
        return option
    (kind,) = plugins.named(option.format)
    if any(field.name == "asked" for field in fields(plugins.load("format", kind).Settings)):
        own = option.format if isinstance(option.format, dict) else {"kind": kind}
        pooled = replace(option, format=own | {"asked": count})
        return replace(pooled, corpus=f"{option.corpus}@{count}") if isinstance(option, Dataset) else pooled
    return replace(option, limit=count) if isinstance(option, Dataset) else option
