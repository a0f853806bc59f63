"""Reads the files of a corpus into passages."""

from secateur.datasets import stages
from secateur.datasets.corpus_warnings import corpus_warnings
from secateur.datasets.schema import shuffle_passages
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    corpus = stages.corpus(cfg.corpus, inputs.paths("files"))
    passages, seed = corpus.passages, cfg.corpus.shuffle
    outputs["passages"] = passages if seed is None else shuffle_passages(passages, seed)
    ctx.note_counts(corpus.counts)
    for _, warning in corpus_warnings(passages):
        ctx.warn(warning)
    return {"passages": passages.height, "documents": passages["doc_id"].n_unique()}


main(run, globals().get("snakemake"))
