"""`secateur run`: run an experiment behind a progress line, by Snakemake's events. Its output goes to a file."""

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
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Annotated, TextIO

from rich import progress as bars
from rich.console import Console
from typer import Argument, Option

from secateur.commands.figures import summary
from secateur.commands.processes import drivers, end
from secateur.commands.runs import Overrides, estimate_of
from secateur.commands.shared import EXPERIMENTS, at_root, experiment_named
from secateur.core.errors import SecateurError, needs
from secateur.core.events import EVENTS, event_file
from secateur.planning.asked import is_settled, settle, tree_state
from secateur.planning.dry_run import SNAKEMAKE, arguments, jobs_to_run, snakemake
from secateur.planning.progress import Event, Job, Progress, failure, tail

__all__ = ["report", "run"]

LOG = Path("logs/snakemake.log")
Forecast = Callable[[list[Job]], str]  # planned jobs -> their cost in one line
INTERRUPTED = 130  # exit code of shells after SIGINT
STEP = 10  # lines of progress without a terminal
PAUSE = 0.2  # seconds between looks at the events of a run


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
    at_root()
    tree, started = tree_state(), time.monotonic()
    if is_settled(experiment, changed or (), whole=True):
        print(f"no jobs in {time.monotonic() - started:.0f} s: every file is as the last run left it")
        summary(experiment)
        return
    command = [*SNAKEMAKE, "--profile", f"profiles/{profile}", "--cores", cores, *arguments(experiment, changed or ())]
    command += [f"resources={json.dumps(resources, ensure_ascii=False)}"] if resources else []
    if plain:
        if code := _driven(command):
            raise SystemExit(code)
        settle(experiment, changed or (), tree, whole=True)
        summary(experiment)
        return
    processors = int(cores) if cores.isdigit() else os.cpu_count() or 1

    def cost(jobs: list[Job]) -> str:
        try:
            return estimate_of(experiment, changed or (), jobs).summary(processors)
        except (SecateurError, OSError) as error:  # e.g. tables that the run will write again
            return f"{len(jobs)} jobs to run; their time is unknown: {error}"

    progress = Progress()
    with _log() as log, event_file() as events:
        code = _driven(command, lambda child: _show(_followed(child, events), progress, cost), events, log)
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
        snakemake("--cores", "1", *config, *rules, "--", str(page))
    print(page)


def _report_command(experiment: str, changed: Sequence[str] | None) -> str:
    """The command that writes the report of an unfinished run."""
    settings = [part for value in changed or () for part in ("--set", value)]
    return shlex.join(["secateur", "report", experiment, *settings])


@contextmanager
def _log() -> Iterator[TextIO]:
    """The log of this run, empty and locked. While another run of this folder writes LOG, this one has a log of its own."""
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
    command: list[str],
    show: Callable[[subprocess.Popen], None] = subprocess.Popen.wait,
    events: Path | None = None,
    log: TextIO | None = None,
) -> int:
    """Runs a driver to its end and returns its exit code. A signal ends it with its jobs.

    show: returns when the driver has ended; events, log: files for its events and its output.
    """
    env = os.environ | {"PYTHONUNBUFFERED": "1"} | ({EVENTS: str(events)} if events else {})
    for number in (signal.SIGTERM, signal.SIGHUP):  # from a batch system, `timeout`, a closed terminal
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell lets background processes ignore it
    child = subprocess.Popen(
        command, stdout=log, stderr=log, env=env
    )  # the log stays locked until all that write it end
    try:
        show(child)
    except BaseException as error:
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)  # a second one must not leave Snakemake behind
        end(child)
        if not isinstance(error, KeyboardInterrupt):
            raise
        print("interrupted; finished jobs are kept, and the same command continues", file=sys.stderr)
        raise SystemExit(INTERRUPTED) from None
    return child.wait()


def _followed(child: subprocess.Popen, events: Path) -> Iterator[Event]:
    """The events of a process, until it has ended."""
    with events.open(encoding="utf-8") as stream:
        ended, unfinished = False, ""
        while not ended:
            with suppress(subprocess.TimeoutExpired):
                child.wait(PAUSE)
            ended = child.poll() is not None
            *lines, unfinished = (unfinished + stream.read()).split("\n")
            yield from map(json.loads, lines)


def _show(followed: Iterable[Event], progress: Progress, cost: Forecast) -> None:
    """Shows the progress of a run until it ends."""
    console, phases = Console(stderr=True), _phases()
    columns = [bars.TextColumn("{task.fields[phase]:11}"), bars.BarColumn(), bars.MofNCompleteColumn()]
    columns += [bars.TimeElapsedColumn(), bars.TextColumn("left"), bars.TimeRemainingColumn()]
    columns += [bars.TextColumn("{task.fields[now]}")]
    with bars.Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task, last = bar.add_task("", total=None, phase="planning", now=""), -1
        for event in followed:
            message = progress.read(event)
            if event["event"] == "planned" and progress.jobs:
                message = cost(progress.jobs)
            if message and progress.jobs:  # before the jobs, it is why the run ends
                bar.console.print(message, markup=False, highlight=False, soft_wrap=True)
            total = len(progress.jobs or ())
            now = ", ".join(sorted(set(progress.running.values())))
            phase = phases.get(progress.rule, "done" if progress.done else "planning")
            bar.update(task, total=total or None, completed=progress.done, phase=phase, now=now)
            share = STEP * progress.done // total if total else -1
            if not console.is_terminal and share > last:
                print(f"{progress.done} of {total} jobs ({phase})", file=sys.stderr, flush=True)
                last = share


def _failure(progress: Progress, code: int, report: str, log: Path = LOG) -> Exception:
    """The error of a failed run. It quotes Snakemake's output only if no stage has told the reason.

    report: the command that shows the results so far.
    """
    output = log.read_text(encoding="utf-8", errors="replace")
    if any(error["exception"] == "LockException" for error in progress.errors):
        return _locked()
    if progress.jobs is None:
        return failure(progress.messages, progress.errors, output)
    stopped = f"stopped after {progress.done} of {len(progress.jobs)} jobs"
    hint = f"finished jobs are kept; `{report}` shows them. Log: {log}"
    if any("Fix:" in text and "MLflow" not in text for text in progress.messages):
        return SecateurError(f"{stopped}, for the reason above; {hint}")
    if isinstance(error := failure([], progress.errors, output), OSError):
        return error
    return SecateurError(f"{tail(output)}\n{stopped} (exit code {code}); {hint}")


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
