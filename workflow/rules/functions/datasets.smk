# Which files data sets are read from.

from glob import glob

from secateur.datasets import loaders
from secateur.datasets.registry import load_registry


def raw(names):
    """Files by their names in the registry; a name with a slash is a path already, with a * all files of that pattern."""
    return [path for name in names for path in files_named(name)]


def files_named(name):
    """The files of one name, those of a pattern sorted, as shards are numbered; stops where a pattern has none."""
    if Path(name).name == name:
        return [f"results/raw/{name}/{name}"]
    found = sorted(glob(name)) if "*" in name else [name]
    if not found:
        _stop(f"{name}: no file of this pattern. Fix: correct `files` in conf/corpus or conf/dataset.")
    return found


def registry_entry(wildcards):
    """What the registry says of a file, without what is said about it."""
    try:
        entry = load_registry(ROOT / "data" / "registry").get(wildcards.file)
    except SecateurError as error:
        _stop(error)
    if entry is None:
        _stop(f"{wildcards.file}: not in data/registry. Fix: correct `files` in conf/corpus or conf/dataset.")
    said = {"registered_in": str(entry.registered_in.relative_to(ROOT)), "instead": entry.instead}
    return {key: getattr(entry, key) for key in ("name", "url", "sha256", "bytes")} | said


def folder_file(folder, pattern, wanted):
    """The files of a folder by a pattern, each plain or gzipped; stops where there is none."""
    paths = sorted(Path(folder).glob(pattern)) or sorted(Path(folder).glob(f"{pattern}.gz"))
    if not paths:
        _stop(
            f"{Path(folder) / pattern}: no such file, nor {pattern}.gz. Fix: DATA=DIR names a folder with {wanted} (docs/data.md)."
        )
    return [str(path) for path in paths]


def folder_files(spec, folder, what):
    """What a format reads of a folder: its corpus or its questions."""
    held = getattr(
        loaders.format_of(spec), "FOLDER", {"corpus": ("passages.jsonl",), "questions": ("questions.jsonl",)}
    )
    wanted = " and ".join(name for names in held.values() for name in names)
    if folder is None:
        _stop(
            f"experiment {EXPERIMENT}: no folder given. Fix: make run EXPERIMENT={EXPERIMENT} DATA=DIR (with {wanted})."
        )
    if "{" in folder or "}" in folder:
        _stop(
            f"{folder}: Snakemake reads braces in a path as a wildcard. Fix: rename the folder, or name a link to it."
        )
    return [path for pattern in held[what] for path in folder_file(folder, pattern, wanted)]


def corpus_files(wildcards):
    """What prepare_corpus reads: fetched files, or the passages of a folder."""
    corpus = option("corpus", wildcards.corpus)
    if loaders.reads_folder(corpus.format):
        return folder_files(corpus.format, corpus.folder, "corpus")
    return raw(corpus.files) + list(corpus.extra)


def dataset_files(wildcards):
    """What prepare_dataset reads besides the passages."""
    dataset = option("dataset", wildcards.dataset)
    own = loaders.reads_folder(dataset.format)
    return folder_files(dataset.format, dataset.folder, "questions") if own else raw(dataset.files)


def whole_name(wildcards):
    """A data set's name without its limit: splits are drawn under it."""
    return unlimited(wildcards.dataset)[0]


def first_of_split(wildcards):
    """Of which split how many questions are kept, where a run is limited."""
    dataset = option("dataset", wildcards.dataset)
    return None if dataset.limit is None else {"split": dataset.split, "count": dataset.limit}
