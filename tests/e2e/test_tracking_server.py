"""A real `mlflow server` on loopback: up, down, mute, restarted."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest
from tests.support.browser import chromium, sized
from tests.support.tracking_results import HOME, RESULTS, failed, figure, note, ran, shown, table

from secateur.core.errors import SecateurError
from secateur.report import tracking
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
def serving(address: str, folder: Path):
    """`mlflow server` on a folder's store, until the block ends."""
    command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", address.rpartition(":")[2]]
    command += ["--workers", "1", "--backend-store-uri", f"sqlite:///{folder}/server.db"]
    command += ["--artifacts-destination", str(folder / "artifacts")]
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
    """`secateur track`, in a process as in a run."""
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
        runs = tracking.runs_of(*collect(RESULTS))
        with pytest.raises(SecateurError, match="not told in"):
            tracking.sync(runs, address, seconds=-1)  # out of time before the first run
        up = told()
        assert f"{len(runs)} of {len(runs)} runs written" in up.stdout, up.stderr
        client = MlflowClient(address)
        assert [run["status"] for run in shown(client, "tiny.jobs")].count("FAILED") == 1
        before = shown(client, "tiny")
        assert before[0]["artifacts"] == ["config.json", "figures.csv"]  # a system; its experiment comes behind it
    ran(top_k=100, finished="2026-01-01T00:02:00+00:00")
    assert told().returncode == 2  # down again
    with serving(address, tmp_path):
        assert "5 of 11 runs written" in told().stdout  # a system, its experiment, the tag of the old one, two jobs
        assert "0 of" in told().stdout
        after = shown(MlflowClient(address), "tiny")
        assert len(after) == 2 * len(before)
        assert sum("superseded_by" in run["tags"] for run in after) == 1


def until(driver, words: Sequence[str]) -> str:
    """The page's text once it has all of some words: it is built by a script, on a machine that may be busy."""
    for _ in range(PATIENCE):
        text = driver.execute_script("return document.body ? document.body.innerText : ''")
        if all(word in text for word in words):
            return text
        time.sleep(1)
    raise AssertionError(f"{words} are not all on the page: {text[:2000]}")


def test_a_browser_shows_columns_of_figures_a_line_a_system_and_two_runs_side_by_side(address, tmp_path):
    from mlflow.tracking import MlflowClient

    ran()
    more = pl.read_parquet(f"{HOME}/metrics.parquet")
    other = more.with_columns(system=pl.lit("title_zsum"), value=pl.col("value") / 2, low=None, high=None)
    wide = [figure("token_recall@claim", 0.7), figure("answer_gain@claim", 0.2)]
    table("metrics", [*more.to_dicts(), *other.to_dicts(), *wide], f"{HOME}/metrics.parquet")
    note("secateur", "title_zsum")
    with serving(address, tmp_path), chromium(tmp_path / "profile") as driver:
        assert told().returncode == 0
        sized(driver, 1900, 1100)
        (link,) = tracking.links(address, address).values()
        driver.get(link)
        landing = until(
            driver, ["secateur · toy", "title_zsum · toy", "evidence_recall", "token_recall", "answer_gain"]
        )
        assert "2 matching runs" in landing
        assert "Traces 0" not in landing
        kept(driver, "mlflow.png")
        driver.get(f"{link}&compareRunsMode=CHART")
        until(driver, ["by_budget", "secateur · toy", "title_zsum · toy"])
        lines = "return document.querySelectorAll('.scatterlayer .trace').length"
        for _ in range(PATIENCE):
            if driver.execute_script(lines) >= 2:
                break
            time.sleep(1)
        assert driver.execute_script(lines) >= 2  # a line a system
        kept(driver, "mlflow_charts.png")
        client = MlflowClient(address)
        home = client.get_experiment_by_name("tiny").experiment_id
        runs = client.search_runs([home], "tags.`secateur.state` = 'current'")
        asked = urllib.parse.quote(json.dumps([run.info.run_id for run in runs]))
        driver.get(f"{address}/#/compare-runs?runs={asked}&experiments=%5B%22{home}%22%5D")
        until(driver, ["secateur · toy", "title_zsum · toy", "by_budget/evidence_recall"])
        kept(driver, "mlflow_compare.png")


def kept(driver, name: str) -> None:
    """Keep a picture of the page where SECATEUR_PICTURES asks for it: those of the documentation are made so."""
    if folder := os.environ.get("SECATEUR_PICTURES"):
        time.sleep(2)  # plots fade in
        driver.save_screenshot(str(Path(folder) / name))


def test_a_server_that_never_answers_costs_seconds(address):
    ran()
    with socket.create_server(("127.0.0.1", int(address.rpartition(":")[2]))):  # accepts, and that is all
        said = told()
    assert said.returncode == 2
    assert "Nothing is lost" in said.stderr
    assert {path.stem for path in Path("results/ledger").glob("*.parquet")} == {"variant_runs", "job_runs"}
