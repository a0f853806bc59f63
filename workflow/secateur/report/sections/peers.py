"""The report's part on other systems: what their index and a question cost, how much is traced, and who is missing."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from secateur.report.format import cell, interval, number

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
    heads = [
        "system",
        "documents",
        "index: calls",
        "prompt tokens",
        "reply tokens",
        "embedded tokens",
        "bytes",
        "seconds",
    ]
    heads += [*ASKED.values(), "traced", "questions failed", "missing because"]
    lines = [{"form": "", "cells": list(map(cell, _line(one, figures)))} for one in here]
    n = sorted({one["asked"]["questions"] for one in here})
    yield {
        "title": "Other systems: what an index and a question cost",
        "table": {"heads": heads, "rows": lines},
        "note": f"n = {', '.join(map(str, n))} questions, 95 % intervals. {ABOUT}",
    }


def _line(one: Mapping[str, Any], figures: Mapping[tuple[str, str], Mapping[str, Any]]) -> Iterator[str]:
    indexed, asked = one["indexed"], one["asked"]
    yield one["system"]
    yield from (f"{indexed[name]:,}" for name in ("documents", "calls"))
    for name in ("tokens_in", "tokens_out", "embedded_tokens"):
        yield f"{indexed[name] / max(indexed['corpus_tokens'], 1):.1f} a token"
    yield f"{indexed['bytes']:,}"
    yield number(indexed["seconds"], 0)
    for metric in ASKED:
        row = figures.get((one["system"], metric))
        yield " ".join(filter(None, (number(row["value"], 0), interval(row, 0)))) if row else ""
    yield number(asked["traced"]) if asked["traced"] is not None else ""
    yield str(asked["failed"])
    yield indexed["failure"] or asked["failure"] or ""
