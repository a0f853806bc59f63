"""Extraction in blocks: consecutive passages of one document, extracted and cached together.

Blocks are planned over the whole corpus before it is sharded, so the triples do not depend on the number of shards or on
kills. A new document costs its own blocks only.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from secateur.config import plugins
from secateur.core.cache import RequestCache, digest
from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.graph.triples.surface import Extraction, Triple, normalised_triples
from secateur.stage import provenance

__all__ = [
    "extract",
    "extract_cached",
    "plugin_of",
    "problems",
    "record_losses",
    "shard_of",
    "text_extractor",
    "triple_rows",
    "triples_table",
]

Rows = list[dict[str, Any]]
NO_LOSS = ("dropped_", "tokens_", "facts_imported")  # prefixes of counts that are expected


class FrontEnd(Protocol):
    """Extracts triples from texts.

    identity: what the triples depend on besides code and texts. by_sentence: each text is read by itself, so a block
    may hold texts of several documents. max_failed (optional): largest share of passages without a valid reply.
    """

    name: str
    by_sentence: bool
    identity: tuple

    def __call__(self, texts: Sequence[str], title: str | None) -> Extraction:
        """The triples of consecutive texts of one document."""


class BlockCache(Protocol):
    """Stores the extraction of each block."""

    def get(self, key: str) -> Any | None:
        """The stored value, or None."""

    def put(self, key: str, reply: Any) -> None:
        """Store a value."""


class Plugin(Protocol):
    """An extractor plug-in, a file in extractors/: `Settings` and `FrontEnd(settings, ctx)`.

    GPU: whether its jobs request a GPU. read(paths, passages): reads the corpus's triples from the option's files instead.
    problems(settings, extractor): problems of the option, each a clause.
    """

    FrontEnd: Callable[..., FrontEnd]
    GPU: bool
    read: Callable[..., Any] | None
    problems: Callable[..., list[str]] | None


def plugin_of(cfg) -> Plugin:
    """The plug-in of an extractor's option; raises SecateurError if there is none."""
    return plugins.load("extractor", cfg.kind)


def _settings(cfg, where: str) -> Any:
    return plugins.configured("extractor", cfg.kind, cfg.settings, where, "extractor.settings")


def problems(cfg, where: str) -> list[str]:
    """Problems of an extractor's option, each a clause; raises ConfigError for invalid settings."""
    settings, plugin = _settings(cfg, where), plugin_of(cfg)
    unread = bool(cfg.files) and plugin.read is None
    problems = [f"extractor.files is not read by {cfg.kind}"] if unread else []
    return problems + (plugin.problems(settings, cfg) if plugin.problems else [])


def _front_end(cfg, ctx) -> FrontEnd:
    return plugin_of(cfg).FrontEnd(_settings(cfg, "conf/extractor"), ctx)


def _code(front: FrontEnd) -> str:
    """Digest of a front end's code, the same for all stages that share its cache."""
    return provenance.plugin_digest(type(front).__module__)


