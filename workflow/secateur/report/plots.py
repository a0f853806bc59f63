"""The report's plots, as inline SVG that scales with the page."""

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import polars as pl

__all__ = [
    "COLOURS",
    "Panel",
    "contests",
    "curves",
    "frontier",
    "pairs_of_bars",
    "panels",
    "saved",
    "spreads",
    "stripes",
    "svg",
    "trades",
    "words",
]

INK, LINE = "#111827", "#d1d5db"  # what the page shows in its own colours, dark or light
COLOURS = ("#2563eb", "#d97706", "#059669", "#dc2626", "#7c3aed", "#0891b2", "#be185d", "#65a30d", "#475569", "#a16207")
STYLES = ("-", "--", ":", "-.")
MARKERS = "osD^vP"
SMALL = 9  # points of the smallest text: on the page they are pixels at least
NAMED, ROOM, ROUNDS = 30, 16, 200  # characters of a name beside a line, names that fit one above the other, tries


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
        | {"axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": LINE}
        | dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), INK)
        | {"axes.facecolor": "none", "figure.facecolor": "none", "savefig.facecolor": "none"}
    )
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(1, columns, squeeze=False)[0]


def svg(figure, label: str) -> str:
    """The figure as an <svg> element with a text alternative, never so small that its text cannot be read; without a date
    so that equal data give equal bytes."""
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata={"Date": None})
    svg = stream.getvalue()
    svg = svg[svg.index("<svg") :].replace(INK, "var(--ink)").replace(LINE, "var(--line)")
    least = f"min-width: {figure.get_figwidth() * 72:g}px"  # its own units: below that it is scrolled
    head = f'<svg role="img" aria-label="{escape(label)}" style="{least}" '
    sized = r'<svg ([^>]*?)width="[^"]+" ([^>]*?)height="[^"]+"'
    return re.sub(sized, lambda found: head + found[1] + found[2], svg, count=1)


def curves(rows: pl.DataFrame, metric: str, title: str, names: Mapping[str, int], floor: tuple[float, float]):
    """A figure: one metric against the tokens that were sent, a line a named row with its name at its end.

    rows: name, metric (without budget), scorer, budget, sent, value, low, high; names: name -> colour number; floor: where
    the axis of values begins and ends, the same for the panels of a data set. Single systems have wider lines than
    rankers of a list; the first has its interval as a band.
    """
    figure, (axis,) = _figure(4.7, 3.5)
    own = rows.filter((pl.col("metric") == metric) & pl.col("name").is_in(list(names))).sort("budget")
    ends: list[tuple[float, float, str, str]] = []
    for name, colour in names.items():
        line = own.filter(pl.col("name") == name)
        if not line.height:
            continue
        single, paint = line["scorer"][0] is None, COLOURS[colour % len(COLOURS)]
        axis.plot(
            line["sent"], line["value"], color=paint, linewidth=2.2 if single else 1.2, marker="o", markersize=3.5
        )
        if not ends and line["low"].null_count() == 0:
            axis.fill_between(line["sent"], line["low"], line["high"], color=paint, alpha=0.10, linewidth=0)
        ends.append((line["value"][-1], line["sent"][-1], name, paint))
    budgets = own["budget"].unique().sort().to_list()
    axis.set_xscale("log", base=2)
    axis.set_xticks(budgets, [str(b) for b in budgets])
    axis.minorticks_off()
    axis.set(ylim=floor, xlabel="tokens sent, mean over questions", ylabel=f"{title}, from {floor[0]:g}")
    for place, (_, _, name, paint) in zip(_apart([end[0] for end in ends], floor), ends, strict=True):
        shown = name if len(name) <= NAMED else f"{name[: NAMED - 1]}…"
        axis.annotate(
            shown,
            (1.02, place),
            xycoords=("axes fraction", "data"),
            color=paint,
            fontsize=SMALL,
            va="center",
            annotation_clip=False,
        )
    return figure


