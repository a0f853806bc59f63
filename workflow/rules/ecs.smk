# Entropic Context Shaping on dialogues: pool -> statistics under a language model -> scores -> selection.


rule propose_passages:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        evidence="results/{corpus}/{dataset}/questions/evidence.parquet",
        rankings="results/{corpus}/{dataset}/rankings/lexical/{embedder}.{rankers}/rankings.parquet",
    output:
        pool="results/{corpus}/{dataset}/pool/{embedder}.{rankers}.{ecs}/pool.parquet",
        record="results/{corpus}/{dataset}/pool/{embedder}.{rankers}.{ecs}/run.json",
    log:
        "logs/propose_passages/{corpus}-{dataset}-{embedder}-{rankers}-{ecs}.log",
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
        "Pool the passages that a language model reads for {wildcards.dataset}"
    script:
        "../../scripts/propose_passages.py"


rule score_candidates:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        pool="results/{corpus}/{dataset}/pool/{embedder}.{rankers}.{ecs}/pool.parquet",
        model="results/models/{lm}/model.json",
    output:
        statistics=f"results/{{corpus}}/{{dataset}}/statistics/{UTILITY}/{{shard}}/statistics.parquet",
        record=f"results/{{corpus}}/{{dataset}}/statistics/{UTILITY}/{{shard}}/run.json",
    log:
        "logs/score_candidates/{corpus}-{dataset}-{embedder}-{rankers}-{lm}-{ecs}-{shard}.log",
    threads: 1
    params:
        **leaf_params("score_candidates", "lm", *slices.READING),
    message:
        "Read the pooled passages of {wildcards.dataset} with {wildcards.lm}, shard {wildcards.shard}"
    script:
        "../../scripts/score_candidates.py"


rule combine_scores:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        evidence="results/{corpus}/{dataset}/questions/evidence.parquet",
        pool="results/{corpus}/{dataset}/pool/{embedder}.{rankers}.{ecs}/pool.parquet",
        rankings="results/{corpus}/{dataset}/rankings/lexical/{embedder}.{rankers}/rankings.parquet",
        statistics=shards(layout.statistics, "ecs"),
    output:
        rankings=f"results/{{corpus}}/{{dataset}}/rankings/utility/{UTILITY}/rankings.parquet",
        selections=f"results/{{corpus}}/{{dataset}}/selections/utility/{UTILITY}/selections.parquet",
        record=f"results/{{corpus}}/{{dataset}}/selections/utility/{UTILITY}/run.json",
    log:
        "logs/combine_scores/{corpus}-{dataset}-{embedder}-{rankers}-{lm}-{ecs}.log",
    threads: 1
    params:
        **leaf_params(
            "combine_scores",
            "rankers.scores",
            "rankers.utilities",
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
        pool="results/{corpus}/{dataset}/pool/{embedder}.{rankers}.{ecs}/pool.parquet",
        rankings="results/{corpus}/{dataset}/rankings/lexical/{embedder}.{rankers}/rankings.parquet",
        statistics=f"results/{{corpus}}/{{dataset}}/statistics/{UTILITY}/{{shard}}/statistics.parquet",
        model="results/models/{lm}/model.json",
    output:
        selections=f"results/{{corpus}}/{{dataset}}/selections/utility/{UTILITY}/greedy/{{shard}}/selections.parquet",
        record=f"results/{{corpus}}/{{dataset}}/selections/utility/{UTILITY}/greedy/{{shard}}/run.json",
    log:
        "logs/select_greedily/{corpus}-{dataset}-{embedder}-{rankers}-{lm}-{ecs}-{shard}.log",
    threads: 1
    params:
        **leaf_params(
            "select_greedily",
            "lm",
            *slices.PASSING,
            "ecs.before",
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
        rankings="results/{corpus}/{dataset}/rankings/lexical/{embedder}.{rankers}/rankings.parquet",
    output:
        selections="results/{corpus}/{dataset}/selections/lexical/{embedder}.{rankers}/selections.parquet",
        record="results/{corpus}/{dataset}/selections/lexical/{embedder}.{rankers}/run.json",
    log:
        "logs/select_context/{corpus}-{dataset}-{embedder}-{rankers}.log",
    threads: 1
    params:
        **leaf_params("select_context"),
    message:
        "Select passages at gold size for {wildcards.dataset}"
    script:
        "../../scripts/select_context.py"


rule check_red_herrings:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        model="results/models/{lm}/model.json",
    output:
        statistics="results/{corpus}/{dataset}/distractors/{lm}.{ecs}/statistics.parquet",
        question_metrics="results/{corpus}/{dataset}/distractors/{lm}.{ecs}/question_metrics.parquet",
        score_quantiles="results/{corpus}/{dataset}/distractors/{lm}.{ecs}/score_quantiles.parquet",
        acceptance="results/{corpus}/{dataset}/distractors/{lm}.{ecs}/acceptance.parquet",
        record="results/{corpus}/{dataset}/distractors/{lm}.{ecs}/run.json",
    log:
        "logs/check_red_herrings/{corpus}-{dataset}-{lm}-{ecs}.log",
    threads: 1
    params:
        **leaf_params("check_red_herrings", "lm", *slices.CHECKING),
    message:
        "Check how {wildcards.lm} separates distractors on {wildcards.dataset}"
    script:
        "../../scripts/check_red_herrings.py"
