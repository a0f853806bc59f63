# Secateur: prunes the context of a language model to the evidence that changes its answer.
#
#   make run                                   runs the experiment `quickstart`
#   snakemake --config experiment=locomo       runs another experiment of conf/experiment
#   snakemake --profile slurm                  runs on a cluster
#
# Data flow: data sets -> rankings (lexical, graph, ecs) -> contexts -> figures -> comparison, report.

from snakemake.utils import min_version

min_version("9.27")


container: "docker://python:3.11-slim"


include: "workflow/rules/common.smk"
include: "workflow/rules/cluster.smk"
include: "workflow/rules/datasets.smk"
include: "workflow/rules/models.smk"
include: "workflow/rules/ranking.smk"
include: "workflow/rules/graph.smk"
include: "workflow/rules/peers.smk"
include: "workflow/rules/contexts.smk"
include: "workflow/rules/ecs.smk"
include: "workflow/rules/answers.smk"
include: "workflow/rules/judging.smk"
include: "workflow/rules/policy.smk"
include: "workflow/rules/memory.smk"
include: "workflow/rules/evaluation.smk"
include: "workflow/rules/report.smk"


localrules:
    all,
    fetch_dataset,
    prepare_model,
    prepare_peer,
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
