# Secateur: prune what a language model reads down to the evidence that moves its answer.
#
#   make run                                   the experiment `quickstart`
#   snakemake --config experiment=locomo       another one (conf/experiment)
#   snakemake --profile slurm                  on a cluster
#
# Data flows data -> graph -> evaluate (documents) and data -> ecs -> evaluate (dialogues).

from snakemake.utils import min_version

min_version("9.0")


container: "docker://python:3.11-slim"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/models.smk"
include: "workflow/rules/graph.smk"
include: "workflow/rules/ecs.smk"
include: "workflow/rules/policy.smk"
include: "workflow/rules/answers.smk"
include: "workflow/rules/evaluate.smk"
include: "workflow/rules/track.smk"


localrules:
    all,
    fetch_dataset,
    prepare_model,
    compare_variants,
    build_report,
    track_variants,


rule all:
    default_target: True
    input:
        f"results/experiments/{EXPERIMENT}/metrics.parquet",
        f"results/experiments/{EXPERIMENT}/comparisons.parquet",
        f"results/experiments/{EXPERIMENT}/report.html",
        f"results/experiments/{EXPERIMENT}/track/run.json",
