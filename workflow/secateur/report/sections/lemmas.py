"""The report's last sections: how the codebook grows, and what the paper's lemmas claim beside what was measured."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import polars as pl

from secateur.report import plots
from secateur.report.format import cell, number
from secateur.report.plots import Panel

__all__ = ["growth_section", "lemma_section"]

KINDS = ("entities", "relations", "edges", "runs")
Part = dict[str, Any]


def _percent(share: float) -> str:
    return f"{100 * share:g} %"


def _count(value: float) -> str:
    return f"{value:,.0f}"


def _table(
    rows: pl.DataFrame, measures: dict[str, str], head: Callable[[float], str], body: Callable[[float], str] = number
) -> dict[str, Any]:
    """One line a graph and measure, one column an `at`. measures: name in the table -> name on the page."""
    places = rows.filter(pl.col("measure").is_in(list(measures)))["at"].unique().sort().to_list()
    lines = []
    for (name,), own in rows.group_by("name", maintain_order=True):
        for measure, label in measures.items():
            by = dict(own.filter(pl.col("measure") == measure).select("at", "value").iter_rows())
            cells = [cell(body(by[p])) if p in by else cell("") for p in places]
            lines.append({"form": "", "cells": [cell(f"{name}: {label}" if label else name), *cells]})
    return {"heads": ["graph", *map(head, places)], "rows": lines}


def _n(rows: pl.DataFrame, measure: str, what: str) -> str:
    """`n = 20 questions`, or the n of each graph where they differ."""
    own = rows.filter(pl.col("measure").str.starts_with(measure))["n"].unique().sort().to_list()
    return f"n = {own[0]:,} {what}" if len(own) == 1 else f"n = {own[0]:,} to {own[-1]:,} {what}"


def _with(rows: pl.DataFrame, prefix: str) -> pl.DataFrame:
    return rows.filter(pl.col("measure").str.starts_with(prefix))


# --- growth --------------------------------------------------------------------------------------


def _exponents(rows: pl.DataFrame) -> dict[str, Any]:
    lines = []
    for (name,), own in rows.group_by("name", maintain_order=True):
        by = dict(own.select("measure", "value").iter_rows())
        lines.append({"form": "", "cells": [cell(name), *(cell(number(by.get(f"exponent_{k}"))) for k in KINDS)]})
    return {"heads": ["graph", *KINDS], "rows": lines}


def _bytes(rows: pl.DataFrame) -> dict[str, Any]:
    own = _with(rows, "bytes_")
    tables = own["measure"].unique(maintain_order=True).to_list()
    lines = []
    for (name,), part in own.group_by("name", maintain_order=True):
        by = {m: (value, n) for m, value, n in part.select("measure", "value", "n").iter_rows()}
        cells = [cell(f"{by[t][0] / 1e6:.2f}", f"{by[t][1]:,} rows") for t in tables]
        total = sum(value for value, _ in by.values())
        lines.append({"form": "", "cells": [cell(name), *cells, cell(f"{total / 1e6:.2f}")]})
    return {"heads": ["graph", *(t.removeprefix("bytes_") for t in tables), "all"], "rows": lines}


def growth_section(measures: pl.DataFrame) -> Part | None:
    """Codebook growth and workspace bytes, once for each corpus, system and order.

    measures: corpus, dataset, system, order, measure, at, value, n.
    """
    if not _with(measures, "growth_").height:
        return None
    firsts = measures.group_by("corpus", "system", "order", maintain_order=True).agg(pl.col("dataset").first())
    rows = measures.join(firsts, on=["corpus", "system", "order", "dataset"], maintain_order="left")
    rows = rows.with_columns(name=pl.concat_str("corpus", "system", "order", separator=" · "))
    panels = [Panel(f"growth_{kind}", kind, "share of the passages read", logs="xy") for kind in KINDS]
    read = _n(_with(rows, "growth_").filter(pl.col("at") == 1), "growth", "passages in all")
    parts = [
        {
            "title": "Distinct symbols, edges and runs over the passages read",
            "figures": [[plots.panels(rows, panels, "codebook growth")]],
            "form": "curves",
            "note": f"{read}, in text order. Counted after consolidation. Both axes are logarithmic.",
        },
        {
            "title": "Counts after a share of the passages",
            "table": _table(rows, {f"growth_{kind}": kind for kind in KINDS}, _percent, _count),
            "note": read + ".",
        },
        {
            "title": "Growth exponents",
            "text": "Slope of log count over log passages read. 1 is growth in proportion to the text; a codebook that "
            "saturates tends to 0.",
            "table": _exponents(rows),
            "note": f"Least squares over {_n(rows, 'exponent', 'shares of the passages')[4:]}.",
        },
        {
            "title": "Workspace, in megabytes",
            "text": "What a question is answered from, as stored: zstd Parquet, a byte for each number of an embedding.",
            "table": _bytes(rows),
            "note": "File sizes; rows below each.",
        },
    ]
    return {"title": "Codebook growth", "about": "How much a graph keeps of the text it has read.", "parts": parts}


# --- lemmas --------------------------------------------------------------------------------------


def _concentration(rows: pl.DataFrame) -> Part:
    kinds = ("entities", "relations")
    panels = [
        Panel(f"cover_{k}", f"mentions of {k}", f"most frequent {k}, share", logs="x", shares=True) for k in kinds
    ]
    return {
        "title": "Lemma 1: repetition is concentrated",
        "text": "The lemma says that a small core of the vocabulary accounts for most mentions. Measured: the share of "
        "all mentions that falls on the most frequent 1 to 50 % of the entities and of the relations.",
        "figures": [[plots.panels(rows, panels, "share of mentions covered by the top symbols")]],
        "form": "bars",
        "table": _table(rows, {f"cover_{k}": k for k in kinds}, _percent),
        "note": ", ".join(_n(rows, f"cover_{kind}", f"mentions of {kind}") for kind in kinds) + ".",
    }


def _working_set(rows: pl.DataFrame) -> Part:
    lines = []
    for (name,), own in rows.group_by("name", maintain_order=True):
        by = {m: (at, value) for m, at, value in own.select("measure", "at", "value").iter_rows()}
        (k, seen), (_, bound) = by["touched"], by["touched_bound"]
        lines.append(
            {"form": "", "cells": [cell(name), cell(_count(k)), cell(number(seen, 4)), cell(number(bound, 4))]}
        )
    return {
        "title": "Lemma 5: the fine stage touches few edges",
        "text": "The lemma says that H candidate runs of at most L edges bound the fine stage by H L edges of all M. "
        "Measured: the distinct edges of the shortlist over those of the question's group, beside the bound.",
        "table": {"heads": ["graph", "H", "edges touched / all", "bound H L / M, at most 1"], "rows": lines},
        "note": _n(rows, "touched", "questions, means") + ".",
    }


def _segmentation(rows: pl.DataFrame) -> Part:
    measures = {"tau_length": "edges a run", "tau_edges": "edges in the candidates", "tau_recall": "gold recall"}
    panels = [Panel(m, label, "tau", shares=m == "tau_recall") for m, label in measures.items()]
    runs = {"tau_runs": "runs"} | measures
    return {
        "title": "Corollary 6: the threshold of a run",
        "text": "The corollary says that a higher tau shortens runs and costs recall, and that a lower one lengthens them, "
        "gains recall and enlarges the candidates. Measured: runs built anew around the tau in use (the middle one); the "
        "distinct edges of the coarse top k; the share of the gold passages with an edge among them.",
        "figures": [[plots.panels(rows, panels, "run length, candidate size and recall over tau")]],
        "form": "curves",
        "table": _table(rows, runs, lambda tau: f"tau {tau:g}", lambda v: number(v) if v < 100 else _count(v)),
        "note": _n(rows, "tau_edges", "questions") + " for candidates and recall. Built on the consolidated edges, "
        "without boundary refinement, so run counts may differ a little from those above.",
    }


def _shortlist(rows: pl.DataFrame) -> Part:
    panel = Panel("survived", "kept of the full fine ranking", "runs in the coarse shortlist", logs="x", shares=True)
    return {
        "title": "Lemma 7: what the coarse shortlist keeps",
        "text": "The lemma says that coarse-to-fine preserves precision provided that the shortlist retains the runs that "
        "matter. Measured: the share of the top M runs by fine score over all runs of the group (no coarse stage) that "
        "is in the coarse shortlist.",
        "figures": [[plots.panels(rows, [panel], "share of the fine ranking that survives the coarse stage")]],
        "form": "bars",
        "table": _table(rows, {"survived": ""}, _count),
        "note": _n(rows, "survived", "questions, means") + ". Columns: size of the shortlist.",
    }


def _relative(rows: pl.DataFrame) -> pl.DataFrame:
    """Cosines of longer texts over those of the same sentences alone, and the lemma's 1 / n."""
    single = rows.filter(pl.col("measure") == "window_single").select("name", "at", alone="value")
    own = rows.filter(pl.col("measure").is_in(["window", "window_random"])).join(single, on=["name", "at"])
    own = own.with_columns(pl.col("value") / pl.col("alone")).drop("alone")
    claim = own.filter(pl.col("measure") == "window").with_columns(
        measure=pl.lit("window_claim"), value=1 / pl.col("at")
    )
    return pl.concat([own, claim]).unique(["name", "measure", "at"], maintain_order=True)


