"""The ledger, shown in MLflow: NAME with a run for each system on each data set, NAME.policies, and NAME.jobs.

The runs of an experiment as it once stood belong to one parent, which has its page, tables and figures.

A run is found by its key and compared by the digest of what it should say, which is written last: telling
MLflow again changes nothing, and what was cut off is completed. What is new in a local store goes there in bulk.
Stages never come here; one process does, under a lock, when their jobs have ended.
"""

import json
import logging
import math
import os
import shutil
import socket
import sqlite3
import sys
import uuid
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from filelock import FileLock, Timeout

from secateur.core.errors import SecateurError
from secateur.core.redaction import redacted
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table
from secateur.report.figures import drawings
from secateur.report.runs import HELD, MOVING, STATE, SUPERSEDED, Run, named_for_mlflow, runs_of
from secateur.report.timed import Timed
from secateur.stage.ledger import FOLDER, HEADLINES, collect

__all__ = ["LOCAL", "links", "runs_of", "sync", "track"]

LOCAL = "sqlite:///mlflow.db"
KEY, DIGEST, PARENT = "secateur.key", "secateur.digest", "mlflow.parentRunId"
VIEW = "secateur"  # of an experiment: a shared view, which opens on runs with columns of figures
SHOWN = 6  # columns of figures in it
KIND = {"mlflow.experimentKind": "custom_model_development"}  # its pages show runs first, not traces
# MLflow's own settings, where the environment has none: a server that is down or mute costs seconds, not minutes.
LIMITS = {
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "5",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR": "1",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_LOGGING_LEVEL": "ERROR",
}
CONNECTING = 3.0  # seconds to answer a knock
PORTS = {"http": 80, "https": 443}
SECONDS = 60.0  # for a server to take what is new, and for the lock; the next time goes on from there
PAGE, METRICS, PARAMS = 1000, 800, 80  # runs, metrics and params at once; MLflow takes 1000 of all, 100 params
BULK = 500  # runs in one transaction; the memory for their rows
WAITING = 20  # seconds for a local store that another process writes to; MLflow's own limit
LARGEST = sys.float_info.max  # stands for infinity in a store


# --- MLflow ----------------------------------------------------------------------------------------


def _parts(values: Sequence, size: int) -> Iterator[Sequence]:
    """Values in pieces of at most `size`."""
    return (values[n : n + size] for n in range(0, len(values), size))


def _experiment(client: Any, name: str) -> Any:
    """An experiment; it is made where there is none, and restored where somebody deleted it."""
    found = client.get_experiment_by_name(name)
    if found is None:
        return client.get_experiment(client.create_experiment(name, tags=KIND))
    if found.lifecycle_stage == "deleted":
        client.restore_experiment(found.experiment_id)
    return found


def _there(client: Any, experiment: str) -> dict[str, Any]:
    """The runs of an experiment by key, those made by others left out."""
    found, token = {}, None
    while token != "":
        page = client.search_runs([experiment], max_results=PAGE, page_token=token)
        found |= {run.data.tags[KEY]: run for run in page if KEY in run.data.tags}
        token = page.token or ""
    return found


def _status(run: Run) -> str:
    return "FAILED" if run.failed else "FINISHED"


def _local(uri: str) -> bool:
    """Whether a store is a file here, with tables to write to."""
    return uri.startswith("sqlite:")


def _differs(run: Run, known: Any, parent: str | None) -> bool:
    """Whether MLflow lacks a run or shows it otherwise, successor and parent included."""
    names = {DIGEST: run.digest, PARENT: parent} | {name: run.tags.get(name) for name in MOVING} | _held(run)
    return known is None or any(known.data.tags.get(name) != value for name, value in names.items())


def _held(run: Run) -> dict[str, str]:
    """The tags that say which files a run has."""
    return {name: value for name, value in run.tags.items() if name.startswith(HELD)}


def _keep(run: Run, uri: str, place: str) -> None:
    """Put a run's texts and files where MLflow keeps its artifacts, all at once."""
    from mlflow.store.artifact.artifact_repository_registry import get_artifact_repository

    with TemporaryDirectory() as folder:
        for name, text in run.texts.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        for path in run.files:
            shutil.copy(path, folder)
        get_artifact_repository(place, tracking_uri=uri).log_artifacts(folder)