def _apart(values: Sequence[float], floor: tuple[float, float]) -> list[float]:
    """Places for names beside the ends of lines, as near to them as names that do not overlap can be.

    >>> [round(place, 2) for place in _apart([0.5, 0.5, 0.1], (0, 1))]
    [0.47, 0.53, 0.1]
    """
    gap = (floor[1] - floor[0]) / ROOM
    order = sorted(range(len(values)), key=lambda n: values[n])
    places = [values[n] for n in order]
    for _ in range(ROUNDS):  # neighbours that are too near push each other away
        for n in range(len(places) - 1):
            push = (gap - (places[n + 1] - places[n])) / 2
            if push > 0:
                places[n], places[n + 1] = places[n] - push, places[n + 1] + push
    over = max(places, default=0) - floor[1]
    places = [place - max(over, 0) for place in places]
    return [dict(zip(order, places, strict=True))[n] for n in range(len(values))]


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
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False, fontsize=SMALL)
    return svg(figure, label)


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
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=SMALL)
    return svg(figure, label)


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
    figure.legend(loc="outside lower center", ncols=1, frameon=False, fontsize=SMALL)
    return svg(figure, label)


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
                axis.plot([at[0.5]], [n], "o", color=INK, markersize=4)
        axis.set(title=scorer, ylim=(len(kinds) - 0.4, -0.6), xlim=(0, None))
        axis.set_yticks(range(len(kinds)), kinds if axis is axes[0] else [""] * len(kinds))
        axis.grid(axis="y", visible=False)
    return svg(figure, label)


def trades(rows: pl.DataFrame, right: str, wrong: Mapping[str, str], label: str) -> str:
    """What is let in that is right against what is wrong, over falling thresholds: one panel a wrong kind, one line a
    scorer. Dashed: letting in as much of either.

    rows: scorer, kind, at, value; right: a kind; wrong: kind -> what the axis calls it.
    """
    scorers = rows["scorer"].unique(maintain_order=True).to_list()
    figure, axes = _figure(3.4 * len(wrong), 3.6, len(wrong))
    for axis, (kind, said) in zip(axes, wrong.items(), strict=True):
        for n, scorer in enumerate(scorers):
            own = rows.filter(pl.col("scorer") == scorer).pivot("kind", index="at", values="value").sort("at")
            style = {"color": COLOURS[n % len(COLOURS)], "linestyle": STYLES[n % len(STYLES)], "linewidth": 1.6}
            axis.plot(own[kind], own[right], label=scorer if axis is axes[0] else None, **style)
        axis.plot([0, 1], [0, 1], color="#6b7280", linewidth=1, linestyle="--")
        axis.set(xlabel=f"{said} accepted", ylabel=f"{right} accepted", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=SMALL)
    return svg(figure, label)


def words(text: str):
    """A figure that says in words why there is no plot."""
    figure, (axis,) = _figure(6.4, 1.2)
    axis.axis("off")
    axis.text(0.5, 0.5, text, ha="center", va="center", transform=axis.transAxes)
    return figure


def saved(figure, path: Path) -> None:
    """A figure as a file, without a date so that equal data give equal bytes."""
    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    figure.savefig(path, dpi=200, bbox_inches="tight", facecolor="white", metadata=dates.get(path.suffix[1:]))


def stripes(rows: Sequence[tuple[str, float, float | None, float | None, str, str]], xlabel: str, path: Path) -> None:
    """Differences with their intervals, a line each, as a file. rows: name, value, ends, words, colour."""
    figure, (axis,) = _figure(7.2, 0.9 + 0.28 * max(len(rows), 1))
    reach = max((abs(end) for _, *ends, _, _ in rows for end in ends if end is not None), default=1) * 1.05
    for n, (_, value, low, high, _, paint) in enumerate(rows):
        axis.plot([-reach if low is None else low, reach if high is None else high], [n, n], color=paint, linewidth=1.8)
        axis.plot([value], [n], "o", color=paint, markersize=5)
    axis.axvline(0, color=INK, linewidth=1)
    axis.set_yticks(range(len(rows)), [row[0] for row in rows])
    axis.set(xlabel=xlabel, xlim=(-reach, reach))
    axis.invert_yaxis()
    axis.grid(axis="y", visible=False)
    for n, row in enumerate(rows):
        axis.annotate(
            row[4], (1.02, n), xycoords=("axes fraction", "data"), fontsize=8.5, va="center", annotation_clip=False
        )
    saved(figure, path)


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
    saved(figure, path)
