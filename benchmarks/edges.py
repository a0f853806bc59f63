"""Ten million edges de-duplicated, written and read, against a raw write of the same bytes and one sort of the rows.

The library's own functions are measured, with all their checks: `first_places`, which `indexify` and `remap_edges`
use, `write_table` and `read_table`.
"""

import argparse
import os
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ.setdefault("POLARS_MAX_THREADS", "1")

import numpy as np
import polars as pl
import pyarrow as pa
from harness import Figure, cpu_seconds, publish

from secateur.core.distinct import first_places
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table, write_table

SYMBOLS = {"h": 4_000_000, "r": 60_000, "t": 4_000_000}  # distinct ones at most
SKEW, REPEATED = 3, 0.05
TIME, SIZE = 3.0, 0.6
TABLE = TABLES["edges"]


def by_first_appearance(drawn: np.ndarray) -> np.ndarray:
    """The same symbols with dense ids as the codebook gives them."""
    _, first, symbol = np.unique(drawn, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[symbol].astype(np.int32)


def mentions(count: int) -> pl.DataFrame:
    """h, r, t of `count` mentions of edges in text order; some edges stand there again."""
    rng = np.random.default_rng(7)
    drawn = {name: (rng.random(count) ** SKEW * most).astype(np.int64) for name, most in SYMBOLS.items()}
    later = np.flatnonzero(rng.random(count) < REPEATED)
    earlier = (rng.random(len(later)) * later).astype(np.int64)
    for column in drawn.values():
        column[later] = column[earlier]
    return pl.DataFrame({name: by_first_appearance(column) for name, column in drawn.items()})


def main() -> None:
    """CPU seconds of the three steps together, and bytes on the disk."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    pa.set_cpu_count(1)
    found = mentions(parser.parse_args().rows)

    def distinct() -> pl.DataFrame:
        first, _ = first_places(found, ["h", "r", "t"])
        edges = found[first].with_row_index("edge_id").with_columns(pl.col("edge_id").cast(pl.Int32))
        return edges.with_columns(line_id="edge_id")

    edges = distinct()
    columns = [np.ascontiguousarray(edges[name].to_numpy()) for name in edges.columns]
    with TemporaryDirectory() as folder:
        path, raw = Path(folder) / "edges.parquet", Path(folder) / "raw"

        def bare() -> None:
            with raw.open("wb") as stream:
                for column in columns:
                    stream.write(memoryview(column))
            edges.sort("h", "r", "t")

        parts = cpu_seconds(
            bare, distinct, lambda: write_table(TABLE, edges, path), lambda: read_table(TABLE, path), repeats=3
        )
        same, bytes_ = read_table(TABLE, path).equals(edges), path.stat().st_size / raw.stat().st_size
    exact = float(same and edges.height == found.n_unique())
    print(
        f"{edges.height} distinct; de-duplicate {parts[1]:.2f}, write {parts[2]:.2f}, read {parts[3]:.2f} CPU seconds"
    )
    anchor = "raw write and one sort of the rows"
    publish(
        "edges",
        [
            Figure("edges", sum(parts[1:]), "CPU seconds", anchor, parts[0], TIME, "<="),
            Figure("edges on disk", bytes_, "share of the raw bytes", None, None, SIZE, "<="),
            Figure("same rows", exact, "share", None, None, 1.0, ">="),
        ],
    )


if __name__ == "__main__":
    main()
