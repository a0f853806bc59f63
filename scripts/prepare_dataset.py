"""Reads the files of a data set into questions and evidence, resolved against the passages."""

from secateur.datasets import stages
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    files, sampled, first = inputs.paths("files"), cfg.corpus.documents is not None, cfg.extra.first
    loaded = stages.questions(cfg.dataset, files, cfg.extra.name, inputs["passages"], sampled, first)
    outputs["questions"], outputs["evidence"] = loaded.questions, loaded.evidence
    ctx.note_counts(loaded.counts)
    return {"questions": loaded.questions.height, "evidence": loaded.evidence.height}


main(run, globals().get("snakemake"))