def _with_blocks(passages: pl.DataFrame, size: int) -> pl.DataFrame:
    return passages.sort("doc_id", "position").with_columns(block=pl.int_range(pl.len()).over("doc_id") // size)


def shard_of(passages: pl.DataFrame, shard: int, count: int, size: int) -> pl.DataFrame:
    """Passages of one shard: a contiguous range of the corpus's blocks."""
    blocked = _with_blocks(passages, size)
    number = blocked.select(pl.struct("doc_id", "block").rle_id()).to_series()
    total = int(number.max()) + 1 if len(number) else 1
    return blocked.filter(number * count // total == shard).drop("block")


def _block(front: FrontEnd, cache: BlockCache, code: str, texts: list[str], title: str | None) -> Extraction:
    """Extraction of one block, cached unless it failed."""
    key = digest(code, front.name, *front.identity, title, texts)
    cached = cache.get(key)
    if cached is not None:
        return Extraction([[Triple(**t) for t in triples] for triples in cached["triples"]], Counter(cached["counts"]))
    block = front(texts, title)
    if not block.problem:
        cache.put(key, {"triples": [[vars(t) for t in ts] for ts in block.triples], "counts": dict(block.counts)})
    return block


def extract_cached(passages: pl.DataFrame, cfg, ctx) -> tuple[Rows, Counter, int]:
    """(triple rows in text order, counts of drops and losses by name, number of passages without a triple).

    A block's cache key is the digest of its texts and title and the extractor's code, model and parameters. Raises
    SecateurError as soon as more than `max_failed` of all passages have failed.
    """
    front = _front_end(cfg, ctx)
    cache, code = RequestCache(ctx.cache / "triples" / front.name), _code(front)
    rows, counts, empty, allowed = [], Counter(), 0, getattr(front, "max_failed", 0.0)
    blocks = _with_blocks(passages, cfg.block).partition_by("doc_id", "block", maintain_order=True)
    for part in ctx.progress(blocks, len(blocks), "blocks"):
        block = _block(front, cache, code, part["text"].to_list(), part["title"][0])
        counts.update(block.counts)
        if block.problem and counts["failed_passages"] > allowed * passages.height:
            raise _too_many(counts["failed_passages"], passages.height, allowed, block.problem)
        rows += triple_rows(part, block.triples)
        empty += sum(not triples for triples in block.triples)
    ctx.counts |= {"cache_hits": cache.hits, "cache_misses": cache.misses}
    return rows, counts, empty


def extract(passages: pl.DataFrame, cfg, ctx, files: Sequence[Path] = ()) -> pl.DataFrame:
    """The table `triples` of passages, extracted by the option's front end or read from an imported graph's files.

    Losses are recorded with a warning. Raises SecateurError like `extract_cached`.
    """
    read = plugin_of(cfg).read
    if read:
        passages = passages.sort("doc_id", "position")
        facts, counts = read(files, passages)
        triples, dropped = normalised_triples(facts.get(passage, ()) for passage in passages["passage_id"])
        rows, counts, empty = triple_rows(passages, triples), counts + dropped, sum(not facts for facts in triples)
    else:
        rows, counts, empty = extract_cached(passages, cfg, ctx)
    record_losses(ctx, counts)
    ctx.counts |= {"passages_without_triple": empty}
    return triples_table(rows)


def text_extractor(cfg, ctx, cache: BlockCache | None = None) -> Callable[[str], list[Triple]]:
    """A function that extracts the triples of a single text, cached like a block, or in `cache`.

    The function raises SecateurError for a text without a valid reply. The model is loaded once.
    """
    front = _front_end(cfg, ctx)
    cache, code = cache or RequestCache(ctx.cache / "triples" / front.name), _code(front)

    def triples_of(text: str) -> list[Triple]:
        block = _block(front, cache, code, [text], None)
        if block.problem:
            raise _too_many(1, 1, getattr(front, "max_failed", 0.0), block.problem)
        return block.triples[0]

    return triples_of


def _too_many(failed: int, total: int, allowed: float, problem: str) -> SecateurError:
    return SecateurError(
        f"extraction failed for {failed} of {total} passages so far, above the allowed share "
        f"extractor.settings.max_failed ({allowed:g}). Last error: {problem}. Fix: check the endpoint and run again "
        "(valid replies are cached), or raise extractor.settings.max_failed."
    )


def triple_rows(passages: pl.DataFrame, triples: Sequence[Sequence[Triple]]) -> Rows:
    """Rows of the table `triples`, from the triples of each passage."""
    places = passages.select("doc_id", "position", "passage_id").iter_rows(named=True)
    return [
        place | {"n": n} | vars(triple)
        for place, of_passage in zip(places, triples, strict=True)
        for n, triple in enumerate(of_passage)
    ]


def record_losses(ctx, counts: Counter) -> None:
    """Record the counts in run.json, and warn of losses."""
    expected = {name: n for name, n in sorted(counts.items()) if name.startswith(NO_LOSS)}
    ctx.counts |= expected
    ctx.note_counts({name: n for name, n in sorted(counts.items()) if name not in expected})


def triples_table(rows: Rows) -> pl.DataFrame:
    """The table `triples` from its rows."""
    return pl.DataFrame(rows, schema=TABLES["triples"].empty().schema)
