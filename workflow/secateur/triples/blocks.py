"""Extraction in planned blocks: consecutive passages of one document, parsed and cached together.

Blocks are cut from the whole corpus before it is spread over shards, so that neither the number of shards
nor a kill changes a triple. Adding a document costs its own blocks only.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import polars as pl

from secateur.cache import RequestCache, digest
from secateur.tables import TABLES
from secateur.triples import openie

__all__ = ["extract_cached", "frame_of", "shard_of"]

Rows = list[dict[str, Any]]


def _with_blocks(passages: pl.DataFrame, size: int) -> pl.DataFrame:
    return passages.sort("doc_id", "position").with_columns(block=pl.int_range(pl.len()).over("doc_id") // size)


def shard_of(passages: pl.DataFrame, shard: int, count: int, size: int) -> pl.DataFrame:
    """The passages of one shard: a contiguous range of the corpus's blocks."""
    blocked = _with_blocks(passages, size)
    number = blocked.select(pl.struct("doc_id", "block").rle_id()).to_series()
    total = int(number.max()) + 1 if len(number) else 1
    return blocked.filter(number * count // total == shard).drop("block")


def _extract(parser, texts: Sequence[str], title: str | None, batch: int) -> dict[str, Any]:
    per_text, dropped = openie.extract(parser, texts, title, batch)
    return {"triples": [[asdict(t) for t in triples] for triples in per_text], "dropped": dict(dropped)}


def extract_cached(passages: pl.DataFrame, cfg, ctx) -> tuple[Rows, Counter, int]:
    """(triple rows in text order, triples dropped by reason, passages without a triple).

    A block's triples are cached under the digest of its texts, its title and the extractor's code.
    """
    cache, parser = RequestCache(ctx.cache / "triples" / cfg.kind), None
    rows, dropped, silent = [], Counter(), 0
    blocks = _with_blocks(passages, cfg.block).partition_by("doc_id", "block", maintain_order=True)
    for part in ctx.progress(blocks, len(blocks), "blocks"):
        texts, title = part["text"].to_list(), part["title"][0]
        key = digest(ctx.code, cfg.kind, title, texts)
        found = cache.get(key)
        if found is None:
            parser = parser or openie.load_parser()
            found = _extract(parser, texts, title, cfg.batch)
            cache.put(key, found)
        dropped.update(found["dropped"])
        places = part.select("doc_id", "position", "passage_id").iter_rows(named=True)
        for place, triples in zip(places, found["triples"], strict=True):
            silent += not triples
            rows += [place | {"n": n} | triple for n, triple in enumerate(triples)]
    ctx.counts |= {"cache_hits": cache.hits, "cache_misses": cache.misses}
    return rows, dropped, silent


def frame_of(rows: Rows) -> pl.DataFrame:
    """Triple rows as the `triples` table."""
    return pl.DataFrame(rows, schema=TABLES["triples"].empty().schema)
