"""Index triples into the codebook, with an embedding of every symbol and every edge line; a part embeds its share."""

from secateur.graph.embedding import codebook
from secateur.models.embedder import Embedder
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    if "lines" in inputs:
        for name in ("entities", "relations", "edges", "lines", "edge_sources"):
            outputs.in_parts(name, inputs.each(name))
    else:
        embedder = Embedder(cfg.embedder, ctx.cache, ctx.log)
        for name, parts in codebook(inputs["passages"], inputs["triples"], embedder, ctx, ctx.shard):
            outputs.in_parts(name, parts)
        ctx.counts |= {"cache_hits": embedder.cache.hits, "cache_misses": embedder.cache.misses}
    return {name: outputs.rows[name] for name in ("entities", "relations", "edges")}


main(run, globals().get("snakemake"))
