"""Runs on the first questions: `peers@20` is the experiment `peers` with 20 questions of each data set.

The name keeps them apart from whole runs, in every path and table.
"""

import re
from collections.abc import Sequence
from dataclasses import fields, replace
from glob import escape
from pathlib import Path
from shlex import join, quote
from typing import Any

from secateur.config import plugins
from secateur.config.datasets import Corpus, Dataset
from secateur.config.experiment import Experiment
from secateur.core.artifacts import read_json
from secateur.core.errors import SecateurError
from secateur.core.workspace import STAMP

__all__ = ["LIMITS", "asked_note", "command", "limited", "not_run", "unlimited"]

LIMITS = {"corpus": r"(@\d+)?", "dataset": r"(@\d+)?"}  # group: what may follow the names of its options in paths

NAME = re.compile(r"(.+)@([1-9]\d*)")


def unlimited(name: str) -> tuple[str, int | None]:
    """An option's name without its number of questions, and that number.

    >>> unlimited("musique@20"), unlimited("musique")
    (('musique', 20), ('musique', None))
    """
    match = NAME.fullmatch(name)
    return (match[1], int(match[2])) if match else (name, None)


def not_run(experiment: str) -> SecateurError:
    """The error of what reads the results of an experiment that has none, with the command that makes them."""
    runs = sorted(path.parent.name for path in Path("results/experiments").glob(f"{escape(experiment)}@*/run.json"))
    has = f", but {', '.join(runs)} has" if runs else ""
    note = asked_note(experiment)
    overrides = read_json(note)["overrides"] if note.exists() else ()
    fix = " or ".join([command(experiment, overrides), *runs])
    return SecateurError(f"{experiment} has not been run here{has}. Fix: {fix}")


def asked_note(experiment: str) -> Path:
    """The file that holds what was asked of an experiment last, whether or not that run ended well."""
    return Path(".snakemake/asked", f"{experiment}.json")


def command(experiment: str, overrides: Sequence[str] = ()) -> str:
    """The command that runs an experiment.

    >>> command("peers@20", ["dataset.gain=50", "eval.budgets=[64,256]"])
    "make run EXPERIMENT=peers LIMIT=20 OVERRIDES='dataset.gain=50 eval.budgets=[64,256]'"
    """
    if Path(STAMP).exists():  # a workspace has no Makefile
        return join(["secateur", "run", experiment, *(part for value in overrides for part in ("--set", value))])
    name, count = unlimited(experiment)
    limit = f" LIMIT={count}" if count else ""
    return f"make run EXPERIMENT={name}{limit}" + (f" OVERRIDES={quote(' '.join(overrides))}" if overrides else "")


def limited(option: Any, count: int) -> Any:
    """An experiment, corpus or data set with `count` questions; any other option as it is.

    A pooled corpus has only the paragraphs of these questions, any other keeps its whole text.
    """
    if isinstance(option, Experiment):
        return replace(option, datasets=tuple(f"{name}@{count}" for name in option.datasets))
    if not isinstance(option, Corpus | Dataset):
        return option
    (kind,) = plugins.names_in(option.format)
    if any(field.name == "asked" for field in fields(plugins.load("format", kind).Settings)):
        spec = option.format if isinstance(option.format, dict) else {"kind": kind}
        pooled = replace(option, format=spec | {"asked": count})
        return replace(pooled, corpus=f"{option.corpus}@{count}") if isinstance(option, Dataset) else pooled
    return replace(option, limit=count) if isinstance(option, Dataset) else option
