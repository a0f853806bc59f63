"""The stage contract: verified inputs, one call, verified outputs, the record last.

A stage is a function `run(cfg, inputs, outputs, ctx) -> metrics` of tables by name. A rule's script calls `main`.
"""

import json
import logging
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn, TypeVar

# Polars reads this once, on import. Its sums differ in their last bits by the number of threads: all jobs use one.
os.environ["POLARS_MAX_THREADS"] = "1"

import polars as pl

from secateur.config.leaves import load
from secateur.core.artifacts import abandoned, atomic, file_digest, naming, read_json, write_json
from secateur.core.errors import SecateurError, Unusable, explained
from secateur.core.redaction import redacted, without_secrets
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import made_anew, read_table, read_tables, read_vectors, write_parts, write_table
from secateur.core.tables.vectors import Packed
from secateur.core.threads import held_to
from secateur.models.admission import ADMITTED
from secateur.models.kernels import gpu_expected
from secateur.stage import provenance

__all__ = ["Context", "Inputs", "Job", "Outputs", "job_of", "main", "record_kill", "run_stage"]

Metrics = dict[str, float | int | str]
T = TypeVar("T")
LOGGED = 500  # last lines of a log that the next attempt's begins with
SIZES = ("passages", "documents", "sessions", "questions", "evidence", "questions_sampled")  # counts that tell no loss
PROGRESS_STEPS = 10  # lines a loop may write to a log


class Inputs:
    """The stage's inputs by name; tables are read and verified on access."""

    def __init__(self, paths: Mapping[str, list[Path]]) -> None:
        self._paths = dict(paths)

    def __contains__(self, name: str) -> bool:
        return bool(self._paths.get(name))

    def __getitem__(self, name: str) -> pl.DataFrame:
        """The table `name`; shards are concatenated in order."""
        return read_tables(TABLES[name], self._paths[name])

    def each(self, name: str) -> Iterator[pl.DataFrame]:
        """The shards of a table, one in memory at a time."""
        return (read_table(TABLES[name], path) for path in self._paths[name])

    def vectors(self, name: str) -> Packed:
        """The packed vectors of the table `name`, in the order of its key. The table is one file."""
        (path,) = self._paths[name]
        return read_vectors(TABLES[name], path)

    def paths(self, name: str) -> list[Path]:
        """The files of an input that is no table."""
        return self._paths.get(name, [])


class Outputs:
    """The stage's outputs by name, under temporary names until the stage succeeds."""

    def __init__(self, paths: Mapping[str, Path]) -> None:
        self._paths, self._open, self.rows = dict(paths), {}, {}

    def __setitem__(self, name: str, frame: pl.DataFrame) -> None:
        """Verify and write the table `name`."""
        with naming(self._paths[name]):
            self.rows[name] = write_table(TABLES[name], frame, self.path(name))

    def in_parts(self, name: str, frames: Iterable[pl.DataFrame]) -> None:
        """Verify and write a table in parts; one part is in memory at a time."""
        with naming(self._paths[name]):
            self.rows[name] = write_parts(TABLES[name], frames, self.path(name))

    def path(self, name: str) -> Path:
        """A temporary path to write the output `name` to."""
        if name not in self._open:
            self._paths[name].parent.mkdir(parents=True, exist_ok=True)
            manager = atomic(self._paths[name])
            self._open[name] = (manager, manager.__enter__())
        return self._open[name][1]

    def commit(self) -> None:
        """Give every output its final name, or none if one was not written."""
        missing = [name for name in sorted(self._paths) if name not in self._open or not self.path(name).exists()]
        if missing:
            raise RuntimeError(f"the stage returned without writing {', '.join(missing)}")
        for manager, _ in self._open.values():
            manager.__exit__(None, None, None)

    def discard(self) -> None:
        """Remove all temporary files."""
        for _, temporary in self._open.values():
            with suppress(OSError):  # the next attempt removes it
                temporary.unlink(missing_ok=True)


