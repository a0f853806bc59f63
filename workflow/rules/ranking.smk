# Ranks passages by a list of rankers, and reranks the best of any ranking.


include: "functions/ranking.smk"


LISTED = "results/{corpus}/{dataset}/rankings/lexical/{embedder}.{rankers}{part}"


rule rank_passages:
    input:
        passages=PASSAGES,
        questions=QUESTIONS,
        evidence=gold_of_rankers,
        files=ranker_files,
        rankings=parts(f"{LISTED}/rankings.parquet", "rankers"),
    output:
        rankings=f"{LISTED}/rankings.parquet",
        record=f"{LISTED}/run.json",
    log:
        "logs/rank_passages/{corpus}-{dataset}-{embedder}-{rankers}{part}.log",
    threads: 1
    params:
        **leaf_params(
            "rank_passages",
            *slices.RANKING,
            "dataset.unanswerable",
            *slices.EMBEDDING,
            "eval.seed=default",
        ),
    message:
        "Rank the passages of {wildcards.corpus} for {wildcards.dataset}{wildcards.part}"
    script:
        "../../scripts/rank_passages.py"


rule rerank_passages:
    input:
        rankings="results/{corpus}/{dataset}/rankings/{ranking}/rankings.parquet",
        passages=PASSAGES,
        questions=QUESTIONS,
        model=of_lm(model_file, reranker_lm),
    output:
        rankings="results/{corpus}/{dataset}/reranked/{ranking}/{pick}/{reranker}/rankings.parquet",
        record="results/{corpus}/{dataset}/reranked/{ranking}/{pick}/{reranker}/run.json",
    log:
        "logs/rerank_passages/{corpus}-{dataset}-{ranking}-{pick}-{reranker}.log",
    threads: 1
    params:
        **leaf_params(
            "rerank_passages",
            "reranker",
            *(f"{key}=default" for key in slices.ROWS),
            model=reranker_options,
            reader=of_lm(reader_code, reranker_lm),
        ),
    message:
        "Rerank the best passages of {wildcards.dataset} ({wildcards.pick}, {wildcards.reranker})"
    script:
        "../../scripts/rerank_passages.py"
