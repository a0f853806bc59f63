# Helpers of the rules: the experiment, its variants, and each rule's parameters.

import json
import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

from secateur.datasets import loaders
from secateur.pipeline import config as configuration
from secateur.pipeline import kinds
from secateur.pipeline import plan
from secateur.pipeline import provenance
from secateur.pipeline.errors import SecateurError

ROOT = Path(workflow.basedir)
CONF = ROOT / "conf"
TRACKING_SECONDS = 120  # tracking has limits of its own; this is for what hangs nevertheless


def _stop(error):
    """End with the one message, without a traceback."""
    print(f"\n{error}\n", file=sys.stderr)
    sys.exit(2)


def _listed(value):
    return tuple(value.split()) if isinstance(value, str) else tuple(str(v) for v in value or ())


EXPERIMENT = str(config.get("experiment", "quickstart"))
os.environ.update(SECATEUR_EXPERIMENT=EXPERIMENT)  # goes into the records, not into params
FOLDER = config.get("data")
OVERRIDES = _listed(config.get("overrides")) + (
    (f"corpus.folder={Path(FOLDER).resolve()}", f"dataset.folder={Path(FOLDER).resolve()}") if FOLDER else ()
)

if FOLDER and EXPERIMENT != "custom":
    _stop(
        f"DATA is {FOLDER}, but experiment {EXPERIMENT!r} has its own data. Fix: make run EXPERIMENT=custom DATA={FOLDER}"
    )

try:
    for name, value in vars(configuration.local(CONF)).items():
        if value is not None:  # the environment wins over the file
            os.environ.setdefault(f"SECATEUR_{name.upper()}", str(value))
    VARIANTS = plan.variants(CONF, EXPERIMENT, OVERRIDES)
except SecateurError as error:
    _stop(error)

OPTIONS = plan.all_names(CONF)


wildcard_constraints:
    **{axis: "|".join(values) for axis, values in OPTIONS.items()},
    file=r"[A-Za-z0-9_.]+",
    shard=r"\d+of\d+",
    ranking=r"[^/]+/[^/]+(/[^/]+/[^/]+)?",
    context=r"[^/]+",
    source=r"(prompts|contexts|recalled)(/[^/]+)+",


def option(group, name):
    """One option of one group, overrides applied."""
    return configuration.option(CONF, group, name, OVERRIDES, EXPERIMENT)


def leaf_params(rule, *slices, **extra):
    """A rule's params: one `key=value` string per leaf of its config slice, and its code digest.

    A slice is `group`, `group.key`, or `group=option` where no wildcard names the option. The digest follows the kinds
    that the leaves name: the stage can load no others.
    """
    families = []  # (group, key, option, family) of the leaves that name kinds

    def leaf(group, key, fixed):
        def value(wildcards):
            name = fixed or getattr(wildcards, group)
            return f"{group}.{key}={configuration.leaf(option(group, name), key)}"

        return value

    def code(wildcards):
        modules = set()
        for group, key, fixed, family in families:
            spec = getattr(option(group, fixed or getattr(wildcards, group)), key)
            modules |= {kinds.module_of(family, kind) for kind in kinds.named(spec)}
        return f"code={provenance.code_digest(rule, ROOT, tuple(sorted(modules)))}"

    found = {}
    for text in slices:
        path, _, fixed = text.partition("=")
        group, _, key = path.partition(".")
        for field in configuration.fields(configuration.GROUPS[group]):
            if key in ("", field.name):
                found[f"{group}_{field.name}"] = leaf(group, field.name, fixed)
                if field.metadata["family"]:
                    families.append((group, field.name, fixed, field.metadata["family"]))
    for name, function in extra.items():
        found[name] = _extra(name, function)
    return found | {"code": code}


def _extra(name, function):
    return lambda wildcards: f"extra.{name}={json.dumps(function(wildcards), sort_keys=True, separators=(',', ':'))}"


def fetched(name):
    return f"results/raw/{name}/{name}"


def raw(names):
    """Files by their names in the registry; a name with a slash is a path already."""
    return [name if "/" in name else fetched(name) for name in names]


