"""The report's plots, as inline SVG that scales with the page."""

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

__all__ = ["Panel", "bars", "contests", "curves", "frontier", "pairs_of_bars", "panels", "spreads"]

COLOURS = ("#2563eb", "#d97706", "#059669", "#dc2626", "#7c3aed", "#0891b2", "#be185d", "#65a30d", "#475569", "#a16207")
STYLES = ("-", "--", ":", "-.")
MARKERS = "osD^vP"


@dataclass(frozen=True)
class Panel:
    """One measure over its `at`. logs: axes that are logarithmic; shares: from 0 to 1; low: where the axis starts."""

    measure: str
    title: str
    xlabel: str
    logs: str = ""
    shares: bool = False
    low: float | None = None


def _figure(width: float, height: float, columns: int = 1):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update(
        {"svg.hashsalt": "secateur", "svg.fonttype": "none", "font.size": 10, "font.family": "sans-serif"}
        | {"axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.alpha": 0.25}
    )
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(1, columns, squeeze=False)[0]


def _svg(figure, label: str) -> str:
    """The figure as an <svg> element with a text alternative, without a date so that equal data give equal bytes."""
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata={"Date": None})
    svg = stream.getvalue()
    svg = svg[svg.index("<svg") :]
    return re.sub(
        r'<svg ([^>]*?)width="[^"]+" ([^>]*?)height="[^"]+"',
        rf'<svg role="img" aria-label="{label}" \1\2',
        svg,
        count=1,
    )


def curves(rows: pl.DataFrame, metrics: Mapping[str, str], names: Mapping[str, int], label: str) -> str:
    """One panel a metric: recall against budget for every named row, with its interval as a band.

    rows: name, metric (without budget), scorer, budget, value, low, high; metrics: metric -> title; names: name ->
    colour number. Single systems have wider lines than rankers of a list.
    """
    figure, axes = _figure(4.6 * len(metrics), 3.9, len(metrics))
    for axis, (metric, title) in zip(axes, metrics.items(), strict=True):
        for name, colour in names.items():
            own = rows.filter((pl.col("name") == name) & (pl.col("metric") == metric)).sort("budget")
            if not own.height:
                continue
            single = own["scorer"][0] is None
            style = {"color": COLOURS[colour % len(COLOURS)], "linewidth": 2.2 if single else 1.2}
            axis.plot(
                own["budget"], own["value"], STYLES[0 if single else 1], marker="o", markersize=3.5, label=name, **style
            )
            if single and own["low"].null_count() == 0:
                axis.fill_between(own["budget"], own["low"], own["high"], color=style["color"], alpha=0.10, linewidth=0)
        budgets = rows["budget"].unique().sort().to_list()
        axis.set_xscale("log", base=2)
        axis.set_xticks(budgets, [str(b) for b in budgets])
        axis.minorticks_off()
        axis.set(title=title, ylim=(0, 1.02), xlabel="tokens allowed for the context")
    axes[0].set_ylabel("share, mean over questions")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    return _svg(figure, label)


def bars(rows: pl.DataFrame, label: str) -> str:
    """Horizontal bars with intervals: one row a scorer. rows: name, value, low, high, best first."""
    figure, (axis,) = _figure(6.4, 0.9 + 0.28 * rows.height)
    places = range(rows.height)
    value = rows["value"].to_numpy()
    axis.barh(places, value, color=COLOURS[0], alpha=0.8, height=0.65)
    if rows["low"].null_count() == 0:
        below, above = value - rows["low"].to_numpy(), rows["high"].to_numpy() - value
        axis.errorbar(
            value, places, xerr=[below.clip(0), above.clip(0)], fmt="none", ecolor="#111827", elinewidth=1, capsize=2
        )
    axis.set_yticks(places, rows["name"].to_list())
    axis.invert_yaxis()
    axis.set(xlabel="F1 at gold size", xlim=(0, None))
    axis.grid(axis="y", visible=False)
    return _svg(figure, label)


def panels(rows: pl.DataFrame, specs: Sequence[Panel], label: str) -> str:
    """One panel a measure, one line a name; colour, line and marker tell the names apart, and an earlier line is the
    wider one, so that it shows where lines coincide.

    rows: name, measure, at, value; a measure without rows has no panel.
    """
    specs = [spec for spec in specs if (rows["measure"] == spec.measure).any()]
    names = rows["name"].unique(maintain_order=True).to_list()
    figure, axes = _figure(max(2.7 * len(specs), 6.4), 3.3, len(specs))
    for axis, spec in zip(axes, specs, strict=True):
        for n, name in enumerate(names):
            own = rows.filter((pl.col("name") == name) & (pl.col("measure") == spec.measure)).sort("at")
            style = {"color": COLOURS[n % len(COLOURS)], "marker": MARKERS[n % len(MARKERS)], "label": name}
            size = max(len(names) - n, 1)
            line = STYLES[n % len(STYLES)]
            axis.plot(own["at"], own["value"], line, linewidth=0.8 + 0.6 * size, markersize=2.5 + size, **style)
        axis.set(title=spec.title, xlabel=spec.xlabel)
        shown = rows.filter(pl.col("measure") == spec.measure)
        ticks = shown["at"].unique().sort().to_list()
        if "x" in spec.logs:
            axis.set_xscale("log")
        axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        if "y" in spec.logs:
            axis.set_yscale("log")
        axis.minorticks_off()
        if spec.shares:
            axis.set_ylim(0, 1.02)
        if spec.low is not None:
            axis.set_ylim(spec.low, 1.08 * shown["value"].max())
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    return _svg(figure, label)


