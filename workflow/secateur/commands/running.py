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
from secateur.commands.runs import Data, Overrides, foretold, running
from secateur.commands.shared import EXPERIMENTS, experiment_named
from secateur.core.errors import SecateurError
from secateur.planning.dry_run import counted, failure, given

__all__ = ["Told", "report", "run"]

LOG = Path("logs/snakemake.log")
STEPS = re.compile(r"^(\d+) of (\d+) steps")
DONE = re.compile(r"^Finished jobid: \d+ \(Rule: (\w+)\)")
TOTAL = re.compile(r"^total\s+(\d+)$")
TARGET = 1  # among Snakemake's jobs, and runs nothing
INTERRUPTED = 130  # exit code, as shells have it
STEP = 10  # lines of progress where there is no terminal
SHOWN = 30  # last lines of Snakemake's text where it says no more than that something failed


class Told:
    """What Snakemake's text says, line by line. rules: of the pipeline; jobs: that were planned, counts: of each rule;
    foretold: what to say of them before the first one."""

    def __init__(self, rules: frozenset[str], foretold: Callable[[dict[str, int]], str]) -> None:
        self.rules, self.done, self.jobs, self.rule, self.planned = rules, 0, 0, "", False
        self.foretold = foretold
        self.counts: dict[str, int] = {}
        self.said: list[str] = []

    def read(self, line: str) -> str | None:
        """Take a line; what of it a user reads at once: a stage's own message, and what is to come."""
        if found := STEPS.match(line):
            self.jobs = int(found[2]) - TARGET
            self.done = min(int(found[1]), self.jobs)
        elif found := DONE.match(line):
            self.rule = found[1]
        elif line.startswith("Job stats"):
            self.planned = True
        elif self.planned and not self.jobs:  # inside its table of jobs
            self.counts |= counted(line)
            if found := TOTAL.match(line):
                self.jobs = int(found[1]) - TARGET
                return self.foretold(self.counts)
        elif line.partition(": ")[0] in self.rules or ("MLflow" in line and "Fix:" in line):
            self.said.append(line)
            return line
        return None


def _rules() -> dict[str, str]:
    """The phase of each rule: the file that it stands in."""
    found = {}
    for path in sorted(Path("workflow/rules").glob("*.smk")):
        for name in re.findall(r"^rule (\w+):", path.read_text(encoding="utf-8"), re.M):
            found[name] = path.stem
    return found


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
    plain: Annotated[bool, Option("--plain", help="Snakemake's own text in the place of the line of progress")] = False,
) -> None:
    """Run an experiment, with one line of progress; then print what was found."""
    command = [sys.executable, "-m", "snakemake", "--profile", f"profiles/{profile}", "--cores", cores]
    command += given(experiment, changed or (), data)
    command += [f"resources=[{','.join(map(json.dumps, asked))}]"] if asked else []
    if plain:
        code = subprocess.run(command, check=False).returncode
        if code:
            raise SystemExit(code)
        summary(experiment)
        return
    phases, started = _rules(), time.monotonic()

    on = int(cores) if cores.isdigit() else os.cpu_count() or 1

    def to_come(counts: dict[str, int]) -> str:
        try:
            return foretold(experiment, data, changed or (), counts, on)
        except (SecateurError, OSError) as error:  # of tables that the run is about to make anew, for instance
            return f"{sum(counts.values())} jobs to run; how long is not known: {error}"

    told = Told(frozenset(phases), to_come)
    code = _followed(command, told, phases)
    if code:
        raise _failure(told, code, _page_so_far(experiment, data, changed))
    wall, spent = time.monotonic() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = f"{spent.ru_utime + spent.ru_stime:.0f} CPU seconds"
    print(f"{told.done or 'no'} jobs in {wall:.0f} s, {cpu}; Snakemake's own text: {LOG}")
    summary(experiment)


def report(
    experiment: Annotated[str, Argument(help="a file of conf/experiment that is being run, or was stopped")],
    data: Data = None,
    changed: Overrides = None,
) -> None:
    """The page of what there is of an experiment that has not ended; it says what is missing. Runs nothing else."""
    place = EXPERIMENTS / experiment_named(experiment) / "unfinished"
    config = [*given(experiment, changed or (), data), "unfinished=true"]
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


def _followed(command: list[str], told: Told, phases: dict[str, str]) -> int:
    """Run it, show how far it is, keep what it says; its exit code."""
    LOG.parent.mkdir(exist_ok=True)
    env = os.environ | {"PYTHONUNBUFFERED": "1"}
    for end in (signal.SIGTERM, signal.SIGHUP):  # of a batch system, `timeout`, a closed terminal: jobs are stopped too
        if signal.getsignal(end) is not signal.SIG_IGN:
            signal.signal(end, signal.default_int_handler)
    with LOG.open("w", encoding="utf-8") as log:
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env)
        try:
            _shown(child, log, told, phases)
        except BaseException as error:
            child.send_signal(signal.SIGINT)  # it stops its jobs and unlocks
            child.communicate()
            if not isinstance(error, KeyboardInterrupt):
                raise
            print("interrupted: what was finished is kept, the same command goes on from there", file=sys.stderr)
            raise SystemExit(INTERRUPTED) from None
    return child.wait()


def _shown(child: subprocess.Popen, log: TextIO, told: Told, phases: dict[str, str]) -> None:
    """Show how far a run is, until it ends; what it says goes to the log."""
    console = Console(stderr=True)
    columns = [TextColumn("{task.fields[phase]:11}"), BarColumn(), MofNCompleteColumn()]
    columns += [TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(), TextColumn("{task.fields[now]}")]
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task, last = bar.add_task("", total=None, phase="planning", now=""), -1
        for line in child.stdout:
            log.write(line)
            log.flush()
            message = told.read(line.rstrip("\n"))
            if message:
                bar.console.print(message, markup=False, highlight=False, soft_wrap=True)
            now = ", ".join(dict.fromkeys(running())) if console.is_terminal and told.planned else ""
            phase = phases.get(told.rule, "done" if told.done else "planning")
            bar.update(task, total=told.jobs or None, completed=told.done, phase=phase, now=now)
            share = STEP * told.done // told.jobs if told.jobs else -1
            if not console.is_terminal and share > last:
                print(f"{told.done} of {told.jobs} jobs ({phase})", file=sys.stderr, flush=True)
                last = share


def _failure(told: Told, code: int, page: str) -> Exception:
    """What to say at the end: the stages have said why; else Snakemake's own words. page: the command that shows what there
    is."""
    end = f"what was finished is kept, and shown by `{page}`. Log: {LOG}"
    if any("Fix:" in line and "MLflow" not in line for line in told.said):
        return SecateurError(f"stopped after {told.done} of {told.jobs} jobs, for the reason above; {end}")
    found = failure(LOG.read_text(encoding="utf-8"), SHOWN)
    if not told.planned or isinstance(found, OSError):
        return found
    return SecateurError(f"{found}\nstopped after {told.done} of {told.jobs} jobs (exit code {code}); {end}")
