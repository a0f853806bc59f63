"""Patches faults of snakemake-executor-plugin-slurm 2.8, and one of Snakemake, in the process that submits (docs/cluster.md).

- The plugin misses cancelled jobs and waits forever for jobs that the controller has forgotten: states come from squeue and
  sacct instead.
- Its polls slow down to every three minutes: they stay `POLL` seconds apart.
- It ends the run if the controller is away for a minute: sbatch is repeated (`cluster.submit`).
- It repeats jobs that read invalid input, and does not report why a job was killed: `failure.json` tells both.
- It never reports a group that cannot be submitted: the group fails.
- It reserves a GPU for jobs whose option reads no model: these go to the default partition.
- It writes commands behind `sbatch --wrap`, where the quotes of an override end the argument: they are scripts.
- It starts a second Snakemake for each job of an allocation, and runs the jobs of a group side by side on all cores of a node:
  one Snakemake runs them one after another (`cluster.needs`).
- Snakemake itself, with retries, repeats a job on the driver that read invalid input: it does not.
"""

import asyncio
import os
import re
import shlex
import signal
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from importlib.metadata import version
from typing import Any

from snakemake_interface_common.exceptions import WorkflowError
from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo

from secateur.cluster.needs import ask_for_weights, default, forget_gpu, needs_gpu, settings_of
from secateur.cluster.states import ACTIVE, nodes, reason, states
from secateur.core.artifacts import read_json
from secateur.core.errors import SecateurError

__all__ = ["patch"]

PLUGIN = "snakemake-executor-plugin-slurm"
TRIED = {"snakemake": "9.27.", PLUGIN: "2.8."}  # the versions whose members are replaced here
AS_SCRIPT = " --slurm-jobstep-pass-command-as-script"  # of the plugin's inner executor
INNER = ("--executor slurm-jobstep --jobs 1", "--executor local")
POLL = 8.0  # seconds between polls; SECATEUR_SLURM_POLL overrides it
LOST = 4  # polls in a row without a state after which a job counts as ended; its outputs then decide

_unseen: Counter[str] = Counter()  # polls in a row without a state, by job id


def patch() -> None:
    """Patches Snakemake's local executor, and once the plugin, if it is loaded. Raises SecateurError for a Snakemake not tried."""
    from snakemake.executors import local

    refuse_untried("snakemake")
    local.Executor.handle_job_error = _without_retry(local.Executor.handle_job_error)
    plugin = sys.modules.get("snakemake_executor_plugin_slurm")
    if plugin is None or hasattr(plugin, "patched"):
        return
    os.environ["SECATEUR_DRIVER"] = str(os.getpid())  # on whose stderr cluster.submit writes
    poll = float(os.environ.get("SECATEUR_SLURM_POLL", POLL))
    executor = plugin.Executor
    executor.check_active_jobs = check_active_jobs
    executor.next_seconds_between_status_checks = property(lambda self: poll, lambda self, value: None)
    executor.__post_init__ = _tried_and_by_scripts(_interrupted_by_hangup(executor.__post_init__))
    executor.run_job = _without_idle_gpu(executor.run_job)
    executor.format_job_exec = _in_one_snakemake(executor.format_job_exec)
    plugin.get_submit_command = _with_patience(plugin.get_submit_command)
    plugin.patched = True


def refuse_untried(package: str) -> None:
    """Raise SecateurError for a version whose members may be others than those that are replaced here."""
    installed, tried = version(package), TRIED[package]
    if not installed.startswith(tried):
        raise SecateurError(
            f"{package} {installed}: tried with {tried}*, whose members are replaced (docs/cluster.md). Fix: pip install "
            f"'{package}=={tried}*'"
        )


def _tried_and_by_scripts(original: Callable) -> Callable:
    """Refuses a plugin that was not tried, and hands commands to sbatch as scripts, not as arguments."""

    def __post_init__(self: Any, *arguments: Any) -> None:
        try:
            refuse_untried(PLUGIN)
        except SecateurError as error:
            raise WorkflowError(str(error)) from None  # which Snakemake prints without a traceback
        self.workflow.executor_settings.pass_command_as_script = True
        original(self, *arguments)

    return __post_init__


def _interrupted_by_hangup(original: Callable) -> Callable:
    """A closed terminal ends a run as Ctrl-C does: it cancels its jobs and unlocks."""

    def __post_init__(self: Any, *arguments: Any) -> None:
        if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # not under nohup
            signal.signal(signal.SIGHUP, signal.default_int_handler)
        original(self, *arguments)

    return __post_init__


