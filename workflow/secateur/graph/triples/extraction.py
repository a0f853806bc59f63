"""Extraction in planned blocks: consecutive passages of one document, extracted and cached together.

Blocks are cut from the whole corpus before it is spread over shards, so that neither the number of shards
nor a kill changes a triple. Adding a document costs its own blocks only.
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
from secateur.graph.triples.surface import Found, Triple, triples_of
from secateur.stage import provenance

__all__ = ["alone", "extract", "extract_cached", "frame_of", "kind_of", "note_losses", "placed", "problems", "shard_of"]

Rows = list[dict[str, Any]]
NO_LOSS = ("dropped_", "tokens_", "facts_imported")  # counts of what the rules drop, of costs, of what was found


class FrontEnd(Protocol):
    """Texts to triples. `identity` is what they depend on besides the code and the texts; `by_sentence`: a text is read
    without those before it, so that texts of any origin may share a block. `max_failed`, of one that may give no
    answer: the share of passages that may stay without."""

    name: str
    by_sentence: bool
    identity: tuple

    def __call__(self, texts: Sequence[str], title: str | None) -> Found:
        """The triples of consecutive texts of one document."""


class Replies(Protocol):
    """Where what was read is kept."""

    def get(self, key: str) -> Any | None:
        """What is kept, or None."""

    def put(self, key: str, reply: Any) -> None:
        """Keep it."""


class Kind(Protocol):
    """What a file in extractors/ defines besides `Settings`: a front end, made of settings and context.

    GPU: whether it asks the cluster for one. read(paths, passages): takes the triples of a corpus from the option's files
    instead. problems(settings, extractor): what does not fit together, each in a clause.
    """

    FrontEnd: Callable[..., FrontEnd]
    GPU: bool
    read: Callable[..., Any] | None
    problems: Callable[..., list[str]] | None


def kind_of(cfg) -> Kind:
    """The kind that an extractor's option names. Raises SecateurError where it is none."""
    return plugins.load("extractor", cfg.kind)


def _settings(cfg, where: str) -> Any:
    return plugins.configured("extractor", cfg.kind, cfg.settings, where, "extractor.settings")


def problems(cfg, where: str) -> list[str]:
    """What does not fit together in an extractor's option, each in a clause. Raises ConfigError for its settings."""
    settings, kind = _settings(cfg, where), kind_of(cfg)
    unread = bool(cfg.files) and kind.read is None
    found = [f"extractor.files does not belong to kind {cfg.kind}"] if unread else []
    return found + (kind.problems(settings, cfg) if kind.problems else [])


def _front_end(cfg, ctx) -> FrontEnd:
    return kind_of(cfg).FrontEnd(_settings(cfg, "conf/extractor"), ctx)


def _code(front: FrontEnd) -> str:
    """Digest of a front end's code: the same for all stages that share its cache."""
    return provenance.plugin_digest(type(front).__module__)


