"""The ledger (results/ledger): the runs of every variant with their provenance, and every stage record.

A stage record is overwritten when its stage runs again. The ledger keeps the earlier ones, so MLflow can be rebuilt from
it. Nothing here knows MLflow; `tracking` does.
"""

import json
import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq

from secateur.config import compose
from secateur.config.groups import GROUPS
from secateur.config.leaves import leaves
from secateur.core import layout
from secateur.core.artifacts import atomic, read_json
from secateur.core.cache import digest
from secateur.core.redaction import without_secrets
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import DAMAGED, META, Table, TableError, read_table, write_table
from secateur.evaluation.figure import headlines, summaries
from secateur.evaluation.subsets import MAIN
from secateur.stage.lineage import Record, cost, upstream

__all__ = [
    "FOLDER",
    "ROW",
    "collect",
    "experiments",
    "forgotten",
    "record_at",
    "records",
    "run_overrides",
    "started",
    "variant_runs",
]

FOLDER = "ledger"  # under results
ROW = ["experiment", "dataset", "system", "order"]  # identifies a variant; its runs differ in their fingerprints
IDENTITY = ("stage", "axes", "config", "code", "inputs")  # fields of a record that its output bytes depend on
POLICY = "policy"  # scorer of the figures of a policy
DEFAULTS = "system/_default.yaml"  # the options of a system that states none


def records(results: Path) -> list[Record]:
    """Every stage record under a folder of results, failures included, copies left out."""
    paths = sorted([*results.rglob("run.json"), *results.rglob("failure.json")])
    return [record for record in map(record_at, paths) if record]


def record_at(path: Path) -> Record | None:
    """A stage's record; None for a copy, whose outputs are in another folder."""
    record = read_json(path)
    homes = {Path(output).parent.parts for output in record["outputs"].values()}
    places = (path.parent.parts, path.parent.parent.parts)  # a page's record has a folder of its own
    return record if not homes or any(place[-len(home) :] == home for place in places for home in homes) else None


def run_overrides(root: Path, name: str) -> tuple[str, ...]:
    """The overrides of an experiment's last run in a project's folder; none without a run."""
    record = root / "results" / "experiments" / name / "run.json"
    return tuple(read_json(record).get("overrides", ())) if record.exists() else ()


def started(record: Record) -> str:
    """Start of a stage, ISO 8601."""
    end = datetime.fromisoformat(record["finished"])
    return (end - timedelta(seconds=record["wall_seconds"])).isoformat(timespec="milliseconds")


# --- a row of figures ------------------------------------------------------------------------------


def _comparison(record: Record, dataset: str) -> list:
    """What compare_variants adds to a run's identity: its settings, its code, and the entry of the data set."""
    settings = {path: value for path, value in record["config"].items() if not path.startswith("extra.")}
    specs = [spec for spec in record["config"]["extra.datasets"] if spec["name"] == dataset]
    return [settings, specs, record["code"]]


def _axes(behind: list[Record]) -> dict[str, str]:
    """The options of all stages by axis; the nearest stage's where two differ."""
    axes: dict[str, str] = {}
    for record in behind:
        axes = _options(record) | axes
    return axes


def _options(record: Record) -> dict[str, str]:
    """The options of a stage by axis, including those inside its paths."""
    return {axis: name for axis, name in layout.options_of(record["axes"]).items() if axis in GROUPS}


def _overridden(behind: list[Record], conf: Path) -> dict[str, Any]:
    """The settings that differ from the option files."""
    axes, overridden = _axes(behind), {}
    for record in behind:
        options = _options(record)
        for path, value in record["config"].items():
            group = path.partition(".")[0]
            name = options.get(group, None if group in axes else "default")  # None: the rule fixes an option of its own
            if group in GROUPS and name and compose.exists(conf, group, name):
                written = leaves(group, compose.option(conf, group, name)).get(path)
                if written is not None and json.loads(written) != value:
                    overridden[path] = value
    return overridden


