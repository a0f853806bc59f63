"""One per cent of new documents: CPU seconds and tables against a build from scratch.

A corpus (Medical where none is named) cut into a hundred documents; needs the mirror. Loading the models is part of every
figure, importing libraries is not: the first build does that for all.
"""

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from unittest.mock import patch

import polars as pl
from harness import Figure, publish
from index import Workspace, corpus, settings

from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table
from secateur.graph.codebook import edge_lines
from secateur.models.embedder import Embedder

DOCUMENTS, EMBEDDING, ALL = 100, 0.03, 0.02


def documents(passages: pl.DataFrame) -> pl.DataFrame:
    """The same passages as a hundred documents of equal size."""
    size = -(-passages.height // DOCUMENTS)
    place = pl.int_range(pl.len())
    return passages.with_columns(
        doc_id=pl.format("part-{}", (place // size).cast(pl.String).str.zfill(3)),
        position=(place % size).cast(pl.Int32),
    )


def build(folder: Path, passages: pl.DataFrame, cfg, cache: Path) -> tuple[float, float, Workspace]:
    """CPU seconds of extraction and embedding, of everything, and the workspace."""
    spent = []
    embed = Embedder.embed

    def timed(self: Embedder, texts):
        started = process_time()
        vectors = embed(self, texts)
        spent.append(process_time() - started)
        return vectors

    started = process_time()
    with patch.object(Embedder, "embed", timed):
        space = Workspace(folder, passages, cfg, cache)
        spent.append(process_time() - started)
        Embedder(cfg.embedder, cache).embed(passages["text"].to_list())  # as a ranking does
        space.build()
    return sum(spent), process_time() - started, space


def content(space: Workspace) -> tuple[list, list]:
    """Edges with their sources as text, and alias decisions as text; without ids."""
    tables = {name: read_table(TABLES[name], path) for name, path in space.newest.items()}
    codebook = {
        name: read_table(TABLES[name], space.made("scripts.build_codebook", name)) for name in ("edges", "edge_sources")
    }
    lines = edge_lines(codebook["edges"], tables["entities"], tables["relations"]).select("edge_id", "line")
    sources = codebook["edge_sources"].join(lines, on="edge_id").select("passage_id", "n", "line")
    return sorted(sources.rows()), sorted(tables["aliases"].select("text", "representative").rows())


def main() -> None:
    """The last of the documents is the new one. Argument: a corpus."""
    if "SECATEUR_MIRROR" not in os.environ:
        print("incremental: skipped, no mirror is set (make bench NAME=incremental MIRROR=DIR)")
        return
    cfg, passages = settings(), documents(corpus(*sys.argv[1:2] or ["medical"]))
    old = passages.filter(pl.col("doc_id") != passages["doc_id"].max())
    with TemporaryDirectory() as home:
        folder = Path(home)
        costly, full, scratch = build(folder / "scratch", passages, cfg, folder / "cold")
        build(folder / "old", old, cfg, folder / "cache")
        new, added, grown = build(folder / "grown", passages, cfg, folder / "cache")
        (sources, aliases), (same, others) = content(scratch), content(grown)
    figures = [
        Figure("extraction and embedding of 1 % more", new, "CPU seconds", "from scratch", costly, EMBEDDING, "<="),
        Figure("all of 1 % more", added, "CPU seconds", "from scratch", full, ALL, "<="),
        Figure("same edges and provenance", float(sources == same), "share", None, None, 1.0, ">="),
        Figure(
            "alias decisions in common",
            len(set(aliases) & set(others)) / max(len(set(aliases) | set(others)), 1),
            "share",
            None,
            None,
            None,
            None,
        ),
    ]
    publish("incremental", figures)


if __name__ == "__main__":
    main()