def _with_patience(original: Callable) -> Callable:
    """Submits by cluster.submit, which repeats sbatch."""

    def get_submit_command(*arguments: Any, **named: Any) -> str:
        command = original(*arguments, **named)
        return command.replace("sbatch ", f"{shlex.quote(sys.executable)} -m secateur.cluster.submit ", 1)

    return get_submit_command


def _without_retry(original: Callable) -> Callable:
    """A failure that a repetition cannot pass counts as the last attempt."""
    started = time.time()  # older failures are of an earlier driver

    def handle_job_error(self: Any, job: Any) -> None:
        from secateur.stage.contract import job_of

        failure = job_of(job.rule.name, job).record.with_name("failure.json")
        if failure.is_file() and failure.stat().st_mtime >= started and read_json(failure).get("final"):
            job.attempt = max(job.attempt, job.restart_times + 1)
        original(self, job)

    return handle_job_error


def _without_idle_gpu(original: Callable) -> Callable:
    """Submits a job that needs no GPU to the default partition. For groups `cluster.needs` does this."""

    def run_job(self: Any, job: Any) -> None:
        if not job.is_group() and not needs_gpu(settings_of(job)):
            forget_gpu(job.resources, default(self.workflow, "slurm_partition"))
        if not job.is_group():
            ask_for_weights(job.resources, settings_of(job))
        try:
            original(self, job)
        except Exception as error:  # raised in a thread; the plugin's handler fails for a group
            message = f"it could not be submitted: {error.__context__ or error!r}"
            _log_group(self, job, message)
            self._report_job_error_threadsafe(SubmittedJobInfo(job), message)

    return run_job


def _log_group(self: Any, job: Any, message: str) -> None:
    """Logs the failure of a group; Snakemake logs those of single jobs only."""
    if job.is_group():
        self.logger.error(message)


def _in_one_snakemake(original: Callable) -> Callable:
    """Runs a job's stages in the Snakemake that its allocation starts, one after another on the requested cores."""

    def format_job_exec(self: Any, job: Any) -> str:
        command = re.sub(r"--cores \S+", f"--cores {job.threads}", original(self, job))
        return command.replace(*INNER).replace(AS_SCRIPT, "")

    return format_job_exec


async def check_active_jobs(self: Any, active_jobs: list[Any]) -> AsyncIterator[Any]:
    """Reports the jobs that have ended, and yields the others. If SLURM does not answer, all are active."""
    job_states = await states(self.run_uuid, [info.external_jobid for info in active_jobs]) if active_jobs else {}
    if job_states is None:
        self.logger.warning("SLURM answers neither squeue nor sacct; the next poll asks again")
    for info in active_jobs:
        state = "PENDING" if job_states is None else job_states.get(info.external_jobid)
        _unseen[info.external_jobid] += 1
        if state is not None:
            del _unseen[info.external_jobid]
        if state in ACTIVE or (state is None and _unseen[info.external_jobid] < LOST):
            yield info
        elif state in (None, "COMPLETED"):
            self.report_job_success(info)  # Snakemake checks its outputs
        else:
            await _report_failure(self, info, state)


async def _report_failure(self: Any, info: Any, state: str) -> None:
    """Reports a failed job with its reason, and ends its attempts if a repetition would fail again."""
    why = await reason(info.external_jobid, state, info.job.resources["mem_mb"])
    message = f"SLURM job {info.external_jobid}: {why}"
    if state == "NODE_FAIL":
        self._failed_nodes |= await nodes(info.external_jobid)
    failure, final = await asyncio.to_thread(_failure, info, message)
    if final:
        info.job.attempt = max(info.job.attempt, info.job.restart_times + 1)
    message = f"{message}. {failure}"
    _log_group(self, info.job, message)
    self.report_job_error(info, msg=message, aux_logs=[str(info.aux.get("slurm_logfile", ""))])


def _failure(info: Any, reason: str) -> tuple[str, bool]:
    """The failure that a job's stage recorded, and whether a repetition would fail again.

    A stage that was killed recorded none: SLURM's reason is recorded for it; in a group, for the job that was running.
    """
    from secateur.stage.contract import job_of, record_kill

    jobs = [job_of(job.rule.name, job) for job in (info.job if info.job.is_group() else [info.job])]
    unfinished = [job for job in jobs if not job.record.is_file()] or jobs
    for job in unfinished:
        path = job.record.with_name("failure.json")
        if path.is_file() and (record := read_json(path)).get("slurm_job") == info.external_jobid:
            failure = f"{job.rule}: {record['failure']}" if len(jobs) > 1 else str(record["failure"])
            return failure, bool(record.get("final"))
    record_kill(unfinished[0], reason, info.external_jobid)
    return "", False
