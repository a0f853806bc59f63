# Samples questions, writes the report, and records the runs for MLflow. No job writes to MLflow: the main process does when
# all jobs have ended, so that there is one writer, and failed jobs are written too.


include: "functions/report.smk"


rule sample_questions:
    input:
        passages=PASSAGES,
        questions=QUESTIONS,
        evidence=EVIDENCE,
        triples=of_graph("triples"),
        entities=of_graph("entities"),
        relations=of_graph("relations"),
        edges=of_graph("edges"),
        edge_sources=of_graph("edge_sources"),
        contexts=CONTEXTS,
        question_metrics="results/{corpus}/{dataset}/evidence/{source}/question_metrics.parquet",
    output:
        samples="results/{corpus}/{dataset}/samples/{source}/samples.parquet",
        subgraphs="results/{corpus}/{dataset}/samples/{source}/subgraphs.parquet",
        record="results/{corpus}/{dataset}/samples/{source}/run.json",
    log:
        "logs/sample_questions/{corpus}-{dataset}-{source}.log",
    threads: 1
    params:
        **leaf_params(
            "sample_questions",
            "dataset.split",
            "assembly.budget",
            "eval.budgets=default",
            "eval.seed=default",
            "eval.samples=default",
            "eval.max_edges=default",
        ),
    message:
        "Sample questions of {wildcards.dataset} for the report"
    script:
        "../../scripts/sample_questions.py"


rule build_report:
    input:
        metrics=f"{PLACE}/metrics.parquet",
        comparisons=f"{PLACE}/comparisons.parquet",
        leaders=f"{PLACE}/leaders.parquet",
        equal_quality=f"{PLACE}/equal_quality.parquet",
        tables=planned(Planned.report_files),
        published="data/published.yaml",
    output:
        report=f"{PLACE}/report.html",
        record=f"{PLACE}/report/run.json",
    log:
        f"logs/build_report/{EXPERIMENT}.log",
    threads: 1
    params:
        **leaf_params(
            "build_report",
            f"experiment.title={EXPERIMENT}",
            slices.MEASURING,
            "eval.min_units=default",
            "eval.claim=default",
            plan=planned(Planned.report_rows),
        ),
    message:
        f"Write the report of {EXPERIMENT}"
    script:
        "../../scripts/build_report.py"


rule track_variants:
    input:
        metrics=f"{PLACE}/metrics.parquet",
        compared=f"{PLACE}/run.json",
        report=f"{PLACE}/report.html",
    output:
        variant_runs=f"{PLACE}/variant_runs.parquet",
        record=f"{PLACE}/track/run.json",
    log:
        f"logs/track_variants/{EXPERIMENT}.log",
    threads: 1
    params:
        **leaf_params("track_variants", variants=planned(Planned.rows), name=experiment_name),
    message:
        f"Record the runs of {EXPERIMENT} for MLflow"
    script:
        "../../scripts/track_variants.py"


onsuccess:
    track_success()


onerror:
    track_failure()
