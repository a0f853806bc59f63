"""One shard of a corpus: passages to triples, cached by document block."""

from secateur.triples.blocks import extract_cached, frame_of, shard_of


def run(cfg, inputs, outputs, ctx):
    shard, count = map(int, ctx.axes["shard"].split("of"))
    passages = shard_of(inputs["passages"], shard, count, cfg.extractor.block)
    rows, dropped, silent = extract_cached(passages, cfg.extractor, ctx)
    outputs["triples"] = frame_of(rows)
    ctx.counts |= {f"dropped_{reason}": n for reason, n in sorted(dropped.items())} | {
        "passages_without_triple": silent
    }
    return {"passages": passages.height, "triples": len(rows), "resolved": sum(row["resolved"] for row in rows)}
