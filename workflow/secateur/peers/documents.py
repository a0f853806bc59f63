"""A corpus as peers get it: a document is its passages in order, under its title."""

import polars as pl

from secateur.models.word_pieces import Counter
from secateur.peers.wire import Document

__all__ = ["documents"]


def documents(passages: pl.DataFrame, count: Counter, longest: int | None) -> list[Document]:
    """The documents in order; in parts of at most `longest` tokens, or of one passage, where a number is given."""
    parts = (
        passages.sort("doc_id", "position").group_by("doc_id", maintain_order=True).agg(pl.col("title").first(), "text")
    )
    found = []
    for title, texts in parts.select("title", "text").iter_rows():
        for part in _parts(texts, count, longest) if longest else [texts]:
            found.append(Document(title or "", " ".join(part)))
    return found


def _parts(texts: list[str], count: Counter, longest: int) -> list[list[str]]:
    """Passages one behind the other, so many that they stay within a length."""
    found, used = [[]], 0
    for text, tokens in zip(texts, count(texts).tolist(), strict=True):
        if found[-1] and used + tokens > longest:
            found, used = [*found, []], 0
        found[-1].append(text)
        used += tokens
    return found
