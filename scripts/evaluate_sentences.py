"""Evidence recall of ranked sentences: each budget holds the longest prefix of the ranking that fits it."""

import polars as pl

from secateur.evaluation.evidence import Block, block_metrics, gold_of, prefix_lengths
from secateur.evaluation.rows import long_rows
from secateur.evaluation.semantic import Semantic
from secateur.models.word_pieces import word_piece_counter
from secateur.pipeline.contract import main


def run(cfg, inputs, outputs, ctx):
    passages = inputs["passages"]
    gold = gold_of(inputs["questions"], inputs["evidence"], passages)
    texts = dict(passages.select("passage_id", "text").iter_rows())
    ranked = inputs["utilities"].sort("question_id", "scorer", "rank")
    used = ranked["passage_id"].unique(maintain_order=True).to_list()
    tokens = dict(zip(used, word_piece_counter(cfg.embedder.model)([texts[p] for p in used]), strict=True))
    semantic = Semantic(cfg, ctx, gold) if cfg.dataset.semantic else None
    if semantic:
        semantic.prepare([texts[p] for p in used])
    rows = {"blind": [], "aware": []}
    parts = ranked.group_by("question_id", "scorer", maintain_order=True).agg("passage_id")
    for qid, scorer, ids in ctx.progress(parts.iter_rows(), parts.height, "rankings"):
        if qid not in gold:
            continue
        track, aware = "aware" if "+neighbour" in scorer else "blind", "+answer" in scorer
        lengths = prefix_lengths(pl.Series([tokens[p] for p in ids]).to_numpy(), cfg.eval.budgets)
        for budget, length in zip(cfg.eval.budgets, lengths, strict=True):
            shown = ids[:length]
            block = Block([texts[p] for p in shown], shown, [True] * length)
            found = block_metrics(gold[qid], block, exact_min_content=1.0)
            if semantic:
                found |= semantic.of(qid, block.lines)
            rows[track] += [(qid, scorer, aware, f"{name}@{budget}", value) for name, value in found.items()]
    outputs["question_metrics"] = pl.concat([long_rows(part, track) for track, part in rows.items()])
    return {"questions": len(gold), "scorers": ranked["scorer"].n_unique()}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
