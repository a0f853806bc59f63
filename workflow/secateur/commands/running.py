"""`secateur run`: an experiment with one line of progress; Snakemake's own text goes to a file."""

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
Estimate = Callable[[dict[str, int]], str]  # planned jobs by rule -> a line on their cost
INTERRUPTED = 130  # exit code, as shells have it
STEP = 10  # lines of progress where there is no terminal
SHOWN = 30  # last lines of Snakemake's text where it says no more than that something failed


def _phases() -> dict[str, str]:
    """The phase of each rule: the file that it stands in."""
    return {
        rule: path.stem
        for path in sorted(Path("workflow/rules").glob("*.smk"))
        for rule in re.findall(r"^rule (\w+):", path.read_text(encoding="utf-8"), re.M)
    }


def run(
    experiment: Annotated[
        str, Argument(help="a file of conf/experiment; NAME@20: its first 20 questions")
    ] = "quickstart",
    profile: Annotated[str, Option(help="a folder of profiles")] = "local",
    cores: Annotated[str, Option(help="how many, or all")] = "all",
    data: Data = None,
    changed: Overrides = None,
    asked: Annotated[
        list[str] | None, Option("--resource", metavar="RULE.NAME=VALUE", help="what one rule asks of a cluster")
    ] = None,
    plain: Annotated[bool, Option("--plain", help="Show Snakemake's own output instead of the progress line.")] = False,
) -> None:
    """Run an experiment, with one line of progress; then print what was found."""
    command = [sys.executable, "-m", "snakemake", "--profile", f"profiles/{profile}", "--cores", cores]
    command += arguments(experiment, changed or (), data)
    command += [f"resources=[{','.join(map(json.dumps, asked))}]"] if asked else []
    if plain:
        code = subprocess.run(command, check=False).returncode
        if code:
            raise SystemExit(code)
        summary(experiment)
        return
    phases, started = _phases(), time.monotonic()
    processors = int(cores) if cores.isdigit() else os.cpu_count() or 1

    def estimate(counts: dict[str, int]) -> str:
        try:
            return forecast(experiment, data, changed or (), counts, processors)
        except (SecateurError, OSError) as error:  # e.g. tables that the run is about to make anew
            return f"{sum(counts.values())} jobs to run; their time is unknown: {error}"

    progress = RunProgress(frozenset(phases))
    code = _follow(command, progress, phases, estimate)
    if code:
        raise _failure(progress, code, _page_so_far(experiment, data, changed))
    wall, spent = time.monotonic() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = f"{spent.ru_utime + spent.ru_stime:.0f} CPU seconds"
    print(f"{progress.done or 'no'} jobs in {wall:.0f} s, {cpu}; Snakemake's own text: {LOG}")
    summary(experiment)


def report(
    experiment: Annotated[str, Argument(help="a file of conf/experiment that is being run, or was stopped")],
    data: Data = None,
    changed: Overrides = None,
) -> None:
    """The page of what there is of an experiment that has not ended; it says what is missing. Runs nothing else."""
    place = EXPERIMENTS / experiment_named(experiment) / "unfinished"
    config = [*arguments(experiment, changed or (), data), "unfinished=true"]
    alone = ["--allowed-rules", "compare_variants", "build_report", "--forceall", "--nolock"]  # beside a run
    command = [sys.executable, "-m", "snakemake", "--cores", "1", *config, *alone, "--", str(place / "report.html")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise failure(done.stderr, SHOWN)
    print(place / "report.html")


def _page_so_far(experiment: str, data: Path | None, changed: Sequence[str] | None) -> str:
    """The command that shows what there is of a run."""
    folder = ["--data", str(data)] if data else []
    settings = [part for one in changed or () for part in ("--set", one)]
    return shlex.join(["secateur", "report", experiment, *folder, *settings])


def _follow(command: list[str], progress: RunProgress, phases: dict[str, str], estimate: Estimate) -> int:
    """Runs a command, shows its progress and logs its text. Returns its exit code."""
    LOG.parent.mkdir(exist_ok=True)
    env = os.environ | {"PYTHONUNBUFFERED": "1"}
    for end in (signal.SIGTERM, signal.SIGHUP):  # of a batch system, `timeout`, a closed terminal: jobs are stopped too
        if signal.getsignal(end) is not signal.SIG_IGN:
            signal.signal(end, signal.default_int_handler)
    with LOG.open("w", encoding="utf-8") as log:
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env)
        try:
            _show(child, log, progress, phases, estimate)
        except BaseException as error:
            child.send_signal(signal.SIGINT)  # it stops its jobs and unlocks
            child.communicate()
            if not isinstance(error, KeyboardInterrupt):
                raise
            print("interrupted: what was finished is kept, the same command goes on from there", file=sys.stderr)
            raise SystemExit(INTERRUPTED) from None
    return child.wait()


def _show(
    child: subprocess.Popen, log: TextIO, progress: RunProgress, phases: dict[str, str], estimate: Estimate
) -> None:
    """Shows the progress of a run until it ends, and logs its text."""
    console = Console(stderr=True)
    columns = [TextColumn("{task.fields[phase]:11}"), BarColumn(), MofNCompleteColumn()]
    columns += [TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(), TextColumn("{task.fields[now]}")]
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task, last = bar.add_task("", total=None, phase="planning", now=""), -1
        for line in child.stdout:
            log.write(line)
            log.flush()
            counted = bool(progress.jobs)
            message = progress.read(line.rstrip("\n"))
            if progress.counts and progress.jobs and not counted:
                message = estimate(progress.counts)
            if message:
                bar.console.print(message, markup=False, highlight=False, soft_wrap=True)
            now = ", ".join(sorted(set(workers().values()))) if console.is_terminal and progress.planned else ""
            phase = phases.get(progress.rule, "done" if progress.done else "planning")
            bar.update(task, total=progress.jobs or None, completed=progress.done, phase=phase, now=now)
            share = STEP * progress.done // progress.jobs if progress.jobs else -1
            if not console.is_terminal and share > last:
                print(f"{progress.done} of {progress.jobs} jobs ({phase})", file=sys.stderr, flush=True)
                last = share


def _failure(progress: RunProgress, code: int, page: str) -> Exception:
    """What to say of a failed run: that stages have said why, else Snakemake's own words.

    page: the command that shows the results so far.
    """
    end = f"what was finished is kept, and shown by `{page}`. Log: {LOG}"
    if any("Fix:" in line and "MLflow" not in line for line in progress.messages):
        return SecateurError(f"stopped after {progress.done} of {progress.jobs} jobs, for the reason above; {end}")
    error = failure(LOG.read_text(encoding="utf-8"), SHOWN)
    if not progress.planned or isinstance(error, OSError):
        return error
    return SecateurError(f"{error}\nstopped after {progress.done} of {progress.jobs} jobs (exit code {code}); {end}")
