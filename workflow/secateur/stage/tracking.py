"""Shows the ledger in MLflow, as `tracked` has it.

The tag `secateur.key` identifies a run. The tag `secateur.digest` is written last, so a run that was interrupted is
written again, and one whose digest is up to date is skipped. Stages never talk to MLflow: one process does, under a lock.
Figures go to the tracking server, artifacts often elsewhere, to a root that the server names. They come when all figures
are written, so a root that refuses them costs no figure; the tag `secateur.artifacts` marks the runs that lack them.
"""

import logging
import os
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from secateur.core.errors import SecateurError
from secateur.core.events import tell
from secateur.core.redaction import redacted
from secateur.stage.ledger import FOLDER, collect
from secateur.stage.tracked import CURRENT, JOBS, STATE, SUPERSEDED, Run, runs_of, view

__all__ = ["CURRENT", "LOCAL", "VIEW", "check_store", "experiments", "forgotten", "sync", "track"]

LOCAL = "sqlite:///mlflow.db"
KEY, DIGEST = "secateur.key", "secateur.digest"
ARTIFACTS = "secateur.artifacts"  # tag of a run that lacks its artifacts
VIEW = "secateur"  # key of the view of an experiment that `secateur ui` links to
VIEW_TAG = f"mlflow.sharedViewState.{VIEW}"  # where MLflow's own button Share keeps views
# Defaults for MLflow's own settings: a server that is down or mute costs seconds. MLflow's defaults cost four minutes.
LIMITS = {
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "5",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR": "1",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_LOGGING_LEVEL": "ERROR",
}
SECONDS = 60.0  # for a server to take what is new, and for the lock; the next call goes on from there
WAIT = 20.0  # seconds for a local store that another process is writing to
PAGE, METRICS, PARAMS = 1000, 800, 100  # per request; MLflow takes 1000 runs, 1000 metrics and params, 100 params


def _experiment_id(client: Any, name: str) -> str:
    """The id of an experiment, which is created if it is missing and restored if it was deleted."""
    experiment = client.get_experiment_by_name(name)
    if experiment is None:
        return client.create_experiment(name)
    if experiment.lifecycle_stage == "deleted":
        client.restore_experiment(experiment.experiment_id)
    return experiment.experiment_id


def _tracked(client: Any, experiment_id: str) -> dict[str, Any]:
    """The runs of an experiment by key; runs logged by others have none."""
    runs, token = [], None
    while token != "":
        page = client.search_runs([experiment_id], max_results=PAGE, page_token=token)
        runs += page
        token = page.token or ""
    return {run.data.tags[KEY]: run for run in runs if KEY in run.data.tags}


def _up_to_date(run: Run, tags: dict[str, str]) -> bool:
    expected = {DIGEST: run.digest, STATE: run.standing.get(STATE), SUPERSEDED: run.standing.get(SUPERSEDED)}
    return all(tags.get(name) == value for name, value in expected.items())


def _write(client: Any, experiment_id: str, run: Run, tracked: Any) -> Any:
    """Creates or updates a run, without its artifacts, and returns MLflow's. With the same digest, only its tags change."""
    from mlflow.entities import Metric, Param, RunTag

    tracked = tracked or client.create_run(experiment_id, run.started, {KEY: run.key}, run.name)
    run_id, tags = tracked.info.run_id, tracked.data.tags
    final = run.tags | run.standing | {DIGEST: run.digest}
    if tags.get(DIGEST) != run.digest:
        metrics = [Metric(name, value, run.ended, step) for name, value, step in run.metrics]
        params = [Param(name, text) for name, text in run.params.items()]
        for batch in zip_longest(_batches(metrics, METRICS), _batches(params, PARAMS), fillvalue=()):
            client.log_batch(run_id, *batch)
        client.set_terminated(run_id, "FAILED" if run.failed else "FINISHED", run.ended)
        final[ARTIFACTS] = "missing"
    if tracked.info.run_name != run.name:
        client.update_run(run_id, name=run.name)
    if SUPERSEDED in tags and SUPERSEDED not in run.standing:
        client.delete_tag(run_id, SUPERSEDED)
    client.log_batch(run_id, tags=[RunTag(name, value) for name, value in final.items()])
    return tracked


def _write_artifacts(client: Any, run: Run, run_id: str) -> None:
    for name, text in run.texts.items():
        client.log_text(run_id, text, name)
    for path in run.files:
        client.log_artifact(run_id, str(path))
    client.delete_tag(run_id, ARTIFACTS)


def _warn(uri: str, root: str, error: Exception) -> None:
    """Warn that the artifact root of a server took no artifacts."""
    fix = "make this root writable from here, or start the server with --serve-artifacts before the first run"
    if root.startswith("mlflow-artifacts:"):  # the server writes them itself
        fix = "start the server with --serve-artifacts and an --artifacts-destination that it can write to"
    tell(
        f"MLflow at {redacted(uri)}: figures are written, artifacts are not: {redacted(_reason(error))} "
        f"(artifact root {redacted(root)}). Fix: {fix}; then `secateur track`."
    )


def _batches(values: Sequence, size: int) -> Iterator[Sequence]:
    return (values[n : n + size] for n in range(0, len(values), size))


def check_store(uri: str) -> None:
    """Raises sqlite3.Error for a broken or locked local store, which MLflow would retry for minutes."""
    path = Path(uri.removeprefix("sqlite:///"))
    if uri.startswith("sqlite:") and path.exists():
        with closing(sqlite3.connect(path, timeout=WAIT)) as store:
            store.execute("select count(*) from sqlite_master").fetchone()


