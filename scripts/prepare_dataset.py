"""Reads the files of a data set into questions and evidence, resolved against the passages."""

from secateur.datasets.loaders import format_of, load_questions, named_files
from secateur.datasets.schema import limit_questions, sample_questions
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    spec = cfg.dataset.format
    files = named_files(format_of(spec).QUESTION_FILES, inputs.paths("files"))
    cluster = "group" if cfg.dataset.kind == "dialogue" else "document"
    name, sampled = cfg.dataset.control_of or cfg.extra.name, cfg.corpus.documents is not None
    loaded = sample_questions(
        load_questions(spec, name, files, inputs["passages"], cluster, sampled), cfg.dataset.sample
    )
    if cfg.extra.first:
        loaded = limit_questions(loaded, **cfg.extra.first)
    outputs["questions"], outputs["evidence"] = loaded.questions, loaded.evidence
    ctx.note_counts(loaded.counts)
    return {"questions": loaded.questions.height, "evidence": loaded.evidence.height}


main(run, globals().get("snakemake"))
