"""Reads the files of a corpus into passages."""

from secateur.datasets.language import english_only
from secateur.datasets.loaders import format_of, load_corpus, named_files
from secateur.datasets.schema import sample_documents, shuffle_passages
from secateur.datasets.texts import cut_sentences
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    spec = cfg.corpus.format
    corpus = load_corpus(spec, named_files(format_of(spec).CORPUS_FILES, inputs.paths("files")))
    seed, count = cfg.corpus.shuffle, cfg.corpus.documents
    passages = corpus.passages if count is None else sample_documents(corpus.passages, count)
    outputs["passages"] = passages if seed is None else shuffle_passages(passages, seed)
    ctx.note_counts(corpus.counts)
    if moved := corpus.counts.get("conversations_out_of_file_order"):
        ctx.warn(
            f"{moved} conversations have documents that are read in the order of their ids, not of the file. Fix: name them "
            "so that their ids sort in reading order (s02, s10), or use one `doc` and set `session`"
        )
    for warning in filter(None, (english_only(passages["text"].to_list()), cut_sentences(passages))):
        ctx.warn(warning)
    return {"passages": passages.height, "documents": passages["doc_id"].n_unique()}


main(run, globals().get("snakemake"))
