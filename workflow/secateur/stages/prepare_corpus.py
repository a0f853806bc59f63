"""Files to passages."""

from secateur.datasets.loaders import KINDS, load_corpus, named_files
from secateur.datasets.schema import shuffled


def run(cfg, inputs, outputs, ctx):
    kind = cfg.corpus.loader
    corpus = load_corpus(kind, named_files(KINDS[kind].corpus_files, inputs.paths("files")))
    seed = cfg.corpus.shuffle
    outputs["passages"] = corpus.passages if seed is None else shuffled(corpus.passages, seed)
    ctx.note_counts(corpus.counts)
    return {"passages": corpus.passages.height, "documents": corpus.passages["doc_id"].n_unique()}
