"""Compares any two rows of figures, paired by question: of one experiment, of two, or one of them published."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl

from secateur.config.limits import command, not_run
from secateur.core.artifacts import file_digest, read_json
from secateur.core.errors import SecateurError, one_of
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table
from secateur.evaluation import utility
from secateur.evaluation.comparison import axes_of, claims, common, differing, paired_differences
from secateur.evaluation.figure import headlines
from secateur.evaluation.subsets import MAIN, Units, members, of_split, units_of
from secateur.evaluation.verdict import enough_data, verdict
from secateur.report.format import p_value, row_name, row_of, sizes
from secateur.report.table import Column, Number, interval

__all__ = ["compare", "compared", "lines", "settings"]

EXPERIMENTS = Path("results/experiments")
PUBLISHED = "published: means alone, not paired"
UNADJUSTED = {"significant": "significant, unadjusted"}  # elsewhere the word alone means: after Holm
Comparison = dict[str, Any]


def settings(root: Path, experiment: str) -> dict[str, Any]:
    """The settings under which an experiment was compared and reported, from its records."""
    home, config = root / EXPERIMENTS / experiment, {}
    for record in (home / "run.json", home / "report" / "run.json"):
        if not record.exists():
            raise not_run(experiment)
        config = read_json(record)["config"] | config  # where both have a key, that of the comparison counts
    return config


@dataclass(frozen=True)
class _Row:
    """A row of an experiment. rows: its lines in the table `metrics`."""

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

    def values(self, column: str) -> list[Any]:
        """The distinct values of a column."""
        return self.rows[column].unique(maintain_order=True).to_list()

    def where(self, **values: Any) -> "_Row":
        """The row with only the lines that have these values."""
        return replace(self, rows=_where(self.rows, **values))


def _where(rows: pl.DataFrame, **values: Any) -> pl.DataFrame:
    """The rows that have these values; None is a value."""
    return rows.filter(pl.col(column).eq_missing(pl.lit(value)) for column, value in values.items())


def compare(
    root: Path,
    experiment: str,
    a: str,
    b: str,
    metric: str | None = None,
    dataset: str | None = None,
    order: str | None = None,
) -> Comparison:
    """Row `a` minus row `b`, each named `[EXPERIMENT:]SYSTEM[/RANKER]`.

    Raises SecateurError for unknown names, and where the rows have no data set, order or metric in common.
    """
    left, right = _located(root, experiment, a), _located(root, experiment, b)
    dataset = _shared(left, right, "dataset", dataset)
    left, right = left.where(dataset=dataset), right.where(dataset=dataset)
    order = _order(left, right, order)
    left, right = (row if row.published else row.where(order=order) for row in (left, right))
    metrics = [name for name in left.values("metric") if name in right.values("metric")]
    # At the tokens of a row that was made elsewhere, if one was.
    places = ("@claim", "", *(f"@{row.system.partition(':')[0]}" for row in (left, right)))
    candidates = [f"{base}{at}" for ats in (places[:2], places[2:]) for base in headlines(metrics) for at in ats]
    default = next((name for name in candidates if name in metrics), None)
    metric = _shared(left, right, "metric", metric or default)
    whole, (left, right) = (left, right), (left.where(metric=metric), right.where(metric=metric))
    labels = {"dataset": dataset, "order": order, "metric": metric}
    for side, row in (("a", left), ("b", right)):
        prefix = f"{row.experiment}:" if left.experiment != right.experiment else ""
        labels[side] = prefix + row.name + (" (published)" if row.published else "")
    return labels | (_means(left, right) if left.published or right.published else _paired(left, right, labels, whole))


# --- selecting rows ------------------------------------------------------------------------------


def _located(root: Path, experiment: str, name: str) -> _Row:
    """The row of that name in the experiment, or in the experiment that the name begins with."""
    metrics = _metrics(root, experiment)
    prefix, _, suffix = name.partition(":")
    if _named(metrics, name).is_empty() and suffix and (root / EXPERIMENTS / prefix / "metrics.parquet").exists():
        experiment, name, metrics = prefix, suffix, _metrics(root, prefix)
    rows = _named(metrics, name)
    if rows.is_empty():
        one_of(f"{experiment}: row", name, _rows(metrics, name))
    return _Row(root, experiment, *row_of(name), rows)


def _metrics(root: Path, experiment: str) -> pl.DataFrame:
    settings(root, experiment)  # raises where nothing has been run
    return read_table(TABLES["metrics"], root / EXPERIMENTS / experiment / "metrics.parquet")


def _named(metrics: pl.DataFrame, name: str) -> pl.DataFrame:
    return _where(metrics, **dict(zip(("system", "scorer"), row_of(name), strict=True)))


def _rows(metrics: pl.DataFrame, name: str) -> list[str]:
    """The names that a row may have: all of a known system, else one per system."""
    names: dict[str, list[str]] = {}
    for system, scorer in metrics.select("system", "scorer").unique().sort("system", "scorer").iter_rows():
        names.setdefault(system, []).append(system if scorer is None else f"{system}/{scorer}")
    each = [rows[0] if len(rows) == 1 else f"{system}/NAME" for system, rows in names.items()]
    return names.get(row_of(name)[0]) or each


def _shared(left: _Row, right: _Row, column: str, value: Any) -> Any:
    """The value of a column that both rows have: the given one, or the only one."""
    noun = {"dataset": "data set"}.get(column, column)
    shared = [common for common in left.values(column) if common in right.values(column)]
    names = f"{left.name} and {right.name}"
    if not shared:
        values = f"{_listed(left.values(column))}; {_listed(right.values(column))}"
        raise SecateurError(f"{names} have no {noun} in common: {values}")
    if value is None and len(shared) > 1:
        raise SecateurError(f"{names} have several {noun}s in common. Fix: --{column}, one of {_listed(shared)}")
    if value not in (None, *shared):
        one_of(noun, value, _bases(shared))
    return value or shared[0]


def _bases(names: Sequence[str]) -> list[str]:
    """The names, a metric once for all its budgets."""
    return list(dict.fromkeys(re.sub(r"@\d+$", "@BUDGET", name) for name in names))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(_bases(names))


def _order(left: _Row, right: _Row, order: str | None) -> str | None:
    """The order that both rows have, blind first; a published row has none. Raises SecateurError for different orders."""
    measured = [row for row in (left, right) if not row.published]
    orders = [set(row.values("order")) for row in measured] or [{None}]
    shared = [name for name in set.intersection(*orders) if order in (None, name)]
    if not shared:
        texts = [f"{row.name} is order-{' and order-'.join(map(str, row.values('order')))}" for row in measured]
        but = f", not {order}" if order else ""
        raise SecateurError(f"rows of different orders are never paired: {' and '.join(texts)}{but}")
    return "blind" if "blind" in shared else shared[0]


# --- their difference ----------------------------------------------------------------------------


def compared(root: Path, experiment: str, table: str, file: str) -> pl.DataFrame:
    """A table that an experiment compared. Raises SecateurError where another run has written it since."""
    record = read_json(root / EXPERIMENTS / experiment / "run.json")
    path = root / file
    if not path.exists() or file_digest(path) != record["inputs"].get(file):
        raise SecateurError(
            f"{file}: not what {experiment} compared; another run has written it since. "
            f"Fix: {command(experiment, record.get('overrides') or ())}"
        )
    return read_table(TABLES[table], path)


def _values(row: _Row, labels: Mapping[str, Any], cfg: SimpleNamespace, variants: Sequence[Mapping]) -> pl.DataFrame:
    """question_id, value of a row in one order and metric. variants: one per file of figures."""
    tables = [compared(row.root, row.experiment, "question_metrics", variant["file"]) for variant in variants]
    base, _, at = labels["metric"].partition("@")
    if base == utility.NAME:
        budgets = [variant["budget"] for variant in variants]
        tables = [utility.utilities(table, budget, [float(at)]) for table, budget in zip(tables, budgets, strict=True)]
    values = _where(pl.concat(tables), scorer=row.scorer, order=labels["order"], hop=None)
    if labels["metric"].endswith("@claim"):
        values = claims(values.filter(pl.col("metric").str.contains("@")), cfg.claim, cfg.gain_budgets)
    return values.filter(metric=labels["metric"]).select("question_id", "value")


def _questions(row: _Row, config: Mapping[str, Any], dataset: str) -> tuple[str, set[str], Units]:
    """The subset that findings are about, its questions, and the units of all questions of the split that is measured."""
    inputs = read_json(row.root / EXPERIMENTS / row.experiment / "run.json")["inputs"]
    (folder,) = (Path(p).parent for p in inputs if p.endswith(f"/{dataset}/questions/questions.parquet"))
    (spec,) = (spec for spec in config["extra.datasets"] if spec["name"] == dataset)
    asked, evidence = (
        compared(row.root, row.experiment, t, f"{folder}/{t}.parquet") for t in ("questions", "evidence")
    )
    if "eval.permutations_at_floor" not in config:
        raise SecateurError(f"{row.experiment} was compared by an earlier release. Fix: {command(row.experiment)}")
    split = of_split(asked, spec["split"])
    subsets = members(split, evidence, spec)
    subset = next(name for name in MAIN if subsets.get(name))
    units = units_of(split, evidence, max(config["eval.min_clusters"], config["eval.min_units"]))
    return subset, subsets[subset], units


def _paired(left: _Row, right: _Row, labels: Mapping[str, Any], whole: tuple[_Row, _Row]) -> Comparison:
    """The paired difference, under the settings of the first row's experiment. whole: the rows with all of their metrics."""
    config = settings(left.root, left.experiment)
    cfg = SimpleNamespace(**{k.removeprefix("eval."): v for k, v in config.items() if k.startswith("eval.")})
    values, axes = [], []
    for row in (left, right):
        variants = [  # one per file of figures
            v
            for v in settings(row.root, row.experiment)["extra.variants"]
            if (v["dataset"], v["system"]) == (labels["dataset"], row.system) and v["order"] in (None, labels["order"])
        ]
        values.append(_values(row, labels, cfg, variants))
        axes.append(dict(axes_of(variants[0], row.scorer)))
    subset, questions, units = _questions(left, config, labels["dataset"])
    sample = common(*(units.of(side.filter(pl.col("question_id").is_in(list(questions)))) for side in values))
    if sample.is_empty():
        raise SecateurError(f"{left.name} and {right.name} have no question in common in {labels['metric']}")
    (test,) = paired_differences([sample], cfg).drop("p_holm").to_dicts()  # one pair: nothing to adjust for
    enough = enough_data(test["n"], test["units"], cfg.min_units)
    means = {"value_a": test.pop("a"), "value_b": test.pop("b")}
    means |= {f"tokens_{side}": _tokens(row, labels["metric"], subset) for side, row in zip("ab", whole, strict=True)}
    alone = verdict(test["p"], enough)
    ends = {
        "verdict": UNADJUSTED.get(alone, alone),
        "axes": _differing(left, right, differing(*axes, labels["metric"])),
    }
    return means | test | ends | {"published": False, "subset": subset}


