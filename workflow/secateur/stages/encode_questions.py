"""Questions to triples, with the corpus's own front end; where its graph was imported, with `openie`."""

import polars as pl

from secateur.triples.blocks import extract_cached, frame_of, note_losses


def run(cfg, inputs, outputs, ctx):
    questions = inputs["questions"].select(
        passage_id="question_id",
        doc_id="question_id",
        title=pl.lit(None, pl.String),
        position=pl.lit(0, pl.Int32),
        text="text",
    )
    rows, counts, silent = extract_cached(questions, cfg.extractor, ctx)
    outputs["triples"] = frame_of(rows)
    note_losses(ctx, counts)
    ctx.counts |= {"questions_without_triple": silent}
    return {"questions": questions.height, "triples": len(rows)}