def corpus_files(wildcards):
    """What prepare_corpus reads: fetched files, or the passages of a folder."""
    corpus = option("corpus", wildcards.corpus)
    if loaders.reads_folder(corpus.format):
        return folder_file(corpus.folder, "passages")
    return raw(corpus.files) + list(corpus.extra)


def dataset_files(wildcards):
    """What prepare_dataset reads besides the passages."""
    dataset = option("dataset", wildcards.dataset)
    return folder_file(dataset.folder, "questions") if loaders.reads_folder(dataset.format) else raw(dataset.files)


def folder_file(folder, name):
    """NAME.jsonl or NAME.jsonl.gz in a folder; the plain name where neither exists."""
    if folder is None:
        _stop(
            "dataset custom: no folder given. Fix: make run EXPERIMENT=custom DATA=DIR (with passages.jsonl and questions.jsonl)."
        )
    path = Path(folder) / f"{name}.jsonl"
    if not path.exists() and not path.with_name(f"{name}.jsonl.gz").exists():
        _stop(
            f"{path}: no such file, nor {name}.jsonl.gz. Fix: DATA=DIR names a folder with passages.jsonl and questions.jsonl (docs/data.md)."
        )
    return [str(path if path.exists() else path.with_name(f"{name}.jsonl.gz"))]


def passages_of(wildcards):
    """The passages a question set resolves against; none for questions without a corpus."""
    form = loaders.format_of(option("corpus", wildcards.corpus).format)
    return [f"results/{wildcards.corpus}/passages/passages.parquet"] if getattr(form, "CORPUS", True) else []


def fitted_on(wildcards):
    """The gold that probabilities are cross-fitted on, where a data set is."""
    crossfit = option("dataset", wildcards.dataset).crossfit
    return [f"results/{wildcards.corpus}/{wildcards.dataset}/questions/evidence.parquet"] if crossfit else []


def shards(wildcards):
    count = option("extractor", wildcards.extractor).shards
    return [
        f"results/{wildcards.corpus}/triples/{wildcards.extractor}/{n}of{count}/triples.parquet" for n in range(count)
    ]


def triple_files(wildcards):
    """What an imported graph is read from: fetched files, or paths; none for the other front ends."""
    return raw(option("extractor", wildcards.extractor).files or ())


def registry_entry(wildcards):
    from secateur.datasets.registry import load_registry

    try:
        entry = load_registry(ROOT / "data" / "registry").get(wildcards.file)
    except SecateurError as error:
        _stop(error)
    if entry is None:
        _stop(f"{wildcards.file}: not in data/registry. Fix: correct `files` in conf/corpus or conf/dataset.")
    said = {"registered_in": str(entry.registered_in.relative_to(ROOT)), "instead": entry.instead}
    return {key: getattr(entry, key) for key in ("name", "url", "sha256", "bytes")} | said


def keys_but(group, *without):
    """`group.key` for every key of a group, some left out."""
    return tuple(
        f"{group}.{f.name}" for f in configuration.fields(configuration.GROUPS[group]) if f.name not in without
    )


EXTRACTION = keys_but("extractor", "shards", "files")  # those two stand in paths and inputs
SHORTLISTING = tuple(  # what decides the runs' coarse and fine scores, and no more
    f"retriever.{key}"
    for key in ("coarse", "w_ent", "w_rel", "w_text", "k1", "b", "top_k", "top_m", "top_t")
    + ("coverage", "w_coverage", "tau_coverage", "w_pairs", "tau_pairs", "t_pairs", "w_distinct", "tau_distinct")
    + ("w_whole", "tau_whole", "t_whole")
)
EMBEDDING = keys_but("embedder", "tau")  # tau decides runs, not vectors
RETRIEVAL = keys_but("retriever", "calibration", "rank_width", "reader", "reread", "w_pmi")
RUNS = "{extractor}/{embedder}/{codebook}/{track}"
GRAPH = f"{RUNS}/{{consolidation}}"


