"""Results of an invented experiment: records, figures and runs as the pipeline leaves them, without running it."""

from pathlib import Path

import polars as pl

from secateur.core.artifacts import atomic, write_json
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import write_table
from secateur.stage.ledger import records, variant_runs
from secateur.stage.tracking import track
from tests.support.report_rows import metric

CONF = Path(__file__).parents[2] / "conf"
RESULTS = Path("results")  # paths in records are relative to the working directory
FIGURES = "results/toy/toy/evidence/contexts/question_metrics.parquet"
SOURCE = "contexts/graph/openie.minilm.default.blind.default.default/graph/none/text/default.smollm2"
CURVE = "evidence_recall/by_budget"
HOME = "results/experiments/tiny"


def record(stage: str, folder: str, outputs: list[str], inputs: dict[str, str], **changes) -> dict:
    content = {
        "stage": stage,
        "experiment": "tiny",
        "axes": {"corpus": "toy", "dataset": "toy", "extractor": "openie"},
        "config": {"retriever.top_k": 200},
        "code": f"code of {stage}",
        "inputs": inputs,
        "outputs": {Path(path).stem: path for path in outputs},
        "finished": "2026-01-01T00:01:00+00:00",
        "wall_seconds": 2.0,
        "cpu_seconds": 1.0,
        "peak_bytes": 100,
        "device": "cpu",
        "counts": {"tokens_read": 5},
        "rows": {},
        "metrics": {"share": 0.5},
        "commit": "abc+",
        "slurm_job": None,
        "failure": None,
    } | changes
    write_json(Path(folder) / ("failure.json" if content["failure"] else "run.json"), content)
    return content


def table(name: str, rows: list[dict], path: str) -> None:
    with atomic(Path(path)) as temporary:
        write_table(TABLES[name], TABLES[name].frame(rows), temporary)


def figure(name: str, value: float, scorer: str | None = None, subset: str = "all") -> dict:
    return metric("graph_zsum", name, value, scorer, subset=subset, n=9, units=9)


def ran(top_k: int = 200, value: float = 0.5, finished: str = "2026-01-01T00:01:00+00:00") -> None:
    """The experiment `tiny` as if it had run: two shards, one figure file, metrics, a report, its runs."""
    config = {"retriever.top_k": top_k}
    for n in (0, 1):
        folder = f"results/toy/triples/openie/{n}of2"
        axes = {"corpus": "toy", "extractor": "openie", "shard": f"{n}of2"}
        record("extract_triples", folder, [f"{folder}/triples.parquet"], {"data/toy.jsonl": "d1"}, axes=axes)
    triples = {f"results/toy/triples/openie/{n}of2/triples.parquet": f"t{n}" for n in (0, 1)}
    triples |= {"results/toy/toy/questions/questions.parquet": "q"}
    axes = {"corpus": "toy", "dataset": "toy", "source": SOURCE}
    given = {"config": config, "finished": finished, "axes": axes}
    record("evaluate_contexts", str(Path(FIGURES).parent), [FIGURES], triples, **given)
    compared = {"eval.seed": 7, "extra.datasets": [{"name": "toy", "kind": "documents"}], "extra.variants": []}
    made = [f"{HOME}/metrics.parquet", f"{HOME}/comparisons.parquet"]
    record("compare_variants", HOME, made, {FIGURES: "f"}, config=compared, axes={}, finished=finished)
    rows = [figure(f"evidence_recall@{budget}", value) for budget in (64, 128, "claim")] + [figure("tokens@64", 90.0)]
    table("metrics", [*rows, figure("evidence_recall@64", 0.1, subset="hard")], f"{HOME}/metrics.parquet")
    note()


def note(*systems: str) -> None:
    """What the rule track_variants does."""
    metrics = pl.read_parquet(f"{HOME}/metrics.parquet")
    own = {"dataset": "toy", "order": "blind", "files": [FIGURES]}
    variants = [own | {"system": system} for system in systems or ("graph_zsum",)]
    runs = variant_runs("tiny", variants, metrics, records(RESULTS), CONF)
    table("variant_runs", runs.to_dicts(), f"{HOME}/variant_runs.parquet")


def failed(message: str = "LoaderError: no such file", **changes) -> None:
    record("build_codebook", "results/toy/codebook", [], {}, failure=message, metrics={}, **changes)


def shown(client, experiment: str) -> list[dict]:
    """What MLflow shows of an experiment, without what it made up itself, in the order of names and times."""
    runs = client.search_runs([client.get_experiment_by_name(experiment).experiment_id])
    found = [
        {
            "name": run.info.run_name,
            "status": run.info.status,
            "time": (run.info.start_time, run.info.end_time),
            "params": run.data.params,
            "metrics": run.data.metrics,
            "curve": [(m.step, m.value) for m in client.get_metric_history(run.info.run_id, CURVE)],
            "tags": {name: value for name, value in run.data.tags.items() if not name.startswith("mlflow.")},
            "artifacts": sorted(one.path for one in client.list_artifacts(run.info.run_id)),
        }
        for run in runs
    ]
    return sorted(found, key=lambda run: (run["name"], run["time"], run["tags"]["secateur.key"]))


def told(rebuild: bool = False) -> int:
    return track(RESULTS, rebuild)[0]
