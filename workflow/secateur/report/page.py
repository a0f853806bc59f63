"""One self-contained HTML page per experiment, from its tables: finding, leaderboard, plots, questions; then all tables."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from secateur.config.limits import command, unlimited
from secateur.report.finding import Line, findings, small_print
from secateur.report.format import Part, named, with_enough_data
from secateur.report.leaderboard import Board, board_table, boards, embedded, primary_table
from secateur.report.plots.style import COLOURS
from secateur.report.sections.answers import answer_parts
from secateur.report.sections.cost import cost_parts
from secateur.report.sections.datasets import statistics_part
from secateur.report.sections.differences import paired_parts
from secateur.report.sections.distractors import ABOUT, distractor_parts, is_checked
from secateur.report.sections.equal_quality import equal_quality_parts
from secateur.report.sections.gain import gain_parts
from secateur.report.sections.growth import growth_section
from secateur.report.sections.memory import memory_parts
from secateur.report.sections.peers import peer_parts
from secateur.report.sections.plain import plain_part
from secateur.report.sections.policy import policy_parts
from secateur.report.sections.rankings import cutoff_parts, retrieval_parts
from secateur.report.sections.recall import recall_parts
from secateur.report.sections.samples import samples_part
from secateur.report.sections.selection import selection_parts
from secateur.report.table import html

__all__ = ["About", "Figures", "ordered_findings", "render"]

EMPTY = {"text": "", "figures": [], "behind": None, "table": None, "cards": [], "note": "", "short": 0, "open": False}
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")  # not allowed in HTML; data may have them
Findings = Sequence[tuple[str, list[Line], str]]  # (data set, lines, sentence)
Row = Mapping[str, Any]


@dataclass(frozen=True)
class About:
    """The experiment of a page."""

    name: str
    title: str
    min_units: int  # resampling units below which there is no verdict
    claimed: Sequence[int]  # budgets of `@claim` in tokens
    variants: Sequence[Row]  # dataset, system, order, file
    missing: Sequence[Row] = ()  # of an unfinished experiment: dataset, system, order, absent


@dataclass(frozen=True)
class Figures:
    """The data of a page. Tables of several variants have their labels (dataset, system, order) as columns."""

    metrics: pl.DataFrame
    comparisons: pl.DataFrame
    leaders: pl.DataFrame
    equal_quality: pl.DataFrame
    drawings: Sequence[Row]  # labels, the tables samples and subgraphs
    growth: pl.DataFrame
    statistics: pl.DataFrame  # dataset_statistics
    stated: pl.DataFrame  # dataset, statistic, stated, source: sizes as published
    spreads: pl.DataFrame  # score_quantiles
    accepted: pl.DataFrame  # acceptance
    frontiers: pl.DataFrame  # frontier
    peers: Sequence[Row] = ()  # labels, the row of peer_costs as `indexed`, of peer_asked as `asked`
    families: Mapping[str, str] = field(default_factory=dict)  # system -> who ranks
    browsed: Row = field(default_factory=lambda: {"texts": [], "sets": []})  # data of the question browser
    costs: Sequence[Row] = ()  # of each variant, from the ledger
    warnings: Sequence[str] = ()  # of the stages behind the figures


def ordered_findings(
    metrics: pl.DataFrame, comparisons: pl.DataFrame, families: Mapping[str, str], about: About
) -> Findings:
    """(data set, lines, sentence): data sets with enough data first, then in the order of the experiment."""
    places = {v["dataset"]: -n for n, v in enumerate(reversed(about.variants))}
    unordered = findings(metrics, comparisons, families, about.min_units)
    return sorted(unordered, key=lambda f: (not any(line.enough_data for line in f[1]), places.get(f[0], 0)))


def render(about: About, figures: Figures) -> str:
    """The page."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    loader = FileSystemLoader(Path(__file__).parent, encoding="utf-8")
    page = Environment(undefined=StrictUndefined, autoescape=True, trim_blocks=True, loader=loader)
    page.filters["html"] = html
    all_findings = ordered_findings(figures.metrics, figures.comparisons, figures.families, about)
    order = [dataset for dataset, *_ in all_findings]
    tables = (figures.metrics, figures.comparisons, figures.leaders, figures.families)
    all_boards = list(boards(*tables, about.min_units, order))
    sections = [
        section | {"id": f"s{n}", "parts": [EMPTY | part for part in section["parts"]]}
        for n, section in enumerate(_sections(about, figures, all_findings))
    ]
    text = page.get_template("page.html.j2").render(
        name=about.name,
        colours=COLOURS,
        limit=unlimited(about.name)[1],
        title=about.title,
        sentences=[(sentence, small_print(lines, about.claimed)) for _, lines, sentence in all_findings]
        or [(_no_finding(figures), "")],
        primary=primary_table(figures.comparisons, about.min_units, about.claimed),
        boards=[board_table(board, about.claimed) for board in _firsts(all_boards)],
        rows=f"results/experiments/{about.name}{'/unfinished' * bool(about.missing)}/metrics.parquet",
        missing=[_labelled(row) for row in about.missing],
        warnings=figures.warnings,
        command=command(about.name),
        sections=sections,
        variants=[_labelled(row) for row in about.variants],
        browsed=_embedded(figures.browsed),
        leaderboards=_embedded({"boards": embedded(all_boards, about.claimed)}),
        questions=[
            (s["name"], len(s["questions"]), s["of"], s["budget"]) for s in figures.browsed["sets"] if s["questions"]
        ],
    )
    return CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def _labelled(row: Row) -> Row:
    """A row with its labels as one name."""
    return {**row, "name": " · ".join(filter(None, (row["dataset"], row["system"], row["order"])))}