REPLAYED = f"{GRAPH}/{{retriever}}/{{prompt}}/{{lm}}/{{ecs}}/{{memory}}"
UTILITY = "{embedder}/{scorer}/{lm}/{ecs}"
PASSING = tuple(f"ecs.{key}" for key in ("layout", "horizon", "top_k", "epsilon"))  # what a pass gives
ROWS = PASSING + ("ecs.questions", "ecs.passages")
SAMPLING = tuple(f"ecs.{key}" for key in ("pseudo_answers", "pseudo_tokens", "pseudo_context", "temperature", "seed"))
READING = ROWS + SAMPLING + ("ecs.neighbours", "ecs.probes")
LIFTING = ("dataset.split", "dataset.lift", "ecs.layout", "eval.lift_budgets=default", "eval.lift_control=default")
ANSWERING = keys_but("answer", "shards")  # which stands in paths
WRITING = tuple(  # what an answer that is written in process depends on
    f"answer.{key}" for key in ("instructions", "window", "max_tokens", "stop", "repeats", "least_repeated", "batch")
)
JUDGING = ("budget", "frontier", "classifier_steps", "trained_on")  # of a policy, what its training does not see
CHECKING = ROWS + tuple(
    f"ecs.{key}" for key in ("seed", "length_penalty", "draws", "percentile", "threshold", "quantiles")
)


def ranked_sources(wildcards):
    """The ranking of sources, read again by a language model where the retriever has one."""
    stage = "reread" if option("retriever", wildcards.retriever).reader else "candidates"
    return f"results/{wildcards.corpus}/{wildcards.dataset}/{stage}/{GRAPH.format(**wildcards)}/{wildcards.retriever}/ranked.parquet"


def reader_model(wildcards):
    """The model of the retriever's reader."""
    return f"results/models/{option('retriever', wildcards.retriever).reader}/model.json"


def reader_options(wildcards):
    """The reader's option, as plain data."""
    return dict(vars(option("lm", option("retriever", wildcards.retriever).reader)))


def statistics_shards(wildcards):
    """The statistics of every shard of the questions."""
    count, axes = option("ecs", wildcards.ecs).shards, UTILITY.format(**wildcards)
    folder = f"results/{wildcards.corpus}/{wildcards.dataset}/statistics/{axes}"
    return [f"{folder}/{n}of{count}/statistics.parquet" for n in range(count)]


def selections_of(wildcards):
    """The selections of a ranking; of one by utility, also those grown greedily, where a data set asks for them."""
    folder, axes = (
        f"results/{wildcards.corpus}/{wildcards.dataset}/selections/{wildcards.ranking}",
        wildcards.ranking.split("/"),
    )
    by_utility = len(axes) == len(UTILITY.split("/"))
    grown = by_utility and option("dataset", wildcards.dataset).grown
    count = option("ecs", axes[-1]).shards if grown else 0
    return [f"{folder}/selections.parquet"] + [f"{folder}/greedy/{n}of{count}/selections.parquet" for n in range(count)]


def graph_file(stage, table, variant):
    """A table of a graph variant under the folder of one of its question-dependent stages."""
    axes = "{extractor}/{embedder}/{codebook}/{track}/{consolidation}/{retriever}/{prompt}/{lm}".format(
        **variant.wildcards
    )
    return f"results/{variant.corpus}/{variant.dataset}/{stage}/{axes}/{table}.parquet"


def herring_file(table, variant):
    """A table of the check of a language model on the red herrings."""
    return f"results/{variant.corpus}/{variant.dataset}/herrings/{variant['lm']}/{variant['ecs']}/{table}.parquet"


def learnt_policy(wildcards):
    """The file of a policy: learnt on the data set itself, or on the one that policy.trained_on names."""
    dataset = option("policy", wildcards["policy"]).trained_on or wildcards["dataset"]
    axes = f"{REPLAYED}/{{policy}}".format(**wildcards)
    return f"results/{option('dataset', dataset).corpus}/{dataset}/policies/{axes}/policy.safetensors"


def acting_policy(wildcards):
    """The policy that chooses what an answered prompt shows, where there is one."""
    source = option("memory", wildcards.memory).policy_of
    return [learnt_policy(dict(wildcards.items()) | {"memory": source})] if source else []


