"""Adding, removing and changing a document: what a build with the old caches gives, a build from scratch gives too."""

import logging
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from secateur.config import compose
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table, write_table
from secateur.datasets.loaders import load_corpus
from secateur.stage.contract import Context, Inputs, Outputs

pytestmark = pytest.mark.slow

GROUPS = ("extractor", "embedder", "codebook", "consolidation", "order")
OPTIONS = dict(zip(GROUPS, ("openie", "minilm", "default", "default", "aware"), strict=True))
STAGES = (
    ("extract_triples", ("passages",), ("triples",)),
    ("build_codebook", ("passages", "triples"), ("entities", "relations", "edges", "lines", "edge_sources")),
    ("build_runs", ("edges", "lines", "edge_sources"), ("runs", "run_edges")),
)
CFG = SimpleNamespace(**{group: compose.option(Path("conf"), group, name) for group, name in OPTIONS.items()})


def built(passages: pl.DataFrame, folder: Path, cache: Path) -> tuple[dict[str, pl.DataFrame], Context]:
    """The tables of the codebook and the runs, and the context with its counts."""
    ctx = Context(logging.getLogger("build"), cache, {"shard": "0of1"}, "code")
    newest = {"passages": folder / "passages.parquet"}
    folder.mkdir(parents=True)
    write_table(TABLES["passages"], passages, newest["passages"])
    for stage, reads, writes in STAGES:
        outputs = Outputs({name: folder / f"{name}.parquet" for name in writes})
        import_module(f"scripts.{stage}").run(CFG, Inputs({n: [newest[n]] for n in reads}), outputs, ctx)
        outputs.commit()
        newest |= {name: folder / f"{name}.parquet" for name in writes}
    return {name: read_table(TABLES[name], path) for name, path in newest.items()}, ctx


def by_content(tables: dict[str, pl.DataFrame]) -> dict[str, list]:
    """Triples, edges with their sources, and runs: as texts, sorted, without a single id."""
    names = {k: dict(tables[t].select(f"{t[:-1] if t != 'entities' else 'entity'}_id", "text").iter_rows()) for k, t in
             (("e", "entities"), ("r", "relations"))}  # fmt: skip
    edge = {i: (names["e"][h], names["r"][r], names["e"][t]) for i, h, r, t in
            tables["edges"].select("edge_id", "h", "r", "t").iter_rows()}  # fmt: skip
    sources = tables["edge_sources"].select("doc_id", "position", "n", "passage_id", "edge_id").iter_rows()
    runs = tables["run_edges"].sort("run_id", "n").group_by("run_id", maintain_order=True).agg("edge_id", "passage_id")
    return {
        "triples": sorted(tables["triples"].drop("resolved").rows()),
        "edges": sorted(edge.values()),
        "sources": sorted((*place, edge[e]) for *place, e in sources),
        "runs": sorted([(p, edge[e]) for e, p in zip(es, ps, strict=True)] for _, es, ps in runs.iter_rows()),
    }


@pytest.fixture(scope="module")
def toy() -> pl.DataFrame:
    return load_corpus("folder", {"folder": Path("data/toy/documents_smoke")}).passages


@pytest.fixture(scope="module")
def whole(toy, tmp_path_factory):
    """The build of all documents with a cold cache, and that cache."""
    home = tmp_path_factory.mktemp("whole")
    return built(toy, home / "tables", home / "cache")[0], home / "cache"


def changed(passages: pl.DataFrame, doc: str) -> pl.DataFrame:
    last = (pl.col("doc_id") == doc) & (pl.col("position") == pl.col("position").max().over("doc_id"))
    return passages.with_columns(
        text=pl.when(last).then(pl.lit("The otter of Lake Nowhere eats 41 trout.")).otherwise("text")
    )


def strings(tables: dict[str, pl.DataFrame]) -> set[str]:
    """Everything that has a vector."""
    lines = {" ".join(edge) for edge in by_content(tables)["edges"]}
    return {*tables["entities"]["text"], *tables["relations"]["text"], *lines}


def test_adding_a_document_costs_its_own_strings_and_gives_what_a_build_from_scratch_gives(toy, whole, tmp_path):
    old = toy.filter(pl.col("doc_id") != toy["doc_id"].max())
    before, _ = built(old, tmp_path / "old", tmp_path / "cache")
    after, ctx = built(toy, tmp_path / "new", tmp_path / "cache")
    assert by_content(after) == by_content(whole[0])
    assert ctx.counts["cache_misses"] == len(strings(after) - strings(before))


@pytest.mark.parametrize("edit", ["removed", "changed"])
def test_what_only_an_edited_document_supported_goes_and_nothing_else(toy, whole, tmp_path, edit):
    doc = toy["doc_id"].unique().sort()[0]
    after = toy.filter(pl.col("doc_id") != doc) if edit == "removed" else changed(toy, doc)
    warm = by_content(built(after, tmp_path / "warm", whole[1])[0])
    assert warm == by_content(built(after, tmp_path / "scratch", tmp_path / "cache")[0])
    before = by_content(whole[0])
    kept = [row for row in before["sources"] if row[0] != doc]
    assert [row for row in warm["sources"] if row[0] != doc] == kept
    gone = {row[-1] for row in before["sources"]} - {row[-1] for row in warm["sources"]}
    assert gone == {row[-1] for row in before["sources"] if row[0] == doc} - {row[-1] for row in warm["sources"]}
    assert gone
