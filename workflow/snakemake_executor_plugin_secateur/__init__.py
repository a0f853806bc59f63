"""Snakemake's executor of one machine, with processes that run stage after stage: each pays for its imports once.

    snakemake --executor secateur --cores 2

Snakemake's own starts a process for each job. What else it does, it does here too: the DAG, locks, logs and retries are its.
"""

import subprocess
import sys
from concurrent.futures import Future
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from signal import Signals
from types import SimpleNamespace
from typing import Any

from snakemake.exceptions import SpawnedJobError
from snakemake.executors.local import Executor as LocalExecutor
from snakemake.executors.local import common_settings

from secateur.core.events import tell

__all__ = ["Executor", "common_settings"]

WORKER = Path(__file__).parents[1] / "secateur/stage/worker.py"


class Executor(LocalExecutor):
    """Runs scripts of rules in processes of WORKER, as many at a time as Snakemake schedules."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.idle: list[_Worker] = []

    def run_single_job(self, job: Any) -> Future:
        """Submit a job; what is no plain script, or runs in a container or a conda environment, as Snakemake's own does."""
        if job.rule.script is None or job.is_shadow or self.workflow.deployment_settings.deployment_method:
            return super().run_single_job(job)
        self.workflow.async_run(job.prepare())
        return self.pool.submit(self.cached_or_run, job, self._run, job)

    def _run(self, job: Any) -> None:
        worker = self.idle.pop() if self.idle else _Worker()
        code = worker.run(Path(job.rule.basedir.get_path_or_uri(secret_free=True), job.rule.script), _described(job))
        if worker.process.poll() is None and not code:
            self.idle.append(worker)
        if code < 0:
            tell(f"{job.rule.name}: its process was ended by {Signals(-code).name}")
        if code:
            raise SpawnedJobError

    def shutdown(self) -> None:
        """End the processes, which run nothing any more."""
        super().shutdown()
        for worker in self.idle:
            worker.wire.close()


class _Worker:
    """A process of its own, which starts with the first job."""

    def __init__(self) -> None:
        self.wire, theirs = Pipe()
        command = [sys.executable, str(WORKER), str(theirs.fileno())]
        self.process = subprocess.Popen(command, pass_fds=[theirs.fileno()])
        theirs.close()

    def run(self, script: Path, described: SimpleNamespace) -> int:
        """The exit code of a script, the negative number of the signal that ended the process."""
        wire: Connection = self.wire
        try:
            wire.send((str(script.resolve()), described))
            code, stays = wire.recv()
        except (EOFError, OSError):  # it was killed
            return self.process.wait() or 1
        if not stays:
            wire.close()
            self.process.wait()
        return code


def _described(job: Any) -> SimpleNamespace:
    """What Snakemake tells a script of its job, as plain data."""
    named = {name: dict(getattr(job, name).items()) for name in ("input", "output", "params", "wildcards")}
    plain = {
        name: {key: str(value) if isinstance(value, str) else [*map(str, value)] for key, value in values.items()}
        for name, values in named.items()
    }
    return SimpleNamespace(rule=job.rule.name, log=[*map(str, job.log)], threads=job.threads, **plain)
