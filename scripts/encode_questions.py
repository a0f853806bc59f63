"""Questions to triples, with the corpus's own front end; of an imported graph with `openie`."""

import polars as pl

from secateur.graph.triples.extraction import extract_cached, frame_of, kind_of, note_losses
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    alone = not kind_of(cfg.extractor).FrontEnd.by_sentence  # a pronoun must not find its noun in another question
    questions = inputs["questions"].select(
        passage_id="question_id",
        doc_id=pl.col("question_id") if alone else pl.lit("questions"),
        title=pl.lit(None, pl.String),
        position=pl.int_range(pl.len(), dtype=pl.Int32),
        text="text",
    )
    rows, counts, silent = extract_cached(questions, cfg.extractor, ctx)
    outputs["triples"] = frame_of(rows).with_columns(doc_id="passage_id", position=pl.lit(0, pl.Int32))
    note_losses(ctx, counts)
    ctx.counts |= {"questions_without_triple": silent}
    return {"questions": questions.height, "triples": len(rows)}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