def _write(client: Any, experiment: str, run: Run, known: Any, parent: str | None) -> str:
    """Make a run say what it should, and give its identity. The digest comes last: a run without it is written again."""
    from mlflow.entities import Metric, Param, RunTag

    if known is None:
        known = client.create_run(experiment, run.started, tags={KEY: run.key}, run_name=run.name)
    identity = known.info.run_id
    if SUPERSEDED in known.data.tags and SUPERSEDED not in run.tags:
        client.delete_tag(identity, SUPERSEDED)
    moving = {name: run.tags[name] for name in MOVING if name in run.tags} | ({PARENT: parent} if parent else {})
    if known.data.tags.get(DIGEST) == run.digest:  # nothing but its successor, its parent or its files have changed
        if any(known.data.tags.get(name) != value for name, value in _held(run).items()):
            _keep(run, client.tracking_uri, known.info.artifact_uri)
            moving |= _held(run)
        client.log_batch(identity, tags=[RunTag(name, value) for name, value in moving.items()])
        return identity
    _keep(run, client.tracking_uri, known.info.artifact_uri)
    _read(client, run, identity)
    client.set_terminated(identity, _status(run), run.ended)
    metrics = [Metric(name, value, run.ended, step) for name, value, step in run.metrics]
    params = [Param(name, value) for name, value in run.params.items()]
    *parts, last = [*zip_longest(_parts(metrics, METRICS), _parts(params, PARAMS), fillvalue=())] or [((), ())]
    for some, others in parts:
        client.log_batch(identity, some, others)
    tags = [RunTag(name, value) for name, value in (run.tags | moving | {DIGEST: run.digest}).items()]
    client.log_batch(identity, *last, tags)
    return identity


def _read(client: Any, run: Run, identity: str) -> None:
    """Say which questions a run's figures are of."""
    from mlflow.entities import Dataset, DatasetInput

    if "digest" in run.data:
        source = json.dumps({"uri": run.data["source"]})
        own = Dataset(run.data["name"], run.data["digest"], "local", source)
        client.log_inputs(identity, [DatasetInput(own)])


def _number(value: float) -> tuple[float, bool]:
    """A figure as a store holds it, and whether it is none."""
    return (0.0, True) if math.isnan(value) else (min(max(float(value), -LARGEST), LARGEST), False)


def _rows(run: Run, home: Any, identity: str, parent: str | None) -> dict[str, list[dict[str, Any]]]:
    """A new run in MLflow's tables as its calls would write it, without the digest."""
    own = {"run_uuid": identity}
    about = {"name": run.name, "status": _status(run), "start_time": run.started, "end_time": run.ended}
    about |= {"experiment_id": int(home.experiment_id), "lifecycle_stage": "active", "user_id": "unknown"}
    about |= {"artifact_uri": f"{home.artifact_location}/{identity}/artifacts", "source_type": "UNKNOWN"}
    about |= dict.fromkeys(("source_name", "source_version", "entry_point_name"), "")
    noted = sorted({(step, *_number(value), name) for name, value, step in run.metrics})
    metrics = [
        own | {"key": name, "value": value, "is_nan": is_nan, "timestamp": run.ended, "step": step}
        for step, value, is_nan, name in noted
    ]
    tags = run.tags | {KEY: run.key, "mlflow.runName": run.name} | ({PARENT: parent} if parent else {})
    return {
        "runs": [own | about],
        "metrics": metrics,
        "latest_metrics": list({row["key"]: row for row in metrics}.values()),
        "params": [own | {"key": name, "value": value} for name, value in run.params.items()],
        "tags": [own | {"key": name, "value": value} for name, value in tags.items()],
    }


