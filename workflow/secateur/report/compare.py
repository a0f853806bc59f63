"""Any two rows of figures, paired by question: of one experiment, of two, or one of them published."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl

from secateur.config.limits import command
from secateur.core.artifacts import read_json
from secateur.core.errors import SecateurError, nearest
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table
from secateur.evaluation.comparison import AXES, axes_of, claims
from secateur.evaluation.metric import renamed
from secateur.evaluation.resampling import paired, units
from secateur.evaluation.subsets import of_split
from secateur.report.format import UNTOLD, bounds, enough, number, row_name, row_of, sizes

__all__ = ["compare", "figures_of", "lines", "questions_of", "settings"]

EXPERIMENTS = Path("results/experiments")
FIRST = ("evidence_recall@claim", "f1_at_gold", "rouge_l", "answer_gain@claim", "policy_utility")  # if none is named
Found = dict[str, Any]


def settings(root: Path, experiment: str) -> Found:
    """How an experiment was compared and reported: the settings in its records."""
    home, found = root / EXPERIMENTS / experiment, {}
    for record in (home / "run.json", home / "report" / "run.json"):
        if not record.exists():
            raise SecateurError(f"{experiment} has not been run here. Fix: {command(experiment)}")
        found = read_json(record)["config"] | found  # what both say otherwise is said by the comparison
    return found


@dataclass(frozen=True)
class _Row:
    """A row of an experiment by its name. rows: those of its table metrics that speak of it."""

    root: Path
    experiment: str
    system: str
    scorer: str | None
    rows: pl.DataFrame

    @property
    def name(self) -> str:
        return row_name(self.system, self.scorer)

    @property
    def published(self) -> bool:
        return self.rows["published"].all()

    def label(self, across: bool) -> str:
        """Its name beside another row's; across: one of another experiment."""
        return (f"{self.experiment}:" if across else "") + self.name + (" (published)" if self.published else "")

    def values(self, column: str) -> list[Any]:
        """What its rows have in a column."""
        return self.rows[column].unique(maintain_order=True).to_list()

    def where(self, **wanted: Any) -> "_Row":
        """The same, of fewer rows."""
        return replace(self, rows=self.rows.filter(pl.col(c).eq_missing(pl.lit(v)) for c, v in wanted.items()))


def compare(
    root: Path,
    experiment: str,
    a: str,
    b: str,
    metric: str | None = None,
    dataset: str | None = None,
    order: str | None = None,
) -> Found:
    """Row `a` less row `b`, each `system`, `system/scorer` or `EXPERIMENT:` and these.

    Raises SecateurError for names that are unknown, and where both have no data set, order or metric in common.
    """
    left, right = (_located(root, experiment, name) for name in (a, b))
    dataset = _shared("data set", "--dataset", left.values("dataset"), right.values("dataset"), dataset, (left, right))
    left, right = left.where(dataset=dataset), right.where(dataset=dataset)
    order = _order(left, right, order)
    left, right = (row if row.published else row.where(order=order) for row in (left, right))
    metric = (
        renamed(metric)
        if metric
        else next((m for m in FIRST if m in left.values("metric") and m in right.values("metric")), None)
    )
    metric = _shared("metric", "--metric", left.values("metric"), right.values("metric"), metric, (left, right))
    left, right = left.where(metric=metric), right.where(metric=metric)
    of = {"dataset": dataset, "order": order, "metric": metric}
    across = left.experiment != right.experiment
    found = {"a": left.label(across), "b": right.label(across)} | of
    if left.published or right.published:
        return found | _stated(left, right)
    return found | _tested(left, right, of)


# --- which rows ----------------------------------------------------------------------------------


def _located(root: Path, experiment: str, name: str) -> _Row:
    """The row of that name in the experiment, or in the one that the name begins with."""
    metrics = _metrics(root, experiment)
    prefix, _, rest = name.partition(":")
    if _known(metrics, name).is_empty() and rest and (root / EXPERIMENTS / prefix / "metrics.parquet").exists():
        experiment, name, metrics = prefix, rest, _metrics(root, prefix)
    own = _known(metrics, name)
    if own.is_empty():
        raise SecateurError(f"{experiment} has no row {name!r}: {_names(metrics, name)}")
    return _Row(root, experiment, *row_of(name), own)


