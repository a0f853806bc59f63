"""Questions to triples, with the corpus's own front end."""

import polars as pl

from secateur.triples.blocks import extract_cached, frame_of


def run(cfg, inputs, outputs, ctx):
    questions = inputs["questions"].select(
        passage_id="question_id",
        doc_id="question_id",
        title=pl.lit(None, pl.String),
        position=pl.lit(0, pl.Int32),
        text="text",
    )
    rows, dropped, silent = extract_cached(questions, cfg.extractor, ctx)
    outputs["triples"] = frame_of(rows)
    ctx.counts |= {f"dropped_{reason}": n for reason, n in sorted(dropped.items())} | {
        "questions_without_triple": silent
    }
    return {"questions": questions.height, "triples": len(rows)}