def _insert(client: Any, homes: dict[str, Any], runs: Sequence[Run], known: dict[tuple, str]) -> None:
    """Add runs to a local store in two transactions, the digests in the second; MLflow's calls take 8 for each run."""
    from mlflow.store.tracking.dbmodels.models import Base
    from sqlalchemy import create_engine, insert

    uri = client.tracking_uri
    known |= {(run.experiment, run.key): uuid.uuid4().hex for run in runs}
    identities = [known[run.experiment, run.key] for run in runs]
    made = [
        (run, _rows(run, homes[run.experiment], identity, _above(run, known)))
        for run, identity in zip(runs, identities, strict=True)
    ]
    engine, tables = create_engine(uri, connect_args={"timeout": WAITING}), Base.metadata.tables
    with engine.begin() as store:
        for name in made[0][1]:
            if found := [row for _, rows in made for row in rows[name]]:
                store.execute(insert(tables[name]), found)
    for (run, rows), identity in zip(made, identities, strict=True):
        _keep(run, uri, rows["runs"][0]["artifact_uri"])
        _read(client, run, identity)
    digests = [{"run_uuid": rows["runs"][0]["run_uuid"], "key": DIGEST, "value": run.digest} for run, rows in made]
    with engine.begin() as store:
        store.execute(insert(tables["tags"]), digests)
    engine.dispose()


def _above(run: Run, known: dict[tuple, str]) -> str | None:
    """The identity of a run's parent."""
    return known.get((run.experiment, run.parent)) if run.parent else None


def _synced(client: Any, runs: Sequence[Run], rebuild: bool) -> int:
    """Write the runs that MLflow lacks or shows otherwise, parents first; how many."""
    homes = {name: _experiment(client, name) for name in dict.fromkeys(run.experiment for run in runs)}
    there = {name: _there(client, home.experiment_id) for name, home in homes.items()}
    known = {(name, key): run.info.run_id for name, own in there.items() for key, run in own.items()}
    written, new = 0, []
    for run in runs:
        old = there[run.experiment].get(run.key)
        above = run.parent is not None and (run.experiment, run.parent) not in known
        if not rebuild and not above and not _differs(run, old, _above(run, known)):
            continue
        written += 1
        if rebuild and old is not None:
            client.delete_run(old.info.run_id)
            del known[run.experiment, run.key]
            old = None
        if old is None and _local(client.tracking_uri):
            new.append(run)
        else:
            if above:  # its parent is among those that go in bulk
                _insert(client, homes, [one for one in new if one.parent is None], known)
                new = [one for one in new if one.parent is not None]
            known[run.experiment, run.key] = _write(
                client, homes[run.experiment].experiment_id, run, old, _above(run, known)
            )
    for some in _parts(new, BULK):
        _insert(client, homes, some, known)
    for name, home in homes.items():
        _look(client, home, [run for run in runs if run.experiment == name])
    return written


def _look(client: Any, home: Any, runs: Sequence[Run]) -> None:
    """Give an experiment a view that opens on its current runs with columns of figures; MLflow's own shows neither."""
    if not any(STATE in run.tags for run in runs):
        return
    names = {name for run in runs for name, _, _ in run.metrics}
    headlines = [named_for_mlflow(metric.removesuffix("@claim")) for metric in HEADLINES]
    shown = [name for name in headlines if name in names][:SHOWN]
    state = {
        "searchFilter": f"tags.`{STATE}` = 'current'",
        "orderByKey": f"metrics.`{shown[0]}`" if shown else "attributes.start_time",
        "orderByAsc": False,
        "startTime": "ALL",
        "lifecycleFilter": "Active",
        "datasetsFilter": [],
        "modelVersionFilter": "All Runs",
        "selectedColumns": [f"metrics.`{name}`" for name in shown],
        "runsHiddenMode": "SHOW_ALL",
        "hideEmptyCharts": True,
    }
    tag, text = f"mlflow.sharedViewState.{VIEW}", json.dumps(state)
    if home.tags.get(tag) != text:
        client.set_experiment_tag(home.experiment_id, tag, text)


def _knock(uri: str) -> None:
    """OSError or sqlite3.Error where nobody listens at a server's address, or a local file is no store or stays locked: asked
    before MLflow is loaded, which takes seconds, and minutes over a file that it cannot open."""
    if _local(uri):
        path = _file(uri)
        if path.exists():
            with closing(sqlite3.connect(path, timeout=WAITING)) as store:
                store.execute("select count(*) from sqlite_master").fetchone()
        return
    at = urlsplit(uri)
    host = at.hostname or ""
    if at.scheme in PORTS and (at.scheme not in getproxies() or proxy_bypass(host)):
        socket.create_connection((host, at.port or PORTS[at.scheme]), CONNECTING).close()


