"""Contexts that were made elsewhere, checked line by line."""

import polars as pl

from secateur.contexts.imported import Reference, imported_rows
from secateur.contexts.piece import passage_text
from secateur.core.tables.catalog import TABLES
from secateur.models.word_pieces import lm_counter
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    passages = inputs["passages"].select("passage_id", "text", "speaker", "date")
    questions = frozenset(inputs["questions"]["question_id"])
    texts = {row[0]: passage_text(*row[1:]) for row in passages.iter_rows()}
    known = Reference(questions, texts, lm_counter(cfg.lm.model, ctx.cache), cfg.eval.budgets, cfg.assembly.budget)
    rows = imported_rows(inputs.paths("file")[0], known)
    outputs["contexts"] = found = pl.DataFrame(rows, schema=TABLES["contexts"].empty().schema, orient="row")
    missing = len(questions) - found["question_id"].n_unique()
    if missing:
        ctx.warn(f"{missing} of {len(questions)} questions have no context: they are read without one")
    return {"questions": found["question_id"].n_unique(), "rows": found.height}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
