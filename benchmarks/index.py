"""Indexing without models: codebook, runs, consolidation and tables from cached triples and vectors.

CPU time and bytes on 60 and 120 kB of Medical, and growth from 1 % to 100 % of STEM. Both corpora come from a mirror
(SECATEUR_MIRROR); without one, nothing is measured. STEM needs vectors of 250,000 strings: minutes, unless
SECATEUR_CACHE holds them.
"""

import logging
import math
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import numpy as np
import polars as pl
import pyarrow.parquet as pq
from harness import Figure, cpu_seconds, publish
from scripts import build_codebook, build_runs, consolidate

from secateur.config import compose
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import write_table
from secateur.datasets import loaders
from secateur.datasets.fetch import fetch
from secateur.datasets.registry import load_registry
from secateur.graph.triples.extraction import extract_cached, triples_table
from secateur.stage.contract import Context, Inputs, Outputs

ROOT = Path(__file__).resolve().parent.parent
KILOBYTES, SHARES = (60, 120), (0.01, 0.1, 1.0)
SECONDS, TABLE_BYTES, EMBEDDING_BYTES, EXPONENT = 1.0, 8.0, 25.0, 1.0
STAGES = (
    (build_codebook, ("passages", "triples"), ("entities", "relations", "edges", "lines", "edge_sources")),
    (build_runs, ("edges", "lines", "edge_sources"), ("runs", "run_edges")),
    (
        consolidate,
        ("passages", "entities", "edges", "edge_sources", "run_edges"),
        ("aliases", "edges", "edge_sources", "run_edges", "tombstones"),
    ),
)


def settings() -> SimpleNamespace:
    """The default options."""
    groups = {"embedder": "minilm", "codebook": "default", "consolidation": "default", "order": "blind"}
    groups["extractor"] = "openie"
    return SimpleNamespace(**{group: compose.option(ROOT / "conf", group, name) for group, name in groups.items()})


def corpus(name: str) -> pl.DataFrame:
    """All passages of a corpus from the mirror."""
    option, mirror = compose.option(ROOT / "conf", "corpus", name), Path(os.environ["SECATEUR_MIRROR"])
    registry = load_registry(ROOT / "data/registry")
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / file for file in option.files]
        for path in paths:
            fetch(registry[path.name], path, mirror)
        paths += [ROOT / extra for extra in option.extra]
        names = loaders.format_of(option.format).CORPUS_FILES
        return loaders.load_corpus(option.format, loaders.named_files(names, paths)).passages


def cut(passages: pl.DataFrame, size: int) -> pl.DataFrame:
    """The first passages, as many as have `size` bytes together."""
    return passages.filter(pl.col("text").str.len_bytes().cum_sum() <= size)


class Workspace:
    """The tables of one corpus in a folder, stage by stage."""

    def __init__(self, folder: Path, passages: pl.DataFrame, cfg: SimpleNamespace, cache: Path) -> None:
        self.folder, self.cfg = folder, cfg
        self.bytes = int(passages["text"].str.len_bytes().sum())
        self.ctx = Context(logging.getLogger("bench"), cache, {}, "bench")
        rows, _, _ = extract_cached(passages, cfg.extractor, self.ctx)
        for name, frame in (("passages", passages), ("triples", triples_table(rows))):
            write_table(TABLES[name], frame, self.made("prepare", name))

    def made(self, stage: str, table: str) -> Path:
        path = self.folder / stage / f"{table}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def build(self) -> None:
        """All stages; each reads the newest table of a name."""
        newest = self.newest = {name: self.made("prepare", name) for name in ("passages", "triples")}
        for module, reads, writes in STAGES:
            made = {name: self.made(module.__name__, name) for name in writes}
            outputs = Outputs(made)
            module.run(self.cfg, Inputs({name: [newest[name]] for name in reads}), outputs, self.ctx)
            outputs.commit()
            newest.update(made)

    def sizes(self) -> dict[str, float]:
        """Bytes of embedding columns and of all others, and rows of the codebook."""
        found = dict.fromkeys(("tables", "embeddings"), 0)
        for path in self.folder.rglob("*.parquet"):
            whole, meta = path.stat().st_size, pq.ParquetFile(path).metadata
            chunks = (meta.row_group(g).column(c) for g in range(meta.num_row_groups) for c in range(meta.num_columns))
            vectors = sum(c.total_compressed_size for c in chunks if c.path_in_schema.startswith("embedding"))
            found["embeddings"] += vectors
            found["tables"] += whole - vectors
        for name in ("entities", "edges"):
            found[name] = pq.ParquetFile(self.made("scripts.build_codebook", name)).metadata.num_rows
        return found


