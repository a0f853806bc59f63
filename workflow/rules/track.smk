# What MLflow is told: runs from figures and records, last of all. No job talks to MLflow itself; the main
# process does when all jobs have ended, so that there is one writer, and a failed job is told of too.


rule track_variants:
    input:
        metrics=f"results/experiments/{EXPERIMENT}/metrics.parquet",
        compared=f"results/experiments/{EXPERIMENT}/run.json",
        report=f"results/experiments/{EXPERIMENT}/report.html",
    output:
        variant_runs=f"results/experiments/{EXPERIMENT}/variant_runs.parquet",
        record=f"results/experiments/{EXPERIMENT}/track/run.json",
    log:
        f"logs/track_variants/{EXPERIMENT}.log",
    benchmark:
        f"logs/track_variants/{EXPERIMENT}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params("track_variants", variants=tracked_rows, name=experiment_name),
    message:
        f"Note the runs of {EXPERIMENT} for MLflow"
    script:
        "../../scripts/track_variants.py"


onsuccess:
    track_success()


onerror:
    track_failure()
