"""Passages to the entities that they mention: names, what their article is about, phrases of their triples."""

from secateur.graph.mentions import mentions_of, naming_of, note_mentions, phrases_of
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    passages = inputs["passages"].sort("doc_id", "position")
    phrases = phrases_of(inputs["entities"], inputs["edges"], inputs["edge_sources"])
    outputs["mentions"] = mentions = mentions_of(passages, phrases, naming_of(cfg.consolidation))
    note_mentions(mentions, passages, ctx)
    return {"mentions": mentions.height}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
