# Who chooses: rankings of passages by a list of rankers, and a new order for the best of any ranking.


def rankers_of(wildcards):
    """The rankers of a list: (kind, its settings as they are written)."""
    specs = option("rankers", wildcards.rankers).scorers.values()
    return [(kinds.load("ranker", spec["kind"]), spec) for spec in specs]


def runs_elsewhere(wildcards):
    """The files that rankers read: rankings made elsewhere."""
    fix = f"conf/rankers/{wildcards.rankers}.yaml names a file that is there"
    found = [spec[name] for kind, spec in rankers_of(wildcards) for name in getattr(kind, "FILES", ())]
    return [made_elsewhere(path, fix) for path in found]


def gold_of_rankers(wildcards):
    """The gold evidence, for the rankers that are made of it."""
    reads = any(getattr(kind, "READS_GOLD", False) for kind, _ in rankers_of(wildcards))
    return [f"results/{wildcards.corpus}/{wildcards.dataset}/questions/evidence.parquet"] if reads else []


def reranking_model(wildcards):
    """The language model that a reranker reads with, where it has one."""
    lm = option("reranker", wildcards.reranker).spec.get("lm")
    return [f"results/models/{lm}/model.json"] if lm else []


def reranking_options(wildcards):
    """Its option, as plain data."""
    lm = option("reranker", wildcards.reranker).spec.get("lm")
    return dict(vars(option("lm", lm))) if lm else None


rule rank_passages:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        evidence=gold_of_rankers,
        files=runs_elsewhere,
    output:
        rankings="results/{corpus}/{dataset}/rankings/lexical/{embedder}.{rankers}/rankings.parquet",
        record="results/{corpus}/{dataset}/rankings/lexical/{embedder}.{rankers}/run.json",
    log:
        "logs/rank_passages/{corpus}-{dataset}-{embedder}-{rankers}.log",
    benchmark:
        "logs/rank_passages/{corpus}-{dataset}-{embedder}-{rankers}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params("rank_passages", *slices.RANKING, "dataset.unanswerable", *slices.EMBEDDING, "eval.seed=default"),
    message:
        "Rank the passages of {wildcards.corpus} for {wildcards.dataset}"
    script:
        "../../scripts/rank_passages.py"


rule rerank_passages:
    input:
        rankings="results/{corpus}/{dataset}/rankings/{ranking}/rankings.parquet",
        passages="results/{corpus}/passages/passages.parquet",
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        model=reranking_model,
    output:
        rankings="results/{corpus}/{dataset}/reranked/{ranking}/{pick}/{reranker}/rankings.parquet",
        record="results/{corpus}/{dataset}/reranked/{ranking}/{pick}/{reranker}/run.json",
    log:
        "logs/rerank_passages/{corpus}-{dataset}-{ranking}-{pick}-{reranker}.log",
    benchmark:
        "logs/rerank_passages/{corpus}-{dataset}-{ranking}-{pick}-{reranker}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params(
            "rerank_passages", "reranker", *(f"{key}=default" for key in slices.ROWS), model=reranking_options
        ),
    message:
        "Put the best passages of {wildcards.dataset} in a new order ({wildcards.pick}, {wildcards.reranker})"
    script:
        "../../scripts/rerank_passages.py"
