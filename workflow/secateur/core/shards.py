"""The part of some work that a shard "NofCOUNT" does."""

import polars as pl

__all__ = ["part_of", "questions_of"]


def part_of(count: int, shard: str) -> range:
    """The consecutive indices of a shard among `count` items; of all for an empty name.

    >>> [part_of(5, f"{n}of3") for n in range(3)], part_of(5, "")
    ([range(0, 1), range(1, 3), range(3, 5)], range(0, 5))
    """
    if not shard:
        return range(count)
    number, shards = map(int, shard.split("of"))
    return range(count * number // shards, count * (number + 1) // shards)


def questions_of(questions: pl.DataFrame, shard: str) -> pl.DataFrame:
    """The questions of a shard, or all: group after group in the order of their first questions, so that few groups are split."""
    first = pl.col("position").min().over("group_id")
    ordered = questions.sort(first, "group_id", "position")
    part = part_of(ordered.height, shard)
    return ordered[part.start : part.stop]
