# Judges answers with a language model, and compares two judges.


include: "functions/judging.smk"


rule judge_answers:
    input:
        passages=PASSAGES,
        questions=QUESTIONS,
        evidence=EVIDENCE,
        contexts=CONTEXTS,
        answers=answer_shards,
        model=judge_model,
    output:
        question_metrics="results/{corpus}/{dataset}/judged/{source}/{answer}.{judge}/question_metrics.parquet",
        verdicts="results/{corpus}/{dataset}/judged/{source}/{answer}.{judge}/verdicts.parquet",
        record="results/{corpus}/{dataset}/judged/{source}/{answer}.{judge}/run.json",
    log:
        "logs/judge_answers/{corpus}-{dataset}-{source}-{answer}-{judge}.log",
    threads: 1
    params:
        **leaf_params(
            "judge_answers",
            "judge",
            "assembly.budget",
            "lm.model",
            *(f"{key}=minilm" for key in slices.EMBEDDING),
            model=of_lm(model_options, judge_lm),
            reader=of_lm(reader_code, judge_lm),
            order=order_of,
        ),
    message:
        "Have {wildcards.judge} judge the answers to {wildcards.dataset}"
    script:
        "../../scripts/judge_answers.py"


rule compare_judges:
    input:
        first="results/{corpus}/{dataset}/judged/{source}/{answer}.{judge}/question_metrics.parquet",
        second="results/{corpus}/{dataset}/judged/{source}/{answer}.{judged_too}/question_metrics.parquet",
    output:
        question_metrics="results/{corpus}/{dataset}/agreed/{source}/{answer}.{judge}.{judged_too}/question_metrics.parquet",
        record="results/{corpus}/{dataset}/agreed/{source}/{answer}.{judge}.{judged_too}/run.json",
    log:
        "logs/compare_judges/{corpus}-{dataset}-{source}-{answer}-{judge}-{judged_too}.log",
    threads: 1
    params:
        **leaf_params("compare_judges"),
    message:
        "Compare the judges {wildcards.judge} and {wildcards.judged_too} on the answers to {wildcards.dataset}"
    script:
        "../../scripts/compare_judges.py"
