"""The ledger, shown in MLflow: two experiments for each of ours, NAME with comparable runs and NAME.jobs.

A run is found by its key and compared by the digest of what it should say, which is written last: telling
MLflow again changes nothing, and what was cut off is completed. What is new in a local store goes there in bulk.
Stages never come here; one process does, under a lock, when their jobs have ended.
"""

import json
import logging
import math
import os
import re
import shutil
import socket
import sys
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import polars as pl
from filelock import FileLock, Timeout

from secateur.pipeline.cache import digest
from secateur.pipeline.errors import SecateurError
from secateur.pipeline.ledger import FOLDER, ROW, collect, redacted, started

__all__ = ["LOCAL", "Run", "runs_of", "sync", "track"]

LOCAL = "sqlite:///mlflow.db"
KEY, DIGEST, SUPERSEDED = "secateur.key", "secateur.digest", "superseded_by"
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
LONGEST = 6000  # characters of a param
TAG = 5000  # characters of a tag; a failure's message may be a page
BULK = 500  # runs in one transaction; the memory for their rows
WAITING = 20  # seconds for a local store that another process writes to; MLflow's own limit
LARGEST = sys.float_info.max  # stands for infinity in a store


@dataclass(frozen=True)
class Run:
    """What MLflow should show of one run; times in milliseconds since 1970."""

    experiment: str
    key: str
    name: str
    started: int
    ended: int
    failed: bool = False
    params: dict[str, str] = field(default_factory=dict)
    metrics: list[tuple[str, float, int]] = field(default_factory=list)
    tags: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    files: tuple[Path, ...] = ()

    @property
    def digest(self) -> str:
        """Of all but the files, which are there for the latest job only, and the successor, which is a tag anyway."""
        tags = {name: value for name, value in self.tags.items() if name != SUPERSEDED}
        return digest({name: value for name, value in vars(self).items() if name != "files"} | {"tags": tags})


# --- the ledger's rows as runs ---------------------------------------------------------------------


def _time(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def _name(text: str) -> str:
    """A name MLflow takes: `evidence_recall@256` as evidence_recall_at_256, `tfidf+answer` as tfidf_with_answer."""
    return re.sub(r"[^\w.\- :/]", "_", text.replace("@", "_at_").replace("+", "_with_"))


def _plain(values: dict[str, Any]) -> dict[str, str]:
    """Parameters as MLflow takes them."""
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in values.items()}
    return {_name(name): text[:LONGEST] for name, text in texts.items()}


def _variant(row: dict[str, Any]) -> Run:
    label = " ".join(row[part] for part in reversed(ROW[1:]) if row[part] is not None)  # what differs first
    tags = {"fingerprint": row["fingerprint"]} | {part: row[part] for part in ROW[1:] if row[part] is not None}
    return Run(
        experiment=row["experiment"],
        key=f"{label} {row['fingerprint']}",
        name=label,
        started=_time(row["started"]),
        ended=_time(row["finished"]),
        params=_plain(json.loads(row["params"])),
        metrics=[(_name(name), value, step) for name, value, step in json.loads(row["metrics"])],
        tags=tags | ({SUPERSEDED: row[SUPERSEDED]} if row[SUPERSEDED] else {}),
        texts={"config.json": row["config"], "figures.csv": row["figures"]},
    )


def _job(row: dict[str, Any], current: set[str]) -> Run:
    record = json.loads(row["record"])
    settings = {path: value for path, value in record["config"].items() if not path.startswith("extra.")}
    costs = {name: record[name] for name in ("wall_seconds", "cpu_seconds", "peak_bytes")}
    noted = record["counts"] | record["metrics"] | {f"rows/{name}": n for name, n in record["rows"].items()}
    numbers = costs | {name: value for name, value in noted.items() if isinstance(value, int | float)}
    told = {name: record[name] for name in ("stage", "code", "commit", "device", "slurm_job") if record[name]}
    failure = {"failure": record["failure"][:TAG]} if row["failed"] else {}
    # The experiment's tables and page are small; they are those of the job only until it runs again.
    home = f"results/experiments/{row['experiment']}/"
    made = [Path(path) for path in record["outputs"].values() if path.startswith(home)]
    return Run(
        experiment=f"{row['experiment']}.jobs",
        key=row["job"],
        name=" ".join([row["stage"], *record["axes"].values()]),
        started=_time(started(record)),
        ended=_time(row["finished"]),
        failed=row["failed"],
        params=_plain({"stage": row["stage"]} | {f"conf.{a}": name for a, name in record["axes"].items()} | settings),
        metrics=[(_name(name), value, 0) for name, value in numbers.items()],
        tags=told | failure,
        texts={"record.json": json.dumps(record, indent=1)},
        files=tuple(path for path in made if row["job"] in current and path.is_file()),
    )


