"""Kept figures: small tables of finished experiments in `docs/results`, which pages and paper tables quote.

`docs/results/EXPERIMENT/metrics.parquet` and `comparisons.parquet` hold the rows that a page may quote, rounded to four
digits (p: six), `equal_quality.parquet` the tokens at equal quality. `values.parquet` holds the values by question behind
them, a row a figure with a list of values in the order of the questions in `units.parquet`, null where not measured: as
measured, for a rounded value breaks ties of the sign-flip test. Metadata name the command with its overrides, the commit and
the digests of the tables they were taken from, and the settings of the tests.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pyarrow.parquet as pq

from secateur.core.artifacts import atomic
from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.evaluation.compared import Measured, comparisons, means
from secateur.evaluation.comparison import NAMED, PRIMARY, Row
from secateur.evaluation.figure import figure_of
from secateur.evaluation.subsets import Units

__all__ = ["COMPARED", "DIGITS", "P_DIGITS", "SUBSETS", "by_question", "derived", "kept_experiments", "kept_source"]
__all__ += ["kept_table", "quotable", "valued", "write_kept"]

COMPARED = ("metrics", "comparisons")  # the tables that pages quote
SUBSETS = ("all", "cat1-4", "named", "bridge", "first", "later")  # of comparisons; metrics keep every subset
DIGITS, P_DIGITS = 4, 6
ROW = ["system", "order", "scorer", "answer_aware"]
FIGURE = [*ROW, "metric", "hop"]  # what has one value a question


def quotable(metrics: pl.DataFrame, pairs: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """The rows of `metrics` and `comparisons` that pages may quote, by table."""
    quoted, shown = ([name for name in table["metric"].unique() if _is_kept(name)] for table in (metrics, pairs))
    paired = pl.col("metric").is_in(shown) | (pl.col("axis") == PRIMARY)
    return {
        "metrics": metrics.filter(pl.col("metric").is_in(quoted), ~pl.col("published")),
        "comparisons": pairs.filter(paired, pl.col("subset").is_in(SUBSETS), pl.col("axis") != NAMED),
    }


def _is_kept(metric: str) -> bool:
    """Whether pages may quote a figure: not at each of several budgets, and of those of a policy, by whoever measured it."""
    base, _, at = metric.partition("@")
    figure = figure_of(base.partition(":")[0])
    return (figure.headline or figure.kept) and (not at.isdigit() or bool(figure.cutoff))


def write_kept(frame: pl.DataFrame, docs: Path, name: str, table: str, source: Mapping[str, str]) -> None:
    """Writes one kept table with its source in the metadata."""
    with atomic(_path(docs, name, table)) as temporary:
        arrow = frame.to_arrow().replace_schema_metadata(dict(source))  # PyArrow numbers equal values: a fifth smaller
        pq.write_table(arrow, temporary, compression="zstd", compression_level=19)


def kept_experiments(docs: Path) -> list[str]:
    """Names of the experiments whose figures are kept."""
    return sorted(path.parent.name for path in docs.glob("results/*/metrics.parquet"))


def kept_table(docs: Path, name: str, table: str) -> pl.DataFrame:
    """Kept rows of `metrics` or `comparisons`; no rows for an experiment that is not kept."""
    path, empty = _path(docs, name, table), TABLES[table].empty()
    return pl.read_parquet(path).select(empty.columns).cast(dict(empty.schema)) if path.exists() else empty


def kept_source(docs: Path, name: str) -> dict[str, str]:
    """Command, commit, time and digest behind the kept metrics. Raises SecateurError for an experiment that is not kept."""
    path = _path(docs, name, "metrics")
    if not path.exists():
        raise SecateurError(f"{path}: not there. Fix: make keep NAME={name}")
    return {key: value for key, value in pl.read_parquet_metadata(path).items() if key != "ARROW:schema"}


def _path(docs: Path, name: str, table: str) -> Path:
    return docs / "results" / name / f"{table}.parquet"


# --- values by question ---------------------------------------------------------------------------


def by_question(sets: Sequence[Measured], config: Mapping[str, Any]) -> tuple[dict[str, pl.DataFrame], dict[str, str]]:
    """(the tables `values` and `units`, the settings of their tests) of what was measured. config: of the comparison."""
    tested = {test["metric"] for test in config["extra.primary"]}
    values, units, scorers = [], [], set()
    for data in sets:
        metrics = [name for name in data.figures["metric"].unique() if _is_kept(name) or name in tested]
        measured = data.figures.filter(pl.col("metric").is_in(metrics))
        asked = data.units.table.sort("question_id")
        places = measured.join(asked.select("question_id", place=pl.row_index()), on="question_id").sort("place")
        about = [(*row.key, json.dumps(row.axes), row.listed, row.ranks) for row in data.rows]
        rows = pl.DataFrame(about, [*ROW, "axes", "listed", "ranks"], orient="row").cast(
            {"order": pl.String, "scorer": pl.String}
        )
        lists = places.group_by(FIGURE).agg("place", "value").sort("metric", "hop", nulls_last=False)
        spread = [_spread(place, value, asked.height) for place, value in lists.select("place", "value").iter_rows()]
        lists = lists.select(*FIGURE, values=pl.Series(spread, dtype=pl.List(pl.Float64)))
        kept = rows.join(lists, on=ROW, nulls_equal=True, maintain_order="left_right")
        values.append(kept.with_columns(dataset=pl.lit(data.name)))
        subsets = [[name for name, ids in data.subsets.items() if question in ids] for question in asked["question_id"]]
        units.append(
            asked.with_columns(dataset=pl.lit(data.name), subsets=pl.Series(subsets, dtype=pl.List(pl.String)))
        )
        scorers |= {row.scorer for row in data.rows}
    settings = {
        "eval": {key: config[f"eval.{key}"] for key in ("against", "permutations", "permutations_at_floor", "seed")},
        "matched_baselines": {k: v for k, v in config["extra.matched_baselines"].items() if k in scorers},
        "primary": config["extra.primary"],
        "sets": {data.name: [data.split, list(data.subsets)] for data in sets},
    }
    return {"values": pl.concat(values), "units": pl.concat(units)}, {"settings": json.dumps(settings)}


def _spread(places: Sequence[int], values: Sequence[float], count: int) -> list[float | None]:
    """Values at their places among `count`, None elsewhere."""
    spread: list[float | None] = [None] * count
    for place, value in zip(places, values, strict=True):
        spread[place] = value
    return spread


def valued(docs: Path, name: str) -> bool:
    """Whether the values by question are kept."""
    return _path(docs, name, "values").exists()


def derived(docs: Path, name: str) -> dict[str, pl.DataFrame] | None:
    """`metrics` and `comparisons` made again from the kept values, unrounded; None where no values are kept."""
    if not valued(docs, name):
        return None
    path = _path(docs, name, "values")
    settings = json.loads(pl.read_parquet_metadata(path)["settings"])
    values, units = pl.read_parquet(path), pl.read_parquet(_path(docs, name, "units"))
    sets = [
        _measured(of_set, split, subsets, values.filter(dataset=of_set), units.filter(dataset=of_set))
        for of_set, (split, subsets) in settings["sets"].items()
    ]
    test_settings = (settings["matched_baselines"], settings["primary"], SimpleNamespace(**settings["eval"]))
    return quotable(means(sets), comparisons(sets, *test_settings, subsets=SUBSETS)[0])


def _measured(name: str, split: str, subsets: Sequence[str], values: pl.DataFrame, units: pl.DataFrame) -> Measured:
    """What was measured on a data set, from its kept rows."""
    rows = [
        Row(*key, tuple((axis, value) for axis, value in json.loads(axes)), listed, ranks)
        for *key, axes, listed, ranks in values.select(*ROW, "axes", "listed", "ranks")
        .unique(maintain_order=True)
        .iter_rows()
    ]
    questions = units["question_id"].to_list()
    each = values.select(*FIGURE, value="values", question_id=pl.lit([questions]).list.first())
    figures = each.explode("value", "question_id").drop_nulls("value")
    members = {
        subset: {q for q, of in units.select("question_id", "subsets").iter_rows() if subset in of}
        for subset in subsets
    }
    return Measured(
        name, split, figures, rows, members, Units(units.select("question_id", "first", "cluster_id"), 0, 0)
    )
