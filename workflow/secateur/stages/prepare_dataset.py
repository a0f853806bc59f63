"""Files to questions and evidence, resolved against the passages."""

from secateur.datasets.loaders import KINDS, load_questions, named_files


def run(cfg, inputs, outputs, ctx):
    kind = cfg.dataset.loader
    files = named_files(KINDS[kind].question_files, inputs.paths("files"))
    passages = inputs["passages"] if "passages" in inputs else None
    cluster = "group" if cfg.dataset.kind == "dialogue" else "document"
    found = load_questions(kind, cfg.dataset.control_of or ctx.axes["dataset"], files, passages, cluster)
    outputs["questions"], outputs["evidence"] = found.questions, found.evidence
    ctx.note_counts(found.counts)
    return {"questions": found.questions.height, "evidence": found.evidence.height}