def exponent(sizes: list[float], values: list[float]) -> float:
    """Slope of log value over log size."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def medical(folder: Path, cfg: SimpleNamespace) -> list[Figure]:
    """CPU seconds and bytes at two sizes."""
    passages, figures = corpus("medical"), []
    spaces = [Workspace(folder / str(k), cut(passages, k * 1000), cfg, folder / "cache") for k in KILOBYTES]
    for space in spaces:
        space.build()  # fills the cache of vectors and imports what there is to import
    seconds = cpu_seconds(*(space.build for space in spaces), repeats=3)
    for k, space, taken in zip(KILOBYTES, spaces, seconds, strict=True):
        size, name = space.sizes(), f"Medical {k} kB"
        figures += [
            Figure(f"index {name}", taken, "CPU seconds", None, None, SECONDS, "<="),
            Figure(f"tables {name}", size["tables"] / space.bytes, "bytes a byte", None, None, TABLE_BYTES, "<="),
            Figure(
                f"embeddings {name}",
                size["embeddings"] / space.bytes,
                "bytes a byte",
                None,
                None,
                EMBEDDING_BYTES,
                "<=",
            ),
        ]
    growth = math.log(seconds[1] / seconds[0]) / math.log(spaces[1].bytes / spaces[0].bytes)
    return [*figures, Figure("index time", growth, "growth exponent", None, None, None, None)]


def stem(folder: Path, cfg: SimpleNamespace) -> list[Figure]:
    """Growth of the codebook and of the workspace."""
    passages, found = corpus("stem"), []
    cache, total = Path(os.environ.get("SECATEUR_CACHE", ROOT / ".cache")), int(passages["text"].str.len_bytes().sum())
    for share in SHARES:
        space = Workspace(folder / str(share), cut(passages, int(total * share)), cfg, cache)
        space.build()
        found.append(space.sizes() | {"text": space.bytes})
        print(f"STEM {share:.0%}:", found[-1])
    text = [f["text"] for f in found]
    whole = [f["tables"] + f["embeddings"] for f in found]
    series = {"entities": [f["entities"] for f in found], "edges": [f["edges"] for f in found], "bytes": whole}
    return [
        Figure(f"STEM {name}", exponent(text, values), "growth exponent", None, None, EXPONENT, "<=")
        for name, values in series.items()
    ] + [
        Figure("tables STEM", found[-1]["tables"] / text[-1], "bytes a byte", None, None, TABLE_BYTES, "<="),
        Figure(
            "embeddings STEM", found[-1]["embeddings"] / text[-1], "bytes a byte", None, None, EMBEDDING_BYTES, "<="
        ),
    ]


def main() -> None:
    """Both corpora."""
    if not os.environ.get("SECATEUR_MIRROR"):
        print("index: skipped, SECATEUR_MIRROR is not set")
        return
    import torch

    torch.set_num_threads(1)
    cfg = settings()
    with TemporaryDirectory() as folder:
        publish("index", medical(Path(folder) / "medical", cfg) + stem(Path(folder) / "stem", cfg))


if __name__ == "__main__":
    main()
