"""Passages, questions and evidence to a table of their counts and lengths."""

from secateur.datasets.description import describe
from secateur.models.word_pieces import word_piece_counter
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    count = word_piece_counter(cfg.embedder.model)
    outputs["dataset_statistics"] = describe(inputs["passages"], inputs["questions"], inputs["evidence"], count)
    return {"passages": inputs["passages"].height, "questions": inputs["questions"].height}


main(run, globals().get("snakemake"))
