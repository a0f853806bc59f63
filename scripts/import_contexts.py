"""Import contexts that were made elsewhere, and check them line by line."""

from secateur.config.limits import unlimited
from secateur.contexts.imported import imported_rows, read_contexts, reference_of
from secateur.contexts.table import lengths
from secateur.core.tables.catalog import TABLES
from secateur.models.word_pieces import lm_counter
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    questions, count = inputs["questions"], lm_counter(cfg.lm.model, ctx.cache)
    is_limited = unlimited(ctx.axes["dataset"])[1] is not None
    reference = reference_of(questions, inputs["passages"], is_limited)
    contexts = read_contexts(inputs.paths("file")[0], reference, ctx.warn)
    allowed = lengths(inputs.paths("lengths")) if "lengths" in inputs else None
    rows, cut = imported_rows(contexts, count, cfg.lm.window, allowed)
    outputs["contexts"] = TABLES["contexts"].frame(rows)
    if missing := questions.height - len(contexts):
        ctx.warn(f"{missing} of {questions.height} questions have no context, and are left out of its comparisons")
    if cut:
        ctx.warn(f"{len(cut)} contexts exceed the reader's window of {cfg.lm.window} tokens, and lose their beginning")
    ctx.note_counts({"context_tokens_beyond_the_window": sum(cut.values())})
    return {"questions": len(contexts), "rows": len(rows)}


main(run, globals().get("snakemake"))
