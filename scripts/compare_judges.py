"""Compare two judges: their distance on each question, and by chance, if each judged another question."""

import numpy as np
import polars as pl

from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_tables
from secateur.evaluation.rows import long_rows
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    names = (ctx.axes["judge"], ctx.axes["judged_too"])
    tables = [read_tables(TABLES["question_metrics"], inputs.paths(name)) for name in ("first", "second")]
    first, second = (
        table.filter(pl.col("metric") == f"judged_acc@{name}") for name, table in zip(names, tables, strict=True)
    )
    paired = first.join(second, on="question_id", suffix="_second").sort("question_id")
    values, second_values = paired["value"].to_numpy(), paired["value_second"].to_numpy()
    pair, rows = ".".join(names), []
    for n, (question, order) in enumerate(paired.select("question_id", "order").iter_rows()):
        rows.append((question, order, None, False, f"judges_apart@{pair}", abs(values[n] - second_values[n])))
        if len(second_values) > 1:
            by_chance = float(np.abs(values[n] - np.delete(second_values, n)).mean())
            rows.append((question, order, None, False, f"judges_apart_by_chance@{pair}", by_chance))
    outputs["question_metrics"] = long_rows(rows)
    return {"questions": paired.height}


main(run, globals().get("snakemake"))