def _embedded(data: Row) -> str:
    """Data as JSON inside a <script>, in which no text can end the element or begin another."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


# --- the first screen ----------------------------------------------------------------------------


def _no_finding(figures: Figures) -> str:
    """The sentence where no system is paired with a plain ranking."""
    systems = figures.metrics.filter(~pl.col("published"))["system"].n_unique()
    if not systems:
        return "Nothing was measured: the experiment has no rows."
    return (
        f"No system here is paired with a plain ranking of its kind, so there is no finding. Systems below: {systems}."
    )


def _firsts(all_boards: Sequence[Board]) -> list[Board]:
    """The first leaderboard of each data set."""
    return list({board.dataset: board for board in reversed(all_boards)}.values())[::-1]


# --- the sections --------------------------------------------------------------------------------


def _sections(about: About, figures: Figures, all_findings: Findings) -> Iterator[Part]:
    """A section a data set, then those of all data sets."""
    rows, pairs = (with_enough_data(t, about.min_units) for t in (named(figures.metrics), figures.comparisons))
    for dataset in dict.fromkeys([*(v["dataset"] for v in about.variants), *rows["dataset"]]):
        dataset_rows = rows.filter(dataset=dataset)
        if dataset_rows.is_empty():
            continue
        parts = list(_parts(dataset, dataset_rows, pairs.filter(dataset=dataset), figures))
        for _, lines, sentence in (finding for finding in all_findings if finding[0] == dataset):
            parts = [
                *parts,
                {"title": "Differences to the best plain ranking"} | plain_part(lines, sentence),
            ]
        yield {"title": dataset, "about": _about(dataset_rows), "parts": parts}
    growth = growth_section(figures.growth)
    if growth:
        yield growth


def _parts(dataset: str, rows: pl.DataFrame, pairs: pl.DataFrame, figures: Figures) -> Iterator[Part]:
    """The parts of a data set: a plot for each question that a reader has, open; the tables folded."""
    families = figures.families
    yield from _opened(selection_parts(dataset, rows, families))
    yield from _opened(distractor_parts(dataset, rows, figures.spreads, figures.accepted))
    orders = [order for order in ("blind", "aware") if (rows["order"] == order).any()]
    for place, order in enumerate(orders):
        yield from _opened(recall_parts(dataset, rows, order), place == 0)
        yield from retrieval_parts(dataset, rows, order)
    yield from _first_opened(equal_quality_parts(dataset, figures.equal_quality, families))
    yield from _first_opened(answer_parts(dataset, rows, families))
    for order in orders:
        yield from gain_parts(dataset, rows, order, families)
    yield from _first_opened(cost_parts(dataset, rows, figures.costs, families))
    yield from peer_parts(dataset, rows, figures.peers)
    yield from memory_parts(dataset, rows, families)
    yield from policy_parts(dataset, rows, pairs, figures.frontiers)
    yield from cutoff_parts(dataset, rows)
    yield from paired_parts(dataset, pairs)
    yield from (samples_part(row) for row in figures.drawings if row["dataset"] == dataset and row["samples"].height)
    yield from statistics_part(dataset, figures.statistics, figures.stated)


def _opened(parts: Iterable[Part], first: bool = True) -> Iterator[Part]:
    """The parts; of the first order, those with plots, or text in place of plots, are open."""
    for part in parts:
        yield {"open": first and not part.keys().isdisjoint(("figures", "text"))} | part


def _first_opened(parts: Iterable[Part]) -> Iterator[Part]:
    """The parts, the first of them open."""
    for n, part in enumerate(parts):
        yield {"open": n == 0} | part


def _about(rows: pl.DataFrame) -> str:
    if is_checked(rows):
        return ABOUT
    if rows["order"].is_null().all():
        return "Each scorer picks as many passages as the question has gold ones."
    return (
        "Evidence that reaches the reader at equal numbers of tokens, counted as it is sent by the reader's own tokenizer. "
        "Order-blind rows never look at a sentence's position; order-aware rows may."
    )
