# Measures contexts and rankings per question, and compares the variants of an experiment.


include: "functions/evaluation.smk"


rule evaluate_contexts:
    input:
        passages=PASSAGES,
        questions=QUESTIONS,
        evidence=EVIDENCE,
        contexts=CONTEXTS,
    output:
        question_metrics="results/{corpus}/{dataset}/evidence/{source}/question_metrics.parquet",
        record="results/{corpus}/{dataset}/evidence/{source}/run.json",
    log:
        "logs/evaluate_contexts/{corpus}-{dataset}-{source}.log",
    threads: 1
    params:
        **leaf_params(
            "evaluate_contexts",
            "dataset.metrics",
            *(f"{key}=minilm" for key in slices.EMBEDDING),
            "eval.budgets=default",
            slices.MEASURING,
            order=order_of,
        ),
    message:
        "Measure the evidence in the contexts of {wildcards.dataset}"
    script:
        "../../scripts/evaluate_contexts.py"


rule evaluate_rankings:
    input:
        passages=PASSAGES,
        evidence=EVIDENCE,
        rankings=of_options(layout.ranked_file),
    output:
        question_metrics="results/{corpus}/{dataset}/retrieved/{ranking}/{pick}/{reranker}/question_metrics.parquet",
        record="results/{corpus}/{dataset}/retrieved/{ranking}/{pick}/{reranker}/run.json",
    log:
        "logs/evaluate_rankings/{corpus}-{dataset}-{ranking}-{pick}-{reranker}.log",
    threads: 1
    params:
        **leaf_params("evaluate_rankings", "dataset.cutoffs", order=order_of),
    message:
        "Measure a ranking for {wildcards.dataset} ({wildcards.pick}, {wildcards.reranker})"
    script:
        "../../scripts/evaluate_rankings.py"


rule measure_answer_gain:
    input:
        questions=QUESTIONS,
        contexts=CONTEXTS,
        model=of_options(layout.model),
    output:
        question_metrics="results/{corpus}/{dataset}/answer_gain/{source}/{ecs}/{shard}/question_metrics.parquet",
        record="results/{corpus}/{dataset}/answer_gain/{source}/{ecs}/{shard}/run.json",
    log:
        "logs/measure_answer_gain/{corpus}-{dataset}-{source}-{ecs}-{shard}.log",
    priority: 1
    threads: 1
    params:
        **leaf_params("measure_answer_gain", *slices.READER, *slices.GAINING, order=order_of),
    message:
        "Measure the answer gain of the contexts of {wildcards.dataset}, shard {wildcards.shard}"
    script:
        "../../scripts/measure_answer_gain.py"


rule evaluate_selection:
    input:
        passages=PASSAGES,
        questions=QUESTIONS,
        evidence=EVIDENCE,
        rankings="results/{corpus}/{dataset}/rankings/{ranking}/rankings.parquet",
        selections=selections_of,
        pool=pool_of,
    output:
        question_metrics="results/{corpus}/{dataset}/selection/{ranking}/question_metrics.parquet",
        record="results/{corpus}/{dataset}/selection/{ranking}/run.json",
    log:
        "logs/evaluate_selection/{corpus}-{dataset}-{ranking}.log",
    threads: 1
    params:
        **leaf_params("evaluate_selection", "dataset.cutoffs"),
    message:
        "Measure the selected passages for {wildcards.dataset}"
    script:
        "../../scripts/evaluate_selection.py"


rule compare_variants:
    input:
        question_metrics=planned(Planned.figure_files),
        questions=planned(Planned.dataset_files, "questions"),
        evidence=planned(Planned.dataset_files, "evidence"),
        published="data/published.yaml",
    output:
        metrics=f"{PLACE}/metrics.parquet",
        comparisons=f"{PLACE}/comparisons.parquet",
        leaders=f"{PLACE}/leaders.parquet",
        equal_quality=f"{PLACE}/equal_quality.parquet",
        record=f"{PLACE}/run.json",
    log:
        f"logs/compare_variants/{EXPERIMENT}.log",
    threads: 1
    params:
        **leaf_params(
            "compare_variants",
            slices.MEASURING,
            "eval.claim=default",
            "eval.gain_budgets=default",
            "eval.against=default",
            "eval.reference=default",
            "eval.resamples=default",
            "eval.permutations=default",
            "eval.permutations_at_floor=default",
            "eval.min_clusters=default",
            "eval.min_units=default",
            "eval.seed=default",
            variants=planned(Planned.figure_rows),
            datasets=planned(Planned.dataset_rows),
            matched_baselines=planned(Planned.matched_baselines),
            primary=planned(Planned.primary),
            prices=planned(Planned.prices),
        ),
    message:
        f"Compare the variants of {EXPERIMENT}"
    script:
        "../../scripts/compare_variants.py"
