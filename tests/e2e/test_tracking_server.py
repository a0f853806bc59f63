"""A real `mlflow server` on loopback: up, down, mute, restarted."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support.tracking_results import RESULTS, failed, ran, shown

from secateur.core.errors import SecateurError
from secateur.stage import tracked, tracking
from secateur.stage.ledger import collect

pytestmark = pytest.mark.slow

PATIENCE = 200  # seconds; MLflow's own limits would take 246 at least
STARTING = 240


@pytest.fixture
def address(tmp_path, monkeypatch) -> str:
    """An address nobody listens at, as the server to use; the working directory is an empty project."""
    monkeypatch.chdir(tmp_path)
    for name in (*tracking.LIMITS, "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with socket.create_server(("127.0.0.1", 0)) as free:
        found = f"http://127.0.0.1:{free.getsockname()[1]}"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", found)
    return found


@contextmanager
def serving(address: str, folder: Path, artifacts: str = ""):
    """`mlflow server` on a folder's store, until the block ends. artifacts: where it keeps them."""
    command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", address.rpartition(":")[2]]
    command += ["--workers", "1", "--backend-store-uri", f"sqlite:///{folder}/server.db"]
    command += ["--artifacts-destination", artifacts or str(folder / "artifacts")]
    own = {"MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    env = {name: value for name, value in os.environ.items() if name != "MLFLOW_TRACKING_URI"} | own
    with (folder / "server.log").open("ab") as log:
        server = subprocess.Popen(command, env=env, stdout=log, stderr=log, start_new_session=True)
    try:
        for _ in range(STARTING * 2):
            assert server.poll() is None, (folder / "server.log").read_text()
            try:
                urllib.request.urlopen(f"{address}/health", timeout=2)
                break
            except (urllib.error.URLError, OSError):
                time.sleep(0.5)
        yield
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait()


def told() -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "secateur.cli", "track"]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)


def test_a_server_that_is_down_or_restarted_gets_all_in_the_end(address, tmp_path):
    from mlflow.tracking import MlflowClient

    ran()
    failed()
    down = told()
    assert (down.returncode, down.stdout) == (2, "")
    assert "Nothing is lost" in down.stderr
    assert "Traceback" not in down.stderr
    with serving(address, tmp_path):
        runs = tracked.runs_of(*collect(RESULTS))
        with pytest.raises(SecateurError, match="not all runs were written"):
            tracking.sync(runs, address, seconds=-1)  # out of time before the first run
        up = told()
        assert f"{len(runs)} of {len(runs)} runs written" in up.stdout, up.stderr
        client = MlflowClient(address)
        assert [run["status"] for run in shown(client, "tiny.jobs")].count("FAILED") == 1
        before = shown(client, "tiny")
        assert before[0]["artifacts"] == ["config.json", "figures.csv"]
    ran(top_k=100, finished="2026-01-01T00:02:00+00:00")
    assert told().returncode == 2  # down again
    with serving(address, tmp_path):
        assert "4 of 9 runs written" in told().stdout  # the new run, the tags of the old one, two jobs
        assert "0 of" in told().stdout
        after = shown(MlflowClient(address), "tiny")
        assert len(after) == 2 * len(before)
        assert sum("superseded_by" in run["tags"] for run in after) == 1


def test_a_server_that_never_answers_costs_seconds(address):
    ran()
    with socket.create_server(("127.0.0.1", int(address.rpartition(":")[2]))):  # accepts, and that is all
        said = told()
    assert said.returncode == 2
    assert "Nothing is lost" in said.stderr
    assert {path.stem for path in Path("results/ledger").glob("*.parquet")} == {"variant_runs", "job_runs"}


def test_a_server_that_cannot_keep_artifacts_gets_the_figures(address, tmp_path):
    from mlflow.tracking import MlflowClient

    ran()
    runs = tracked.runs_of(*collect(RESULTS))
    with serving(address, tmp_path, "/proc/server-only"):
        done = told()
        assert done.returncode == 0
        assert f"{len(runs)} of {len(runs)} runs written" in done.stdout
        (warning,) = [line for line in done.stderr.splitlines() if "Fix:" in line]
        assert "(artifact root mlflow-artifacts:/" in warning
        assert "--serve-artifacts" in warning
        client = MlflowClient(address)
        (run,) = client.search_runs([client.get_experiment_by_name("tiny").experiment_id])
        assert run.data.metrics["evidence_recall"] == 0.5
        assert f"0 of {len(runs)} runs written" in told().stdout
