"""Extract the triples of questions with the corpus's extractor, or `openie` for an imported graph."""

import polars as pl

from secateur.graph.triples.extraction import extract_cached, plugin_of, record_losses, triples_table
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    separate = not plugin_of(cfg.extractor).FrontEnd.by_sentence  # no pronoun may refer to another question
    questions = inputs["questions"].select(
        passage_id="question_id",
        doc_id=pl.col("question_id") if separate else pl.lit("questions"),
        title=pl.lit(None, pl.String),
        position=pl.int_range(pl.len(), dtype=pl.Int32),
        text="text",
    )
    rows, counts, empty = extract_cached(questions, cfg.extractor, ctx)
    outputs["triples"] = triples_table(rows).with_columns(doc_id="passage_id", position=pl.lit(0, pl.Int32))
    record_losses(ctx, counts)
    ctx.counts |= {"questions_without_triple": empty}
    return {"questions": questions.height, "triples": len(rows)}


main(run, globals().get("snakemake"))