@contextmanager
def _client(uri: str) -> Iterator[Any]:
    """A client of MLflow. Raises SecateurError where MLflow cannot be reached or refuses, also inside the block."""
    for name, value in LIMITS.items():
        os.environ.setdefault(name, value)

    from mlflow.exceptions import MlflowException
    from mlflow.tracking import MlflowClient
    from sqlalchemy.exc import SQLAlchemyError

    logging.getLogger("alembic").setLevel(logging.ERROR)  # prints a line for each table of a new store
    try:
        check_store(uri)
        yield MlflowClient(uri)
    except (MlflowException, SQLAlchemyError, sqlite3.Error, OSError) as error:  # requests' errors are OSErrors
        fix = "start the server or unset MLFLOW_TRACKING_URI; the next run catches up, and so does `secateur track`"
        if re.search(r"\b40[13]\b", str(error)):
            fix = "set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or MLFLOW_TRACKING_TOKEN, to what the server takes"
        if uri.startswith("sqlite:"):
            path = uri.removeprefix("sqlite:///")
            fix = f"wait if another process writes to it; else delete {path}, then `secateur track --rebuild`"
        raise SecateurError(
            f"MLflow at {redacted(uri)}: {redacted(_reason(error))}. Nothing is lost, results/{FOLDER} has every run. Fix: {fix}."
        ) from error


def _reason(error: Exception) -> str:
    """The first line of an error's message, else its type."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def sync(runs: Sequence[Run], uri: str, rebuild: bool = False, seconds: float = SECONDS) -> int:
    """Writes the runs that MLflow lacks or has out of date, with `rebuild` all of them anew. Returns their number.

    Raises SecateurError where MLflow cannot be reached or refuses, or where a server takes longer than `seconds`. Warns
    where only the artifact root of a server refuses.
    """
    is_server = uri.startswith("http")
    deadline = time.monotonic() + (seconds if is_server else float("inf"))
    written: set[str] = set()
    without: list[tuple[Run, Any]] = []  # runs that lack their artifacts

    def check_time() -> None:
        if time.monotonic() > deadline:
            raise TimeoutError(f"not all runs were written within {seconds:.0f} s")

    with _client(uri) as client:
        for name, group in groupby(runs, key=lambda run: run.experiment):
            experiment_id = _experiment_id(client, name)
            tracked = _tracked(client, experiment_id)
            group_runs = list(group)
            if client.get_experiment(experiment_id).tags.get(VIEW_TAG) != (state := view(group_runs)):
                client.set_experiment_tag(experiment_id, VIEW_TAG, state)
            for run in group_runs:
                present = tracked.get(run.key)
                if rebuild and present is not None:
                    check_time()
                    client.delete_run(present.info.run_id)
                    present = None
                tags = present.data.tags if present else {}
                if not _up_to_date(run, tags):
                    check_time()
                    present = _write(client, experiment_id, run, present)
                    written.add(present.info.run_id)
                if tags.get(DIGEST) != run.digest or ARTIFACTS in tags:
                    without.append((run, present.info))
        for run, info in without:
            check_time()
            try:
                _write_artifacts(client, run, info.run_id)
            except Exception as error:  # each kind of artifact root has errors of its own, also of missing packages
                if not is_server:
                    raise
                _warn(uri, info.artifact_uri.partition(f"/{info.run_id}")[0], error)
                break
            written.add(info.run_id)
    return len(written)


def track(results: Path, rebuild: bool = False, seconds: float = SECONDS) -> tuple[int, int, str]:
    """Updates the ledger, then MLflow. Returns the number of runs written, the number of all runs, MLflow's address.

    Raises SecateurError as `sync` does, and if another process holds the lock for longer than `seconds`.
    """
    uri = os.environ.get("MLFLOW_TRACKING_URI") or LOCAL
    lock = results / FOLDER / ".lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(lock, timeout=seconds):
            runs = runs_of(*collect(results))
            return (sync(runs, uri, rebuild, seconds) if runs else 0), len(runs), redacted(uri)
    except Timeout as error:
        raise SecateurError(
            f"{lock}: another process has held it for {seconds:.0f} s. Fix: secateur track, once that process has ended"
        ) from error


def experiments(uri: str) -> dict[str, str]:
    """Name -> id of the experiments that Secateur tracks, the latest first. Raises SecateurError as `sync` does."""
    with _client(uri) as client:
        ids = {experiment.name: experiment.experiment_id for experiment in client.search_experiments()}
    return {name: number for name, number in ids.items() if name + JOBS in ids}


def forgotten(names: Iterable[str]) -> list[str]:
    """Removes experiments and their jobs, and returns those that were there; from a local store for good, else as MLflow does.

    Raises SecateurError as `sync` does. A server keeps what is removed until `mlflow gc` runs there.
    """
    uri = os.environ.get("MLFLOW_TRACKING_URI") or LOCAL
    if uri == LOCAL and not Path("mlflow.db").exists():
        return []
    with _client(uri) as client:
        wanted = [title for name in names for title in (name, name + JOBS)]
        stored = [experiment for name in wanted if (experiment := client.get_experiment_by_name(name))]
        for experiment in stored:
            if experiment.lifecycle_stage != "deleted":
                client.delete_experiment(experiment.experiment_id)
    if stored and uri.startswith("sqlite:"):
        ids = ["--experiment-ids", ",".join(experiment.experiment_id for experiment in stored)]
        command = [sys.executable, "-m", "mlflow", "gc", "--backend-store-uri", uri, *ids]
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"MLFLOW_TRACKING_URI": uri})
        if done.returncode:
            raise SecateurError(
                f"{uri}: mlflow gc: {_reason(RuntimeError(done.stderr))}. Fix: {' '.join(['mlflow', *command[3:]])}"
            )
    return [experiment.name for experiment in stored]