def runs_of(variants: pl.DataFrame, jobs: pl.DataFrame) -> list[Run]:
    """The runs that MLflow should show: of each row of figures, all but the last one say what superseded them."""
    later = pl.col("fingerprint").sort_by("place").shift(-1).over(ROW, mapping_strategy="explode")
    ordered = variants.sort(*ROW, "place").with_columns(later.alias(SUPERSEDED))
    latest = jobs.sort("finished").group_by("experiment", "stage", maintain_order=True).last()
    current = set(latest.filter(~pl.col("failed"))["job"])
    return [_variant(row) for row in ordered.to_dicts()] + [_job(row, current) for row in jobs.to_dicts()]


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


def _differs(run: Run, known: Any) -> bool:
    """Whether MLflow lacks a run or shows it otherwise, successor included."""
    names = {DIGEST: run.digest, SUPERSEDED: run.tags.get(SUPERSEDED)}
    return known is None or any(known.data.tags.get(name) != value for name, value in names.items())


def _keep(run: Run, uri: str, place: str) -> None:
    """Put a run's texts and files where MLflow keeps its artifacts, all at once."""
    from mlflow.store.artifact.artifact_repository_registry import get_artifact_repository

    with TemporaryDirectory() as folder:
        for name, text in run.texts.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        for path in run.files:
            shutil.copy(path, folder)
        get_artifact_repository(place, tracking_uri=uri).log_artifacts(folder)


def _write(client: Any, experiment: str, run: Run, known: Any) -> None:
    """Make a run say what it should. The digest comes last: a run without it is written again."""
    from mlflow.entities import Metric, Param, RunTag

    if known is None:
        known = client.create_run(experiment, run.started, tags={KEY: run.key}, run_name=run.name)
    identity = known.info.run_id
    if SUPERSEDED in known.data.tags and SUPERSEDED not in run.tags:
        client.delete_tag(identity, SUPERSEDED)
    if known.data.tags.get(DIGEST) == run.digest:  # nothing but its successor has changed
        if SUPERSEDED in run.tags:
            client.set_tag(identity, SUPERSEDED, run.tags[SUPERSEDED])
        return
    _keep(run, client.tracking_uri, known.info.artifact_uri)
    client.set_terminated(identity, _status(run), run.ended)
    metrics = [Metric(name, value, run.ended, step) for name, value, step in run.metrics]
    params = [Param(name, value) for name, value in run.params.items()]
    *parts, last = zip_longest(_parts(metrics, METRICS), _parts(params, PARAMS), fillvalue=())
    for some, others in parts:
        client.log_batch(identity, some, others)
    tags = [RunTag(name, value) for name, value in (run.tags | {DIGEST: run.digest}).items()]
    client.log_batch(identity, *last, tags)


def _number(value: float) -> tuple[float, bool]:
    """A figure as a store holds it, and whether it is none."""
    return (0.0, True) if math.isnan(value) else (min(max(float(value), -LARGEST), LARGEST), False)


def _rows(run: Run, home: Any, identity: str) -> dict[str, list[dict[str, Any]]]:
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
    tags = run.tags | {KEY: run.key, "mlflow.runName": run.name}
    return {
        "runs": [own | about],
        "metrics": metrics,
        "latest_metrics": list({row["key"]: row for row in metrics}.values()),
        "params": [own | {"key": name, "value": value} for name, value in run.params.items()],
        "tags": [own | {"key": name, "value": value} for name, value in tags.items()],
    }


