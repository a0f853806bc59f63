"""The context of a system that no graph makes, for the questions that are answered: as blocks, at the prompt's budget."""

import polars as pl

from secateur.contexts.simple import as_blocks, gold_units, last_units, ranked_units
from secateur.evaluation.subsets import answered
from secateur.models.word_pieces import lm_counter, word_piece_counter
from secateur.pipeline.contract import main


def _units(cfg, inputs, ctx, asked: pl.DataFrame) -> pl.DataFrame:
    """question_id, passage_id, text in the order of the prompt."""
    name, passages = ctx.axes["context"], inputs["passages"].sort("doc_id", "position")
    if name == "closed_book":
        return pl.DataFrame(schema=dict.fromkeys(("question_id", "passage_id", "text"), pl.String))
    if name == "oracle_evidence":
        return gold_units(asked, inputs["evidence"], passages)
    if name == "full_context":
        sizes = lm_counter(cfg.lm.model)(passages["text"].to_list()).tolist()
        units = last_units(asked, passages, sizes, cfg.lm.window)
        _tell_cut(ctx, asked, passages, units)
        return units
    ranked = inputs["utilities"].filter(pl.col("scorer") == name).join(asked, on="question_id", how="semi")
    texts = ranked.sort("question_id", "rank").join(
        passages.select("passage_id", "text"), on="passage_id", maintain_order="left"
    )
    counter = word_piece_counter(cfg.embedder.model)
    return ranked_units(texts, counter, cfg.prompt.budget, cfg.prompt.best_last)


def _tell_cut(ctx, asked: pl.DataFrame, passages: pl.DataFrame, units: pl.DataFrame) -> None:
    """Warn of questions whose group no window holds."""
    groups = passages.group_by("group_id").agg(there=pl.len())
    shown = units.group_by("question_id").agg(shown=pl.len())
    sizes = asked.join(groups, on="group_id").join(shown, on="question_id", how="left").fill_null(0)
    short = sizes.filter(pl.col("shown") < pl.col("there"))
    if short.height:
        ctx.warn(
            f"{short.height} of {asked.height} questions: the group's passages do not fit the window, the last "
            f"{short['shown'].min()} to {short['shown'].max()} of up to {short['there'].max()} are shown"
        )


def run(cfg, inputs, outputs, ctx):
    asked = answered(inputs["questions"], cfg.dataset.split, cfg.dataset.answered)
    units = _units(cfg, inputs, ctx, asked)
    outputs["blocks"] = as_blocks(units, word_piece_counter(cfg.embedder.model), cfg.prompt.budget)
    return {"questions": asked.height, "units": units.height}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
