"""Extraction in blocks: consecutive passages of one document, extracted and cached together.

Blocks are planned over the whole corpus before it is sharded, so the triples do not depend on the number of shards or on
kills. A new document costs its own blocks only.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import polars as pl

from secateur.config import code, plugins
from secateur.core.cache import RequestCache, digest
from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.graph.triples.surface import Extraction, Triple, normalised_triples
from secateur.models.words import MOSTLY, share_outside_latin

__all__ = [
    "extract",
    "extract_cached",
    "plugin_of",
    "problems",
    "record_losses",
    "refuse_unreadable",
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


def plugin_of(cfg) -> ModuleType:
    """The plug-in of an extractor's option; raises SecateurError if there is none.

    It defines `Settings` and `FrontEnd(settings, ctx)`, and may define: GPU, whether its jobs request a GPU;
    ENGLISH, whether it reads English alone; read(paths, passages, max_malformed), which reads the corpus's triples from the
    option's files; problems(settings, extractor).
    """
    return plugins.load("extractor", cfg.kind)


def _settings(cfg, where: str) -> Any:
    return plugins.settings("extractor", {**cfg.settings, "kind": cfg.kind}, where, "extractor.settings")


def problems(cfg, where: str) -> list[str]:
    """Problems of an extractor's option, each a clause; raises ConfigError for invalid settings."""
    settings = _settings(cfg, where)
    plugin = plugin_of(cfg)
    unread = bool(cfg.files) and plugin.read is None
    problems = [f"extractor.files is not read by {cfg.kind}"] if unread else []
    return problems + (plugin.problems(settings, cfg) if plugin.problems else [])


def refuse_unreadable(passages: pl.DataFrame, cfg) -> None:
    """Raise SecateurError for a corpus that is mostly in other letters than those of its extractor's language."""
    share = share_outside_latin(passages["text"]) if plugin_of(cfg).ENGLISH else 0.0
    if share > MOSTLY:
        raise SecateurError(
            f"extractor {cfg.kind} parses English; {share:.0%} of the letters of this corpus are outside Latin. "
            "Fix: --set system.extractor=llm, or --set 'experiment.systems=[bm25,two_step]', which need no graph (docs/methods.md, "
            "What is English here)."
        )


class _CachedExtractor:
    """An extractor's front end with a cache of blocks, by the digest of texts, title, code, model and parameters."""

    def __init__(self, cfg, ctx, cache=None) -> None:
        self.front = plugin_of(cfg).FrontEnd(_settings(cfg, "conf/extractor"), ctx)
        self.cache = cache or RequestCache(ctx.cache / "triples" / self.front.name)
        self.code = code.plugin_digest(type(self.front).__module__)  # equal for all stages that share the cache
        self.max_failed = getattr(self.front, "max_failed", 0.0)

    def __call__(self, texts: list[str], title: str | None) -> Extraction:
        key = digest(self.code, self.front.name, *self.front.identity, title, texts)
        if (cached := self.cache.get(key)) is not None:
            triples = [[Triple(**t) for t in of_text] for of_text in cached["triples"]]
            return Extraction(triples, Counter(cached["counts"]))
        block = self.front(texts, title)
        if not block.problem:
            triples = [[vars(t) for t in of_text] for of_text in block.triples]
            self.cache.put(key, {"triples": triples, "counts": dict(block.counts)})
        return block

    def error(self, failed: int, total: int, problem: str) -> SecateurError:
        """The error of too many failed passages."""
        return SecateurError(
            f"extraction failed for {failed} of {total} passages so far, above the allowed share "
            f"extractor.settings.max_failed ({self.max_failed:g}). Last error: {problem}. Fix: check the endpoint and "
            "run again (valid replies are cached), or raise extractor.settings.max_failed."
        )


def _with_blocks(passages: pl.DataFrame, size: int) -> pl.DataFrame:
    return passages.sort("doc_id", "position").with_columns(block=pl.int_range(pl.len()).over("doc_id") // size)


def shard_of(passages: pl.DataFrame, shard: int, count: int, size: int) -> pl.DataFrame:
    """Passages of one shard: a contiguous range of the corpus's blocks."""
    blocked = _with_blocks(passages, size)
    number = blocked.select(pl.struct("doc_id", "block").rle_id()).to_series()
    total = int(number.max()) + 1 if len(number) else 1
    return blocked.filter(number * count // total == shard).drop("block")


def extract_cached(passages: pl.DataFrame, cfg, ctx) -> tuple[Rows, Counter, int]:
    """(triple rows in text order, counts of drops and losses by name, number of passages without a triple).

    Raises SecateurError as soon as more than `max_failed` of all passages have failed.
    """
    extractor = _CachedExtractor(cfg, ctx)
    rows, counts, empty = [], Counter(), 0
    blocks = _with_blocks(passages, cfg.block).partition_by("doc_id", "block", maintain_order=True)
    for part in ctx.progress(blocks, len(blocks), "blocks"):
        block = extractor(part["text"].to_list(), part["title"][0])
        counts.update(block.counts)
        if block.problem and counts["failed_passages"] > extractor.max_failed * passages.height:
            raise extractor.error(counts["failed_passages"], passages.height, block.problem)
        rows += triple_rows(part, block.triples)
        empty += sum(not triples for triples in block.triples)
    ctx.counts |= {"cache_hits": extractor.cache.hits, "cache_misses": extractor.cache.misses}
    return rows, counts, empty


def extract(passages: pl.DataFrame, cfg, ctx, files: Sequence[Path] = ()) -> pl.DataFrame:
    """The table `triples` of passages, extracted by the option's front end or read from an imported graph's files.

    Losses are recorded with a warning. Raises SecateurError like `extract_cached`.
    """
    read = plugin_of(cfg).read
    if read:
        passages = passages.sort("doc_id", "position")
        facts, counts = read(files, passages, cfg.max_malformed)
        stated = (facts.get(passage, ()) for passage in passages["passage_id"])
        triples, dropped = normalised_triples(stated, passages["text"].to_list())
        rows = triple_rows(passages, triples)
        counts = counts + dropped
        empty = sum(not facts for facts in triples)
    else:
        rows, counts, empty = extract_cached(passages, cfg, ctx)
    record_losses(ctx, counts)
    ctx.counts |= {"passages_without_triple": empty}
    return triples_table(rows)


def text_extractor(cfg, ctx, cache=None) -> Callable[[str], list[Triple]]:
    """A function that extracts the triples of a single text, cached like a block, or in `cache` (get and put).

    The function raises SecateurError for a text without a valid reply. The model is loaded once.
    """
    extractor = _CachedExtractor(cfg, ctx, cache)

    def triples_of(text: str) -> list[Triple]:
        block = extractor([text], None)
        if block.problem:
            raise extractor.error(1, 1, block.problem)
        return block.triples[0]

    return triples_of


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
    return TABLES["triples"].frame(rows)