def frontier(points: pl.DataFrame, line: pl.DataFrame, label: str) -> str:
    """Accuracy against mean prompt tokens: fixed configurations as dots, named policies by name, the policy under
    falling budgets as a line.

    points: name, tokens, accuracy; line: tokens, accuracy.
    """
    figure, (axis,) = _figure(6.4, 4.0)
    fixed = points.filter(pl.col("name").str.starts_with("fixed:"))
    axis.plot(fixed["tokens"], fixed["accuracy"], "o", color="#9ca3af", markersize=4, label="fixed configurations")
    axis.plot(line["tokens"], line["accuracy"], "-o", color=COLOURS[0], markersize=3, label="policy under a budget")
    named = points.filter(~pl.col("name").str.starts_with("fixed:")).sort("name")
    for n, (name, tokens, accuracy) in enumerate(named.iter_rows()):
        axis.plot([tokens], [accuracy], MARKERS[n % len(MARKERS)], color=COLOURS[n + 1], markersize=7, label=name)
    axis.set(xlabel="tokens of the whole prompt, mean over questions", ylabel="accuracy term, mean over questions")
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return _svg(figure, label)


def contests(rows: pl.DataFrame, names: Mapping[str, str], label: str) -> str:
    """How often one kind wins over another: a dot with its interval a contest, one line a scorer; chance is a half.

    rows: name, metric, value, low, high, in the order of the lines; names: metric -> what the legend calls it.
    """
    lines = rows["name"].unique(maintain_order=True).to_list()
    figure, (axis,) = _figure(6.4, 1.2 + 0.42 * len(lines))
    for n, (metric, name) in enumerate(names.items()):
        own = rows.filter(pl.col("metric") == metric)
        value = own["value"].to_numpy()
        reach = [(value - own["low"].to_numpy()).clip(0), (own["high"].to_numpy() - value).clip(0)]
        places = [lines.index(one) + 0.22 * (n - (len(names) - 1) / 2) for one in own["name"]]
        style = {"color": COLOURS[n], "fmt": MARKERS[n], "markersize": 4.5, "elinewidth": 1.4, "capsize": 2}
        axis.errorbar(value, places, xerr=reach, label=name, **style)
    axis.axvline(0.5, color="#6b7280", linewidth=1, linestyle="--")
    axis.set_yticks(range(len(lines)), lines)
    axis.invert_yaxis()
    axis.set(xlabel="share of pairs won, mean over questions", xlim=(-0.02, 1.02))
    axis.grid(axis="y", visible=False)
    figure.legend(loc="outside lower center", ncols=1, frameon=False, fontsize=9)
    return _svg(figure, label)


def spreads(rows: pl.DataFrame, label: str) -> str:
    """One panel a scorer, one line a kind, from 0: each quantile to its mirror image, thicker inwards, the median a dot.

    rows: scorer, kind, at, value.
    """
    known = rows["at"].unique().sort().to_list()
    reaches = [(low, high) for low in known for high in known if low < high and abs(low + high - 1) < 1e-9]
    scorers, kinds = (rows[name].unique(maintain_order=True).to_list() for name in ("scorer", "kind"))
    figure, axes = _figure(3.2 * len(scorers), 2.6, len(scorers))
    for axis, scorer in zip(axes, scorers, strict=True):
        for n, kind in enumerate(kinds):
            own = rows.filter((pl.col("scorer") == scorer) & (pl.col("kind") == kind))
            at = dict(own.select("at", "value").iter_rows())
            for inwards, (low, high) in enumerate(reaches):
                style = {"color": COLOURS[n], "linewidth": 1.2 + 3.8 * inwards, "solid_capstyle": "butt"}
                axis.plot([at[low], at[high]], [n, n], **style)
            if 0.5 in at:
                axis.plot([at[0.5]], [n], "o", color="#111827", markersize=4)
        axis.set(title=scorer, ylim=(len(kinds) - 0.4, -0.6), xlim=(0, None))
        axis.set_yticks(range(len(kinds)), kinds if axis is axes[0] else [""] * len(kinds))
        axis.grid(axis="y", visible=False)
    return _svg(figure, label)


Measured = tuple[float, float | None, float | None, int]


def pairs_of_bars(
    parts: Sequence[tuple[str, Sequence[tuple[str, float | None, Measured | None]]]], unit: str, path: Path
) -> None:
    """One panel a part, for each of its rows what is published, pale, and what is measured, full, with its interval.

    parts: (title, (row, published, (value, low, high, n))); what is missing is said in words.
    """
    from matplotlib.patches import Patch

    tallest = max(len(rows) for _, rows in parts)
    figure, axes = _figure(1.5 + 2.6 * len(parts), 1.0 + 0.45 * tallest, len(parts))
    for place, (axis, (title, rows)) in enumerate(zip(axes, parts, strict=True)):
        for n, (_, printed, measured) in enumerate(rows):
            if printed is not None:
                axis.barh(n - 0.18, printed, color=COLOURS[0], alpha=0.3, height=0.34)
            if measured:
                value, low, high, _ = measured
                ends = None if low is None or high is None else [[max(0, value - low)], [max(0, high - value)]]
                axis.barh(n + 0.18, value, xerr=ends, color=COLOURS[0], height=0.34, capsize=2)
            if printed is None and not measured:
                axis.text(0.02, n, "no figure", transform=axis.get_yaxis_transform(), va="center", fontsize=8)
        axis.set_yticks(range(len(rows)), [name for name, _, _ in rows] if place == 0 else [""] * len(rows))
        axis.invert_yaxis()
        axis.set(title=title, xlabel=unit, xlim=(0, None))
        axis.title.set_fontsize(9)
        axis.grid(axis="y", visible=False)
    handles = [Patch(color=COLOURS[0], alpha=0.3, label="published"), Patch(color=COLOURS[0], label="measured, 95 %")]
    figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False)
    figure.savefig(path, dpi=200, metadata={"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(path.suffix[1:]))
