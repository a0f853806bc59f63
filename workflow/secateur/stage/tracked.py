"""The ledger's rows as MLflow should show them: experiment NAME has a run per variant and fingerprint, NAME.jobs a run per
stage record. Figures are rounded to three significant digits, as pages show a number whole; figures.csv has them all.
"""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

import polars as pl

from secateur.core.cache import digest
from secateur.evaluation.figure import summaries
from secateur.stage.ledger import ROW, started

__all__ = ["CURRENT", "JOBS", "STATE", "SUPERSEDED", "Run", "mlflow_name", "runs_of", "view"]

STATE, SUPERSEDED = "secateur.state", "superseded_by"  # tags of a variant that change with its next run
CURRENT = f"tags.`{STATE}` = 'current'"  # as a search in MLflow
JOBS = ".jobs"
SHOWN = ("dataset", "data", "order")  # params that the view has as columns, before figures
WIDTH = 4  # columns of figures
CUT = 20  # characters of a run's name that MLflow's pages show
PARAM_LENGTH, TAG_LENGTH = 6000, 5000  # characters


@dataclass(frozen=True)
class Run:
    """A run as MLflow should show it.

    started, ended: milliseconds since 1970; metrics: (name, value, step); texts: name -> content of an artifact; standing:
    tags that change later.
    """

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
    standing: dict[str, str] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Digest of all fields but `standing`, which changes later, and `files`, which only the latest job still has."""
        return digest(vars(replace(self, files=(), standing={})))


def _milliseconds(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def mlflow_name(text: str) -> str:
    """A name that MLflow accepts.

    >>> mlflow_name("evidence_recall@256"), mlflow_name("tfidf+answer")
    ('evidence_recall_at_256', 'tfidf_with_answer')
    """
    return re.sub(r"[^\w.\- :/]", "_", text.replace("@", "_at_").replace("+", "_with_"))


def _params(values: dict[str, Any]) -> dict[str, str]:
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in values.items()}
    return {mlflow_name(name): text[:PARAM_LENGTH] for name, text in texts.items()}


def _rounded(value: float) -> float:
    """Three significant digits; whole numbers are counts and stay.

    >>> _rounded(0.79166), _rounded(1234.5), _rounded(51)
    (0.792, 1230.0, 51)
    """
    return value if isinstance(value, int) else float(f"{value:.3g}")


def _names(rows: Sequence[dict[str, Any]]) -> list[str]:
    """A name for each variant run of an experiment: system and data set.

    Names that agree in the characters that pages show begin with a number.
    """
    aware = {"aware": "aware · "}
    names = [aware.get(row["order"], "") + f"{row['system']} · {row['dataset']}" for row in rows]
    alike: dict[str, set[str]] = {}
    for name in names:
        alike.setdefault(name[:CUT], set()).add(name)
    several = [name for name in dict.fromkeys(names) if len(alike[name[:CUT]]) > 1]
    numbers = {name: f"{n} · " for n, name in enumerate(several, 1)}
    return [numbers.get(name, "") + name for name in names]


def _variant_run(row: dict[str, Any], name: str) -> Run:
    labels = {name: row[name] for name in ROW[1:] if row[name] is not None}
    state = "current" if row["newest"] and not row[SUPERSEDED] else "superseded"
    return Run(
        experiment=row["experiment"],
        key=" ".join([*labels.values(), row["fingerprint"]]),
        name=name,
        started=_milliseconds(row["started"]),
        ended=_milliseconds(row["finished"]),
        params=_params(json.loads(row["params"])),
        metrics=[(mlflow_name(name), _rounded(value), step) for name, value, step in json.loads(row["metrics"])],
        tags={"fingerprint": row["fingerprint"], **labels},
        texts={"config.json": row["config"], "figures.csv": row["figures"]},
        standing={STATE: state} | ({SUPERSEDED: row[SUPERSEDED]} if row[SUPERSEDED] else {}),
    )


def _job_run(row: dict[str, Any], latest: set[str]) -> Run:
    record = json.loads(row["record"])
    settings = {path: value for path, value in record["config"].items() if not path.startswith("extra.")}
    options = {f"conf.{axis}": option for axis, option in record["axes"].items()}
    numbers = {name: record[name] for name in ("wall_seconds", "cpu_seconds", "peak_bytes")}
    numbers |= record["counts"] | record["metrics"] | {f"rows/{name}": n for name, n in record["rows"].items()}
    tags = {name: record[name] for name in ("stage", "code", "commit", "device", "slurm_job") if record[name]}
    home = f"results/experiments/{row['experiment']}/"  # its tables and page are small
    outputs = [Path(path) for path in record["outputs"].values() if path.startswith(home)]
    return Run(
        experiment=row["experiment"] + JOBS,
        key=row["job"],
        name=" ".join([row["stage"], *record["axes"].values()]),
        started=_milliseconds(started(record)),
        ended=_milliseconds(row["finished"]),
        failed=row["failed"],
        params=_params({"stage": row["stage"]} | options | settings),
        metrics=[(mlflow_name(name), _rounded(n), 0) for name, n in numbers.items() if isinstance(n, int | float)],
        tags=tags | ({"failure": record["failure"][:TAG_LENGTH]} if row["failed"] else {}),
        texts={"record.json": json.dumps(record, indent=1)},
        files=tuple(path for path in outputs if row["job"] in latest and path.is_file()),
    )


def runs_of(variants: pl.DataFrame, jobs: pl.DataFrame) -> list[Run]:
    """The runs that MLflow should show, by experiment. A variant is superseded by its next fingerprint."""
    successor = pl.col("fingerprint").sort_by("place").shift(-1).over(ROW, mapping_strategy="explode")
    newest = pl.col("whole").sort_by("finished").last().over("experiment") == pl.col("whole")
    rows = variants.sort(*ROW, "place").with_columns(successor.alias(SUPERSEDED), newest=newest)
    last = jobs.sort("finished").group_by("experiment", "stage", maintain_order=True).last()
    latest = set(last.filter(~pl.col("failed"))["job"])
    job_rows = jobs.sort("experiment", "finished", "job").to_dicts()
    runs: list[Run] = []
    for _, group in groupby(rows.to_dicts(), key=lambda row: row["experiment"]):
        named = list(group)
        runs += map(_variant_run, named, _names(named))
    return [*runs, *(_job_run(row, latest) for row in job_rows)]


def _covering(names: Sequence[str], runs: Sequence[Run]) -> list[str]:
    """The first metrics, and those that fill rows which lack all of them, as those of dialogues beside documents."""
    kept = list(names[:WIDTH])
    for run in runs:
        measured = {name for name, _, _ in run.metrics}
        kept += [name for name in names if name in measured][:1] if measured.isdisjoint(kept) else []
    return kept


def view(runs: Sequence[Run]) -> str:
    """The view of an experiment's runs as MLflow's pages read it: filter, order and columns, none of them empty."""
    counts = Counter(name for run in runs for name in {metric for metric, _, _ in run.metrics})
    names = [name.replace("/", "@") for name in counts if not name.endswith("/by_budget")]
    heads = [name.replace("@", "/") for name in summaries(names)]
    figures = _covering(sorted(heads, key=lambda name: -counts[name]), runs) or ["wall_seconds"]  # jobs have no figures
    params = [name for name in SHOWN if any(name in run.params for run in runs)] or ["stage"]
    columns = [*(f"params.`{name}`" for name in params), *(f"metrics.`{name}`" for name in [*figures, "cpu_seconds"])]
    current = CURRENT if any(STATE in run.standing for run in runs) else ""
    order = {"orderByKey": f"metrics.`{figures[0]}`", "orderByAsc": False}
    return json.dumps({"searchFilter": current, **order, "startTime": "ALL", "selectedColumns": columns})
