"""Runs Snakemake to its end, and reads its events: the dry run of an experiment."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from secateur.core.errors import SecateurError, needs
from secateur.core.events import EVENTS, event_file
from secateur.planning.progress import Event, Job, Progress, failure, planned_job

__all__ = ["SNAKEMAKE", "arguments", "jobs_to_run", "snakemake"]

SNAKEMAKE = [sys.executable, "-m", "snakemake", "--logger", "secateur"]


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


def jobs_to_run(experiment: str, overrides: Sequence[str] = (), target: Path | None = None) -> list[Job]:
    """The jobs that would run for an experiment, or for a file of its results. Raises SecateurError with Snakemake's message."""
    targets = ["--", str(target)] if target else []
    try:
        events = snakemake("-n", "--profile", "profiles/local", *arguments(experiment, overrides), *targets)
    except SecateurError as error:
        if target and "MissingRuleException" in str(error):
            fix = "Fix: name a file or folder of results/ that a run writes."
            raise SecateurError(f"{target}: no rule writes it. {fix}") from None
        raise
    jobs = [planned_job(event) for event in events if event["event"] == "job_info"]
    return [job for job in jobs if job]


def snakemake(*options: str) -> list[Event]:
    """The events of a Snakemake, once it has ended. Raises the error that ended it."""
    needs("snakemake")
    with event_file() as path:
        done = _run([*SNAKEMAKE, *options], os.environ | {EVENTS: str(path)})
        events = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    if done.returncode:
        progress = Progress()
        for event in events:
            progress.read(event)
        raise failure(progress.messages, progress.errors, done.stderr)
    return events


def _run(command: Sequence[str], env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)