def _shown(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows of the policy, else of the best scorer; one that does not see the answer is preferred."""
    if (rows["scorer"] == POLICY).any():  # its baselines are scorers beside it
        return rows.filter(scorer=POLICY)
    main = _of_main(rows)
    shown = summaries(main["metric"])
    main = main.filter(pl.col("metric").is_in(shown))
    if main.is_empty() or main["scorer"].null_count() == main.height:
        return rows
    best = main.filter(pl.col("metric") == shown[0]).sort(
        "answer_aware", "n", "value", "scorer", descending=[False, True, True, False]
    )
    same = pl.col("scorer").eq_missing(best["scorer"][0]) & (pl.col("answer_aware") == best["answer_aware"][0])
    return rows.filter(same)


def _of_main(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows of the subset that pages are about."""
    main = next((subset for subset in MAIN if (rows["subset"] == subset).any()), "all")
    return rows.filter(subset=main)


def _figures(rows: pl.DataFrame) -> list[tuple[str, float, int]]:
    """(name, value, step): headline metrics with their intervals, and metrics at budgets as curves.

    What stands before a slash is a section of MLflow's charts: a curve has one of its own, headed by the whole name.
    """
    figures = []
    whole = _of_main(rows)
    shown, curves = {*summaries(whole["metric"])}, {*headlines(whole["metric"]), "tokens"}
    for metric, *values in whole.select("metric", "value", "low", "high").iter_rows():
        if metric in shown:
            name = metric.removesuffix("@claim").replace("@", "/")
            names = (name, f"interval/{name}_low", f"interval/{name}_high")
            figures += [(name, value, 0) for name, value in zip(names, values, strict=True) if value is not None]
        if (at := re.fullmatch(r"(\w+)@(\d+)", metric)) and at[1] in curves:
            figures.append((f"{at[1]}/by_budget", values[0], int(at[2])))
    return figures


def _changed(behind: list[Record], conf: Path) -> dict[str, str]:
    """The options that differ from those of a system that states none."""
    import yaml

    usual = yaml.safe_load((conf / DEFAULTS).read_text(encoding="utf-8"))
    axes = {axis: name for axis, name in _axes(behind).items() if axis not in ("dataset", "corpus", "order")}
    reader = {"lm": usual["reader"]}
    return {f"conf.{axis}": name for axis, name in axes.items() if name != usual.get(axis, reader.get(axis, "default"))}


def _data(key: Mapping[str, str | None], behind: list[Record]) -> dict[str, str]:
    """The questions behind the figures: name, digest, path."""
    end = f"/{key['dataset']}/questions/questions.parquet"
    digests = {path: of for record in behind for path, of in record["inputs"].items() if path.endswith(end)}
    return {"name": key["dataset"]} | ({"digest": digest(digests), "source": min(digests)} if digests else {})


def _run(key: Mapping[str, str | None], rows: pl.DataFrame, behind: list[Record], last: Record, conf: Path) -> dict:
    """One row of the table variant_runs. last: the record of compare_variants."""
    shown = _shown(rows)
    params = {name: value for name, value in key.items() if name != "experiment" and value is not None}
    (spec,) = (spec for spec in last["config"]["extra.datasets"] if spec["name"] == key["dataset"])
    params["data"] = spec["kind"]
    params |= {"scorer": shown["scorer"][0]} if shown["scorer"][0] is not None else {}
    settings: dict[str, dict] = {}
    for record in behind:
        settings.setdefault(record["stage"], {name: record[name] for name in ("config", "code", "inputs")})
    costs = [(name, value, 0) for name, value in cost(behind).items()]
    identity = sorted(digest([record[name] for name in IDENTITY]) for record in behind)
    return {
        **key,
        "fingerprint": digest([identity, _comparison(last, key["dataset"])]),
        "whole": "",
        "place": 0,
        "started": min(map(started, behind)),
        "finished": max(record["finished"] for record in [*behind, last]),
        "params": json.dumps(without_secrets(params | _changed(behind, conf) | _overridden(behind, conf))),
        "config": json.dumps(without_secrets(settings), indent=1),
        "metrics": json.dumps(_figures(shown) + costs),
        "figures": rows.write_csv(),
        "data": json.dumps(_data(key, behind)),
    }


def variant_runs(
    name: str, variants: list[dict], metrics: pl.DataFrame, found: list[Record], conf: Path
) -> pl.DataFrame:
    """The runs of an experiment: one for each system, data set and order.

    variants: rows {dataset, system, order, files}; an order of None stands for all orders in its figures.
    """
    (last,) = upstream(found, [f"results/experiments/{name}/metrics.parquet"])[:1]
    runs = []
    for variant in variants:
        rows = metrics.filter(
            ~pl.col("published"), pl.col("dataset") == variant["dataset"], pl.col("system") == variant["system"]
        )
        if variant["order"]:
            rows = rows.filter(pl.col("order") == variant["order"])
        behind = upstream(found, variant["files"])
        if rows.height:
            key = {"experiment": name} | {column: variant[column] for column in ROW[1:]}
            runs.append(_run(key, rows, behind, last, conf))
    whole = digest(sorted(run["fingerprint"] for run in runs))
    return TABLES["variant_runs"].frame([run | {"whole": whole} for run in runs])


# --- the ledger ------------------------------------------------------------------------------------


def job_runs(name: str, stage_records: list[Record]) -> pl.DataFrame:
    """The stage records of an experiment: those that its results depend on, and those that ran or failed in its name."""
    home = f"results/experiments/{name}/"
    files = [path for record in stage_records for path in record["outputs"].values() if path.startswith(home)]
    chosen = upstream(stage_records, files)
    chosen += [r for r in stage_records if r.get("experiment") == name and not any(r is other for other in chosen)]
    rows = [
        {
            "experiment": name,
            "job": digest(record),
            "stage": record["stage"],
            "finished": record["finished"],
            "failed": record["failure"] is not None,
            "record": json.dumps(without_secrets(record)),
        }
        for record in chosen
    ]
    return TABLES["job_runs"].frame(rows)


def with_variants(old: pl.DataFrame, new: pl.DataFrame) -> pl.DataFrame:
    """Add runs: a row with the same fingerprint is replaced, and takes the next place unless it was the latest."""
    last = old.sort("place").group_by(ROW, maintain_order=True).last().select(*ROW, "fingerprint", "place")
    new = new.drop("place").join(last, on=ROW, how="left", nulls_equal=True, suffix="_last")
    place = pl.col("place").fill_null(-1) + (pl.col("fingerprint").ne_missing(pl.col("fingerprint_last")))
    new = new.with_columns(place=place.cast(pl.Int32)).select(old.columns)
    return pl.concat([old.join(new, on=[*ROW, "fingerprint"], how="anti", nulls_equal=True), new])


def with_jobs(old: pl.DataFrame, new: pl.DataFrame) -> pl.DataFrame:
    """Add stage records that are new."""
    return pl.concat([old, new.join(old, on=["experiment", "job"], how="anti")])


def _earlier(table: Table, path: Path) -> int | None:
    """The version of a table that an earlier release wrote; None for a table of this release, or no table."""
    if not path.exists():
        return None
    identity = (pq.read_schema(path).metadata or {}).get(META, b"").decode()
    match = re.match(rf"{table.name}@(\d+):", identity)
    return int(match[1]) if match and int(match[1]) < table.version else None


def _known(table: Table, path: Path) -> pl.DataFrame:
    """A table of the ledger; one of an earlier release is moved aside.

    Raises TableError where it cannot be read: no stage can rebuild it.
    """
    try:
        if earlier := _earlier(table, path):
            path.rename(path.with_name(f"{table.name}.{earlier}.parquet"))  # kept; current runs are entered again
        return read_table(table, path) if path.exists() else table.empty()
    except (TableError, *DAMAGED) as error:
        if getattr(error, "errno", None):  # an error of the file system: the file itself may be whole
            raise
        cause = str(error.__cause__ or error).removeprefix(f"{path}: ").partition(" Fix: ")[0].splitlines()[0]
        raise TableError(
            f"{path}: cannot be read ({cause}). It belongs to the ledger; no stage rebuilds it. Fix: move it away and keep "
            "it (it alone holds runs whose results were overwritten), then secateur track, which enters the runs in results/."
        ) from error


def _updated(name: str, results: Path, join: Any, new: list[pl.DataFrame]) -> pl.DataFrame:
    """A table of the ledger with new rows; written only if it changes."""
    table, path = TABLES[name], results / FOLDER / f"{name}.parquet"
    old = _known(table, path)
    rows = old
    for frame in new:
        rows = join(rows, frame)
    rows = rows.sort(table.key)
    if not rows.equals(old):
        with atomic(path) as temporary:
            write_table(table, rows, temporary)
    return rows


def collect(results: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Update the ledger from the results: its tables variant_runs and job_runs. The caller holds the writer's lock."""
    stage_records = records(results)
    folders = [path.parent for path in sorted(results.glob("experiments/*/run.json")) if record_at(path)]
    names = {folder.name for folder in folders} | {
        record["experiment"] for record in stage_records if record.get("experiment")
    }
    current = [path for folder in folders if (path := folder / "variant_runs.parquet").exists()]
    current = [path for path in current if _earlier(TABLES["variant_runs"], path) is None]  # made anew by the next run
    variants = [read_table(TABLES["variant_runs"], path) for path in current]
    return (
        _updated("variant_runs", results, with_variants, variants),
        _updated("job_runs", results, with_jobs, [job_runs(name, stage_records) for name in sorted(names)]),
    )


def forgotten(results: Path, experiments: Iterable[str]) -> None:
    """Removes the runs and records of some experiments. The caller holds the writer's lock."""
    for name in ("variant_runs", "job_runs"):
        table, path = TABLES[name], results / FOLDER / f"{name}.parquet"
        rows = _known(table, path)
        kept = rows.filter(~pl.col("experiment").is_in(list(experiments)))
        if kept.height < rows.height:
            with atomic(path) as temporary:
                write_table(table, kept, temporary)


def experiments(results: Path) -> list[str]:
    """The experiments that the ledger knows; none without one."""
    path = results / FOLDER / "job_runs.parquet"
    return _known(TABLES["job_runs"], path)["experiment"].unique().sort().to_list() if path.exists() else []
