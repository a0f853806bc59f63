"""Extracts the triples of one shard of a corpus, cached by block, or reads those of an imported graph."""

from secateur.graph.triples.extraction import extract, refuse_unreadable, shard_of
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    refuse_unreadable(inputs["passages"], cfg.extractor)
    shard, count = map(int, ctx.shard.split("of"))
    passages = shard_of(inputs["passages"], shard, count, cfg.extractor.block)
    outputs["triples"] = triples = extract(passages, cfg.extractor, ctx, inputs.paths("files"))
    return {"passages": passages.height, "triples": triples.height, "resolved": int(triples["resolved"].sum())}


main(run, globals().get("snakemake"))
