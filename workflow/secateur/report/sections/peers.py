"""The report's part on other systems: what their index and a question cost, how much is traced, and who is missing."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from secateur.report.format import interval, number
from secateur.report.table import Cell, Column, Row, Table

__all__ = ["peer_parts"]

ASKED = {  # metric: head of its column
    "peer_tokens_read": "tokens read a question",
    "peer_prompt_tokens": "of which the answering prompt",
    "peer_calls": "calls a question",
}
ABOUT = (
    "Tokens under the reader's tokenizer; index tokens are those of all prompts and replies, and of all strings that were "
    "embedded, over the tokens of the corpus. Seconds include the extraction and the embedder. Traced: share of what a "
    "peer sends that is a passage word for word; the rest has no provenance. A question at which a peer fails counts as "
    "an empty context."
)


def peer_parts(dataset: str, own: pl.DataFrame, peers: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """One table; none where no peer was run. own: rows of `metrics` of a data set."""
    here = [one for one in peers if one["dataset"] == dataset]
    if not here:
        return
    figures = {(r["system"], r["metric"]): r for r in own.filter(subset="all").iter_rows(named=True)}
    cells = [_cells(one, figures) for one in here]
    rows = [Row((name, *(system[name] for system in cells))) for name in cells[0]]
    n = sorted({one["asked"]["questions"] for one in here})
    yield {
        "title": "Other systems: what an index and a question cost",
        "table": Table([Column("figure"), *(Column(one["system"]) for one in here)], rows),
        "note": f"n = {', '.join(map(str, n))} questions, 95 % intervals. {ABOUT}",
    }


def _cells(one: Mapping[str, Any], figures: Mapping[tuple[str, str], Mapping[str, Any]]) -> dict[str, Cell]:
    """The figures of a system, by name."""
    indexed, asked = one["indexed"], one["asked"]
    tokens = {
        f"index: {what} tokens per token of the corpus": f"{indexed[name] / max(indexed['corpus_tokens'], 1):.1f}"
        for what, name in (("prompt", "tokens_in"), ("reply", "tokens_out"), ("embedded", "embedded_tokens"))
    }
    cells = {"documents": indexed["documents"], "index: calls": indexed["calls"]} | tokens
    cells |= {"index: bytes": indexed["bytes"], "index: seconds": number(indexed["seconds"], 0)}
    for metric, name in ASKED.items():
        row = figures.get((one["system"], metric))
        cells[name] = f"{number(row['value'], 0)} ({interval(row, 0)})" if row else None
    traced = number(asked["traced"]) if asked["traced"] is not None else None
    failure = indexed["failure"] or asked["failure"]
    return cells | {"traced": traced, "questions failed": asked["failed"], "missing because": failure}