@dataclass
class Context:
    """A stage's surroundings: logger, cache folder, threads, counters, progress."""

    log: logging.Logger
    cache: Path
    axes: Mapping[str, str]
    code: str
    threads: int = 1
    device: str = field(default_factory=lambda: "cuda" if gpu_expected() else "cpu")  # where models are loaded
    warnings: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    read: Mapping[str, str] = field(default_factory=dict)  # the inputs' digests

    @property
    def shard(self) -> str:
        """NofCOUNT of a job that does a part of its rule's work, else empty."""
        return self.axes.get("shard") or self.axes.get("part", "").removeprefix("/")

    def warn(self, message: str) -> None:
        """Log a warning and keep it in the record."""
        self.log.warning(message)
        self.warnings.append(message)

    def note_counts(self, counts: Mapping[str, int]) -> None:
        """Keep counts in the record; warn of those above zero, except of sizes."""
        self.counts |= dict(counts)
        for name, count in counts.items():
            if count and name not in SIZES:
                self.warn(f"{name}: {count}")

    def progress(self, work: Iterable[T], total: int, what: str) -> Iterator[T]:
        """Iterate with a progress bar on a terminal, and ten plain lines in the log."""
        from tqdm import tqdm

        bar = tqdm(work, total=total, desc=what, disable=not sys.stderr.isatty(), leave=False)
        step, started = max(1, total // PROGRESS_STEPS), time.monotonic()
        for n, item in enumerate(bar, 1):
            yield item
            if n % step == 0 or n == total:
                self.log.info("%s: %d of %d, %.0f s", what, n, total, time.monotonic() - started)


@dataclass(frozen=True)
class Job:
    """One call of a stage, as plain data."""

    rule: str
    inputs: Mapping[str, list[Path]]
    outputs: Mapping[str, Path]
    record: Path
    leaves: Mapping[str, str]
    code: str
    axes: Mapping[str, str]
    threads: int
    log: Path
    root: Path


def _earlier(failure: Path) -> str:
    """The log of earlier attempts: Snakemake removes a log before it tries again."""
    try:
        text = json.loads(failure.read_text(encoding="utf-8")).get("log", "")
    except (FileNotFoundError, ValueError):
        return ""
    return f"{text}\n--- the attempt above failed; this is the next ---\n" if text else ""


class _Redacting(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return redacted(super().format(record))


def _logger(job: Job) -> logging.Logger:
    job.log.parent.mkdir(parents=True, exist_ok=True)
    logger = logging.getLogger(f"secateur.{job.rule}")
    logger.handlers.clear()
    with naming(job.log):
        job.log.write_text(_earlier(job.record.with_name("failure.json")), encoding="utf-8")
    handler = logging.FileHandler(job.log, encoding="utf-8")
    handler.setFormatter(_Redacting("%(asctime)s %(levelname)s %(message)s", datefmt="%H:%M:%S"))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    return logger


def _digests(job: Job) -> dict[str, str]:
    """sha256 of every input file. Raises SecateurError for a file that changed since its stage wrote it."""
    digests = {str(p): file_digest(p) for paths in job.inputs.values() for p in paths if p.is_file()}
    for path, digest in digests.items():
        record = Path(path).with_name("run.json")
        written = read_json(record).get("written", {}).get(path, digest) if record.is_file() else digest
        if written != digest:
            raise SecateurError(
                f"{path}: changed since its stage wrote it: its content differs from {record}. "
                f"Fix: remove it, then {made_anew(path)}"
            )
    return digests


def _record(
    job: Job, ctx: Context, started: tuple[float, float], rows: Mapping[str, int], metrics: Metrics, failure: str | None
) -> dict[str, Any]:
    """The content of run.json and of failure.json."""
    (wall, cpu), values = started, {path: json.loads(text) for path, text in job.leaves.items()}
    used = resource.getrusage(resource.RUSAGE_SELF)
    record = {
        "stage": job.rule,
        "experiment": os.environ.get("SECATEUR_EXPERIMENT"),  # the one that ran the job; others may share its outputs
        "overrides": json.loads(os.environ.get("SECATEUR_OVERRIDES", "[]")),
        "axes": dict(job.axes),
        "config": values,
        "seeds": {path: value for path, value in values.items() if path.endswith("seed")},
        "code": job.code,
        "inputs": ctx.read,
        "outputs": {name: str(path) for name, path in job.outputs.items()},
        "written": {str(p): file_digest(p) for p in job.outputs.values() if p.is_file()} if failure is None else {},
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "wall_seconds": round(time.monotonic() - wall, 3),
        "cpu_seconds": round(time.process_time() - cpu, 3),
        "peak_bytes": used.ru_maxrss * 1024,
        "device": provenance.device_used(),
        "models": ADMITTED,
        "threads": job.threads,
        "counts": ctx.counts,
        "warnings": ctx.warnings,
        "versions": provenance.versions(),
        "commit": provenance.commit(job.root),
        **provenance.machine(),
        "slurm_job": os.environ.get("SLURM_JOB_ID"),
        "rows": dict(rows),
        "metrics": metrics,
        "failure": failure,
    }
    return without_secrets(json.loads(json.dumps(record, ensure_ascii=False, default=str)))


def run_stage(run: Callable[..., Metrics], job: Job) -> Metrics:
    """Call a stage under the contract.

    Outputs get their names after all of them are verified; the record is written last. A failure leaves no output, and a
    `failure.json` in the place of the record. Errors are raised again.
    """
    log = _logger(job)
    ADMITTED.clear()
    with suppress(OSError):  # Linux's record of the peak begins anew, in a process that ran other stages
        Path("/proc/self/clear_refs").write_text("5")
    cache = Path(os.environ.get("SECATEUR_CACHE", job.root / ".cache"))
    ctx, outputs = Context(log, cache, job.axes, job.code, job.threads), Outputs(job.outputs)
    started, failure = (time.monotonic(), time.process_time()), job.record.with_name("failure.json")
    log.info("%s %s", job.rule, " ".join(f"{k}={v}" for k, v in job.axes.items()))
    try:
        for path in (*job.outputs.values(), job.record, failure):  # this process is their only writer
            for half in abandoned(path):
                half.unlink(missing_ok=True)
        ctx.read = _digests(job)  # before the work: after a signal there is no time
        with held_to(job.threads):
            metrics = run(load(job.leaves), Inputs(job.inputs), outputs, ctx) or {}
        outputs.commit()
    except BaseException as error:
        outputs.discard()
        log.error("%s", error if isinstance(error, SecateurError) else traceback.format_exc())
        record = _record(job, ctx, started, outputs.rows, {}, f"{type(error).__name__}: {explained(error)}")
        with suppress(OSError):  # a second error here would hide the first
            lines = job.log.read_text(encoding="utf-8").splitlines()[-LOGGED:]
            write_json(failure, record | {"final": _final(error), "log": "\n".join(lines)})
        raise
    failure.unlink(missing_ok=True)
    write_json(job.record, _record(job, ctx, started, outputs.rows, metrics, None))
    log.info("done: %s", metrics)
    return metrics


def _final(error: BaseException) -> bool:
    """Whether the job would fail again in the same way: an error of its input, not of a disk or an endpoint."""
    return isinstance(error, SecateurError) and not isinstance(error.__cause__, (OSError, Unusable))


def _paths(named: Any) -> dict[str, list[Path]]:
    """Snakemake's named files, each as a list."""
    return {name: [Path(p) for p in ([value] if isinstance(value, str) else value)] for name, value in named.items()}


def job_of(rule: str, described: Any) -> Job:
    """A Job from Snakemake's object, in a script or where the job is submitted."""
    params = {name: str(text) for name, text in described.params.items()}
    outputs = {name: paths[0] for name, paths in _paths(described.output).items()}
    return Job(
        rule=rule,
        inputs=_paths(described.input),
        record=outputs.pop("record"),
        outputs=outputs,
        leaves=dict(text.split("=", 1) for name, text in params.items() if name != "code"),
        code=params["code"].removeprefix("code="),
        axes=dict(described.wildcards.items()),
        threads=described.threads,
        log=Path(described.log[0]),
        root=Path.cwd(),
    )


def record_kill(job: Job, said: str, slurm_job: str) -> None:
    """Write `failure.json` for a job that was killed."""
    ctx = Context(logging.getLogger(job.rule), Path(), job.axes, job.code, job.threads)
    record = _record(job, ctx, (time.monotonic(), time.process_time()), {}, {}, said)
    write_json(job.record.with_name("failure.json"), record | {"slurm_job": slurm_job, "peak_bytes": 0, "final": False})


def _ended(*_: Any) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second signal must not interrupt the failure's record
    raise SystemExit("SIGTERM: cancelled, or at the end of its time")


def main(run: Callable[..., Metrics], snakemake: Any) -> None:
    """Entry point of a rule's script: `run_stage`; a SIGTERM ends it like an error, with a record.

    snakemake: what Snakemake defines in its scripts; None where a script is imported, and nothing runs.
    """
    if snakemake is None:
        return
    signal.signal(signal.SIGTERM, _ended)
    job = job_of(snakemake.rule, snakemake)
    try:
        run_stage(run, job)
    except (SecateurError, OSError) as error:  # the log has the traceback of an OSError
        print(redacted(f"\n{job.rule}: {explained(error)}\n"), file=sys.stderr)
        sys.exit(2)
    if vars(sys.modules["__main__"]).get("snakemake") is snakemake:  # this process is a script of Snakemake's
        _leave()


def _leave() -> NoReturn:
    """End the process at once: its work is on disk, and Python's shutdown takes over a CPU second once torch is loaded."""
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
