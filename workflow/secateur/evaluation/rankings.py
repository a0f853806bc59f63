"""LongMemEval's official retrieval metrics at cutoffs k.

- `recall_any`: whether at least one gold passage is among the first k;
- `recall_all`: whether all of them are;
- `ndcg_any`: DCG over that of the ideal order, with DCG = rel[0] + sum over i >= 1 of rel[i] / log2(i + 1).

For sessions, a ranking of turns is read until k sessions were seen. A session is found with one of its gold turns; DCG still
counts turns. As in the official code, the turns of a gold session without evidence count as a session of their own, so that
they find nothing.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

__all__ = ["POOL_RANDOM", "cutoff_metrics", "discounts", "passage_depths", "pool_random", "session_depths"]

KEYS = ["question_id", "scorer"]
POOL_RANDOM = ("pool_random", "pool_random+answer")  # chance among the candidates found without, and with, the answer


def pool_random(pool: pl.DataFrame, gold: pl.DataFrame) -> pl.DataFrame:
    """(question_id, scorer, answer_aware, value): expected F1 at gold size of random candidates of a pool.

    Of p candidates of which g are gold, min(k, p) random ones hold min(k, p) g / p gold passages in the mean, where k is the
    number of the question's gold passages. F1 is 2 hits / (min(k, p) + k).

    pool: question_id, passage_id, rank, free. gold: question_id, passage_id, each pair once.
    """
    candidates = pool.join(gold.with_columns(hit=pl.lit(1)), on=["question_id", "passage_id"], how="left")
    sizes = gold.group_by("question_id").agg(k=pl.len())
    taken, tables = pl.min_horizontal("k", "p"), []
    for scorer, chosen in zip(POOL_RANDOM, (pl.col("free"), pl.col("rank").is_not_null()), strict=True):
        counts = candidates.filter(chosen).group_by("question_id").agg(p=pl.len(), g=pl.col("hit").sum())
        value = 2 * taken * pl.col("g") / pl.col("p") / (taken + pl.col("k"))
        aware = pl.lit(scorer != POOL_RANDOM[0])
        labels = {"scorer": pl.lit(scorer), "answer_aware": aware}
        tables.append(counts.join(sizes, on="question_id").select("question_id", **labels, value=value))
    return pl.concat(tables)


def discounts(count: int) -> NDArray[np.float64]:
    """(count,) DCG weight of each place.

    >>> discounts(4).round(3).tolist()
    [1.0, 1.0, 0.631, 0.5]
    """
    return 1 / np.log2(np.maximum(np.arange(count), 1) + 1)


def passage_depths(ranking: pl.DataFrame, pooled: pl.DataFrame, cutoffs: Sequence[int]) -> pl.DataFrame:
    """(question_id, scorer, k, depth): number of passages to read for each cutoff; null if the ranking keeps fewer.

    ranking: question_id, scorer, rank, from 0 without gaps. pooled: question_id, pooled (number of passages to rank).
    """
    whole = pl.col("kept") == pl.col("pooled")
    depth = pl.min_horizontal("k", "pooled")
    return _crossed(ranking, pooled, cutoffs).select(
        *KEYS, "k", depth=pl.when(whole | (pl.col("k") <= pl.col("kept"))).then(depth)
    )


def session_depths(ranking: pl.DataFrame, pooled: pl.DataFrame, cutoffs: Sequence[int]) -> pl.DataFrame:
    """`passage_depths` where k counts sessions: up to the first passage of the k-th session, or all if there are fewer.

    ranking: also session_id, gold.
    """
    seen = ranking.sort(*KEYS, "rank").filter(pl.struct(*KEYS, "session_id", "gold").is_first_distinct())
    places = seen.select(*KEYS, k=pl.int_range(1, pl.len() + 1).over(KEYS), place=pl.col("rank") + 1)
    crossed = _crossed(ranking, pooled, cutoffs).join(places, on=[*KEYS, "k"], how="left")
    end = pl.when(pl.col("kept") == pl.col("pooled")).then("pooled")
    return crossed.select(*KEYS, "k", depth=pl.coalesce("place", end))


def _crossed(ranking: pl.DataFrame, pooled: pl.DataFrame, cutoffs: Sequence[int]) -> pl.DataFrame:
    """Every ranking with every cutoff, the number of its passages that were kept, and of all passages."""
    kept = ranking.group_by(KEYS).agg(kept=pl.len().cast(pl.Int64))
    sizes = kept.join(pooled.with_columns(pl.col("pooled").cast(pl.Int64)), on="question_id")
    return sizes.join(pl.DataFrame({"k": list(cutoffs)}, schema={"k": pl.Int64}), how="cross")


def cutoff_metrics(ranking: pl.DataFrame, gold: pl.DataFrame, depths: pl.DataFrame, unit: str) -> pl.DataFrame:
    """(question_id, scorer, k, recall_any, recall_all, ndcg_any), without cutoffs that lack a depth for any question.

    ranking: question_id, scorer, rank, passage_id, gold, session_id. gold: question_id, passage_id, session_id of each gold
    passage. depths: of `passage_depths` or `session_depths`. unit: passage_id or session_id, which recall_all counts.
    """
    total = gold.group_by("question_id").agg(units=pl.col(unit).n_unique(), passages=pl.len())
    too_short = depths.filter(pl.col("depth").is_null()).select("scorer", "k").unique()
    read = depths.join(too_short, on=["scorer", "k"], how="anti").join(total, on="question_id")
    gain = pl.Series(discounts(int(ranking["rank"].max() or 0) + 1))
    hits = ranking.filter("gold").with_columns(gain=pl.lit(gain).gather(pl.col("rank")))
    within = read.join(hits, on=KEYS).filter(pl.col("rank") < pl.col("depth"))
    hits_within = within.group_by(*KEYS, "k").agg(hit=pl.col(unit).n_unique(), dcg=pl.col("gain").sum())
    best = pl.Series(np.cumsum(discounts(int(total["passages"].max() or 1))))
    ideal = pl.lit(best).gather(pl.min_horizontal("passages", "depth") - 1)
    joined = read.join(hits_within, on=[*KEYS, "k"], how="left").with_columns(pl.col("hit", "dcg").fill_null(0))
    return joined.select(
        *KEYS,
        "k",
        recall_any=(pl.col("hit") > 0).cast(pl.Float64),
        recall_all=(pl.col("hit") == pl.col("units")).cast(pl.Float64),
        ndcg_any=pl.col("dcg") / ideal,
    )
