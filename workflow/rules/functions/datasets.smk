# Files that corpora and data sets are read from.

from secateur.datasets import loaders


def entry_of(wildcards):
    """The registry's entry of a file."""
    return or_stop(sources.registry_entry)(ROOT / "data" / "registry", wildcards.file)


def files_of(spec, part):
    """The files of a corpus or data set: from the registry, or from the user's folder. part: `corpus` or `questions`."""
    if loaders.reads_folder(spec.format):
        return or_stop(sources.folder_files)(spec.format, spec.folder, part, EXPERIMENT)
    return or_stop(sources.listed_files)(spec.files)


def corpus_files(wildcards):
    """The files of a corpus."""
    corpus = option("corpus", wildcards.corpus)
    return files_of(corpus, "corpus") + list(corpus.extra)


def dataset_files(wildcards):
    """The files of a data set, besides the passages."""
    return files_of(option("dataset", wildcards.dataset), "questions")


def whole_name(wildcards):
    """A data set's name without its limit; its splits are drawn by this name."""
    return unlimited(wildcards.dataset)[0]


def limited_split(wildcards):
    """The split of a limited data set, and its number of questions."""
    dataset = option("dataset", wildcards.dataset)
    return None if dataset.limit is None else {"split": dataset.split, "count": dataset.limit}
