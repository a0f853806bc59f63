"""The charts of the report and of `secateur figures`: a function per chart, which returns a Matplotlib figure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap

import polars as pl

from secateur.report.plots.style import FAMILIES, INCH, LIGHT, MARKERS, SERIES, SMALL, STYLES, blank, inline, subplots

__all__ = ["Dot", "curves", "forest", "forests", "frontier", "panels", "spreads", "trades"]

SHARES = (-0.02, 1.02)  # limits of an axis of shares
NAME_LENGTH = 30  # characters of a name beside the end of a line
NAMES_STACKED = 16  # names that fit above each other
ROUNDS = 200  # of moving names apart

# --- values with intervals -----------------------------------------------------------------------

WIDE, NARROW = 1080, 372  # pixels of a forest plot, on a wide and on a small screen
NAME_WIDTH, FIGURES_WIDTH = 330, 330  # pixels for the name and for the figures of a line of the wide plot
LINE, TALL, HEAD, AXIS, STEP = 26, 40, 26, 38, 15  # pixels: line, narrow line, group's head, axis, line below the axis
CHARACTER = 0.62  # mean width of a character over its size
GROUP_SIZE, NAME_SIZE, FIGURES_SIZE, AXIS_SIZE = 14, 13, 12, 11  # points of text


@dataclass(frozen=True)
class Dot:
    """A value with its interval: one line of a forest plot.

    low, high: None where unbounded; figures, counts: text of the figures and of the sample sizes; group: head above the
    line; empty: no value to draw, text only; hollow: open circle, for values that are not significant or not measured.
    """

    name: str
    family: str
    value: float
    low: float | None
    high: float | None
    figures: str
    counts: str
    group: str = ""
    empty: bool = False
    hollow: bool = False


def forests(dots: Sequence[Dot], label: str, xlabel: str, reference: tuple[float, str] | None = None) -> list[str]:
    """A forest plot as <svg>, wide and narrow: the page shows the one that fits the screen. label: text alternative."""
    forms = {"forest broad": False, "forest narrow": True}
    return [inline(forest(dots, xlabel, reference, narrow=narrow), label, form) for form, narrow in forms.items()]


def forest(dots: Sequence[Dot], xlabel: str, reference: tuple[float, str] | None = None, *, narrow: bool = False):
    """A forest plot: one line per value with its interval. reference: value and name, e.g. (0, "the baseline")."""
    groups: dict[str, list[Dot]] = {}
    for dot in dots:
        groups.setdefault(dot.group, []).append(dot)
    width, line = (NARROW, TALL) if narrow else (WIDE, LINE)
    left, right = (8, width - 8) if narrow else (NAME_WIDTH, width - FIGURES_WIDTH)
    captions = [xlabel, *([f"{reference[0]:g}: {reference[1]}"] if reference else [])]
    room = int(width / AXIS_SIZE / CHARACTER)
    below = [part for text in captions for part in wrap(text, room)] if narrow else ["; ".join(captions)]
    plot, foot = sum(HEAD * bool(g) for g in groups) + line * len(dots) + 4, AXIS + STEP * len(below)
    figure = blank(width / INCH, (plot + foot) / INCH)
    axis = figure.add_axes((left / width, foot / (plot + foot), (right - left) / width, plot / (plot + foot)))
    low, high = _limits([dot for dot in dots if not dot.empty], reference)
    axis.set(xlim=(low, high), ylim=(plot, 0), yticks=[])
    axis.locator_params(axis="x", nbins=4 if narrow else 8)
    axis.tick_params(length=0, labelsize=AXIS_SIZE, labelcolor=LIGHT["soft"])
    axis.spines[["left", "bottom"]].set_visible(False)
    axis.set_xlabel("\n".join(below), fontsize=AXIS_SIZE, color=LIGHT["soft"], loc="left" if narrow else "center")
    if reference:
        axis.axvline(reference[0], color=LIGHT["ink"], linewidth=1.4)

    def write(text: str, x: float, y: float, size: int, colour: str = "ink", **style) -> None:
        over_grid = narrow or size == GROUP_SIZE
        paper = {"facecolor": LIGHT["paper"], "edgecolor": "none", "pad": 1} if over_grid else None
        where = {"xycoords": ("figure points", "data"), "va": "center", "annotation_clip": False, "bbox": paper}
        axis.annotate(text, (x, y), fontsize=size, color=LIGHT[colour], **where, **style)

    y = 4.0
    for group, members in groups.items():
        equal = len({dot.counts for dot in members}) == 1
        counts = members[0].counts if narrow and group and equal else ""  # a narrow plot states equal counts once
        if group:
            write(" · ".join(filter(None, (group, counts))), 0, y + HEAD / 2, GROUP_SIZE, fontweight="bold")
            y += HEAD
        for dot in members:
            figures = " · ".join(filter(None, (dot.figures, "" if narrow else dot.counts)))
            room = (NARROW - len(figures) * FIGURES_SIZE * CHARACTER if narrow else NAME_WIDTH) - 12
            middle = y + (TALL / 4 if narrow else LINE / 2)  # of the text; a narrow plot has the interval below it
            write(_cut(dot.name, int(room / NAME_SIZE / CHARACTER)), 0, middle, NAME_SIZE)
            x, style = (NARROW, {"ha": "right"}) if narrow else (WIDE - FIGURES_WIDTH + 12, {})
            write(figures, x, middle, FIGURES_SIZE, "soft", **style)
            if not dot.empty:
                _interval(axis, dot, (low, high), y + (0.7 * TALL if narrow else LINE / 2))
            y += line
    return figure


def _limits(dots: Sequence[Dot], reference: tuple[float, str] | None) -> tuple[float, float]:
    """The limits of the axis; it starts at 0 where all values are positive and there is no reference."""
    ends = [end for dot in dots for end in (dot.value, dot.low, dot.high) if end is not None and math.isfinite(end)]
    ends += [reference[0]] if reference else [0.0] if not ends or min(ends) >= 0 else []
    low, high = min(ends), max(ends)
    room = 0.04 * (high - low) or 1
    return low - room * (reference is not None or low != 0), high + room


def _interval(axis, dot: Dot, limits: tuple[float, float], y: float) -> None:
    """Draws the interval, dashed where it is unbounded, and the value."""
    colour = LIGHT[dot.family if dot.family in FAMILIES else "imported"]
    ends = [limits[side] if end is None else end for side, end in enumerate((dot.low, dot.high))]
    dashes = (0, (3, 2)) if None in (dot.low, dot.high) else "-"
    if ends[0] != ends[1]:
        axis.plot(ends, [y, y], color=colour, linewidth=2.5, linestyle=dashes, solid_capstyle="butt")
    fill = LIGHT["paper"] if dot.hollow else colour
    axis.plot([dot.value], [y], "o", markersize=9, markerfacecolor=fill, markeredgecolor=colour, markeredgewidth=2)


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: room - 1]}…"


# --- lines ---------------------------------------------------------------------------------------


def curves(rows: pl.DataFrame, metric: str, title: str, names: Mapping[str, int], limits: tuple[float, float]):
    """A metric against the tokens sent: a line per name, labelled at its end.

    rows: name, metric (without budget), scorer, budget, sent, value, low, high; names: name -> number of its colour;
    limits: of the axis of values. Systems with one ranker have wider lines than rankers of a list. A band shows the
    interval of the first line.
    """
    figure, (axis,) = subplots(4.7, 3.5)
    shown = rows.filter((pl.col("metric") == metric) & pl.col("name").is_in(list(names))).sort("budget")
    ends: list[tuple[float, str, str]] = []
    for name, number in names.items():
        line = shown.filter(pl.col("name") == name)
        if not line.height:
            continue
        width, colour = (2.2 if line["scorer"][0] is None else 1.2), SERIES[number % len(SERIES)]
        mark = {"marker": "o", "markersize": 3.5} if line.height > 1 else {"marker": "*", "markersize": 11}
        axis.plot(line["sent"], line["value"], "-", color=colour, linewidth=width, **mark)
        if not ends and line["low"].null_count() == 0:
            axis.fill_between(line["sent"], line["low"], line["high"], color=colour, alpha=0.10, linewidth=0)
        ends.append((line["value"][-1], name, colour))
    of_curves = shown.filter(pl.len().over("name") > 1)  # a row made elsewhere has a length of its own
    budgets = (of_curves if of_curves.height else shown)["budget"].unique().sort().to_list()
    axis.set_xscale("log", base=2)
    axis.set_xticks(budgets, [str(budget) for budget in budgets])
    axis.minorticks_off()
    axis.set(ylim=limits, xlabel="tokens sent, mean over questions", ylabel=f"{title}, from {limits[0]:g}")
    beside = {"xycoords": ("axes fraction", "data"), "va": "center", "annotation_clip": False, "fontsize": SMALL}
    for place, (_, name, colour) in zip(_apart([end[0] for end in ends], limits), ends, strict=True):
        axis.annotate(_cut(name, NAME_LENGTH), (1.02, place), color=colour, **beside)
    return figure


def _apart(values: Sequence[float], limits: tuple[float, float]) -> list[float]:
    """Places of names beside the ends of lines, without overlap and as near to the ends as that allows.

    >>> [round(place, 2) for place in _apart([0.5, 0.5, 0.1], (0, 1))]
    [0.47, 0.53, 0.1]
    """
    gap = (limits[1] - limits[0]) / NAMES_STACKED
    order = sorted(range(len(values)), key=lambda n: values[n])
    places = [values[n] for n in order]
    for _ in range(ROUNDS):  # neighbours closer than the gap push each other apart
        for n in range(len(places) - 1):
            push = (gap - (places[n + 1] - places[n])) / 2
            if push > 0:
                places[n], places[n + 1] = places[n] - push, places[n + 1] + push
    over = max(places, default=0) - limits[1]
    places = [place - max(over, 0) for place in places]
    return [dict(zip(order, places, strict=True))[n] for n in range(len(values))]


def panels(rows: pl.DataFrame, xlabel: str):
    """A panel per measure on logarithmic axes, a line per name. Earlier lines are wider, so that equal lines both show.

    rows: name, measure, at, value; `at` and `value` above 0.
    """
    names, measures = (rows[column].unique(maintain_order=True).to_list() for column in ("name", "measure"))
    figure, axes = subplots(max(2.7 * len(measures), 6.4), 3.3, len(measures))
    for axis, measure in zip(axes, measures, strict=True):
        shown = rows.filter(pl.col("measure") == measure).sort("at")
        for n, name in enumerate(names):
            line, size = shown.filter(pl.col("name") == name), len(names) - n
            style = {"color": SERIES[n % len(SERIES)], "marker": MARKERS[n % len(MARKERS)], "label": name}
            style |= {"linestyle": STYLES[n % len(STYLES)], "linewidth": 0.8 + 0.6 * size, "markersize": 2.5 + size}
            axis.plot(line["at"], line["value"], **style)
        ticks = shown["at"].unique().sort().to_list()
        axis.set(title=measure, xlabel=xlabel, xscale="log", yscale="log")
        axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axis.minorticks_off()
    figure.legend(*axes[0].get_legend_handles_labels(), **_below(2))
    return figure


def frontier(points: pl.DataFrame, line: pl.DataFrame):
    """Accuracy against mean prompt tokens: fixed configurations as dots, policies as labelled marks, budgets as a line.

    points: name, tokens, accuracy; line: tokens, accuracy of the policy under falling budgets.
    """
    figure, (axis,) = subplots(6.4, 4.0)
    is_fixed = pl.col("name").str.starts_with("fixed:")
    fixed = points.filter(is_fixed)
    axis.plot(fixed["tokens"], fixed["accuracy"], "o", color=LIGHT["lexical"], ms=4, label="fixed configurations")
    axis.plot(line["tokens"], line["accuracy"], "-o", color=SERIES[0], markersize=3, label="policy under a budget")
    for n, (name, tokens, accuracy) in enumerate(points.filter(~is_fixed).sort("name").iter_rows()):
        axis.plot([tokens], [accuracy], MARKERS[n % len(MARKERS)], color=SERIES[n + 1], markersize=7, label=name)
    axis.set(xlabel="tokens of the whole prompt, mean over questions", ylabel="accuracy term, mean over questions")
    figure.legend(**_below(3))
    return figure


def spreads(rows: pl.DataFrame):
    """The spread of scores: a panel per scorer, a line per kind of passage.

    A line joins each quantile to its opposite, e.g. 0.1 to 0.9; inner lines are thicker and the median is a dot. rows:
    scorer, kind, at (quantile), value (score).
    """
    at = rows["at"].unique().sort().to_list()
    ranges = [(low, high) for low in at for high in at if low < high and abs(low + high - 1) < 1e-9]
    scorers, kinds = (rows[name].unique(maintain_order=True).to_list() for name in ("scorer", "kind"))
    figure, axes = subplots(3.2 * len(scorers), 2.6, len(scorers))
    for axis, scorer in zip(axes, scorers, strict=True):
        for n, kind in enumerate(kinds):
            quantiles = dict(rows.filter(scorer=scorer, kind=kind).select("at", "value").iter_rows())
            for inwards, ends in enumerate(ranges):
                style = {"color": SERIES[n], "linewidth": 1.2 + 3.8 * inwards, "solid_capstyle": "butt"}
                axis.plot([quantiles[end] for end in ends], [n, n], **style)
            if 0.5 in quantiles:
                axis.plot([quantiles[0.5]], [n], "o", color=LIGHT["ink"], markersize=4)
        axis.set(title=scorer, ylim=(len(kinds) - 0.4, -0.6), xlim=(0, None))
        axis.set_yticks(range(len(kinds)), kinds if axis is axes[0] else [""] * len(kinds))
        axis.grid(axis="y", visible=False)
    return figure


def trades(rows: pl.DataFrame, right: str, wrong: Sequence[str]):
    """Acceptance of the right kind of passage against a wrong kind, over falling thresholds.

    A panel per wrong kind, a line per scorer; dashed: equal shares. rows: scorer, kind, at (threshold), value (share
    accepted).
    """
    scorers = rows["scorer"].unique(maintain_order=True).to_list()
    figure, axes = subplots(3.4 * len(wrong), 3.6, len(wrong))
    for axis, kind in zip(axes, wrong, strict=True):
        for n, scorer in enumerate(scorers):
            line = rows.filter(pl.col("scorer") == scorer).pivot("kind", index="at", values="value").sort("at")
            style = {"color": SERIES[n % len(SERIES)], "linestyle": STYLES[n % len(STYLES)], "linewidth": 1.6}
            axis.plot(line[kind], line[right], label=scorer if axis is axes[0] else None, **style)
        axis.plot([0, 1], [0, 1], color=LIGHT["soft"], linewidth=1, linestyle="--")
        axis.set(xlabel=f"{kind} accepted", ylabel=f"{right} accepted", xlim=SHARES, ylim=SHARES)
    figure.legend(**_below(3))
    return figure


def _below(columns: int) -> dict:
    """Settings of a legend below the axes."""
    return {"loc": "outside lower center", "ncols": columns, "frameon": False, "fontsize": SMALL}
