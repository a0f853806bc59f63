# Questions answered under a context: a graph's prompt, or one that needs no graph.


rule gather_context:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        evidence=gold_of_context,
        utilities=ranking_of,
    output:
        blocks="results/{corpus}/{dataset}/contexts/{context}/{embedder}/{scorer}/{prompt}/{lm}/blocks.parquet",
        record="results/{corpus}/{dataset}/contexts/{context}/{embedder}/{scorer}/{prompt}/{lm}/run.json",
    log:
        "logs/gather_context/{corpus}-{dataset}-{context}-{embedder}-{scorer}-{prompt}-{lm}.log",
    benchmark:
        "logs/gather_context/{corpus}-{dataset}-{context}-{embedder}-{scorer}-{prompt}-{lm}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params(
            "gather_context",
            "dataset.split",
            "dataset.answered",
            "embedder.model",
            "prompt.budget",
            "prompt.best_last",
            "lm.model",
            "lm.window",
        ),
    message:
        "Gather the context {wildcards.context} for {wildcards.dataset}"
    script:
        "../../scripts/gather_context.py"


rule recall_context:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        triples="results/{corpus}/{dataset}/triples/{extractor}/triples.parquet",
        blocks=f"results/{{corpus}}/{{dataset}}/prompts/{GRAPH}/{{retriever}}/{{prompt}}/{{lm}}/blocks.parquet",
        candidates=sight_of_policy,
        policy=acting_policy,
        model="results/models/{lm}/model.json",
    output:
        blocks=f"results/{{corpus}}/{{dataset}}/recalled/{GRAPH}/{{retriever}}/{{memory}}/{{ecs}}/{{policy}}/{{answer}}/{{prompt}}/{{lm}}/blocks.parquet",
        memories=f"results/{{corpus}}/{{dataset}}/recalled/{GRAPH}/{{retriever}}/{{memory}}/{{ecs}}/{{policy}}/{{answer}}/{{prompt}}/{{lm}}/memories.parquet",
        record=f"results/{{corpus}}/{{dataset}}/recalled/{GRAPH}/{{retriever}}/{{memory}}/{{ecs}}/{{policy}}/{{answer}}/{{prompt}}/{{lm}}/run.json",
    log:
        "logs/recall_context/{corpus}-{dataset}-{extractor}-{embedder}-{codebook}-{track}-{consolidation}-{retriever}-{memory}-{ecs}-{policy}-{answer}-{prompt}-{lm}.log",
    benchmark:
        "logs/recall_context/{corpus}-{dataset}-{extractor}-{embedder}-{codebook}-{track}-{consolidation}-{retriever}-{memory}-{ecs}-{policy}-{answer}-{prompt}-{lm}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params(
            "recall_context",
            "dataset.split",
            "dataset.answered",
            "prompt.budget",
            "prompt.theta",
            "ecs.layout",
            "lm",
            *keys_but("memory", "gold"),
            *ANSWERING,
            *SHORTLISTING,
            *EXTRACTION,
            *EMBEDDING,
        ),
    message:
        "Go through the sessions of {wildcards.dataset} with memory {wildcards.memory}"
    script:
        "../../scripts/recall_context.py"


rule answer_questions:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        blocks="results/{corpus}/{dataset}/{source}/{prompt}/{lm}/blocks.parquet",
        model="results/models/{lm}/model.json",
    output:
        answers="results/{corpus}/{dataset}/answers/{source}/{prompt}/{lm}/{answer}/{shard}/answers.parquet",
        record="results/{corpus}/{dataset}/answers/{source}/{prompt}/{lm}/{answer}/{shard}/run.json",
    log:
        "logs/answer_questions/{corpus}-{dataset}-{source}-{prompt}-{lm}-{answer}-{shard}.log",
    benchmark:
        "logs/answer_questions/{corpus}-{dataset}-{source}-{prompt}-{lm}-{answer}-{shard}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params(
            "answer_questions",
            "dataset.split",
            "dataset.answered",
            "prompt.budget",
            "lm",
            *ANSWERING,
        ),
    message:
        "Answer the questions of {wildcards.dataset}, shard {wildcards.shard}"
    script:
        "../../scripts/answer_questions.py"


rule evaluate_answers:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        evidence="results/{corpus}/{dataset}/questions/evidence.parquet",
        blocks="results/{corpus}/{dataset}/{source}/{prompt}/{lm}/blocks.parquet",
        answers=answer_shards,
        model="results/models/{lm}/model.json",
    output:
        question_metrics="results/{corpus}/{dataset}/answered/{source}/{prompt}/{lm}/{answer}/question_metrics.parquet",
        record="results/{corpus}/{dataset}/answered/{source}/{prompt}/{lm}/{answer}/run.json",
    log:
        "logs/evaluate_answers/{corpus}-{dataset}-{source}-{prompt}-{lm}-{answer}.log",
    benchmark:
        "logs/evaluate_answers/{corpus}-{dataset}-{source}-{prompt}-{lm}-{answer}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params(
            "evaluate_answers",
            "prompt.budget",
            "lm",
            "ecs.layout=default",
            "eval.exact_min_content=default",
            track=track_of_source,
        ),
    message:
        "Measure the answers to {wildcards.dataset}"
    script:
        "../../scripts/evaluate_answers.py"
