# Entropic Context Shaping on dialogues: pool -> statistics under a language model -> scores -> selection.


include: "functions/ecs.smk"


POOL = "results/{corpus}/{dataset}/pool/{embedder}.{rankers}.{ecs}"
LEXICAL = "results/{corpus}/{dataset}/rankings/lexical/{embedder}.{rankers}"
STATISTICS = f"results/{{corpus}}/{{dataset}}/statistics/{UTILITY}/{{shard}}"
SELECTED = f"results/{{corpus}}/{{dataset}}/selections/utility/{UTILITY}"
DISTRACTORS = "results/{corpus}/{dataset}/distractors/{lm}.{ecs}"


rule propose_passages:
    input:
        passages=PASSAGES,
        questions=QUESTIONS,
        evidence=EVIDENCE,
        rankings=f"{LEXICAL}/rankings.parquet",
    output:
        pool=f"{POOL}/pool.parquet",
        record=f"{POOL}/run.json",
    log:
        "logs/propose_passages/{corpus}-{dataset}-{embedder}-{rankers}-{ecs}.log",
    priority: 1
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
        passages=PASSAGES,
        questions=QUESTIONS,
        pool=f"{POOL}/pool.parquet",
        model="results/models/{lm}/model.json",
    output:
        statistics=f"{STATISTICS}/statistics.parquet",
        record=f"{STATISTICS}/run.json",
    log:
        "logs/score_candidates/{corpus}-{dataset}-{embedder}-{rankers}-{lm}-{ecs}-{shard}.log",
    priority: 1
    threads: 1
    params:
        **leaf_params("score_candidates", *slices.READER, *slices.READING),
    message:
        "Read the pooled passages of {wildcards.dataset} with {wildcards.lm}, shard {wildcards.shard}"
    script:
        "../../scripts/score_candidates.py"


rule combine_scores:
    input:
        passages=of_sets(PASSAGES),
        questions=of_sets(QUESTIONS),
        evidence=of_sets(EVIDENCE),
        pool=of_sets(f"{POOL}/pool.parquet"),
        rankings=of_sets(f"{LEXICAL}/rankings.parquet"),
        statistics=statistics_of_sets,
    output:
        rankings=f"results/{{corpus}}/{{dataset}}/rankings/utility/{UTILITY}/rankings.parquet",
        selections=f"{SELECTED}/selections.parquet",
        record=f"{SELECTED}/run.json",
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
        passages=PASSAGES,
        questions=QUESTIONS,
        evidence=EVIDENCE,
        pool=f"{POOL}/pool.parquet",
        rankings=f"{LEXICAL}/rankings.parquet",
        statistics=f"{STATISTICS}/statistics.parquet",
        model="results/models/{lm}/model.json",
    output:
        selections=f"{SELECTED}/greedy/{{shard}}/selections.parquet",
        record=f"{SELECTED}/greedy/{{shard}}/run.json",
    log:
        "logs/select_greedily/{corpus}-{dataset}-{embedder}-{rankers}-{lm}-{ecs}-{shard}.log",
    priority: 1
    threads: 1
    params:
        **leaf_params(
            "select_greedily",
            *slices.READER,
            *slices.PASSING,
            "ecs.before",
            "ecs.grow_by",
            "ecs.arrival",
            "ecs.threshold",
            "ecs.percentile",
            "ecs.draws",
            "ecs.seed",
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
        evidence=EVIDENCE,
        rankings=f"{LEXICAL}/rankings.parquet",
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
        passages=PASSAGES,
        questions=QUESTIONS,
        model="results/models/{lm}/model.json",
    output:
        statistics=f"{DISTRACTORS}/statistics.parquet",
        question_metrics=f"{DISTRACTORS}/question_metrics.parquet",
        score_quantiles=f"{DISTRACTORS}/score_quantiles.parquet",
        acceptance=f"{DISTRACTORS}/acceptance.parquet",
        record=f"{DISTRACTORS}/run.json",
    log:
        "logs/check_red_herrings/{corpus}-{dataset}-{lm}-{ecs}.log",
    priority: 1
    threads: 1
    params:
        **leaf_params("check_red_herrings", *slices.READER, *slices.CHECKING),
    message:
        "Check how {wildcards.lm} separates distractors on {wildcards.dataset}"
    script:
        "../../scripts/check_red_herrings.py"
