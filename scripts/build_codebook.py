"""Index triples into the codebook, with an embedding of every symbol and every edge line."""

from secateur.graph.embedding import codebook_of, with_embeddings
from secateur.models.embedder import Embedder
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    embedder = Embedder(cfg.embedder, ctx.cache, ctx.log)
    book, lines = codebook_of(inputs["passages"], inputs["triples"], ctx)
    outputs.in_parts("entities", with_embeddings(book.entities, book.entities["text"], embedder))
    outputs.in_parts("relations", with_embeddings(book.relations, book.relations["text"], embedder))
    outputs.in_parts("lines", with_embeddings(book.edges.select("line_id"), lines, embedder))
    outputs["edges"], outputs["edge_sources"] = book.edges, book.edge_sources
    embedder.tell_split(lines, "edge lines", ctx)
    ctx.counts |= {"cache_hits": embedder.cache.hits, "cache_misses": embedder.cache.misses}
    return {"entities": book.entities.height, "relations": book.relations.height, "edges": book.edges.height}


main(run, globals().get("snakemake"))
