# Shards of the statistics.


def statistics_shards(wildcards):
    """The statistics of every shard of the questions."""
    count, axes = option("ecs", wildcards.ecs).shards, UTILITY.format(**wildcards)
    folder = f"results/{wildcards.corpus}/{wildcards.dataset}/statistics/{axes}"
    return [f"{folder}/{n}of{count}/statistics.parquet" for n in range(count)]