def _names(metrics: pl.DataFrame, name: str) -> str:
    """The rows there are: those of a system that is known, else one a system."""
    scorers: dict[str, list[str]] = {}
    for system, scorer in metrics.select("system", "scorer").unique().sort("system", "scorer").iter_rows():
        scorers.setdefault(system, []).append(system if scorer is None else f"{system}/{scorer}")
    known = scorers.get(row_of(name)[0]) or [
        own[0] if len(own) == 1 else f"{system}/NAME" for system, own in scorers.items()
    ]
    return f"there are {', '.join(known)}{nearest(name, known)}"


def _metrics(root: Path, experiment: str) -> pl.DataFrame:
    settings(root, experiment)  # says so where nothing has been run
    return read_table(TABLES["metrics"], root / EXPERIMENTS / experiment / "metrics.parquet")


def _known(metrics: pl.DataFrame, name: str) -> pl.DataFrame:
    system, scorer = row_of(name)
    return metrics.filter((pl.col("system") == system) & pl.col("scorer").eq_missing(pl.lit(scorer)))


def _shared(what: str, flag: str, left: Sequence[Any], right: Sequence[Any], asked: Any, rows: Iterable[_Row]) -> Any:
    """The one thing that both rows have: the one asked for, or the only one."""
    common = [one for one in left if one in right]
    names = " and ".join(row.name for row in rows)
    if not common:
        raise SecateurError(f"{names} have no {what} in common: {_told(left)}; {_told(right)}")
    if asked is None and len(common) > 1:
        raise SecateurError(f"{names} have several {what}s in common. Fix: {flag}, one of {_told(common)}")
    if asked not in (None, *common):
        raise SecateurError(f"{what} {asked!r}: allowed: {_told(common)}{nearest(asked, common)}")
    return asked or common[0]


def _told(names: Sequence[str]) -> str:
    """Names in a row, a metric once for all its budgets."""
    return ", ".join(dict.fromkeys(re.sub(r"@\d+$", "@BUDGET", name) for name in names))


def _order(left: _Row, right: _Row, asked: str | None) -> str | None:
    """The order that both know: orders are never paired across, and a published row has none."""
    known = [row.values("order") for row in (left, right) if not row.published]
    common = [one for one in (known[0] if known else [None]) if all(one in orders for orders in known)]
    wanted = [one for one in common if asked in (None, one)]
    if not wanted:
        said = " and ".join(
            f"{row.name} is order-{' and order-'.join(map(str, row.values('order')))}"
            for row in (left, right)
            if not row.published
        )
        raise SecateurError(f"rows of different orders are never paired: {said}" + (f", not {asked}" if asked else ""))
    return sorted(wanted, key=lambda one: one != "blind")[0]


# --- their difference ----------------------------------------------------------------------------


def _variants(row: _Row, config: Mapping[str, Any], of: Mapping[str, Any]) -> list[Found]:
    """What stands behind a row: its variant, once for each file of figures, with the axes it may differ in."""
    mine = (of["dataset"], row.system)
    return [
        v for v in config["extra.variants"] if (v["dataset"], v["system"]) == mine and v["order"] in (None, of["order"])
    ]


def figures_of(
    root: Path, variants: Sequence[Found], cfg: SimpleNamespace, of: Mapping[str, Any], scorer: str | None
) -> pl.DataFrame:
    """question_id, value of what stands behind a row, in an order and a metric."""
    tables = pl.concat([read_table(TABLES["question_metrics"], root / v["file"]) for v in variants])
    tables = tables.filter(pl.col("hop").is_null())
    wanted = {"scorer": scorer, "order": of["order"]}
    own = tables.filter(pl.col(c).eq_missing(pl.lit(value)) for c, value in wanted.items())
    if of["metric"].endswith("@claim"):
        own = claims(own.filter(pl.col("metric").str.contains("@")), cfg.claim, cfg.gain_budgets)
    return own.filter(pl.col("metric") == of["metric"]).select("question_id", "value")


def questions_of(root: Path, experiment: str, config: Mapping[str, Any], dataset: str) -> pl.DataFrame:
    """The questions that a data set's rows are reported of, with their clusters."""
    inputs = read_json(root / EXPERIMENTS / experiment / "run.json")["inputs"]
    (path,) = (path for path in inputs if path.endswith(f"/{dataset}/questions/questions.parquet"))
    (split,) = (one["split"] for one in config["extra.datasets"] if one["name"] == dataset)
    return of_split(read_table(TABLES["questions"], root / path), split).select("question_id", "cluster_id")


