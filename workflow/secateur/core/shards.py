"""The part of some work that a shard "NofCOUNT" does."""

__all__ = ["part_of"]


def part_of(count: int, shard: str) -> range:
    """The consecutive indices of a shard among `count` items.

    >>> [part_of(5, f"{n}of3") for n in range(3)]
    [range(0, 1), range(1, 3), range(3, 5)]
    """
    number, shards = map(int, shard.split("of"))
    return range(count * number // shards, count * (number + 1) // shards)
