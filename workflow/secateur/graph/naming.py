"""The names that passages mention, without those that the consolidated graph prunes."""

import polars as pl

from secateur.graph.consolidation.prune import prune_names
from secateur.ranking.group import texts_read
from secateur.ranking.mentions import mentions_of, triple_phrases

__all__ = ["mentioned"]


def mentioned(
    cfg, passages: pl.DataFrame, entities: pl.DataFrame, edges: pl.DataFrame, sources: pl.DataFrame
) -> tuple[pl.DataFrame, int]:
    """(table `mentions`, number of those pruned). cfg: the option `consolidation`. No group reads another's titles."""
    read = passages.sort("doc_id", "position")
    read = read.with_columns(pl.Series("text", texts_read(read), pl.String))
    phrases = triple_phrases(entities, edges, sources)
    groups = read.partition_by("group_id", maintain_order=True)
    mentions = pl.concat(mentions_of(group, phrases, cfg) for group in groups)
    kept = prune_names(mentions, read, cfg)
    return kept, mentions.height - kept.height