def sight_of_policy(wildcards):
    """The candidates whose scores such a policy sees."""
    own = f"results/{{corpus}}/{{dataset}}/candidates/{GRAPH}/{{retriever}}/candidates.parquet".format(**wildcards)
    return [own] if option("memory", wildcards.memory).policy_of else []


def policy_file(table, variant):
    """A table of the policy on test questions."""
    axes = f"{REPLAYED}/{{policy}}".format(**variant.wildcards)
    return f"results/{variant.corpus}/{variant.dataset}/policies/{axes}/test/{table}.parquet"


def scores_path(variant):
    """The per-question figures of a variant."""
    if variant.path == "graph":
        return graph_file("evidence", "question_metrics", variant)
    if variant.path == "herrings":
        return herring_file("question_metrics", variant)
    if variant.path == "policy":
        return policy_file("question_metrics", variant)
    if variant.path == "sessions":
        axes = f"{GRAPH}/{{retriever}}/{{prompt}}/{{lm}}/{{memory}}".format(**variant.wildcards)
        return f"results/{variant.corpus}/{variant.dataset}/sessions/{axes}/question_metrics.parquet"
    if variant.path in ("context", "recall"):
        return answers_path(variant)
    axes = UTILITY if variant.path == "utility" else "{embedder}/{scorer}"
    stage = "sentences" if variant.path == "sentences" else "selection"
    folder = f"results/{variant.corpus}/{variant.dataset}/{stage}"
    return f"{folder}/{axes.format(**variant.wildcards)}/question_metrics.parquet"


def unique(values):
    return list(dict.fromkeys(values))


def ranking_of(wildcards):
    """The ranking a context is taken from; none for those that no scorer makes."""
    folder = f"results/{wildcards.corpus}/{wildcards.dataset}/rankings/{wildcards.embedder}/{wildcards.scorer}"
    return [] if wildcards.context in configuration.CONTEXTS else [f"{folder}/utilities.parquet"]


def gold_of_context(wildcards):
    """The gold evidence, for the context that is made of it."""
    gold = f"results/{wildcards.corpus}/{wildcards.dataset}/questions/evidence.parquet"
    return [gold] if wildcards.context == "oracle_evidence" else []


def answer_shards(wildcards):
    """The answers of every shard of the sessions."""
    count = option("answer", wildcards.answer).shards
    axes = "{corpus}/{dataset}/answers/{source}/{prompt}/{lm}/{answer}".format(**wildcards)
    return [f"results/{axes}/{n}of{count}/answers.parquet" for n in range(count)]


def track_of_source(wildcards):
    """The track of a context's rows: a graph's own; of a ranking, whether it looks at neighbours."""
    path, *axes = wildcards.source.split("/")
    return axes[3] if path in ("prompts", "recalled") else "aware" if axes[0].endswith("neighbour") else "blind"


def answers_path(variant):
    """The figures of a variant's answers."""
    sources = {"graph": f"prompts/{GRAPH}/{{retriever}}", "context": "contexts/{context}/{embedder}/{scorer}"}
    sources["recall"] = f"recalled/{GRAPH}/{{retriever}}/{{memory}}/{{ecs}}/{{policy}}/{{answer}}"
    source = sources[variant.path]
    axes = f"{source}/{{prompt}}/{{lm}}/{{answer}}".format(**variant.wildcards)
    return f"results/{variant.corpus}/{variant.dataset}/answered/{axes}/question_metrics.parquet"


def lift_path(variant):
    """The answer lifts of a variant."""
    axes = UTILITY if variant.path == "sentences" else f"{GRAPH}/{{retriever}}/{{prompt}}/{{lm}}/{{ecs}}"
    return (
        f"results/{variant.corpus}/{variant.dataset}/lift/{axes.format(**variant.wildcards)}/question_metrics.parquet"
    )


def files_of(variant):
    """The tables of figures of a variant: its evidence or F1, its answer lift where the data set asks for it, and its
    answers."""
    rows = {"graph": True, "sentences": option("scorer", variant["scorer"]).lifted}.get(variant.path)
    lifted = rows and option("dataset", variant.dataset).lift
    answers = [answers_path(variant)] if variant.answered else []
    return unique([scores_path(variant), *([lift_path(variant)] if lifted else []), *answers])


