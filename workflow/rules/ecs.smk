# The selection path: ranking -> pool -> statistics under a language model -> scores -> the selected context.


rule rank_passages:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
    output:
        utilities="results/{corpus}/{dataset}/rankings/{embedder}/{scorer}/utilities.parquet",
        record="results/{corpus}/{dataset}/rankings/{embedder}/{scorer}/run.json",
    log:
        "logs/rank_passages/{corpus}-{dataset}-{embedder}-{scorer}.log",
    benchmark:
        "logs/rank_passages/{corpus}-{dataset}-{embedder}-{scorer}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params(
            "rank_passages",
            *keys_but("scorer", "utilities", "lifted"),
            "dataset.unanswerable",
            *EMBEDDING,
            "eval.seed=default",
        ),
    message:
        "Rank the passages of {wildcards.corpus} for {wildcards.dataset}"
    script:
        "../../scripts/rank_passages.py"


rule propose_passages:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        evidence="results/{corpus}/{dataset}/questions/evidence.parquet",
        utilities="results/{corpus}/{dataset}/rankings/{embedder}/{scorer}/utilities.parquet",
    output:
        pool="results/{corpus}/{dataset}/pool/{embedder}/{scorer}/{ecs}/pool.parquet",
        record="results/{corpus}/{dataset}/pool/{embedder}/{scorer}/{ecs}/run.json",
    log:
        "logs/propose_passages/{corpus}-{dataset}-{embedder}-{scorer}-{ecs}.log",
    benchmark:
        "logs/propose_passages/{corpus}-{dataset}-{embedder}-{scorer}-{ecs}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params(
            "propose_passages",
            "dataset.scored",
            "dataset.probed",
            "dataset.first",
            "dataset.unanswerable",
            "ecs.pooled_by",
            "ecs.pool",
            "ecs.pool_aware",
            "ecs.draws",
            "ecs.seed",
            "embedder.model",
        ),
    message:
        "Pool the passages a language model reads for {wildcards.dataset}"
    script:
        "../../scripts/propose_passages.py"


rule score_candidates:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        pool="results/{corpus}/{dataset}/pool/{embedder}/{scorer}/{ecs}/pool.parquet",
        model="results/models/{lm}/model.json",
    output:
        statistics=f"results/{{corpus}}/{{dataset}}/statistics/{UTILITY}/{{shard}}/statistics.parquet",
        record=f"results/{{corpus}}/{{dataset}}/statistics/{UTILITY}/{{shard}}/run.json",
    log:
        "logs/score_candidates/{corpus}-{dataset}-{embedder}-{scorer}-{lm}-{ecs}-{shard}.log",
    benchmark:
        "logs/score_candidates/{corpus}-{dataset}-{embedder}-{scorer}-{lm}-{ecs}-{shard}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params("score_candidates", "lm", *READING),
    message:
        "Read the pooled passages of {wildcards.dataset} with {wildcards.lm}, shard {wildcards.shard}"
    script:
        "../../scripts/score_candidates.py"


rule combine_scores:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        evidence="results/{corpus}/{dataset}/questions/evidence.parquet",
        pool="results/{corpus}/{dataset}/pool/{embedder}/{scorer}/{ecs}/pool.parquet",
        utilities="results/{corpus}/{dataset}/rankings/{embedder}/{scorer}/utilities.parquet",
        statistics=statistics_shards,
    output:
        utilities=f"results/{{corpus}}/{{dataset}}/rankings/{UTILITY}/utilities.parquet",
        selections=f"results/{{corpus}}/{{dataset}}/selections/{UTILITY}/selections.parquet",
        record=f"results/{{corpus}}/{{dataset}}/selections/{UTILITY}/run.json",
    log:
        "logs/combine_scores/{corpus}-{dataset}-{embedder}-{scorer}-{lm}-{ecs}.log",
    benchmark:
        "logs/combine_scores/{corpus}-{dataset}-{embedder}-{scorer}-{lm}-{ecs}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params(
            "combine_scores",
            "scorer.utilities",
            "ecs.length_penalty",
            "ecs.draws",
            "ecs.percentile",
            "ecs.folds",
            "eval.min_clusters=default",
        ),
    message:
        "Score and select the passages of {wildcards.dataset} by {wildcards.lm}"
    script:
        "../../scripts/combine_scores.py"


rule select_greedily:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        evidence="results/{corpus}/{dataset}/questions/evidence.parquet",
        pool="results/{corpus}/{dataset}/pool/{embedder}/{scorer}/{ecs}/pool.parquet",
        utilities="results/{corpus}/{dataset}/rankings/{embedder}/{scorer}/utilities.parquet",
        statistics=statistics_shards,
        model="results/models/{lm}/model.json",
    output:
        selections=f"results/{{corpus}}/{{dataset}}/selections/{UTILITY}/greedy/{{shard}}/selections.parquet",
        record=f"results/{{corpus}}/{{dataset}}/selections/{UTILITY}/greedy/{{shard}}/run.json",
    log:
        "logs/select_greedily/{corpus}-{dataset}-{embedder}-{scorer}-{lm}-{ecs}-{shard}.log",
    benchmark:
        "logs/select_greedily/{corpus}-{dataset}-{embedder}-{scorer}-{lm}-{ecs}-{shard}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params(
            "select_greedily",
            "lm",
            *PASSING,
            "ecs.neighbours",
            "ecs.grow_by",
            "ecs.percentile",
            "dataset.first",
            "dataset.grown",
            "dataset.grown_of",
        ),
    message:
        "Grow the context of {wildcards.dataset} passage by passage, shard {wildcards.shard}"
    script:
        "../../scripts/select_greedily.py"


rule select_context:
    input:
        evidence="results/{corpus}/{dataset}/questions/evidence.parquet",
        utilities="results/{corpus}/{dataset}/rankings/{embedder}/{scorer}/utilities.parquet",
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


rule check_red_herrings:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        model="results/models/{lm}/model.json",
    output:
        statistics="results/{corpus}/{dataset}/herrings/{lm}/{ecs}/statistics.parquet",
        question_metrics="results/{corpus}/{dataset}/herrings/{lm}/{ecs}/question_metrics.parquet",
        score_quantiles="results/{corpus}/{dataset}/herrings/{lm}/{ecs}/score_quantiles.parquet",
        record="results/{corpus}/{dataset}/herrings/{lm}/{ecs}/run.json",
    log:
        "logs/check_red_herrings/{corpus}-{dataset}-{lm}-{ecs}.log",
    benchmark:
        "logs/check_red_herrings/{corpus}-{dataset}-{lm}-{ecs}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params("check_red_herrings", "lm", *CHECKING),
    message:
        "Check what {wildcards.lm} tells apart on {wildcards.dataset}"
    script:
        "../../scripts/check_red_herrings.py"
