"""Passages to the entities that they mention: names, what their article is about, phrases of their triples."""

import polars as pl

from secateur.graph.mentions import ABOUT, PHRASE, Naming, mentions_of
from secateur.stage.contract import main


def _phrases(inputs) -> dict[str, list[str]]:
    """The heads and tails of each passage's triples, as their representatives are written."""
    texts = inputs["entities"].sort("entity_id")["text"]
    ends = inputs["edges"].select("edge_id", h=texts.gather(inputs["edges"]["h"]), t=texts.gather(inputs["edges"]["t"]))
    sources = inputs["edge_sources"].sort("doc_id", "position", "n").join(ends, on="edge_id", maintain_order="left")
    parts = sources.group_by("passage_id", maintain_order=True).agg("h", "t")
    return {passage: [*heads, *tails] for passage, heads, tails in parts.iter_rows()}


def run(cfg, inputs, outputs, ctx):
    c = cfg.consolidation
    passages = inputs["passages"].sort("doc_id", "position")
    naming = Naming(frozenset(c.joins), frozenset(c.skipped), c.longest)
    outputs["mentions"] = found = mentions_of(passages, _phrases(inputs), naming)
    articles = found.join(passages.select("passage_id", "doc_id"), on="passage_id")
    for what, own in (("names", articles.filter(pl.col("role") != PHRASE)), ("entities", articles)):
        spread = own.group_by("entity").agg(pl.col("doc_id").n_unique())["doc_id"]
        ctx.counts |= {what: len(spread), f"{what}_in_several_articles": int((spread > 1).sum())}
    total = passages["doc_id"].n_unique()
    if total > 1 and not ctx.counts["names_in_several_articles"]:
        ctx.warn("no name stands in two articles: a walk over names leads nowhere")
    about = articles.filter(pl.col("role") == ABOUT)["doc_id"].n_unique()
    ctx.counts |= {"articles_about_nothing": total - about}
    return {"mentions": found.height}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
