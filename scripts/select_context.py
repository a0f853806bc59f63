"""Select the k best passages of each question by score, k the number of its gold passages (R-precision)."""

from secateur.ranking.select import at_gold_size
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    outputs["selections"] = selections = at_gold_size(inputs["rankings"], inputs["evidence"])
    return {"questions": selections["question_id"].n_unique(), "selected": selections.height}


main(run, globals().get("snakemake"))