def _tokens(row: _Row, metric: str, subset: str) -> float | None:
    """Mean tokens that a row sends at the budget of a metric; None where none are counted."""
    sent = row.where(metric=f"tokens@{metric.partition('@')[2]}", subset=subset).rows
    return None if sent.is_empty() else sent["value"][0]


def _differing(left: _Row, right: _Row, axes: list[str]) -> list[str]:
    """What two rows differ in. axes: those of them."""
    axes = axes + ["scorer"] * (not axes and left.scorer != right.scorer)
    return axes + (["answer_aware"] if left.values("answer_aware") != right.values("answer_aware") else [])


def _means(left: _Row, right: _Row) -> Comparison:
    """The difference to a published mean, over its subset of the questions where the other row has that subset."""
    subset = (left if left.published else right).values("subset")[0]
    a, b = (
        row.where(subset=subset if subset in row.values("subset") else "all").rows.row(0, named=True)
        for row in (left, right)
    )
    difference = {"difference": a["value"] - b["value"], "low": None, "high": None, "p": None}
    counts = {"n": a["n"], "n_b": b["n"], "units": None, "subset": [a["subset"], b["subset"]]}
    means = {"value_a": a["value"], "value_b": b["value"]}
    return means | difference | counts | {"verdict": PUBLISHED, "axes": [], "published": True}


