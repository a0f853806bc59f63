"""Find the entities that passages mention: names, topics of their articles, phrases of their triples."""

import polars as pl

from secateur.graph.consolidation.prune import prune_names
from secateur.ranking.group import texts_read
from secateur.ranking.mentions import mentions_of, record_counts, triple_phrases
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    passages = inputs["passages"].sort("doc_id", "position")
    passages = passages.with_columns(pl.Series("text", texts_read(passages), pl.String))
    phrases = triple_phrases(inputs["entities"], inputs["edges"], inputs["edge_sources"])
    groups = passages.partition_by("group_id", maintain_order=True)  # no group reads another's titles
    found = pl.concat(mentions_of(group, phrases, cfg.consolidation) for group in groups)
    outputs["mentions"] = mentions = prune_names(found, passages, cfg.consolidation)
    record_counts(mentions, passages, ctx)
    return {"mentions": mentions.height, "mentions_pruned": found.height - mentions.height}


main(run, globals().get("snakemake"))
