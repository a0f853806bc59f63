"""Files to passages."""

from secateur.datasets.loaders import KINDS, load_corpus, named_files


def run(cfg, inputs, outputs, ctx):
    kind = cfg.corpus.loader
    corpus = load_corpus(kind, named_files(KINDS[kind].corpus_files, inputs.paths("files")))
    outputs["passages"] = corpus.passages
    ctx.note_counts(corpus.counts)
    return {"passages": corpus.passages.height, "documents": corpus.passages["doc_id"].n_unique()}