def _file(uri: str) -> Path:
    """The file of a local store."""
    return Path(uri.removeprefix("sqlite:///"))


def _untold(uri: str, error: Exception) -> SecateurError:
    """What to say where MLflow cannot be told: why, in one line, and what to do."""
    reason = redacted(str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__)
    fix = "start the server or unset MLFLOW_TRACKING_URI; the next run catches up, and so does `secateur track`"
    if _local(uri):
        fix = (
            f"wait where another process writes to it; else delete {_file(uri)} and make it anew with "
            "`secateur track --rebuild`"
        )
    return SecateurError(
        f"MLflow at {redacted(uri)}: {reason}. Nothing is lost, results/{FOLDER} has every run. Fix: {fix}."
    )


@contextmanager
def _asked(uri: str) -> Iterator[Any]:
    """A client of MLflow at an address. Raises SecateurError where it does not answer or refuses, now or while it is asked."""
    for name, value in LIMITS.items():
        os.environ.setdefault(name, value)
    try:
        _knock(uri)
    except (OSError, ValueError, sqlite3.Error) as error:  # ValueError: no address at all
        raise _untold(uri, error) from error

    from mlflow.exceptions import MlflowException
    from mlflow.tracking import MlflowClient
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield MlflowClient(uri)
    except (MlflowException, SQLAlchemyError, OSError) as error:  # requests' errors and TimeoutError are OSErrors
        raise _untold(uri, error) from error


def sync(runs: list[Run], uri: str, rebuild: bool = False, seconds: float = SECONDS) -> int:
    """Write the runs that MLflow at `uri` lacks or shows otherwise, with `rebuild` all of them anew; how many.

    Raises SecateurError where MLflow does not answer or refuses, or a server takes longer than `seconds`.
    """
    logging.getLogger("alembic").setLevel(logging.ERROR)  # the tables of a new SQLite store, one line each
    with _asked(uri) as client:
        return _synced(Timed(client, seconds) if uri.startswith("http") else client, runs, rebuild)


def track(results: Path, rebuild: bool = False, seconds: float = SECONDS) -> tuple[int, int, str]:
    """Bring the ledger up to date and MLflow with it: runs written, runs in all, and where.

    Raises SecateurError as `sync` does, and where another process holds the lock for too long.
    """
    uri = os.environ.get("MLFLOW_TRACKING_URI") or LOCAL
    lock = results / FOLDER / ".lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(lock, timeout=seconds):
            _draw(results)
            runs = runs_of(*collect(results))
            return (sync(runs, uri, rebuild, seconds) if runs else 0), len(runs), redacted(uri)
    except Timeout as error:
        raise SecateurError(
            f"{lock}: another process has been writing for {seconds:.0f} s. Fix: secateur track, when it has ended"
        ) from error


def _draw(results: Path) -> None:
    """Draw the figures of experiments whose tables are newer, for their parents."""
    for table in sorted((results / "experiments").glob("*/metrics.parquet")):
        home, pairs = table.parent, table.with_name("comparisons.parquet")
        drawn = min((path.stat().st_mtime for path in home.glob("figures/*.svg")), default=0.0)
        if not pairs.is_file() or drawn >= max(table.stat().st_mtime, pairs.stat().st_mtime):
            continue
        tables = [read_table(TABLES[path.stem], path) for path in (table, pairs)]
        try:
            for _ in drawings(results.parent, home.name, *tables, home / "figures", "svg"):
                pass
        except SecateurError:  # there is nothing to draw: policies, answers alone
            with suppress(OSError):
                (home / "figures").rmdir()


def links(uri: str, address: str) -> dict[str, str]:
    """Where a server at `address` shows each experiment of ours: its current runs, with columns of figures.

    Raises SecateurError as `sync` does.
    """
    with _asked(uri) as client:
        found = client.search_experiments()
    own = [one for one in found if f"mlflow.sharedViewState.{VIEW}" in one.tags]
    return {
        one.name: f"{address}/#/experiments/{one.experiment_id}/runs?viewStateShareKey={VIEW}"
        for one in sorted(own, key=lambda one: (one.name.endswith(".policies"), -one.last_update_time))
    }
