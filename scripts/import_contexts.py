"""Import contexts that were made elsewhere, and check them line by line."""

from secateur.config.limits import unlimited
from secateur.contexts.imported import Reference, imported_rows
from secateur.contexts.piece import passage_text
from secateur.core.tables.catalog import TABLES
from secateur.models.word_pieces import lm_counter
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    passages = inputs["passages"].select("passage_id", "text", "speaker", "date")
    questions = frozenset(inputs["questions"]["question_id"])
    texts = {row[0]: passage_text(*row[1:]) for row in passages.iter_rows()}
    count = lm_counter(cfg.lm.model, ctx.cache)
    is_limited = unlimited(ctx.axes["dataset"])[1] is not None
    reference = Reference(questions, texts, count, cfg.eval.budgets, cfg.assembly.budget, is_limited)
    rows = imported_rows(inputs.paths("file")[0], reference, ctx.warn)
    outputs["contexts"] = contexts = TABLES["contexts"].frame(rows)
    missing = len(questions) - contexts["question_id"].n_unique()
    if missing:
        ctx.warn(f"{missing} of {len(questions)} questions have no context: they are read without one")
    return {"questions": contexts["question_id"].n_unique(), "rows": contexts.height}


main(run, globals().get("snakemake"))
