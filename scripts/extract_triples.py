"""One shard of a corpus: passages to triples, cached by document block; or the triples of an imported graph."""

from secateur.graph.triples.extraction import extract_cached, frame_of, kind_of, note_losses, placed, shard_of
from secateur.graph.triples.surface import triples_of
from secateur.stage.contract import main


def _imported(read, inputs):
    """The same as `extract_cached` gives, from a graph of the whole corpus."""
    passages = inputs["passages"].sort("doc_id", "position")
    facts, counts = read(inputs.paths("files"), passages)
    found, dropped = triples_of(facts.get(passage, ()) for passage in passages["passage_id"])
    return placed(passages, found), counts + dropped, sum(not triples for triples in found)


def run(cfg, inputs, outputs, ctx):
    shard, count = map(int, ctx.axes["shard"].split("of"))
    passages = shard_of(inputs["passages"], shard, count, cfg.extractor.block)
    read = getattr(kind_of(cfg.extractor), "read", None)
    rows, counts, silent = _imported(read, inputs) if read else extract_cached(passages, cfg.extractor, ctx)
    outputs["triples"] = frame_of(rows)
    note_losses(ctx, counts)
    ctx.counts |= {"passages_without_triple": silent}
    return {"passages": passages.height, "triples": len(rows), "resolved": sum(row["resolved"] for row in rows)}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
