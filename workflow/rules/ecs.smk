# The selection path: a pool of passages -> scores -> the selected context.


rule propose_passages:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
    output:
        pool="results/{corpus}/{dataset}/pool/pool.parquet",
        record="results/{corpus}/{dataset}/pool/run.json",
    log:
        "logs/propose_passages/{corpus}-{dataset}.log",
    benchmark:
        "logs/propose_passages/{corpus}-{dataset}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params("propose_passages"),
    message:
        "Pool the passages each question of {wildcards.dataset} may select from"
    script:
        "../../scripts/propose_passages.py"


rule score_candidates:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        pool="results/{corpus}/{dataset}/pool/pool.parquet",
    output:
        utilities="results/{corpus}/{dataset}/utilities/{embedder}/{scorer}/utilities.parquet",
        record="results/{corpus}/{dataset}/utilities/{embedder}/{scorer}/run.json",
    log:
        "logs/score_candidates/{corpus}-{dataset}-{embedder}-{scorer}.log",
    benchmark:
        "logs/score_candidates/{corpus}-{dataset}-{embedder}-{scorer}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params(
            "score_candidates",
            "scorer",
            "dataset.unanswerable",
            *EMBEDDING,
            "eval.seed=default",
        ),
    message:
        "Score the pooled passages of {wildcards.dataset}"
    script:
        "../../scripts/score_candidates.py"


rule select_context:
    input:
        evidence="results/{corpus}/{dataset}/questions/evidence.parquet",
        utilities="results/{corpus}/{dataset}/utilities/{embedder}/{scorer}/utilities.parquet",
    output:
        selections="results/{corpus}/{dataset}/selections/{embedder}/{scorer}/selections.parquet",
        record="results/{corpus}/{dataset}/selections/{embedder}/{scorer}/run.json",
    log:
        "logs/select_context/{corpus}-{dataset}-{embedder}-{scorer}.log",
    benchmark:
        "logs/select_context/{corpus}-{dataset}-{embedder}-{scorer}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params("select_context"),
    message:
        "Select as many passages as there are gold ones for {wildcards.dataset}"
    script:
        "../../scripts/select_context.py"
