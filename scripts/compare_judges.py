"""How far two judges are apart on each question, and how far they would be if each spoke of another question."""

import numpy as np
import polars as pl

from secateur.evaluation.rows import long_rows
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    names = (ctx.axes["judge"], ctx.axes["judged_too"])
    tables = zip(names, (inputs["one"], inputs["other"]), strict=True)
    one, other = (table.filter(pl.col("metric") == f"judged_acc@{name}") for name, table in tables)
    both = one.join(other, on="question_id", suffix="_other").sort("question_id")
    ours, theirs = both["value"].to_numpy(), both["value_other"].to_numpy()
    figures = []
    for n, (question, order) in enumerate(both.select("question_id", "order").iter_rows()):
        figures.append((question, order, None, False, f"judges_apart@{'.'.join(names)}", abs(ours[n] - theirs[n])))
        if len(theirs) > 1:
            chance = np.abs(ours[n] - np.delete(theirs, n)).mean()
            figures.append((question, order, None, False, f"judges_apart_by_chance@{'.'.join(names)}", float(chance)))
    outputs["question_metrics"] = long_rows(figures)
    return {"questions": both.height}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
