"""The report's part on the compression policy: its worth beside fixed configurations, and its frontier."""

import polars as pl

from secateur.report.format import Part, difference, figure, not_enough_data, note
from secateur.report.plots.charts import frontier
from secateur.report.plots.style import inline
from secateur.report.table import Column, Row, Table

__all__ = ["policy_parts"]

TERMS = {
    "policy_utility": Column("utility"),
    "policy_accuracy": Column("accuracy"),
    "policy_tokens": Column("prompt tokens", 0),
}
FAITHFUL = "policy_faithfulness:"  # and who measured it
FIRST = (
    "policy",
    "best_constant",
    "hindsight",
    "classifier",
    "random",
    "oracle",
)  # then the fixed configurations, best first
AGAINST = "best_constant"
SHORT = 6  # rows of the table that are not folded
ABOUT = (
    " Names: actions on questions / answers / facts. Faithfulness: of the written answer; lm: by the reader's log-probability. The oracle sees each question's own utilities; hindsight is the constant that is best on these questions. p: sign flips, "
    "two-sided, adjusted for all pairs (Holm)."
)


def policy_parts(dataset: str, metrics: pl.DataFrame, comparisons: pl.DataFrame, frontiers: pl.DataFrame) -> list[Part]:
    """A part for each system of a data set whose rows are of policies.

    metrics, comparisons: rows of the data set, with `enough_data`; frontiers: dataset, system, order and the columns of
    `frontier`.
    """
    metric = pl.col("metric")
    rows = metrics.filter(metric.is_in(list(TERMS)) | metric.str.starts_with(FAITHFUL), subset="all")
    parts = []
    for (system, order), part in rows.group_by("system", "order", maintain_order=True):
        same = (pl.col("system") == system) & pl.col("order").eq_missing(order)
        line = frontiers.filter(same, dataset=dataset).sort("share")
        few = not_enough_data(part)
        points = part.pivot("metric", index="scorer", values="value")
        points = points.select(name="scorer", tokens="policy_tokens", accuracy="policy_accuracy")
        against = comparisons.filter(same, subset="all", metric="policy_utility", baseline_scorer=AGAINST)
        label = f"accuracy against prompt tokens on {dataset}"
        parts.append(
            {
                "title": f"{system}: what the compression policy is worth",
                "open": True,
                "figures": [] if few else [[inline(frontier(points, line), label)]],
                "text": few,
                "table": _table(part, against),
                "short": SHORT,
                "note": note(part, dataset=dataset, system=system, metric="policy_*") + ABOUT,
            }
        )
    return parts


def _table(rows: pl.DataFrame, against: pl.DataFrame) -> Table:
    """A row a policy. against: differences to the best constant policy."""
    fixed = rows.filter(pl.col("scorer").str.starts_with("fixed:"), metric="policy_utility")
    fixed = fixed.sort("value", "scorer", descending=[True, False])["scorer"].to_list()
    minus = {row["scorer"]: difference(row) for row in against.iter_rows(named=True)}
    faithful = sorted({m for m in rows["metric"] if m.startswith(FAITHFUL)})
    terms = TERMS | {m: Column(m.removeprefix("policy_")) for m in faithful}
    lines = []
    for scorer in [*(name for name in FIRST if name in set(rows["scorer"])), *fixed]:
        figures = {row["metric"]: figure(row) for row in rows.filter(scorer=scorer).iter_rows(named=True)}
        cells = (scorer.removeprefix("fixed:"), *(figures.get(term) for term in terms), minus.get(scorer))
        lines.append(Row(cells, "ours" if scorer == "policy" else ""))
    return Table([Column("policy"), *terms.values(), Column(f"utility minus {AGAINST}", signed=True)], lines)
