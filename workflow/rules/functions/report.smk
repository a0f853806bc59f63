# What the page shows, and how MLflow is told.

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


def peer_rows(_):
    """The peers, once each: what their costs speak of, and where these stand."""
    found = {}
    for v in VARIANTS:
        if v["family"] == "peer":
            asked = layout.beside(layout.asked(v.wildcards), "peer_asked.parquet")
            files = {"indexed": layout.indexed(indexed_by(v.wildcards), "peer_costs.parquet"), "asked": asked}
            found.setdefault(asked, labelled(v) | files)
    return list(found.values())


def peers(table):
    """A table of each peer."""
    return lambda _: [row[table] for row in peer_rows(_)]


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
