"""Runs Snakemake's dry run of an experiment."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from secateur.core.errors import SecateurError, needs
from secateur.planning.snakemake_output import DryRun, Job, failure, parse_dry_run, parse_summary

__all__ = ["arguments", "dry_run", "jobs_to_run"]

SHOWN = 3  # last lines of Snakemake's output in a message


def arguments(experiment: str, overrides: Sequence[str] = ()) -> list[str]:
    """Snakemake's arguments for an experiment.

    Overrides stand in a list: of a text by itself Snakemake drops quotes, and what YAML takes for a comment or a mapping.

    >>> arguments("quickstart", ["eval.budgets=[64,128]"])
    ['--config', 'experiment=quickstart', 'overrides=["eval.budgets=[64,128]"]']
    """
    changed = (
        [f"overrides={json.dumps(list(overrides), ensure_ascii=False, separators=(',', ':'))}"] if overrides else []
    )
    return ["--config", f"experiment={experiment}", *changed]


def dry_run(experiment: str, overrides: Sequence[str] = (), target: Path | None = None) -> DryRun:
    """The jobs that would run for an experiment, or for a file of its results, and their causes.

    Raises SecateurError with Snakemake's message.
    """
    targets = ["--", str(target)] if target else []
    done = _snakemake("-n", *arguments(experiment, overrides), *targets)
    text = done.stdout + done.stderr
    if target and "MissingRuleException" in text:
        raise SecateurError(f"{target}: no rule writes it. Fix: name a file or folder of results/ that a run writes.")
    if done.returncode != 0:
        raise failure(text, SHOWN)
    return parse_dry_run(text)


def jobs_to_run(experiment: str, overrides: Sequence[str] = ()) -> list[Job]:
    """The jobs that would run for an experiment, with their records. Raises SecateurError with Snakemake's message."""
    done = _snakemake("--summary", *arguments(experiment, overrides))
    if done.returncode != 0:
        raise failure(done.stdout + done.stderr, SHOWN)
    return parse_summary(done.stdout)


def _snakemake(*options: str) -> subprocess.CompletedProcess[str]:
    needs("snakemake")
    command = [sys.executable, "-m", "snakemake", "--profile", "profiles/local", "--quiet", "host", *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)
