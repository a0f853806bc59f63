"""One self-contained HTML page per experiment, from its tables: the finding first, the questions last."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from secateur.config.limits import command, unlimited
from secateur.report.finding import Line, findings, small_print
from secateur.report.format import named, with_enough_data
from secateur.report.plots.style import COLOURS, FAMILIES
from secateur.report.sections.answers import answer_parts
from secateur.report.sections.cost import cost_parts
from secateur.report.sections.datasets import cutoff_parts, statistics_part
from secateur.report.sections.differences import paired_parts
from secateur.report.sections.distractors import ABOUT, distractor_parts, is_checked
from secateur.report.sections.gain import gain_parts
from secateur.report.sections.growth import growth_section
from secateur.report.sections.memory import memory_parts
from secateur.report.sections.peers import peer_parts
from secateur.report.sections.plain import plain_part
from secateur.report.sections.policy import policy_parts
from secateur.report.sections.recall import recall_parts
from secateur.report.sections.retrieval import retrieval_parts
from secateur.report.sections.samples import samples_part
from secateur.report.sections.selection import selection_differences, selection_parts
from secateur.report.table import html

__all__ = ["About", "Figures", "found", "render"]

FIRST = 8  # lines of the first screen's plot
EMPTY = {"text": "", "figures": [], "behind": None, "table": None, "cards": [], "form": "", "note": "", "short": 0}
EMPTY |= {"open": False}
Part = dict[str, Any]
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")  # no HTML: data may hold them


@dataclass(frozen=True)
class About:
    """What a page speaks of. min_units: resampling units below which no verdict is given; claimed: the budgets of a claim;
    variants: dataset, system, order, file; missing: of an experiment that has not ended, dataset, system, order and what is
    absent of each."""

    name: str
    title: str
    min_units: int
    claimed: Sequence[int]
    variants: Sequence[Mapping[str, Any]]
    missing: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True)
class Figures:
    """What a page shows.

    metrics, comparisons: the tables; drawings: dataset, system, order and the tables samples and subgraphs; growth:
    corpus, system, order and the columns of the table growth; statistics: dataset and the columns of
    dataset_statistics; stated: what publications say of them; spreads: dataset, system and the columns of
    score_quantiles; accepted: the same of acceptance; frontiers: dataset, system, order and the columns of frontier; peers: dataset, system and the one row
    each of peer_costs and peer_asked; families: who ranks, of each system; browsed: the questions, as plain data; costs:
    what the ledger says of each variant.
    """

    metrics: pl.DataFrame
    comparisons: pl.DataFrame
    drawings: Sequence[Mapping[str, Any]]
    growth: pl.DataFrame
    statistics: pl.DataFrame
    stated: pl.DataFrame
    spreads: pl.DataFrame
    accepted: pl.DataFrame
    frontiers: pl.DataFrame
    peers: Sequence[Mapping[str, Any]] = ()
    families: Mapping[str, str] = field(default_factory=dict)
    browsed: Mapping[str, Any] = field(default_factory=lambda: {"texts": [], "sets": []})
    costs: Sequence[Mapping[str, Any]] = ()


Found = Sequence[tuple[str, list[Line], str]]


def found(metrics: pl.DataFrame, comparisons: pl.DataFrame, families: Mapping[str, str], about: About) -> Found:
    """(data set, lines, sentence), data sets with enough data first, then in the order of the experiment."""
    places = {v["dataset"]: -n for n, v in enumerate(reversed(about.variants))}
    made = findings(metrics, comparisons, families, about.min_units)
    return sorted(made, key=lambda one: (not any(line.enough_data for line in one[1]), places.get(one[0], 0)))


def render(about: About, figures: Figures) -> str:
    """The page."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    loader = FileSystemLoader(Path(__file__).parent, encoding="utf-8")
    page = Environment(undefined=StrictUndefined, autoescape=True, trim_blocks=True, loader=loader)
    page.filters["html"] = html
    made = found(figures.metrics, figures.comparisons, figures.families, about)
    sections = [
        section | {"id": f"s{n}", "parts": [EMPTY | part for part in section["parts"]]}
        for n, section in enumerate(_sections(about, figures, {dataset: own for dataset, *own in made}))
    ]
    text = page.get_template("page.html.j2").render(
        name=about.name,
        colours=COLOURS,
        limit=unlimited(about.name)[1],
        title=about.title,
        sentences=[(sentence, small_print(lines, about.claimed)) for _, lines, sentence in made]
        or [(_no_finding(figures), "")],
        lead=_lead(made),
        families=[(f, FAMILIES[f]) for f in FAMILIES if any(line.family == f for _, own, _ in made for line in own)],
        rows=f"results/experiments/{about.name}{'/unfinished' * bool(about.missing)}/metrics.parquet",
        missing=[_called(v) | {"absent": v["absent"]} for v in about.missing],
        command=command(about.name),
        sections=sections,
        variants=[_called(v) | {"file": v["file"]} for v in about.variants],
        browsed=_embedded(figures.browsed),
        questions=[
            (one["name"], len(one["questions"]), one["of"], one["budget"])
            for one in figures.browsed["sets"]
            if one["questions"]
        ],
    )
    return CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def _called(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": " · ".join(filter(None, (row["dataset"], row["system"], row["order"])))}


def _embedded(data: Mapping[str, Any]) -> str:
    """Plain data inside a <script>, where no text of it can end the element or begin another."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


# --- the first screen ----------------------------------------------------------------------------


def _no_finding(figures: Figures) -> str:
    """What is said where no system stands beside a plain ranking."""
    systems = figures.metrics.filter(~pl.col("published"))["system"].n_unique()
    if not systems:
        return "Nothing was measured: the experiment has no rows."
    return f"No system here stands beside a plain ranking of its kind, so there is no finding. Systems described below: {systems}."


def _lead(made: Found) -> Part:
    """The best lines of each data set as a plot, as many as a screen has room for; nothing where there are none."""
    if not made:
        return {}
    share = max(FIRST // len(made), 1)
    return plain_part([(name, lines) for name, lines, _ in made], " ".join(said for *_, said in made), share)


# --- the rest ------------------------------------------------------------------------------------


def _sections(about: About, figures: Figures, made: Mapping[str, tuple[list[Line], str]]) -> Iterator[Part]:
    """One section a data set, then those that speak of all. made: the lines and the sentence of data sets."""
    rows, differences = (
        with_enough_data(one, about.min_units) for one in (named(figures.metrics), figures.comparisons)
    )
    for dataset in dict.fromkeys([*(v["dataset"] for v in about.variants), *rows["dataset"]]):
        own = rows.filter(pl.col("dataset") == dataset)
        if own.is_empty():
            continue
        against = differences.filter(pl.col("dataset") == dataset)
        parts = list(_parts(dataset, own, against, figures, made.get(dataset, ([], ""))))
        yield {"title": dataset, "about": _about(own), "parts": parts}
    last = growth_section(figures.growth)
    if last:
        yield last


def _parts(
    dataset: str, own: pl.DataFrame, against: pl.DataFrame, figures: Figures, made: tuple[list[Line], str]
) -> Iterator[Part]:
    """The parts of a data set: a plot of each question that a reader has, open; every table behind it, folded."""
    families, (lines, said) = figures.families, made
    if len(lines) > FIRST:
        yield {"title": "All differences to the best plain ranking"} | plain_part([(dataset, lines)], said)
    yield from _opened(selection_parts(dataset, own, families))
    yield from _opened(distractor_parts(dataset, own, figures.spreads, figures.accepted))
    orders = [o for o in ("blind", "aware") if (own["order"] == o).any()]
    for place, order in enumerate(orders):
        yield from _opened(recall_parts(dataset, own, order), place == 0)
        yield from retrieval_parts(dataset, own, order)
    yield from answer_parts(dataset, own, against, families)
    for place, order in enumerate(orders):
        yield from _opened(gain_parts(dataset, own, order, families), place == 0)
    yield from _standing(cost_parts(dataset, own, figures.costs, families))
    yield from _standing(peer_parts(dataset, own, figures.peers))
    yield from _standing(memory_parts(dataset, own, families)[:1])
    yield from memory_parts(dataset, own, families)[1:]
    yield from _standing(policy_parts(dataset, own, against, figures.frontiers))
    yield from cutoff_parts(dataset, own)
    yield from selection_differences(dataset, against)
    yield from paired_parts(dataset, against)
    yield from (samples_part(one) for one in figures.drawings if one["dataset"] == dataset and one["samples"].height)
    yield from statistics_part(dataset, figures.statistics, figures.stated)


def _opened(parts: Iterable[Part], first: bool = True) -> Iterator[Part]:
    """Parts, those with plots open, or with what stands in the place of one."""
    for part in parts:
        yield {"open": first and not part.keys().isdisjoint(("figures", "text"))} | part


def _standing(parts: Iterable[Part]) -> Iterator[Part]:
    """Parts that are open, plots or not."""
    for part in parts:
        yield part | {"open": True}


def _about(own: pl.DataFrame) -> str:
    if is_checked(own):
        return ABOUT
    if own["order"].is_null().all():
        return "Each scorer picks as many passages as the question has gold ones."
    return (
        "Evidence that reaches the reader at equal numbers of tokens, counted as it is sent by the reader's own tokenizer. "
        "Order-blind rows never look at a sentence's position; order-aware rows may."
    )