def _insert(uri: str, homes: dict[str, Any], runs: Sequence[Run]) -> None:
    """Add runs to a local store in two transactions, the digests in the second; MLflow's calls take 8 for each run."""
    from mlflow.store.tracking.dbmodels.models import Base
    from sqlalchemy import create_engine, insert

    made = [(run, _rows(run, homes[run.experiment], uuid.uuid4().hex)) for run in runs]
    engine, tables = create_engine(uri, connect_args={"timeout": WAITING}), Base.metadata.tables
    with engine.begin() as store:
        for name in made[0][1]:
            if found := [row for _, rows in made for row in rows[name]]:
                store.execute(insert(tables[name]), found)
    for run, rows in made:
        _keep(run, uri, rows["runs"][0]["artifact_uri"])
    digests = [{"run_uuid": rows["runs"][0]["run_uuid"], "key": DIGEST, "value": run.digest} for run, rows in made]
    with engine.begin() as store:
        store.execute(insert(tables["tags"]), digests)
    engine.dispose()


def _synced(client: Any, runs: Iterable[Run], rebuild: bool, seconds: float) -> int:
    """Write the runs that MLflow lacks or shows otherwise, for so many seconds; how many."""
    until = time.monotonic() + seconds
    homes = {name: _experiment(client, name) for name in dict.fromkeys(run.experiment for run in runs)}
    there = {name: _there(client, home.experiment_id) for name, home in homes.items()}
    known = [(run, there[run.experiment].get(run.key)) for run in runs]
    due = [(run, old) for run, old in known if rebuild or _differs(run, old)]
    new = []
    for written, (run, old) in enumerate(due):
        if time.monotonic() > until:
            raise TimeoutError(f"{written} runs took {seconds:.0f} s")
        if rebuild and old is not None:
            client.delete_run(old.info.run_id)
            old = None
        if old is None and _local(client.tracking_uri):
            new.append(run)
        else:
            _write(client, homes[run.experiment].experiment_id, run, old)
    for some in _parts(new, BULK):
        _insert(client.tracking_uri, homes, some)
    return len(due)


def _knock(uri: str) -> None:
    """OSError where nobody listens at a server's address: asked before MLflow is loaded, which takes seconds."""
    at = urlsplit(uri)
    host = at.hostname or ""
    if at.scheme in PORTS and (at.scheme not in getproxies() or proxy_bypass(host)):
        socket.create_connection((host, at.port or PORTS[at.scheme]), CONNECTING).close()


def _untold(uri: str, error: Exception) -> SecateurError:
    """What to say where MLflow cannot be told: why, in one line, and what to do."""
    reason = redacted(str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__)
    return SecateurError(
        f"MLflow at {redacted(uri)}: {reason}. Nothing is lost, results/{FOLDER} has every run. "
        "Fix: start the server or unset MLFLOW_TRACKING_URI; the next run catches up, and so does `secateur track`."
    )


def sync(runs: list[Run], uri: str, rebuild: bool = False, seconds: float = SECONDS) -> int:
    """Write the runs that MLflow at `uri` lacks or shows otherwise, with `rebuild` all of them anew; how many.

    Raises SecateurError where MLflow does not answer or refuses, or a server takes longer than `seconds`.
    """
    for name, value in LIMITS.items():
        os.environ.setdefault(name, value)
    logging.getLogger("alembic").setLevel(logging.ERROR)  # the tables of a new SQLite store, one line each
    try:
        _knock(uri)
    except (OSError, ValueError) as error:  # ValueError: no address at all
        raise _untold(uri, error) from error

    from mlflow.exceptions import MlflowException
    from mlflow.tracking import MlflowClient
    from sqlalchemy.exc import SQLAlchemyError

    try:
        return _synced(MlflowClient(uri), runs, rebuild, seconds if uri.startswith("http") else math.inf)
    except (MlflowException, SQLAlchemyError, OSError) as error:  # requests' errors and TimeoutError are OSErrors
        raise _untold(uri, error) from error


def track(results: Path, rebuild: bool = False, seconds: float = SECONDS) -> tuple[int, int, str]:
    """Bring the ledger up to date and MLflow with it: runs written, runs in all, and where.

    Raises SecateurError as `sync` does, and where another process holds the lock for too long.
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
            f"{lock}: another process has been writing for {seconds:.0f} s. Fix: secateur track, when it has ended"
        ) from error