def _dilution(rows: pl.DataFrame) -> Part:
    rows = rows.with_columns(name=pl.col("dataset")).unique(["name", "measure", "at"], maintain_order=True)
    relative = _relative(rows)
    kinds = {"window": "with its neighbours", "window_random": "with random sentences"}
    panels = [Panel(m, label, "sentences", logs="x", low=0.0) for m, label in kinds.items()]
    table = _table(relative, kinds | {"window_claim": "1 / n, the model's signal"}, lambda width: f"{width:g}")
    table["rows"] += _table(rows, {"window_cut": "cut at the embedder's window, share"}, str)["rows"]
    return {
        "title": "Lemma 14, corollary 15: dilution",
        "text": "The lemma models a text as an average of token vectors: with irrelevant text around it, the expected "
        "signal of a fact falls as 1 / n. Measured: the cosine of a question with a gold sentence in a text of 1 to 8 "
        "sentences, over its cosine with the sentence alone; once with its own neighbours, which may be relevant, and "
        "once with random sentences of the corpus, which come nearer to the lemma's irrelevant text, the more so the "
        "wider the corpus. A cosine is normalised, so it need not fall as fast as the signal.",
        "figures": [
            [plots.panels(relative, panels, "cosine of a gold sentence in longer texts, relative to it alone")]
        ],
        "form": "bars",
        "table": table,
        "note": _n(rows, "window_single", "gold sentences") + "; shorter documents are left out. The sentence comes "
        "first unless its document ends before, and longer texts are cut at the embedder's window, as the last row says.",
    }


LEMMAS: Sequence[tuple[str, Callable[[pl.DataFrame], Part]]] = (
    ("cover_", _concentration),
    ("touched", _working_set),
    ("tau_", _segmentation),
    ("survived", _shortlist),
    ("window", _dilution),
)


def _parts(rows: pl.DataFrame) -> Iterator[Part]:
    for prefix, part in LEMMAS:
        own = _with(rows, prefix)
        if own.height:
            yield part(own)


def lemma_section(measures: pl.DataFrame) -> Part | None:
    """Each lemma's claim beside its figures. measures: as for `growth_section`."""
    rows = measures.with_columns(name=pl.concat_str("dataset", "system", "order", separator=" · "))
    parts = list(_parts(rows))
    about = (
        "AutoPrunedRetriever's lemmas, as figures of the graphs of this experiment. None of them is a proof, and those "
        "over questions speak of a small sample, chosen by seed; they have no intervals."
    )
    return {"title": "Measured, not proved", "about": about, "parts": parts} if parts else None
