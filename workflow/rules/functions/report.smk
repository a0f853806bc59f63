# What the page shows, and how MLflow is told.

import subprocess
from contextlib import nullcontext

from secateur.report.browser import SYSTEMS
from secateur.report.finding import CONTROL

CONTROLS = "controls"  # the option of conf/rankers that they stand in
TRACKING_SECONDS = 120  # tracking has limits of its own; this is for what hangs nevertheless


def labelled(variant):
    """What a variant's rows are called."""
    return {"dataset": variant.dataset, "system": variant.system, "order": variant.order}


def family_of(_):
    """Who ranks, of every system; a policy's choices, and what is no ranking (gold, nothing, everything), are families of
    their own."""

    def family(v):
        controls = v["family"] == "lexical" and v["rankers"] == CONTROLS
        return "policy" if v.study == "policy" else CONTROL if controls else v["family"]

    return {v.system: family(v) for v in VARIANTS}


def tracked_rows(_):
    """The variants as plain data, with all files of their figures: what stands behind a row."""
    return [labelled(v) | {"files": files_of(v)} for v in VARIANTS]


def described_rows(_):
    """The data sets of the experiment with the files of their statistics."""
    found = [
        {"dataset": d, "file": f"results/{c}/{d}/description/dataset_statistics.parquet"}
        for c, d in unique((v.corpus, v.dataset) for v in VARIANTS)
    ]
    return [row for row in found if there(row["file"])]


def by_graph():
    """The systems that the graph ranks for, on documents."""
    return [v for v in VARIANTS if v["family"] == "graph" and v.study is None and v["memory"] == layout.NONE]


def growth_rows(_):
    """The graphs of whole systems, not of ablations: the file of each one's growth, and the first system that uses it."""
    rows = {}
    for v in by_graph():
        if ":" not in v.system:
            path = layout.growth(v.wildcards)
            rows.setdefault(path, {"corpus": v.corpus, "system": v.system, "order": v.order, "file": path})
    return [row for path, row in rows.items() if there(path)]


def drawn():
    """The first graph variant of each data set: its sampled questions are drawn."""
    first = {}
    for v in by_graph():
        first.setdefault(v.dataset, v)
    return [v for v in first.values() if there(sample(v, "samples"))]


def drawn_rows(_):
    return [labelled(v) for v in drawn()]


def sample(variant, table):
    return f"{layout.folder(variant.wildcards)}/samples/{layout.source(variant.wildcards)}/{table}.parquet"


def samples(table):
    """A table of each drawn variant."""
    return lambda _: [sample(v, table) for v in drawn()]


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


def browsed():
    """The variants whose contexts can be looked at, those as they are before those with an option changed, as many of a
    data set as there is room; of a dialogue, those that choose turns."""
    found = {}
    for v in sorted(VARIANTS, key=lambda v: v.system != v.base and v["family"] != "peer"):
        if v.study is None and v["memory"] == layout.NONE and (v.kind == "dialogue" or v["pick"] != layout.ALL):
            own, shown = found.setdefault(v.dataset, {}), layout.shown(v.wildcards, v.kind == "dialogue")
            if len(own) < SYSTEMS and there(shown, *browsed_answers(v)):
                own.setdefault(shown, v)
    return [v for own in found.values() for v in own.values()]


def browsed_answers(variant):
    """The answers under a variant's contexts, shard by shard."""
    if not variant.answered:
        return []
    options, name = variant.wildcards, variant["answer"]
    return layout.answers(layout.folder(options), layout.source(options), name, option("answer", name).shards)


def browsed_rows(_):
    """The rows of the question browser: what is shown of each, and where that stands."""
    found = []
    for v in browsed():
        turns = v.kind == "dialogue"
        own = {
            "turns": turns,
            "shown": layout.shown(v.wildcards, turns),
            "figures": files_of(v),
            "answers": browsed_answers(v),
        }
        found.append(labelled(v) | own)
    return found


def browsed_sets(_):
    """The data sets of the question browser with their tables."""
    found = {}
    for v in browsed():
        own = layout.folder(v.wildcards)
        found[v.dataset] = {"dataset": v.dataset, "split": option("dataset", v.dataset).split} | {
            "questions": f"{own}/questions/questions.parquet",
            "evidence": f"{own}/questions/evidence.parquet",
            "passages": layout.passages(v.wildcards) if v.kind == "dialogue" else None,
        }
    return list(found.values())


def browsed_files(_):
    """Everything that the question browser is made of."""
    rows = [[r["shown"], *r["figures"], *r["answers"]] for r in browsed_rows(_)]
    sets = [[one[name] for name in ("questions", "evidence", "passages") if one[name]] for one in browsed_sets(_)]
    return unique(path for part in (*rows, *sets) for path in part)


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
