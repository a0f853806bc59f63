"""Evidence recall of the blocks at every budget, and the cost of the prompt as used."""

from collections import defaultdict

import polars as pl

from secateur.evaluation.evidence import Block, block_metrics, gold_of
from secateur.evaluation.rows import long_rows
from secateur.evaluation.semantic import Semantic
from secateur.pipeline.contract import main


def run(cfg, inputs, outputs, ctx):
    gold = gold_of(inputs["questions"], inputs["evidence"], inputs["passages"])
    semantic = Semantic(cfg, ctx, gold) if cfg.dataset.semantic else None
    kept = inputs["blocks"].filter(pl.col("budget").is_in(list(cfg.eval.budgets))).sort("question_id", "budget", "n")
    blocks = kept.partition_by("question_id", "budget", as_dict=True)
    texts, rows = kept["text"].unique().to_list(), []
    if semantic:
        semantic.prepare(texts)
    for qid, one in gold.items():
        figures = defaultdict(float)
        for budget in cfg.eval.budgets:
            part = blocks.get((qid, budget))
            block = (
                Block([], [], [])
                if part is None
                else Block(part["text"], part["passage_id"], (part["kind"] == "sentence").to_list())
            )
            found = block_metrics(one, block, cfg.eval.exact_min_content)
            if semantic:
                found |= semantic.of(qid, block.lines)
            figures |= {f"{name}@{budget}": value for name, value in found.items()}
        rows += [(qid, None, False, name, value) for name, value in figures.items()]
    cost = inputs["prompts"].filter("chosen").select("question_id", "tokens").iter_rows()
    rows += [(qid, None, False, "prompt_tokens", float(tokens)) for qid, tokens in cost]
    outputs["question_metrics"] = long_rows(rows, ctx.axes["track"])
    return {"questions": len(gold)}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
