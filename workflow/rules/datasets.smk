# From an address to passages and questions.

from secateur.datasets import loaders
from secateur.datasets.registry import load_registry


def raw(names):
    """Files by their names in the registry; a name with a slash is a path already."""
    return [name if "/" in name else f"results/raw/{name}/{name}" for name in names]


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


def folder_file(folder, name):
    """NAME.jsonl or NAME.jsonl.gz in a folder; the plain name where neither exists."""
    if folder is None:
        _stop(
            "dataset custom: no folder given. Fix: make run EXPERIMENT=custom DATA=DIR (with passages.jsonl and questions.jsonl)."
        )
    path = Path(folder) / f"{name}.jsonl"
    if not path.exists() and not path.with_name(f"{name}.jsonl.gz").exists():
        _stop(
            f"{path}: no such file, nor {name}.jsonl.gz. Fix: DATA=DIR names a folder with passages.jsonl and questions.jsonl (docs/data.md)."
        )
    return [str(path if path.exists() else path.with_name(f"{name}.jsonl.gz"))]


def corpus_files(wildcards):
    """What prepare_corpus reads: fetched files, or the passages of a folder."""
    corpus = option("corpus", wildcards.corpus)
    if loaders.reads_folder(corpus.format):
        return folder_file(corpus.folder, "passages")
    return raw(corpus.files) + list(corpus.extra)


def dataset_files(wildcards):
    """What prepare_dataset reads besides the passages."""
    dataset = option("dataset", wildcards.dataset)
    return folder_file(dataset.folder, "questions") if loaders.reads_folder(dataset.format) else raw(dataset.files)


def passages_of(wildcards):
    """The passages a question set resolves against; none for questions without a corpus."""
    form = loaders.format_of(option("corpus", wildcards.corpus).format)
    return [f"results/{wildcards.corpus}/passages/passages.parquet"] if getattr(form, "CORPUS", True) else []


rule fetch_dataset:
    output:
        file="results/raw/{file}/{file}",
        record="results/raw/{file}/run.json",
    log:
        "logs/fetch_dataset/{file}.log",
    benchmark:
        "logs/fetch_dataset/{file}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params("fetch_dataset", entry=registry_entry),
    message:
        "Fetch {wildcards.file} (mirror first, then its address)"
    script:
        "../../scripts/fetch_dataset.py"


rule prepare_corpus:
    input:
        files=corpus_files,
    output:
        passages="results/{corpus}/passages/passages.parquet",
        record="results/{corpus}/passages/run.json",
    log:
        "logs/prepare_corpus/{corpus}.log",
    benchmark:
        "logs/prepare_corpus/{corpus}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params("prepare_corpus", "corpus.format", "corpus.documents", "corpus.shuffle"),
    message:
        "Read the passages of {wildcards.corpus}"
    script:
        "../../scripts/prepare_corpus.py"


rule prepare_dataset:
    input:
        files=dataset_files,
        passages=passages_of,
    output:
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        evidence="results/{corpus}/{dataset}/questions/evidence.parquet",
        record="results/{corpus}/{dataset}/questions/run.json",
    log:
        "logs/prepare_dataset/{corpus}-{dataset}.log",
    benchmark:
        "logs/prepare_dataset/{corpus}-{dataset}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params(
            "prepare_dataset",
            "dataset.format",
            "dataset.kind",
            "dataset.control_of",
            "dataset.sample",
            "corpus.documents",
        ),
    message:
        "Read the questions of {wildcards.dataset}, resolve their evidence"
    script:
        "../../scripts/prepare_dataset.py"


rule describe_dataset:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        evidence="results/{corpus}/{dataset}/questions/evidence.parquet",
    output:
        dataset_statistics="results/{corpus}/{dataset}/description/dataset_statistics.parquet",
        record="results/{corpus}/{dataset}/description/run.json",
    log:
        "logs/describe_dataset/{corpus}-{dataset}.log",
    benchmark:
        "logs/describe_dataset/{corpus}-{dataset}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params("describe_dataset", "embedder.model=minilm"),
    message:
        "Describe the sizes of {wildcards.dataset}"
    script:
        "../../scripts/describe_dataset.py"
