"""`secateur run`: run an experiment behind a progress line. Snakemake's output goes to a file."""

import fcntl
import json
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory
from typing import Annotated, TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from typer import Argument, Option

from secateur.commands.figures import summary
from secateur.commands.processes import drivers, end, workers
from secateur.commands.runs import Overrides, estimate_of
from secateur.commands.shared import EXPERIMENTS, experiment_named, in_clone
from secateur.core.artifacts import read_json
from secateur.core.errors import SecateurError, needs
from secateur.planning.asked import is_settled, settle, tree_state
from secateur.planning.dry_run import arguments, jobs_to_run
from secateur.planning.snakemake_output import Job, RunProgress, failure

__all__ = ["report", "run"]

LOG = Path("logs/snakemake.log")
Forecast = Callable[[dict[str, int]], str]  # planned jobs by rule -> their cost in one line
INTERRUPTED = 130  # exit code of shells after SIGINT
STEP = 10  # lines of progress without a terminal
PLANNED = "SECATEUR_PLANNED"  # of the executor `secateur`: the file that it writes the jobs of the run to
LOCKED = "Directory cannot be locked"  # Snakemake's words
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
    changed: Overrides = None,
    resources: Annotated[
        list[str] | None,
        Option("--resource", metavar="RULE.NAME=VALUE", help="Override a resource of a rule on a cluster."),
    ] = None,
    plain: Annotated[bool, Option("--plain", help="Show Snakemake's own output instead of the progress line.")] = False,
) -> None:
    """Run an experiment with a progress line, then print its main results."""
    needs("snakemake")
    in_clone()
    tree, started = tree_state(), time.monotonic()
    if is_settled(experiment, changed or (), whole=True):
        print(f"no jobs in {time.monotonic() - started:.0f} s: every file is as the last run left it")
        summary(experiment)
        return
    command = [sys.executable, "-m", "snakemake", "--profile", f"profiles/{profile}", "--cores", cores]
    command += arguments(experiment, changed or ())
    command += [f"resources={json.dumps(resources, ensure_ascii=False)}"] if resources else []
    if plain:
        if code := _driven(command):
            raise SystemExit(code)
        settle(experiment, changed or (), tree, whole=True)
        summary(experiment)
        return
    phases = _phases()
    processors = int(cores) if cores.isdigit() else os.cpu_count() or 1

    progress = RunProgress(frozenset(phases))
    with _log() as log, TemporaryDirectory() as folder:
        planned = Path(folder, "jobs.json")

        def cost(counts: dict[str, int]) -> str:
            try:
                jobs = [Job(*job) for job in read_json(planned)] if planned.exists() else None  # not on a cluster
                return estimate_of(experiment, changed or (), jobs).summary(processors)
            except (SecateurError, OSError) as error:  # e.g. tables that the run will write again
                return f"{sum(counts.values())} jobs to run; their time is unknown: {error}"

        code = _driven(command, lambda child: _show(child, log, progress, phases, cost), {PLANNED: str(planned)})
    if code:
        raise _failure(progress, code, _report_command(experiment, changed), Path(log.name))
    settle(experiment, changed or (), tree, whole=True)
    wall, spent = time.monotonic() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = spent.ru_utime + spent.ru_stime
    print(f"{progress.done or 'no'} jobs in {wall:.0f} s, {cpu:.0f} CPU seconds; Snakemake's output: {log.name}")
    summary(experiment)


def report(
    experiment: Annotated[str, Argument(help="Experiment that is running or was stopped.")],
    changed: Overrides = None,
) -> None:
    """Write the report of an unfinished experiment, with a list of missing rows. Runs nothing else.

    Figures that are out of date, as after a change of settings, are left out.
    """
    needs("snakemake")
    page = EXPERIMENTS / experiment_named(experiment) / "unfinished/report.html"
    rules = ["--allowed-rules", "compare_variants", "build_report", "--forceall", "--nolock"]  # a run may be active
    with NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as outdated:
        json.dump([job.record for job in jobs_to_run(experiment, changed or ())], outdated)
        outdated.flush()
        config = [*arguments(experiment, changed or ()), f"unfinished={outdated.name}"]
        command = [sys.executable, "-m", "snakemake", "--cores", "1", *config, *rules, "--", str(page)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise failure(done.stderr, SHOWN)
    print(page)


def _report_command(experiment: str, changed: Sequence[str] | None) -> str:
    """The command that writes the report of an unfinished run."""
    settings = [part for value in changed or () for part in ("--set", value)]
    return shlex.join(["secateur", "report", experiment, *settings])


@contextmanager
def _log() -> Iterator[TextIO]:
    """The log of this run, empty. While another run of this folder writes LOG, this one has a log of its own."""
    LOG.parent.mkdir(exist_ok=True)
    with ExitStack() as stack:
        log = stack.enter_context(LOG.open("a", encoding="utf-8"))
        try:
            fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            log = stack.enter_context(LOG.with_stem(f"{LOG.stem}-{os.getpid()}").open("a", encoding="utf-8"))
        except OSError:  # a file system without locks
            pass
        log.truncate(0)
        yield log


def _driven(
    command: list[str], show: Callable[[subprocess.Popen], None] | None = None, env: Mapping[str, str] | None = None
) -> int:
    """Runs a driver to its end and returns its exit code. A signal ends it with its jobs. show: reads its output."""
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "encoding": "utf-8", "errors": "replace"}
    piped["env"] = os.environ | {"PYTHONUNBUFFERED": "1"} | (env or {})
    for number in (signal.SIGTERM, signal.SIGHUP):  # from a batch system, `timeout`, a closed terminal
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell lets background processes ignore it
    child = subprocess.Popen(command, **(piped if show else {}))
    try:
        show(child) if show else child.wait()
    except BaseException as error:
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)  # a second one must not leave Snakemake behind
        end(child)
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


def _failure(progress: RunProgress, code: int, report: str, log: Path = LOG) -> Exception:
    """The error of a failed run. It quotes Snakemake's output only if no stage has printed the reason.

    report: the command that shows the results so far.
    """
    stopped = f"stopped after {progress.done} of {progress.jobs} jobs"
    rest = f"finished jobs are kept; `{report}` shows them. Log: {log}"
    if any("Fix:" in line and "MLflow" not in line for line in progress.messages):
        return SecateurError(f"{stopped}, for the reason above; {rest}")
    text = log.read_text(encoding="utf-8")
    if LOCKED in text:
        return _locked()
    error = failure(text, SHOWN)
    if not progress.planned or isinstance(error, OSError):
        return error
    return SecateurError(f"{error}\n{stopped} (exit code {code}); {rest}")


def _locked() -> SecateurError:
    """The error of a run whose files another run writes, or which a killed run has left locked."""
    if driving := drivers():
        return SecateurError(
            f"process {driving[0]} drives a run in this folder that writes the same files. Fix: wait for it, or end it "
            "with Ctrl-C"
        )
    return SecateurError(
        "a killed run has left this folder locked. Fix: secateur resume --only-clean, then the same command"
    )
