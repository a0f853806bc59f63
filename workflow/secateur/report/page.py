"""One self-contained HTML page per experiment, from its tables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from secateur.report.format import judged, named
from secateur.report.sections.answers import answer_section
from secateur.report.sections.datasets import cutoff_parts, statistics_part
from secateur.report.sections.differences import claim_parts, headlines, matched_parts
from secateur.report.sections.distractors import ABOUT, distractor_headlines, distractor_parts, is_checked
from secateur.report.sections.gain import gain_parts
from secateur.report.sections.lemmas import growth_section, lemma_section
from secateur.report.sections.memory import memory_parts
from secateur.report.sections.peers import peer_parts
from secateur.report.sections.policy import policy_headlines, policy_parts
from secateur.report.sections.recall import recall_parts
from secateur.report.sections.retrieval import retrieval_parts
from secateur.report.sections.samples import samples_part
from secateur.report.sections.selection import selection_differences, selection_headlines, selection_parts

__all__ = ["Figures", "found", "render"]

ORDERS = ("blind", "aware")
EMPTY = {"text": "", "svg": "", "table": None, "cards": [], "form": "", "note": ""}  # a part without any of these
Part = dict[str, Any]


@dataclass(frozen=True)
class Figures:
    """What a page shows.

    metrics, comparisons: the tables; drawings: dataset, system, order and the tables samples and subgraphs; measures:
    corpus, dataset, system, order and the columns of graph_measures; statistics: dataset and the columns of
    dataset_statistics; stated: what publications say of them; spreads: dataset, system and the columns of
    score_quantiles; frontiers: dataset, system, order and the columns of frontier; peers: dataset, system and the one row
    each of peer_costs and peer_asked.
    """

    metrics: pl.DataFrame
    comparisons: pl.DataFrame
    drawings: Sequence[Mapping[str, Any]]
    measures: pl.DataFrame
    statistics: pl.DataFrame
    stated: pl.DataFrame
    spreads: pl.DataFrame
    frontiers: pl.DataFrame
    peers: Sequence[Mapping[str, Any]] = ()


def found(metrics: pl.DataFrame, comparisons: pl.DataFrame, min_units: int) -> list[str]:
    """The headline sentences: what the rows say, with their intervals."""
    rows, told, lines = named(metrics.filter(~pl.col("published"))), judged(comparisons, min_units), []
    for (dataset,), own in rows.group_by("dataset", maintain_order=True):
        against = told.filter(pl.col("dataset") == dataset)
        lines += headlines(dataset, against) + selection_headlines(dataset, own)
        lines += distractor_headlines(dataset, own) + policy_headlines(dataset, own, against)
    return lines


def render(name: str, title: str, min_units: int, variants: Sequence[Mapping[str, Any]], figures: Figures) -> str:
    """The page. min_units: resampling units below which no verdict is given; variants: dataset, system, order, file."""
    from jinja2 import Environment, StrictUndefined

    template = Path(__file__).with_name("page.html.j2").read_text(encoding="utf-8")
    page = Environment(undefined=StrictUndefined, autoescape=True, trim_blocks=True).from_string(template)
    sections = [
        section | {"parts": [EMPTY | part for part in section["parts"]]} for section in _sections(figures, min_units)
    ]
    return page.render(
        name=name,
        title=title,
        found=found(figures.metrics, figures.comparisons, min_units),
        rows=f"results/experiments/{name}/metrics.parquet",
        sections=sections,
        variants=[
            {"name": " · ".join(filter(None, (v["dataset"], v["system"], v["order"]))), "file": v["file"]}
            for v in variants
        ],
    )


def _sections(figures: Figures, min_units: int) -> Iterator[Part]:
    """One section a data set, then those that speak of all."""
    rows, told = named(figures.metrics), judged(figures.comparisons, min_units)
    for (dataset,), own in rows.group_by("dataset", maintain_order=True):
        against = told.filter(pl.col("dataset") == dataset)
        yield {"title": dataset, "about": _about(own), "parts": list(_parts(dataset, own, against, figures))}
    last = (answer_section(figures.metrics, told), growth_section(figures.measures), lemma_section(figures.measures))
    yield from (section for section in last if section)


def _parts(dataset: str, own: pl.DataFrame, against: pl.DataFrame, figures: Figures) -> Iterator[Part]:
    """The parts of a data set, the matched differences first."""
    yield from claim_parts(dataset, against)
    yield from selection_parts(dataset, own)
    yield from selection_differences(dataset, against)
    yield from cutoff_parts(dataset, own)
    yield from distractor_parts(dataset, own, figures.spreads)
    yield from policy_parts(dataset, own, against, figures.frontiers)
    yield from memory_parts(dataset, own)
    for order in ORDERS:
        yield from recall_parts(dataset, own, order)
        yield from retrieval_parts(dataset, own, order)
        yield from gain_parts(dataset, own, order)
    yield from peer_parts(dataset, own, figures.peers)
    yield from matched_parts(dataset, against)
    yield from (samples_part(one) for one in figures.drawings if one["dataset"] == dataset and one["samples"].height)
    yield from statistics_part(dataset, figures.statistics, figures.stated)


def _about(own: pl.DataFrame) -> str:
    if is_checked(own):
        return ABOUT
    if own["order"].is_null().all():
        return "Each scorer picks as many passages as the question has gold ones."
    return (
        "Evidence that reaches the reader at equal numbers of tokens, counted as it is sent by the reader's own tokenizer. "
        "Order-blind rows never look at a sentence's position; order-aware rows may."
    )
