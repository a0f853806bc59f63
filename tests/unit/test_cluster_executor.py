"""What each patch of the SLURM plugin mends.

Each test first shows the plugin's own fault. Once a new version is without it, that assertion fails and the patch can go.
"""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import AsyncMock, MagicMock

import pytest

from secateur.cluster import executor
from secateur.core.errors import SecateurError

plugin = pytest.importorskip("snakemake_executor_plugin_slurm")


@pytest.fixture
def driver():
    """A stand-in for the plugin's executor while two jobs run."""
    self = MagicMock(run_uuid="run", status_rate_limiter=AsyncMock(), next_seconds_between_status_checks=40)
    self.workflow.executor_settings = SimpleNamespace(
        init_seconds_before_status_checks=40, status_attempts=1, keep_successful_logs=True, requeue=False
    )
    self.get_status_command.return_value = "sacct"
    for name in ("calls", "failures", "total_seconds", "max_seconds"):
        setattr(self, f"_status_query_{name}", 0)
    self._status_query_min_seconds = None
    return self


def job(number: str) -> SimpleNamespace:
    inner = MagicMock(resources={"mem_mb": 100}, attempt=1, restart_times=2)
    return SimpleNamespace(external_jobid=number, job=inner, aux={"slurm_logfile": Path("x.log")})


def polled(check, driver, jobs) -> list[str]:
    """The ids of the jobs that a poll takes for active."""

    async def collect():
        return [active.external_jobid async for active in check(driver, jobs)]

    return asyncio.run(collect())


@pytest.fixture
def slurm(monkeypatch):
    """Sets what SLURM answers, to the plugin and to ours: states by job id, None for no answer."""
    monkeypatch.setattr(plugin, "get_min_job_age", lambda: 300)
    monkeypatch.setattr(plugin, "is_query_tool_available", lambda name: True)
    monkeypatch.setattr(executor, "_unseen", executor.Counter())
    monkeypatch.setattr(executor, "_failure", lambda info, reason: ("", False))

    def answer(known):
        first = known and {number: state.split()[0] for number, state in known.items()}
        said = (known, 0.1) if known is not None else (None, None)
        monkeypatch.setattr(plugin, "query_job_status", AsyncMock(return_value=said))
        monkeypatch.setattr(executor, "states", AsyncMock(return_value=first))
        monkeypatch.setattr(executor, "reason", AsyncMock(side_effect=lambda number, state, mem_mb: state))

    return answer


def test_a_job_that_was_cancelled_has_failed(driver, slurm):
    slurm({"1": "CANCELLED by 1000", "2": "RUNNING"})
    assert polled(plugin.Executor.check_active_jobs, driver, [job("1"), job("2")]) == ["1", "2"]
    assert polled(executor.check_active_jobs, driver, [job("1"), job("2")]) == ["2"]
    assert driver.report_job_error.call_args.kwargs["msg"].startswith("SLURM job 1: CANCELLED")


def test_a_job_that_slurm_has_forgotten_ends_and_its_files_decide(driver, slurm):
    slurm({"2": "RUNNING"})
    for _ in range(executor.LOST + 1):
        assert polled(plugin.Executor.check_active_jobs, driver, [job("1"), job("2")]) == ["1", "2"]
    gone, running = job("1"), job("2")
    for _ in range(executor.LOST - 1):
        assert polled(executor.check_active_jobs, driver, [gone, running]) == ["1", "2"]
    assert polled(executor.check_active_jobs, driver, [gone, running]) == ["2"]
    driver.report_job_success.assert_called_once_with(gone)


def test_jobs_stay_active_while_slurm_does_not_answer(driver, slurm):
    slurm(None)
    running = [job("1"), job("2")]
    assert polled(plugin.Executor.check_active_jobs, driver, running) == []  # they are never heard of again
    assert polled(executor.check_active_jobs, driver, running) == ["1", "2"]


def test_a_group_that_cannot_be_submitted_fails(driver):
    group = MagicMock(spec=["is_group", "name", "jobs", "resources"])  # a group of jobs has no rule
    group.is_group.return_value = True
    driver.slurm_logdir.mkdir.side_effect = OSError("no space")
    with pytest.raises(AttributeError, match="rule"):
        plugin.Executor.run_job(driver, group)
    executor._without_idle_gpu(plugin.Executor.run_job)(driver, group)
    (_, message), _ = driver._report_job_error_threadsafe.call_args
    assert "it could not be submitted: OSError('no space')" in message


def test_sbatch_is_called_with_patience():
    given = {"run_uuid": "u", "slurm_logfile": "l", "comment_str": "rule_x"}
    given |= {"account": "", "partition": "", "workdir": "."}
    asked = MagicMock(resources=MagicMock(get=lambda name, default=None: default), threads=1)
    command = plugin.get_submit_command
    assert command(asked, given).startswith("sbatch --parsable")
    assert " -m secateur.cluster.submit --parsable" in executor._with_patience(command)(asked, given)


def test_a_job_starts_one_snakemake_on_the_cores_that_it_asked_for(driver):
    driver.workflow.executor_settings.pass_command_as_script = True
    general = plugin.Executor.additional_general_args(driver)
    assert general == executor.INNER[0] + executor.AS_SCRIPT
    command = executor._in_one_snakemake(lambda self, job: f"python -m snakemake --cores all {general}")
    assert command(driver, SimpleNamespace(threads=3)) == "python -m snakemake --cores 3 --executor local"


@pytest.mark.parametrize("package", ["snakemake", executor.PLUGIN])
def test_a_version_that_was_not_tried_is_refused_not_left_unpatched(monkeypatch, package):
    monkeypatch.setattr(executor, "version", lambda name: "99.1.0" if name == package else executor.TRIED[name] + "1")
    with pytest.raises(SecateurError, match=rf"{package} 99\.1\.0: tried with .* Fix: pip install"):
        executor.refuse_untried(package)