def figure_rows(_):
    """All files of figures as plain data, in the order of the variants they speak of."""
    return [{"dataset": v.dataset, "system": v.system, "file": file} for v in VARIANTS for file in files_of(v)]


def variant_rows(_):
    """The variants as plain data, in the order of their files."""
    return [
        {"dataset": v.dataset, "system": v.system, "track": v.track, "path": v.path, "file": scores_path(v)}
        for v in VARIANTS
    ]


def tracked_rows(_):
    """The variants with all files of their figures: what stands behind a run."""
    return [{"dataset": v.dataset, "system": v.system, "track": v.track, "files": files_of(v)} for v in VARIANTS]


def track(log=None):
    """Tell MLflow what has been run, in a process of its own: no trouble there is one of the run.

    What it says goes to `log`, where one is given; whether MLflow knows all.
    """
    command = [sys.executable, "-m", "secateur.cli", "track"]
    try:
        with log.open("w") if log else nullcontext() as said:
            done = subprocess.run(command, check=False, timeout=TRACKING_SECONDS, stdout=said, stderr=said)
    except (OSError, subprocess.TimeoutExpired) as error:
        print(f"MLflow: {error}. Fix: secateur track", file=sys.stderr)
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


def dataset_rows(_):
    """What compare_variants must know of each data set."""
    keys = ("kind", "split", "types", "first", "unanswerable")
    datasets = {name: option("dataset", name) for name in unique(v.dataset for v in VARIANTS)}
    return [{"name": name} | {key: getattr(one, key) for key in keys} for name, one in datasets.items()]


def dataset_tables(name):
    return [f"results/{c}/{d}/questions/{name}.parquet" for c, d in unique((v.corpus, v.dataset) for v in VARIANTS)]


def described():
    """The data sets of the experiment with the files of their statistics."""
    return [
        {"dataset": d, "file": f"results/{c}/{d}/description/dataset_statistics.parquet"}
        for c, d in unique((v.corpus, v.dataset) for v in VARIANTS)
    ]


def described_rows(_):
    return described()


def prompt_tables():
    """The prompts of every graph variant, for the report's cost figure."""
    return unique(graph_file("prompts", "prompts", v) for v in VARIANTS if v.path == "graph")


def measured():
    """The graphs whose lemmas are measured: those of whole systems, not of ablations; a file each, with its labels."""
    found = {}
    for v in VARIANTS:
        if v.path == "graph" and ":" not in v.system:
            axes = "{extractor}/{embedder}/{codebook}/{track}/{consolidation}/{retriever}".format(**v.wildcards)
            path = f"results/{v.corpus}/{v.dataset}/measures/{axes}/graph_measures.parquet"
            row = {"dataset": v.dataset, "corpus": v.corpus, "system": v.system, "track": v.track, "file": path}
            found.setdefault(path, row)
    return list(found.values())


def measured_rows(_):
    return measured()


def drawn():
    """The first graph variant of each data set: its sampled questions are drawn."""
    first = {}
    for v in VARIANTS:
        if v.path == "graph":
            first.setdefault(v.dataset, v)
    return list(first.values())


def drawn_rows(_):
    return [{"dataset": v.dataset, "system": v.system, "track": v.track} for v in drawn()]


def checked():
    """The checks on red herrings, for the report's distributions."""
    return [v for v in VARIANTS if v.path == "herrings"]


def checked_rows(_):
    return [{"dataset": v.dataset, "system": v.system} for v in checked()]


def learnt():
    """The policies, for the report's frontiers."""
    return [v for v in VARIANTS if v.path == "policy"]


def learnt_rows(_):
    return [{"dataset": v.dataset, "system": v.system, "track": v.track} for v in learnt()]


def experiment_name(_):
    return EXPERIMENT


def alias_file(wildcards):
    """The file of forced and forbidden aliases, where the option names one."""
    path = option("consolidation", wildcards.consolidation).aliases
    return [path] if path else []
