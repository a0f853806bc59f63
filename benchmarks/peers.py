"""How the index of another system grows with the corpus: exponents over corpora of several sizes that were indexed.

Reads what `index_peer` noted in results (RESULTS=DIR) for one corpus and its first questions, e.g. after

    make run EXPERIMENT=peers LIMIT=20
    make run EXPERIMENT=peers LIMIT=40
    make run EXPERIMENT=peers

Slopes of log cost over log corpus tokens, by least squares; 1 is growth in proportion. Tokens and calls are exact; seconds
are those of the machine and whatever else it did.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from harness import Figure, publish

RESULTS = Path(os.environ.get("RESULTS", Path(__file__).resolve().parent.parent / "results"))
CORPUS = os.environ.get("CORPUS", "musique")
COSTS = {"tokens": pl.col("tokens_in") + pl.col("tokens_out"), "bytes": pl.col("bytes"), "seconds": pl.col("seconds")}


def indexed() -> dict[str, pl.DataFrame]:
    """Each peer's costs, a row a size."""
    found: dict[str, list[pl.DataFrame]] = {}
    for path in sorted(RESULTS.glob(f"{CORPUS}*/peers/*/peer_costs.parquet")):
        if path.parts[-4].partition("@")[0] == CORPUS:
            found.setdefault(path.parts[-2].partition(".")[0], []).append(pl.read_parquet(path))
    frames = {
        name: pl.concat(own).filter(pl.col("failure").is_null()).sort("corpus_tokens") for name, own in found.items()
    }
    return {name: frame for name, frame in frames.items() if frame["corpus_tokens"].n_unique() > 1}


def exponents(name: str, frame: pl.DataFrame) -> Iterator[Figure]:
    x = np.log(frame["corpus_tokens"].to_numpy().astype(float))
    sizes = " and ".join(f"{n:,}" for n in frame["corpus_tokens"])
    for cost, column in COSTS.items():
        y = frame.select(column).to_series().to_numpy().astype(float)
        if (y > 0).all():
            slope = float(np.polyfit(x, np.log(y), 1)[0])
            yield Figure(f"{name}: {cost} over {sizes} corpus tokens", slope, "exponent", None, None, None, None)


def main() -> None:
    found = indexed()
    if not found:
        raise SystemExit(
            f"{RESULTS}: no peer has indexed {CORPUS} in two sizes. Fix: make run EXPERIMENT=peers, and LIMIT=20"
        )
    publish("peers", [figure for name, frame in found.items() for figure in exponents(name, frame)])


main()
