# Fetches files, and prepares passages and questions.


include: "functions/datasets.smk"


rule fetch_dataset:
    output:
        file="results/raw/{file}/{file}",
        record="results/raw/{file}/run.json",
    log:
        "logs/fetch_dataset/{file}.log",
    threads: 1
    params:
        **leaf_params("fetch_dataset", entry=entry_of),
    message:
        "Fetch {wildcards.file}"
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
    threads: 1
    params:
        **leaf_params("prepare_corpus", "corpus.format", "corpus.documents", "corpus.shuffle"),
    message:
        "Prepare the passages of {wildcards.corpus}"
    script:
        "../../scripts/prepare_corpus.py"


rule prepare_dataset:
    input:
        files=dataset_files,
        passages=PASSAGES,
    output:
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        evidence="results/{corpus}/{dataset}/questions/evidence.parquet",
        record="results/{corpus}/{dataset}/questions/run.json",
    log:
        "logs/prepare_dataset/{corpus}-{dataset}.log",
    threads: 1
    params:
        **leaf_params(
            "prepare_dataset",
            "dataset.format",
            "dataset.kind",
            "dataset.control_of",
            "dataset.sample",
            "corpus.documents",
            name=whole_name,
            first=limited_split,
        ),
    message:
        "Prepare the questions of {wildcards.dataset} and their evidence"
    script:
        "../../scripts/prepare_dataset.py"


rule describe_dataset:
    input:
        passages=PASSAGES,
        questions=QUESTIONS,
        evidence=EVIDENCE,
    output:
        dataset_statistics="results/{corpus}/{dataset}/description/dataset_statistics.parquet",
        record="results/{corpus}/{dataset}/description/run.json",
    log:
        "logs/describe_dataset/{corpus}-{dataset}.log",
    threads: 1
    params:
        **leaf_params("describe_dataset", "embedder.model=minilm"),
    message:
        "Describe the sizes of {wildcards.dataset}"
    script:
        "../../scripts/describe_dataset.py"
