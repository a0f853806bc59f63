"""Answer lift of ranked sentences: at each budget the longest prefix of the ranking that fits it."""

import polars as pl

from secateur.ecs.answer_gain import lift_rows
from secateur.ecs.reading.template import Question
from secateur.evaluation.evidence import prefix_lengths
from secateur.evaluation.rows import long_rows
from secateur.evaluation.subsets import answered
from secateur.models.causal import load
from secateur.models.word_pieces import word_piece_counter
from secateur.pipeline.contract import main


def _contexts(cfg, ranked: pl.DataFrame, budgets: list[int]) -> dict[tuple[str, int], str]:
    """The text of each question at each budget. ranked: question_id, text, best first."""
    counted = ranked.with_columns(tokens=pl.Series(word_piece_counter(cfg.embedder.model)(ranked["text"].to_list())))
    found = {}
    for (qid,), part in counted.partition_by("question_id", as_dict=True, maintain_order=True).items():
        for budget, length in zip(budgets, prefix_lengths(part["tokens"].to_numpy(), budgets), strict=True):
            found[qid, budget] = "\n".join(part["text"][:length])
    return found


def run(cfg, inputs, outputs, ctx):
    asked = answered(inputs["questions"], cfg.dataset.split, cfg.dataset.lift)
    ranked = inputs["utilities"].join(asked, on="question_id", how="semi").sort("question_id", "scorer", "rank")
    ranked = ranked.join(inputs["passages"].select("passage_id", "text"), on="passage_id", maintain_order="left")
    questions = [Question(*row) for row in asked.select("question_id", "text", "answer").iter_rows()]
    lm, budgets, tables = load(cfg.lm, ctx.cache, ctx.device), list(cfg.eval.lift_budgets), []
    for scorer in cfg.scorer.lifted:
        contexts = _contexts(cfg, ranked.filter(pl.col("scorer") == scorer), [*budgets, cfg.eval.lift_control])
        rows = lift_rows(lm, cfg.ecs, questions, contexts, budgets, cfg.eval.lift_control, ctx)
        track = "aware" if "+neighbour" in scorer else "blind"
        tables.append(long_rows([(q, scorer, False, m, v) for q, m, v in rows], track))
    outputs["question_metrics"] = pl.concat(tables)
    return {"questions": len(questions), "scorers": len(tables)}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
