# Answers questions from contexts, and measures the answers.


include: "functions/answers.smk"


rule answer_questions:
    input:
        passages=PASSAGES,
        questions=QUESTIONS,
        contexts=CONTEXTS,
        model=of_options(layout.model),
    output:
        answers="results/{corpus}/{dataset}/answers/{source}/{answer}/{shard}/answers.parquet",
        record="results/{corpus}/{dataset}/answers/{source}/{answer}/{shard}/run.json",
    log:
        "logs/answer_questions/{corpus}-{dataset}-{source}-{answer}-{shard}.log",
    priority: 1
    threads: 1
    params:
        **leaf_params(
            "answer_questions",
            "dataset.split",
            "dataset.answered",
            "assembly.budget",
            *slices.READER,
            *slices.ANSWERING,
            sees_gold=sees_gold,
        ),
    message:
        "Answer the questions of {wildcards.dataset}, shard {wildcards.shard}"
    script:
        "../../scripts/answer_questions.py"


rule evaluate_answers:
    input:
        passages=PASSAGES,
        questions=QUESTIONS,
        evidence=EVIDENCE,
        contexts=CONTEXTS,
        answers=answer_shards,
        model=of_options(layout.model),
    output:
        question_metrics="results/{corpus}/{dataset}/answered/{source}/{answer}/question_metrics.parquet",
        record="results/{corpus}/{dataset}/answered/{source}/{answer}/run.json",
    log:
        "logs/evaluate_answers/{corpus}-{dataset}-{source}-{answer}.log",
    threads: 1
    params:
        **leaf_params(
            "evaluate_answers",
            "assembly.budget",
            *slices.READER,
            "ecs.layout=default",
            slices.MEASURING,
            order=order_of,
        ),
    message:
        "Measure the answers to {wildcards.dataset}"
    script:
        "../../scripts/evaluate_answers.py"
