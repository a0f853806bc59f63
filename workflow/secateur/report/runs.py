"""The ledger's rows as the runs that MLflow should show."""

import json
import re
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from secateur.core.artifacts import file_digest
from secateur.core.cache import digest
from secateur.stage.ledger import ROW, started

__all__ = ["HELD", "MOVING", "STATE", "SUPERSEDED", "Run", "named_for_mlflow", "runs_of"]

SUPERSEDED = "superseded_by"
STATE = "secateur.state"  # of a system's run: current or superseded; what the view of an experiment asks for
MOVING = (SUPERSEDED, STATE)  # tags that change when another run is made
HELD = "file."  # tags: the digests of files, of the run that has them
STUDIED = ("policy_", "memory_")  # metrics of studies, which have an experiment of their own
LONGEST = 6000  # characters of a param
TAG = 5000  # characters of a tag; a failure's message may be a page


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
    parent: str | None = None
    data: dict[str, str] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Of all but the files, which are there for the latest job only, and what is a tag anyway: successor and parent."""
        tags = {n: value for n, value in self.tags.items() if n not in MOVING and not n.startswith(HELD)}
        own = {name: value for name, value in vars(self).items() if name not in ("files", "parent")}
        return digest(own | {"tags": tags})


# --- the ledger's rows as runs ---------------------------------------------------------------------


def _time(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def named_for_mlflow(text: str) -> str:
    """A name MLflow takes: `evidence_recall@256` as evidence_recall_at_256, `tfidf+answer` as tfidf_with_answer."""
    return re.sub(r"[^\w.\- :/]", "_", text.replace("@", "_at_").replace("+", "_with_"))


def _plain(values: dict[str, Any]) -> dict[str, str]:
    """Parameters as MLflow takes them."""
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in values.items()}
    return {named_for_mlflow(name): text[:LONGEST] for name, text in texts.items()}


def _variant(row: dict[str, Any]) -> Run:
    metrics = json.loads(row["metrics"])
    studied = any(name.startswith(STUDIED) for name, _, _ in metrics)
    aware = " · aware" if row["order"] == "aware" else ""
    state = {STATE: "current" if row["newest"] and not row[SUPERSEDED] else "superseded"}
    tags = {"fingerprint": row["fingerprint"]} | {part: row[part] for part in ROW[1:] if row[part] is not None} | state
    experiment = f"{row['experiment']}.policies" if studied else row["experiment"]
    return Run(
        experiment=experiment,
        key=" ".join(filter(None, [*(row[part] for part in ROW[1:]), row["fingerprint"]])),
        name=f"{row['system']} · {row['dataset']}{aware}",
        started=_time(row["started"]),
        ended=_time(row["finished"]),
        params=_plain(json.loads(row["params"])),
        metrics=[(named_for_mlflow(name), value, step) for name, value, step in metrics],
        tags=tags | ({SUPERSEDED: row[SUPERSEDED]} if row[SUPERSEDED] else {}),
        texts={"config.json": row["config"], "figures.csv": row["figures"]},
        parent=None if studied else row["whole"],
        data=json.loads(row["data"]),
    )


def _parent(rows: list[dict[str, Any]], current: bool) -> Run:
    """An experiment as it once stood; its page, tables and figures are those of the latest."""
    name, whole = rows[0]["experiment"], rows[0]["whole"]
    home = Path("results/experiments") / name
    files = [
        home / "report.html",
        home / "metrics.parquet",
        home / "comparisons.parquet",
        *sorted(home.glob("figures/*")),
    ]
    there = tuple(path for path in files if current and path.is_file())
    return Run(
        experiment=name,
        key=whole,
        name=f"{name} · {whole[:8]}",
        started=min(_time(row["started"]) for row in rows),
        ended=max(_time(row["finished"]) for row in rows),
        tags={"fingerprint": whole, "systems": str(len(rows))}
        | {named_for_mlflow(HELD + path.stem): file_digest(path) for path in there},
        files=there,
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
        metrics=[(named_for_mlflow(name), value, 0) for name, value in numbers.items()],
        tags=told | failure,
        texts={"record.json": json.dumps(record, indent=1)},
        files=tuple(path for path in made if row["job"] in current and path.is_file()),
    )


def runs_of(variants: pl.DataFrame, jobs: pl.DataFrame) -> list[Run]:
    """The runs that MLflow should show, parents first: of a system on a data set all but the last one say what superseded
    them."""
    later = pl.col("fingerprint").sort_by("place").shift(-1).over(ROW, mapping_strategy="explode")
    newest = pl.col("whole").sort_by("finished").last().over("experiment") == pl.col("whole")
    ordered = variants.sort(*ROW, "place").with_columns(later.alias(SUPERSEDED), newest=newest)
    latest = jobs.sort("finished").group_by("experiment", "stage", maintain_order=True).last()
    done = set(latest.filter(~pl.col("failed"))["job"])
    parents = []
    for _, own in variants.group_by("experiment", maintain_order=True):
        newest = own.sort("finished")["whole"][-1]
        wholes = own.partition_by("whole", maintain_order=True)
        parents += [_parent(rows.to_dicts(), rows["whole"][0] == newest) for rows in wholes]
    return [*parents, *map(_variant, ordered.to_dicts()), *(_job(row, done) for row in jobs.to_dicts())]