def _tested(left: _Row, right: _Row, of: Mapping[str, Any]) -> Found:
    """The matched difference, under the settings of the first row's experiment."""
    configs = [settings(row.root, row.experiment) for row in (left, right)]
    cfg = SimpleNamespace(**{k.removeprefix("eval."): v for k, v in configs[0].items() if k.startswith("eval.")})
    behind = [_variants(row, config, of) for row, config in zip((left, right), configs, strict=True)]
    mine, other = (
        figures_of(row.root, own, cfg, of, row.scorer) for row, own in zip((left, right), behind, strict=True)
    )
    axes, others = (dict(axes_of(own[0], row.scorer)) for row, own in zip((left, right), behind, strict=True))
    joined = questions_of(left.root, left.experiment, configs[0], of["dataset"]).join(mine, on="question_id")
    joined = joined.join(other.rename({"value": "base"}), on="question_id").sort("question_id")
    if joined.is_empty():
        raise SecateurError(f"{left.name} and {right.name} have no question in common in {of['metric']}")
    unit = units(joined["cluster_id"].to_list(), cfg.min_clusters)
    values = (joined["value"] - joined["base"]).to_numpy()[:, None]
    test = paired(values, unit, cfg.permutations, cfg.confidence, cfg.seed)
    low, high = (float(end[0]) if abs(float(end[0])) != float("inf") else None for end in (test.low, test.high))
    p, told = float(test.p[0]), enough(joined.height, test.units, cfg.min_units)
    verdict = "differs" if p <= 1 - cfg.confidence + 1e-12 else "no difference shown"
    return {
        "value_a": joined["value"].mean(),
        "value_b": joined["base"].mean(),
        "difference": float(test.mean[0]),
        "low": low,
        "high": high,
        "p": p,
        "n": joined.height,
        "units": test.units,
        "verdict": verdict if told else UNTOLD,
        "axes": _differing(left, right, axes, others),
        "published": False,
    }


def _differing(left: _Row, right: _Row, axes: Mapping[str, str], others: Mapping[str, str]) -> list[str]:
    """In what two rows differ."""
    found = [axis for axis in AXES if axes.get(axis) != others.get(axis)]
    found += ["scorer"] if not found and left.scorer != right.scorer else []
    return found + (["answer_aware"] if left.values("answer_aware") != right.values("answer_aware") else [])


def _stated(left: _Row, right: _Row) -> Found:
    """The difference to a published mean: over its subset of the questions, where that was computed here."""
    subset = (left if left.published else right).values("subset")[0]
    sides = [
        row.where(subset=subset) if subset in row.values("subset") else row.where(subset="all") for row in (left, right)
    ]
    rows = [side.rows.row(0, named=True) for side in sides]
    (value, n), (base, base_n) = ((row["value"], row["n"]) for row in rows)
    return {
        "value_a": value,
        "value_b": base,
        "difference": value - base,
        "low": None,
        "high": None,
        "p": None,
        "n": n,
        "n_b": base_n,
        "units": None,
        "subset": [row["subset"] for row in rows],
        "verdict": "published: means alone, not paired",
        "axes": [],
        "published": True,
    }


# --- in words ------------------------------------------------------------------------------------


def lines(found: Mapping[str, Any]) -> list[str]:
    """A comparison for a terminal."""
    order = f", order-{found['order']}" if found["order"] else ""
    said = [
        f"{found['a']} less {found['b']}: {found['metric']} on {found['dataset']}{order}",
        f"  means       {number(found['value_a'], 4)} and {number(found['value_b'], 4)}",
    ]
    if found["published"]:
        of = " and ".join(f"{n} ({s})" for n, s in zip((found["n"], found["n_b"]), found["subset"], strict=True))
        return [*said, f"  difference  {found['difference']:+.4f}", f"  questions   {of}", f"  {found['verdict']}"]
    said += [
        f"  difference  {found['difference']:+.4f} ({bounds(found, 4)})",
        f"  p           {found['p']:.4f}, of this pair alone",
        f"  over        {sizes(found)}",
        f"  differ in   {', '.join(found['axes']) or 'no axis'}",
        f"  verdict     {found['verdict']}",
    ]
    if len(found["axes"]) > 1:
        said.append(f"  Warning: they differ in {len(found['axes'])} axes, so the difference is of no one of them.")
    return said
