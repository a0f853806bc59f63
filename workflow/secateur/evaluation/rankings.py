"""LongMemEval's official retrieval figures: what of the gold stands among the first k of a ranking.

recall_any: one gold passage at least; recall_all: every one; ndcg_any: the gain of each gold passage, discounted by
its place in the older form rel[0] + sum over i >= 1 of rel[i] / log2(i + 1), over that of the best order.

At the level of sessions, a ranking of turns is read until k sessions were seen, and then measured: a session is found
with one of its gold turns, and the gain still counts turns. As in the official code, the turns of a gold session that
hold no evidence are a session of their own, so that finding them finds nothing.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

__all__ = ["discounts", "figures", "read_passages", "read_sessions"]

KEYS = ["question_id", "scorer"]


def discounts(count: int) -> NDArray[np.float64]:
    """(count,) weight of a gold passage at each place.

    >>> discounts(4).round(3).tolist()
    [1.0, 1.0, 0.631, 0.5]
    """
    return 1 / np.log2(np.maximum(np.arange(count), 1) + 1)


def read_passages(ranking: pl.DataFrame, pooled: pl.DataFrame, cutoffs: Sequence[int]) -> pl.DataFrame:
    """question_id, scorer, k, depth: how many passages are read for k; null where fewer were kept than that.

    ranking: question_id, scorer, rank, from 0 without gaps. pooled: question_id, pooled, the passages there are.
    """
    whole = pl.col("kept") == pl.col("pooled")
    wanted = pl.min_horizontal("k", "pooled")
    return _crossed(ranking, pooled, cutoffs).select(
        *KEYS, "k", depth=pl.when(whole | (pl.col("k") <= pl.col("kept"))).then(wanted)
    )


def read_sessions(ranking: pl.DataFrame, pooled: pl.DataFrame, cutoffs: Sequence[int]) -> pl.DataFrame:
    """The same where k counts sessions: read on to the first passage of the k-th, or to the end where there are fewer.

    ranking: as above, with session_id and gold.
    """
    seen = ranking.sort(*KEYS, "rank").filter(pl.struct(*KEYS, "session_id", "gold").is_first_distinct())
    places = seen.select(*KEYS, k=pl.int_range(1, pl.len() + 1).over(KEYS), place=pl.col("rank") + 1)
    found = _crossed(ranking, pooled, cutoffs).join(places, on=[*KEYS, "k"], how="left")
    end = pl.when(pl.col("kept") == pl.col("pooled")).then("pooled")
    return found.select(*KEYS, "k", depth=pl.coalesce("place", end))


def _crossed(ranking: pl.DataFrame, pooled: pl.DataFrame, cutoffs: Sequence[int]) -> pl.DataFrame:
    """Every ranking with every cutoff, how many of its passages were kept and how many there are."""
    kept = ranking.group_by(KEYS).agg(kept=pl.len().cast(pl.Int64))
    sizes = kept.join(pooled.with_columns(pl.col("pooled").cast(pl.Int64)), on="question_id")
    return sizes.join(pl.DataFrame({"k": list(cutoffs)}, schema={"k": pl.Int64}), how="cross")


def figures(ranking: pl.DataFrame, gold: pl.DataFrame, depths: pl.DataFrame, unit: str) -> pl.DataFrame:
    """question_id, scorer, k, recall_any, recall_all, ndcg_any; a cutoff that one question leaves open has no rows.

    ranking: question_id, scorer, rank, passage_id, gold, session_id; gold: question_id, passage_id, session_id, a row
    for each gold passage; depths: of `read_passages` or `read_sessions`; unit: what recall_all counts, passage_id or
    session_id.
    """
    total = gold.group_by("question_id").agg(units=pl.col(unit).n_unique(), passages=pl.len())
    open_ = depths.filter(pl.col("depth").is_null()).select("scorer", "k").unique()
    read = depths.join(open_, on=["scorer", "k"], how="anti").join(total, on="question_id")
    gain = pl.Series(discounts(int(ranking["rank"].max() or 0) + 1))
    hits = ranking.filter("gold").with_columns(gain=pl.lit(gain).gather(pl.col("rank")))
    within = read.join(hits, on=KEYS).filter(pl.col("rank") < pl.col("depth"))
    found = within.group_by(*KEYS, "k").agg(hit=pl.col(unit).n_unique(), dcg=pl.col("gain").sum())
    best = pl.Series(np.cumsum(discounts(int(total["passages"].max() or 1))))
    ideal = pl.lit(best).gather(pl.min_horizontal("passages", "depth") - 1)
    joined = read.join(found, on=[*KEYS, "k"], how="left").with_columns(pl.col("hit", "dcg").fill_null(0))
    return joined.select(
        *KEYS,
        "k",
        recall_any=(pl.col("hit") > 0).cast(pl.Float64),
        recall_all=(pl.col("hit") == pl.col("units")).cast(pl.Float64),
        ndcg_any=pl.col("dcg") / ideal,
    )