# --- printing ------------------------------------------------------------------------------------


def lines(comparison: Comparison) -> list[str]:
    """A comparison for a terminal."""
    c = comparison
    order = f", order-{c['order']}" if c["order"] else ""
    head = [
        f"{c['a']} minus {c['b']}: {c['metric']} on {c['dataset']}{order}",
        f"  means       {c['value_a']:,.4f} and {c['value_b']:,.4f}",
    ]
    if c["published"]:
        counts = " and ".join(f"{n} ({s})" for n, s in zip((c["n"], c["n_b"]), c["subset"], strict=True))
        return [*head, f"  difference  {c['difference']:+.4f}", f"  questions   {counts}", f"  {c['verdict']}"]
    if c.get("tokens_a") is not None and c["tokens_b"] is not None:
        head.append(f"  tokens      {c['tokens_a']:,.0f} and {c['tokens_b']:,.0f} sent, in the mean")
    ends = interval(Number(c["difference"], c["low"], c["high"]), Column("", 4, signed=True))
    body = [
        f"  difference  {c['difference']:+.4f} ({ends})",
        f"  p           {p_value(c['p'])}, of this pair alone, unadjusted; the report's is after Holm",
        f"  over        {', '.join([sizes(c), *([] if c['subset'] == 'all' else [c['subset']])])}",
        f"  differ in   {', '.join(c['axes']) or 'no axis'}",
        f"  verdict     {c['verdict']}",
    ]
    if len(c["axes"]) > 1:
        body.append(f"  Warning: the rows differ in {len(c['axes'])} axes, so the difference is not due to one alone.")
    return [*head, *body]
