"""`secateur run`: run an experiment behind a progress line. Snakemake's output goes to a file."""

import json
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from typer import Argument, Option

from secateur.commands.figures import summary
from secateur.commands.processes import workers
from secateur.commands.runs import Data, Overrides, forecast
from secateur.commands.shared import EXPERIMENTS, experiment_named
from secateur.core.errors import SecateurError
from secateur.planning.dry_run import arguments
from secateur.planning.snakemake_output import RunProgress, failure

__all__ = ["report", "run"]

LOG = Path("logs/snakemake.log")
Forecast = Callable[[dict[str, int]], str]  # planned jobs by rule -> their cost in one line
INTERRUPTED = 130  # exit code of shells after SIGINT
STEP = 10  # lines of progress without a terminal
SHOWN = 30  # last lines of Snakemake's output in a message, if no stage wrote one


def _phases() -> dict[str, str]:
    """The phase of each rule: its file of workflow/rules."""
    return {
        rule: path.stem
        for path in sorted(Path("workflow/rules").glob("*.smk"))
        for rule in re.findall(r"^rule (\w+):", path.read_text(encoding="utf-8"), re.M)
    }


def run(
    experiment: Annotated[
        str, Argument(help="Name of a file in conf/experiment; NAME@20: its first 20 questions.")
    ] = "quickstart",
    profile: Annotated[str, Option(help="Folder of profiles/.")] = "local",
    cores: Annotated[str, Option(help="Number of cores, or all.")] = "all",
    data: Data = None,
    changed: Overrides = None,
    resources: Annotated[
        list[str] | None,
        Option("--resource", metavar="RULE.NAME=VALUE", help="Override a resource of a rule on a cluster."),
    ] = None,
    plain: Annotated[bool, Option("--plain", help="Show Snakemake's own output instead of the progress line.")] = False,
) -> None:
    """Run an experiment with a progress line, then print its main results."""
    command = [sys.executable, "-m", "snakemake", "--profile", f"profiles/{profile}", "--cores", cores]
    command += arguments(experiment, changed or (), data)
    command += [f"resources=[{','.join(map(json.dumps, resources))}]"] if resources else []
    if plain:
        if code := subprocess.run(command, check=False).returncode:
            raise SystemExit(code)
        summary(experiment)
        return
    phases, started = _phases(), time.monotonic()
    processors = int(cores) if cores.isdigit() else os.cpu_count() or 1

    def cost(counts: dict[str, int]) -> str:
        try:
            return forecast(experiment, data, changed or (), counts, processors)
        except (SecateurError, OSError) as error:  # e.g. tables that the run will write again
            return f"{sum(counts.values())} jobs to run; their time is unknown: {error}"

    progress = RunProgress(frozenset(phases))
    if code := _follow(command, progress, phases, cost):
        raise _failure(progress, code, _report_command(experiment, data, changed))
    wall, spent = time.monotonic() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = spent.ru_utime + spent.ru_stime
    print(f"{progress.done or 'no'} jobs in {wall:.0f} s, {cpu:.0f} CPU seconds; Snakemake's output: {LOG}")
    summary(experiment)


def report(
    experiment: Annotated[str, Argument(help="Experiment that is running or was stopped.")],
    data: Data = None,
    changed: Overrides = None,
) -> None:
    """Write the report of an unfinished experiment, with a list of missing rows. Runs nothing else."""
    page = EXPERIMENTS / experiment_named(experiment) / "unfinished/report.html"
    config = [*arguments(experiment, changed or (), data), "unfinished=true"]
    rules = ["--allowed-rules", "compare_variants", "build_report", "--forceall", "--nolock"]  # a run may be active
    command = [sys.executable, "-m", "snakemake", "--cores", "1", *config, *rules, "--", str(page)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise failure(done.stderr, SHOWN)
    print(page)


def _report_command(experiment: str, data: Path | None, changed: Sequence[str] | None) -> str:
    """The command that writes the report of an unfinished run."""
    folder = ["--data", str(data)] if data else []
    settings = [part for value in changed or () for part in ("--set", value)]
    return shlex.join(["secateur", "report", experiment, *folder, *settings])


def _follow(command: list[str], progress: RunProgress, phases: dict[str, str], cost: Forecast) -> int:
    """Runs a command, shows its progress and logs its output. Returns its exit code."""
    LOG.parent.mkdir(exist_ok=True)
    env = os.environ | {"PYTHONUNBUFFERED": "1"}
    for end in (signal.SIGTERM, signal.SIGHUP):  # from a batch system, `timeout`, a closed terminal
        if signal.getsignal(end) is not signal.SIG_IGN:
            signal.signal(end, signal.default_int_handler)
    with LOG.open("w", encoding="utf-8") as log:
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env)
        try:
            _show(child, log, progress, phases, cost)
        except BaseException as error:
            child.send_signal(signal.SIGINT)  # Snakemake stops its jobs and unlocks
            child.communicate()
            if not isinstance(error, KeyboardInterrupt):
                raise
            print("interrupted; finished jobs are kept, and the same command continues", file=sys.stderr)
            raise SystemExit(INTERRUPTED) from None
    return child.wait()


def _show(child: subprocess.Popen, log: TextIO, progress: RunProgress, phases: dict[str, str], cost: Forecast) -> None:
    """Shows the progress of a run until it ends, and logs its output."""
    console = Console(stderr=True)
    columns = [TextColumn("{task.fields[phase]:11}"), BarColumn(), MofNCompleteColumn()]
    columns += [TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(), TextColumn("{task.fields[now]}")]
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task, last = bar.add_task("", total=None, phase="planning", now=""), -1
        for line in child.stdout:
            log.write(line)
            log.flush()
            was_planned = bool(progress.jobs)
            message = progress.read(line.rstrip("\n"))
            if progress.counts and progress.jobs and not was_planned:
                message = cost(progress.counts)
            if message:
                bar.console.print(message, markup=False, highlight=False, soft_wrap=True)
            now = ", ".join(sorted(set(workers().values()))) if console.is_terminal and progress.planned else ""
            phase = phases.get(progress.rule, "done" if progress.done else "planning")
            bar.update(task, total=progress.jobs or None, completed=progress.done, phase=phase, now=now)
            share = STEP * progress.done // progress.jobs if progress.jobs else -1
            if not console.is_terminal and share > last:
                print(f"{progress.done} of {progress.jobs} jobs ({phase})", file=sys.stderr, flush=True)
                last = share


def _failure(progress: RunProgress, code: int, report: str) -> Exception:
    """The error of a failed run. It quotes Snakemake's output only if no stage has printed the reason.

    report: the command that shows the results so far.
    """
    stopped = f"stopped after {progress.done} of {progress.jobs} jobs"
    end = f"finished jobs are kept; `{report}` shows them. Log: {LOG}"
    if any("Fix:" in line and "MLflow" not in line for line in progress.messages):
        return SecateurError(f"{stopped}, for the reason above; {end}")
    error = failure(LOG.read_text(encoding="utf-8"), SHOWN)
    if not progress.planned or isinstance(error, OSError):
        return error
    return SecateurError(f"{error}\n{stopped} (exit code {code}); {end}")
