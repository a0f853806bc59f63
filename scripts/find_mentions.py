"""Find the entities that passages mention: names, topics of their articles, phrases of their triples."""

from secateur.graph.naming import mentioned
from secateur.ranking.mentions import record_counts
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    names = ("passages", "entities", "edges", "edge_sources")
    mentions, pruned = mentioned(cfg.consolidation, *(inputs[name] for name in names))
    outputs["mentions"] = mentions
    record_counts(mentions, inputs["passages"], ctx)
    return {"mentions": mentions.height, "mentions_pruned": pruned}


main(run, globals().get("snakemake"))
