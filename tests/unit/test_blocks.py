"""Extraction in planned blocks: shards and kills change nothing."""

from collections import Counter
from types import SimpleNamespace

import polars as pl
import pytest

from secateur.graph.triples import extraction as blocks
from secateur.graph.triples.extractors import openie
from secateur.graph.triples.surface import Triple

CFG = SimpleNamespace(kind="openie", block=2, settings={"batch": 8})


def passages(sizes=(5, 1, 3)) -> pl.DataFrame:
    rows = [(f"d{d}", f"T{d}", n, f"d{d}.{n}", f"d{d} says {n}") for d, size in enumerate(sizes) for n in range(size)]
    schema = dict.fromkeys(("doc_id", "title", "position", "passage_id", "text"), pl.String) | {"position": pl.Int32}
    return pl.DataFrame(rows, schema, orient="row")


class Parser:
    """One triple for each text, none for those that end with 3; what it was asked is kept."""

    def __init__(self, monkeypatch) -> None:
        self.asked: list[tuple[str, ...]] = []
        monkeypatch.setattr(openie, "load_parser", lambda _model: self)
        monkeypatch.setattr(openie, "extract", self.extract)

    def extract(self, parser, texts, title, batch):
        self.asked.append(tuple(texts))
        found = [[] if t.endswith("3") else [Triple(title, "says", t, title, "says", t, False)] for t in texts]
        return found, Counter(empty=len(texts))


@pytest.fixture
def parser(monkeypatch):
    return Parser(monkeypatch)


@pytest.fixture
def context(tmp_path):
    return SimpleNamespace(cache=tmp_path, code="c1", counts={}, progress=lambda rows, total, unit: rows)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 20])
def test_shards_hold_every_passage_once_in_order_and_split_no_block(count):
    corpus = passages()
    parts = [blocks.shard_of(corpus, n, count, 2) for n in range(count)]
    assert pl.concat(parts).equals(corpus)
    for part in parts:
        assert all(start % 2 == 0 for start in part.group_by("doc_id").agg(pl.col("position").min())["position"])
    assert blocks.shard_of(passages(()), 0, count, 2).height == 0


def test_shards_and_the_whole_corpus_give_the_same_triples_with_their_place(parser, context, tmp_path):
    whole, dropped, silent = blocks.extract_cached(passages(), CFG, context)
    context.cache = tmp_path / "other"
    parts = [blocks.extract_cached(blocks.shard_of(passages(), n, 3, CFG.block), CFG, context) for n in range(3)]
    assert [row for rows, _, _ in parts for row in rows] == whole
    assert sum((counted for _, counted, _ in parts), Counter()) == dropped
    assert sum(none for _, _, none in parts) == silent == 1
    first = blocks.triples_table(whole).select("doc_id", "position", "n", "passage_id", "tail").row(0)
    assert first == ("d0", 0, 0, "d0.0", "d0 says 0")
    assert blocks.triples_table([]).height == 0


def test_a_second_run_parses_nothing_but_new_documents_whichever_stage_asks(parser, context):
    first = blocks.extract_cached(passages(), CFG, context)
    parser.asked.clear()
    context.code = "another rule's"
    assert blocks.extract_cached(passages(), CFG, context) == first
    assert parser.asked == []
    assert context.counts == {"cache_hits": 6, "cache_misses": 0}
    blocks.extract_cached(passages((5, 1, 3, 2)), CFG, context)
    assert parser.asked == [("d3 says 0", "d3 says 1")]


@pytest.mark.parametrize("change", ["code", "title", "text"])
def test_a_block_is_parsed_again_when_what_it_depends_on_changes(parser, context, monkeypatch, change):
    blocks.extract_cached(passages((2,)), CFG, context)
    parser.asked.clear()
    corpus = passages((2,))
    if change == "code":
        monkeypatch.setattr(blocks.code, "plugin_digest", lambda module: "c2")
    else:
        corpus = corpus.with_columns(pl.lit("other").alias(change))
    blocks.extract_cached(corpus, CFG, context)
    assert len(parser.asked) == 1
