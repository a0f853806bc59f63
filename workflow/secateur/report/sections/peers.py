"""The report's part on other systems: what their index and a question cost, how much is traced, and who is missing."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from secateur.report.format import Part, figure
from secateur.report.table import Cell, Column, Number, Row, Table

__all__ = ["peer_parts"]

MEASURED = {  # metric -> name of its row
    "peer_tokens_read": "tokens read a question",
    "peer_prompt_tokens": "of which the answering prompt",
    "peer_calls": "calls a question",
}
INDEXED = {"prompt": "tokens_in", "reply": "tokens_out", "embedded": "embedded_tokens"}
ABOUT = (
    "Tokens under the reader's tokenizer. Index tokens are those of all prompts and replies, and of all strings that were "
    "embedded, over the tokens of the corpus. Seconds include the extraction and the embedder. Traced: share of what a "
    "peer sends that is a passage word for word; the rest has no provenance. A question at which a peer fails counts as "
    "an empty context."
)


def peer_parts(dataset: str, rows: pl.DataFrame, peers: Sequence[Mapping[str, Any]]) -> Iterator[Part]:
    """One table with a column per peer; none where no peer was run. rows: of `metrics`, of a data set."""
    columns = [peer for peer in peers if peer["dataset"] == dataset]
    if not columns:
        return
    figures = {(row["system"], row["metric"]): row for row in rows.filter(subset="all").iter_rows(named=True)}
    cells = [_cells(peer, figures) for peer in columns]
    n = ", ".join(map(str, sorted({peer["asked"]["questions"] for peer in columns})))
    yield {
        "title": "Other systems: what an index and a question cost",
        "open": True,
        "table": Table(
            [Column("figure"), *(Column(peer["system"]) for peer in columns)],
            [Row((name, *(system[name] for system in cells))) for name in cells[0]],
        ),
        "note": f"n = {n} questions, 95 % intervals. {ABOUT}",
    }


def _cells(peer: Mapping[str, Any], figures: Mapping[tuple[str, str], Mapping[str, Any]]) -> dict[str, Cell]:
    """The cells of a peer's column by the name of their row."""
    index, asked = peer["indexed"], peer["asked"]
    cells: dict[str, Cell] = {"documents": index["documents"], "index: calls": index["calls"]}
    for what, name in INDEXED.items():
        tokens = index[name] / max(index["corpus_tokens"], 1)
        cells[f"index: {what} tokens per token of the corpus"] = Number(tokens, digits=1)
    cells |= {"index: bytes": index["bytes"], "index: seconds": Number(float(index["seconds"]), digits=0)}
    for metric, name in MEASURED.items():
        row = figures.get((peer["system"], metric))
        cells[name] = figure(row, digits=0) if row else None
    cells |= {"traced": asked["traced"], "questions failed": asked["failed"]}
    return cells | {"missing because": index["failure"] or asked["failure"]}
