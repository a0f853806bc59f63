"""Scores of the pooled passages. Statistics (z-scores, idf) are over the whole conversation; the pool is ranked."""

from secateur.ranking import rank


def run(cfg, inputs, outputs, ctx):
    outputs["utilities"] = rank(cfg, inputs["passages"], inputs["questions"], ctx, inputs["pool"])
    return {"questions": inputs["questions"].height}
