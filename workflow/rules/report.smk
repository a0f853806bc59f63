# What a person sees: sampled questions, the page, and what MLflow is told, last of all. No job talks to MLflow itself; the
# main process does when all jobs have ended, so that there is one writer, and a failed job is told of too.

import subprocess
from contextlib import nullcontext

TRACKING_SECONDS = 120  # tracking has limits of its own; this is for what hangs nevertheless


def labelled(variant):
    """What a variant's rows are called."""
    return {"dataset": variant.dataset, "system": variant.system, "order": variant.order}


def variant_rows(_):
    """The variants as plain data, with the first file of their figures."""
    return [labelled(v) | {"file": files_of(v)[0]} for v in VARIANTS]


def tracked_rows(_):
    """The variants with all files of their figures: what stands behind a run."""
    return [labelled(v) | {"files": files_of(v)} for v in VARIANTS]


def described_rows(_):
    """The data sets of the experiment with the files of their statistics."""
    return [
        {"dataset": d, "file": f"results/{c}/{d}/description/dataset_statistics.parquet"}
        for c, d in unique((v.corpus, v.dataset) for v in VARIANTS)
    ]


def by_graph():
    """The systems that the graph ranks for, on documents."""
    return [v for v in VARIANTS if v["family"] == "graph" and v.study is None and v["memory"] == layout.NONE]


def measured_rows(_):
    """The graphs whose lemmas are measured: those of whole systems, not of ablations; a file each, with its labels."""
    found = {}
    for v in by_graph():
        if ":" not in v.system:
            axes = layout.pattern(layout.FAMILIES["graph"]).format(**v.wildcards)
            path = f"results/{v.corpus}/{v.dataset}/measures/{axes}/graph_measures.parquet"
            found.setdefault(path, labelled(v) | {"corpus": v.corpus, "file": path})
    return list(found.values())


def drawn():
    """The first graph variant of each data set: its sampled questions are drawn."""
    first = {}
    for v in by_graph():
        first.setdefault(v.dataset, v)
    return list(first.values())


def drawn_rows(_):
    return [labelled(v) for v in drawn()]


def samples(table):
    """A table of each drawn variant."""
    return lambda _: [
        f"{layout.folder(v.wildcards)}/samples/{layout.source(v.wildcards)}/{table}.parquet" for v in drawn()
    ]


def of_study(kind):
    """The variants of a study."""
    return [v for v in VARIANTS if v.study == kind]


def beside_figures(kind, table):
    """A table of each variant of a study."""
    return lambda _: [layout.beside(layout.figures(v.wildcards, kind), f"{table}.parquet") for v in of_study(kind)]


def files_in(rows):
    """The files that rows name."""
    return lambda _: [row["file"] for row in rows(_)]


def checked_rows(_):
    return [labelled(v) for v in of_study("distractors")]


def learnt_rows(_):
    return [labelled(v) for v in of_study("policy")]


def experiment_name(_):
    return EXPERIMENT


def track(log=None):
    """Tell MLflow what has been run, in a process of its own: no trouble there is one of the run.

    What it says goes to `log`, where one is given; whether MLflow knows all. A local store may take its time.
    """
    command = [sys.executable, "-m", "secateur.cli", "track"]
    timeout = TRACKING_SECONDS if os.environ.get("MLFLOW_TRACKING_URI", "").startswith("http") else None
    try:
        with log.open("w") if log else nullcontext() as said:
            done = subprocess.run(command, check=False, timeout=timeout, stdout=said, stderr=said)
    except (OSError, subprocess.TimeoutExpired) as error:
        print(f"MLflow: {error}. Nothing is lost. Fix: secateur track", file=sys.stderr)
        return False
    return done.returncode == 0


def track_success():
    """Tell MLflow; where it cannot be told, leave the last job to the next run, which tries again."""
    if not track():
        Path(f"results/experiments/{EXPERIMENT}/track/run.json").unlink(missing_ok=True)


def track_failure():
    """Tell MLflow, and nobody else: the last word on the terminal is the failure's message."""
    log = Path("logs/mlflow.log")
    log.parent.mkdir(exist_ok=True)
    track(log)


rule sample_questions:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        evidence="results/{corpus}/{dataset}/questions/evidence.parquet",
        triples=of_options(layout.table_of_graph("triples")),
        entities=of_options(layout.table_of_graph("entities")),
        relations=of_options(layout.table_of_graph("relations")),
        edges=of_options(layout.table_of_graph("edges")),
        edge_sources=of_options(layout.table_of_graph("edge_sources")),
        contexts=CONTEXTS,
        question_metrics="results/{corpus}/{dataset}/evidence/{source}/question_metrics.parquet",
    output:
        samples="results/{corpus}/{dataset}/samples/{source}/samples.parquet",
        subgraphs="results/{corpus}/{dataset}/samples/{source}/subgraphs.parquet",
        record="results/{corpus}/{dataset}/samples/{source}/run.json",
    log:
        "logs/sample_questions/{corpus}-{dataset}-{source}.log",
    benchmark:
        "logs/sample_questions/{corpus}-{dataset}-{source}.benchmark.tsv"
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
        "Sample the questions of {wildcards.dataset} that the report draws"
    script:
        "../../scripts/sample_questions.py"


rule build_report:
    input:
        metrics=f"results/experiments/{EXPERIMENT}/metrics.parquet",
        comparisons=f"results/experiments/{EXPERIMENT}/comparisons.parquet",
        graph_measures=files_in(measured_rows),
        dataset_statistics=files_in(described_rows),
        samples=samples("samples"),
        subgraphs=samples("subgraphs"),
        published="data/published.yaml",
        score_quantiles=beside_figures("distractors", "score_quantiles"),
        frontier=beside_figures("policy", "frontier"),
    output:
        report=f"results/experiments/{EXPERIMENT}/report.html",
        record=f"results/experiments/{EXPERIMENT}/report/run.json",
    log:
        f"logs/build_report/{EXPERIMENT}.log",
    benchmark:
        f"logs/build_report/{EXPERIMENT}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params(
            "build_report",
            f"experiment.title={EXPERIMENT}",
            "eval.min_units=default",
            variants=variant_rows,
            measured=measured_rows,
            drawn=drawn_rows,
            described=described_rows,
            checked=checked_rows,
            learnt=learnt_rows,
            name=experiment_name,
        ),
    message:
        f"Write the report of {EXPERIMENT}"
    script:
        "../../scripts/build_report.py"


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