def _with_blocks(passages: pl.DataFrame, size: int) -> pl.DataFrame:
    return passages.sort("doc_id", "position").with_columns(block=pl.int_range(pl.len()).over("doc_id") // size)


def shard_of(passages: pl.DataFrame, shard: int, count: int, size: int) -> pl.DataFrame:
    """The passages of one shard: a contiguous range of the corpus's blocks."""
    blocked = _with_blocks(passages, size)
    number = blocked.select(pl.struct("doc_id", "block").rle_id()).to_series()
    total = int(number.max()) + 1 if len(number) else 1
    return blocked.filter(number * count // total == shard).drop("block")


def _block(front: FrontEnd, cache: Replies, code: str, texts: list[str], title: str | None) -> Found:
    """The triples of one block, from the cache where it is known; an answer that failed is not kept."""
    key = digest(code, front.name, *front.identity, title, texts)
    known = cache.get(key)
    if known is not None:
        return Found([[Triple(**t) for t in triples] for triples in known["triples"]], Counter(known["counts"]))
    found = front(texts, title)
    if not found.problem:
        cache.put(key, {"triples": [[vars(t) for t in ts] for ts in found.triples], "counts": dict(found.counts)})
    return found


def extract_cached(passages: pl.DataFrame, cfg, ctx) -> tuple[Rows, Counter, int]:
    """(triple rows in text order, what was dropped and lost by name, passages without a triple).

    A block's triples are cached under the digest of its texts, its title, the extractor's code, model and parameters.
    Raises SecateurError as soon as more than `max_failed` of all passages have got no usable answer.
    """
    front = _front_end(cfg, ctx)
    cache, code = RequestCache(ctx.cache / "triples" / front.name), _code(front)
    rows, counts, silent, allowed = [], Counter(), 0, getattr(front, "max_failed", 0.0)
    blocks = _with_blocks(passages, cfg.block).partition_by("doc_id", "block", maintain_order=True)
    for part in ctx.progress(blocks, len(blocks), "blocks"):
        found = _block(front, cache, code, part["text"].to_list(), part["title"][0])
        counts.update(found.counts)
        if found.problem and counts["failed_passages"] > allowed * passages.height:
            raise _too_many(counts["failed_passages"], passages.height, allowed, found.problem)
        rows += placed(part, found.triples)
        silent += sum(not triples for triples in found.triples)
    ctx.counts |= {"cache_hits": cache.hits, "cache_misses": cache.misses}
    return rows, counts, silent


def extract(passages: pl.DataFrame, cfg, ctx, files: Sequence[Path] = ()) -> pl.DataFrame:
    """The table `triples` of passages: extracted by the option's front end, or read from the files of an imported graph.

    Losses are counted and logged. Raises SecateurError as `extract_cached` does.
    """
    read = kind_of(cfg).read
    if read:
        passages = passages.sort("doc_id", "position")
        facts, counts = read(files, passages)
        triples, dropped = triples_of(facts.get(passage, ()) for passage in passages["passage_id"])
        rows, counts, silent = placed(passages, triples), counts + dropped, sum(not found for found in triples)
    else:
        rows, counts, silent = extract_cached(passages, cfg, ctx)
    note_losses(ctx, counts)
    ctx.counts |= {"passages_without_triple": silent}
    return frame_of(rows)


def alone(cfg, ctx, replies: Replies | None = None) -> Callable[[str], list[Triple]]:
    """A reader of single texts, each without any other, cached as blocks are, or in `replies`; its model is loaded once.
    It raises SecateurError for a text that got no usable answer."""
    front = _front_end(cfg, ctx)
    cache, code = replies or RequestCache(ctx.cache / "triples" / front.name), _code(front)

    def read(text: str) -> list[Triple]:
        found = _block(front, cache, code, [text], None)
        if found.problem:
            raise _too_many(1, 1, getattr(front, "max_failed", 0.0), found.problem)
        return found.triples[0]

    return read


def _too_many(failed: int, total: int, allowed: float, problem: str) -> SecateurError:
    return SecateurError(
        f"extraction failed for {failed} of {total} passages so far, more than extractor.settings.max_failed ({allowed:g}) "
        f"allows; the last reason: {problem}. Fix: look at the endpoint and run again (good replies are cached), "
        "or raise extractor.settings.max_failed."
    )


def placed(passages: pl.DataFrame, found: Sequence[Sequence[Triple]]) -> Rows:
    """The triples of passages, each with its place in the text."""
    places = passages.select("doc_id", "position", "passage_id").iter_rows(named=True)
    return [
        place | {"n": n} | vars(triple)
        for place, triples in zip(places, found, strict=True)
        for n, triple in enumerate(triples)
    ]


def note_losses(ctx, counts: Counter) -> None:
    """Keep the counts in the record, and warn of those that are a loss."""
    quiet = {name: n for name, n in sorted(counts.items()) if name.startswith(NO_LOSS)}
    ctx.counts |= quiet
    ctx.note_counts({name: n for name, n in sorted(counts.items()) if name not in quiet})


def frame_of(rows: Rows) -> pl.DataFrame:
    """Triple rows as the `triples` table."""
    return pl.DataFrame(rows, schema=TABLES["triples"].empty().schema)
