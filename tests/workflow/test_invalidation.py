"""Exact invalidation: which rules an edit re-runs, for every configuration key and every library module.

The matrix loads the rules once and asks each of them, for every job of one small experiment, for its params
and inputs before and after an edit. Cases that could be lost between there and a run are confirmed with
`snakemake -n` on a finished run.
"""

import ast
import dataclasses
import json
import re
import sys
from pathlib import Path

import pytest

from secateur.pipeline import provenance
from secateur.pipeline.config.groups import GROUPS
from secateur.pipeline.tables.catalog import TABLES

# --- the rules, loaded once ----------------------------------------------------------------------

PATHS = {
    "graph": {
        "extract_triples",
        "encode_questions",
        "build_codebook",
        "build_runs",
        "consolidate",
        "propose_candidates",
        "reread_sources",
        "calibrate_sources",
        "build_prompts",
        "evaluate_prompts",
        "lift_prompts",
        "measure_graph",
        "sample_questions",
    },
    "sentences": {"rank_passages", "evaluate_sentences", "lift_sentences"},
    "selection": {"rank_passages", "select_context", "evaluate_selection"},
    "utility": {
        "rank_passages",
        "propose_passages",
        "score_candidates",
        "combine_scores",
        "select_greedily",
        "evaluate_selection",
    },
    "herrings": {"check_red_herrings"},
    "context": {"rank_passages", "gather_context"},
}
PROMPTED = PATHS["graph"] - {"evaluate_prompts", "lift_prompts", "measure_graph", "sample_questions"}
LEARNT = {"train_policy", "evaluate_policy"}
PATHS |= {"policy": PROMPTED | LEARNT | {"build_preferences"}, "sessions": PROMPTED | {"replay_sessions"}}
PATHS["recall"] = PROMPTED | {"recall_context"}
ANSWERS = {"answer_questions", "evaluate_answers"}  # of every variant that is answered
SOURCES = {"graph": "prompts/{extractor}/{embedder}/{codebook}/{track}/{consolidation}/{retriever}"}
SOURCES |= {"context": "contexts/{context}/{embedder}/{scorer}"}
SOURCES["recall"] = SOURCES["graph"].replace("prompts", "recalled") + "/{memory}/{ecs}/{policy}/{answer}"
RANKINGS = {"selection": "{embedder}/{scorer}", "utility": "{embedder}/{scorer}/{lm}/{ecs}"}
MODELS = {"prepare_model"}
DATA, EXPERIMENT = (
    {"fetch_dataset", "prepare_corpus", "prepare_dataset", "describe_dataset"},
    {"compare_variants", "build_report", "track_variants"},
)
RULES = DATA | MODELS | EXPERIMENT | ANSWERS | set.union(*PATHS.values())
MATRIX = """\
title: One data set of each kind, shipped and fetched
datasets: [toy_documents_smoke, toy_dialogue_smoke, stem_dev, stem_old_test, locomo, red_herrings]
systems: [sentences, graph, ecs, herrings, oracle_evidence, rag_zsum, policy, sessions, remembered, compressed]
axes: {prompt: [dense], retriever: [reread]}
exclude: []
answers: true
"""


class Wildcards(dict):
    """A job's wildcards, as attributes and as a mapping."""

    __getattr__ = dict.__getitem__


class Matrix:
    """The rules of a copy of the project, and the answers of their functions under other settings."""

    def __init__(self, root: Path, namespace: dict, rules: dict) -> None:
        self.root, self.rules, self._of, self._before = root, rules, namespace, {}

    def jobs(self, *overrides: str) -> dict[str, set]:
        """By rule: (wildcards, params, inputs) of every job of the experiment."""
        self._of["OVERRIDES"] = overrides
        self._of["VARIANTS"] = self._of["plan"].variants(self._of["CONF"], "matrix", overrides)
        found, known = {name: set() for name in RULES}, {}
        for variant in self._of["VARIANTS"]:
            axes = variant.wildcards | {"shard": "0of2", "file": "locomo10.json"}
            axes["ranking"] = RANKINGS.get(variant.path, "").format(**axes)
            source = SOURCES.get(variant.path, SOURCES["context"])
            axes["source"] = source.format(**axes)
            asked = PATHS[variant.path] | (ANSWERS if variant.answered else set())
            for name in DATA | MODELS | asked - self._not_asked(variant) | EXPERIMENT:
                own = tuple((axis, axes[axis]) for axis in sorted(self.rules[name].wildcard_names))
                if (name, own) not in known:  # variants share most of their jobs
                    known[name, own] = (own, *self._job(self.rules[name], dict(own)))
                found[name].add(known[name, own])
        return found

    def _not_asked(self, variant) -> set[str]:
        """Rules of a path that the options do not ask for."""
        groups = ("dataset", "scorer", "retriever")
        dataset, scorer, retriever = (self._of["option"](group, variant.wildcards[group]) for group in groups)
        asked = {"lift_prompts": dataset.lift, "lift_sentences": dataset.lift and scorer.lifted}
        asked |= {"select_greedily": dataset.grown, "reread_sources": retriever.reader}
        return {name for name, wanted in asked.items() if not wanted}

    def rerun(self, *overrides: str, given: tuple[str, ...] = ()) -> set[str]:
        """Rules with a job that is new or has other params or inputs under the overrides, others given anyway."""
        if given not in self._before:  # the same for most of the table
            self._before[given] = self.jobs(*given)
        before, after = self._before[given], self.jobs(*given, *overrides)
        return {name for name in RULES if after[name] - before[name]}

    def _job(self, rule, own) -> tuple:
        wildcards = Wildcards(own)
        params = tuple(value(wildcards) if callable(value) else value for _, value in sorted(rule.params.items()))
        inputs = tuple(str(value(wildcards)) if callable(value) else str(value) for _, value in rule.input.items())
        return params, inputs

    def params(self) -> list[str]:
        """Every param of every job."""
        return [text for jobs in self.jobs().values() for _, params, _ in jobs for text in params]

    def digests(self) -> dict[str, str]:
        """The code digest of every rule, read anew from the files."""
        for remembered in (provenance.code_digest, provenance.imports, provenance._rules):
            remembered.cache_clear()
        return {name: provenance.code_digest(name, self.root) for name in RULES}

    def edited(self, texts: dict[str, str]) -> set[str]:
        """Rules whose code digest other texts of some files change; the files are put back."""
        before, kept = self.digests(), {name: (self.root / name).read_text(encoding="utf-8") for name in texts}
        assert all(texts[name] != kept[name] for name in texts)
        try:
            for name, text in texts.items():
                (self.root / name).write_text(text, encoding="utf-8")
            after = self.digests()
        finally:
            for name, text in kept.items():
                (self.root / name).write_text(text, encoding="utf-8")
        return {rule for rule in RULES if after[rule] != before[rule]}


@pytest.fixture(scope="module")
def matrix(copy_project, tmp_path_factory):
    """The rules as Snakemake reads them, with one more option in each group that has only one."""
    from snakemake.api import SnakemakeApi
    from snakemake.settings.types import ConfigSettings, OutputSettings, Quietness, ResourceSettings

    root = copy_project(tmp_path_factory.mktemp("matrix") / "project").root
    (root / "conf/experiment/matrix.yaml").write_text(MATRIX)
    for group, option in (
        ("extractor", "openie"),
        ("embedder", "minilm"),
        ("codebook", "default"),
        ("consolidation", "none"),
        ("lm", "smollm2"),
        ("scorer", "utility"),
        ("policy", "default"),
    ):
        (root / f"conf/{group}/other.yaml").write_text(f"defaults: [{option}, _self_]\n")
    with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
        workflow = api.workflow(
            ResourceSettings(cores=1),
            config_settings=ConfigSettings(config={"experiment": "matrix"}),
            snakefile=root / "Snakefile",
            workdir=root,
        )._workflow
        yield Matrix(root, workflow.globals, {rule.name: rule for rule in workflow.rules})


def test_every_rule_is_in_the_matrix(matrix):
    assert set(matrix.rules) - {"all"} == RULES
    assert all(matrix.jobs().values())


# --- (a) every key of the configuration ----------------------------------------------------------

RANKED = {"rank_passages"}
EMBEDS = {"build_codebook", "propose_candidates", "evaluate_prompts", "evaluate_sentences", "measure_graph"} | RANKED
EMBEDS |= {"build_preferences", "recall_context"}
EXTRACTS = {"extract_triples", "encode_questions", "build_preferences", "recall_context"}  # corpus, questions, answers
LIFTS = {"lift_prompts", "lift_sentences"}
ASKED = {"gather_context", "recall_context", "answer_questions"}  # the sample of questions that are answered
SWEEPS = {"score_candidates", "check_red_herrings", "reread_sources"}  # every question with its candidates
PASSES = SWEEPS | {"select_greedily"}  # what a candidate does to a prediction
WRITES = {"answer_questions", "recall_context"}
READS_LM = PASSES | LIFTS | ANSWERS | {"build_preferences", "recall_context"}
LOADS_LM = READS_LM | WRITES
PREFERS = {"build_preferences"} | LEARNT
FROM_PROMPTS = {"build_prompts", "evaluate_prompts", "lift_prompts", "sample_questions", "replay_sessions"} | WRITES
FROM_PROMPTS |= PREFERS | ANSWERS | EXPERIMENT
SCORES_RUNS = {"propose_candidates", "measure_graph", "build_preferences", "recall_context"}
FROM_CANDIDATES = SCORES_RUNS | {"calibrate_sources"} | FROM_PROMPTS
FROM_GRAPH = {"consolidate", "reread_sources"} | FROM_CANDIDATES
FROM_RUNS = {"build_runs"} | FROM_GRAPH
FROM_CODEBOOK = {"build_codebook"} | FROM_RUNS
FROM_CONTEXT = {"gather_context"} | ANSWERS
FROM_LM = (PATHS["utility"] - {"rank_passages", "propose_passages"}) | EXPERIMENT
FROM_LM |= (LOADS_LM | LEARNT) - {"reread_sources"} - ANSWERS - WRITES
FROM_POOL = {"propose_passages"} | FROM_LM
SELECTED = PATHS["selection"] | PATHS["utility"] | EXPERIMENT

# Override -> the rules whose own params or inputs it changes. Options of the groups experiment, system and
# `dataset.corpus` stand in paths: with them every rule from where the variants branch has new jobs.
KEYS = {
    "corpus.format=stem": {"prepare_corpus"},
    "corpus.files=[stem_question.json]": {"prepare_corpus"},
    "corpus.extra=[data/published.yaml]": {"prepare_corpus"},
    "corpus.folder=data/toy/documents": {"prepare_corpus"},
    "corpus.shuffle=3": {"prepare_corpus"},
    "corpus.documents=1": {"prepare_corpus", "prepare_dataset"},
    "dataset.corpus=toy_documents": RULES - {"fetch_dataset"} - MODELS,
    "dataset.kind=dialogue": {"prepare_dataset"} | SELECTED - {"select_greedily"},
    "dataset.format=stem": {"prepare_dataset"} | EXPERIMENT,  # the check of scorers is for one loader alone
    "dataset.files=[stem_question.json]": {"prepare_dataset"},
    "dataset.folder=data/toy/documents": {"prepare_dataset"},
    "dataset.control_of=toy_documents": {"prepare_dataset"},
    "+dataset.sample.test=3": {"prepare_dataset"},
    "dataset.crossfit=true": {"calibrate_sources"},
    "dataset.split=dev": {"sample_questions", "replay_sessions"} | LIFTS | ASKED | EXPERIMENT,  # none is `compressed`
    "++dataset.trained={train: 2, dev: 1, test: 1}": PREFERS | EXPERIMENT,  # also where there was none
    "dataset.semantic=true": {"evaluate_prompts", "evaluate_sentences"},
    "+dataset.types.hard=[3-hop]": {"compare_variants"},
    "+dataset.first.F1=1": {"propose_passages", "select_greedily", "compare_variants"},
    "dataset.unanswerable=['3']": RANKED | {"propose_passages", "compare_variants"},
    "dataset.scored=F1": {"propose_passages"},
    "dataset.probed=null": {"propose_passages"},
    "dataset.grown=[single-hop]": {"select_greedily", "evaluate_selection"},  # where it was asked for, and elsewhere
    "dataset.grown=[]": {"evaluate_selection"},
    "dataset.grown_of=null": {"select_greedily"},
    "dataset.lift=3": LIFTS | EXPERIMENT - {"build_report"},  # also where there was none
    "dataset.answered=1": FROM_CONTEXT | WRITES | EXPERIMENT,  # also where none was answered
    "dataset.lift=0": EXPERIMENT - {"build_report"},  # which no longer has their figures
    "+dataset.cutoffs=[1, 5]": {"evaluate_selection"},
    "extractor.kind=openie & extractor.files=[] & extractor.shards=2": EXTRACTS | {"build_codebook"},
    "extractor.shards=3": {"build_codebook"},
    "extractor.block=64": EXTRACTS,
    "extractor.settings.batch=16": EXTRACTS,
    "extractor.settings.model=folder/other": EXTRACTS,
    "extractor.settings.beams=1": EXTRACTS,
    "extractor.settings.length_penalty=1.0": EXTRACTS,
    "extractor.settings.max_tokens=128": EXTRACTS,
    "extractor.settings.url=http://localhost:8000/v1": EXTRACTS,
    "extractor.settings.timeout=60": EXTRACTS,
    "extractor.settings.delays=[1]": EXTRACTS,
    "extractor.settings.max_wait=60": EXTRACTS,
    "extractor.settings.max_failed=0.02": EXTRACTS,
    "extractor.files=[data/mine.csv]": {"extract_triples"},
    "embedder.model=package:other/model": EMBEDS
    | {"build_prompts", "describe_dataset", "propose_passages", "lift_sentences", "gather_context"},
    "embedder.dim=256": EMBEDS,
    "embedder.max_tokens=64": EMBEDS,
    "embedder.batch=16": EMBEDS,
    "embedder.batch_tokens=256": EMBEDS,
    "embedder.block=64": EMBEDS,
    "embedder.engine=torch": EMBEDS,
    "embedder.tau=0.6": {"build_runs", "measure_graph"},
    "codebook.bonus_path=0.06": {"build_runs", "measure_graph"},
    "codebook.bonus_node=0.04": {"build_runs", "measure_graph"},
    "codebook.refine=false": {"build_runs"},
    "consolidation.merge=false": {"consolidate"},
    "consolidation.tau=0.95": {"consolidate"},
    "consolidation.slack=0.03": {"consolidate"},
    "consolidation.guarded=false": {"consolidate"},
    "consolidation.exact_limit=1000": {"consolidate"},
    "consolidation.probes=4": {"consolidate"},
    "consolidation.budget=1000": {"consolidate"},
    "consolidation.floor=0.85": {"consolidate"},
    "consolidation.iterations=5": {"consolidate"},
    "consolidation.seed=8": {"consolidate"},
    "consolidation.prune=frequency": {"consolidate"},
    "consolidation.min_mentions=3": {"consolidate"},
    "consolidation.aliases=data/registry/stem_titles.yaml": {"consolidate"},
    "track.runs=document": {"build_runs", "measure_graph"},
    "track.neighbour=0.5": {"propose_candidates"},
    "retriever.coarse=maxpair": SCORES_RUNS,
    "retriever.title=false": {"propose_candidates"},
    "retriever.w_ent=0.9": SCORES_RUNS,
    "retriever.w_rel=0.4": SCORES_RUNS,
    "retriever.top_k=100": SCORES_RUNS,
    "retriever.top_m=10": SCORES_RUNS,
    "retriever.top_t=2": SCORES_RUNS,
    "retriever.coverage=count": SCORES_RUNS,
    "retriever.w_coverage=0.2": SCORES_RUNS,
    "retriever.tau_coverage=0.5": SCORES_RUNS,
    "retriever.w_pairs=0.3": SCORES_RUNS,
    "retriever.tau_pairs=0.6": SCORES_RUNS,
    "retriever.t_pairs=0.2": SCORES_RUNS,
    "retriever.w_distinct=0.2": SCORES_RUNS,
    "retriever.tau_distinct=0.6": SCORES_RUNS,
    "retriever.w_whole=0.2": SCORES_RUNS,
    "retriever.tau_whole=0.6": SCORES_RUNS,
    "retriever.t_whole=0.2": SCORES_RUNS,
    "retriever.sources=100": {"propose_candidates"},
    "retriever.reader=other": {"reread_sources", "calibrate_sources"},  # also where there was none
    "retriever.reader=null": {"calibrate_sources"},
    "retriever.reread=48": {"reread_sources"},
    "retriever.w_pmi=1": {"reread_sources"},
    "retriever.w_bm25=0.5": {"propose_candidates"},
    "retriever.w_dense=0.5": {"propose_candidates"},
    "retriever.w_run=0.5": {"propose_candidates"},
    "retriever.k1=0.9": SCORES_RUNS,
    "retriever.b=0.4": SCORES_RUNS,
    "retriever.w_text=0.5": SCORES_RUNS,
    "retriever.w_line=0.5": {"propose_candidates"},
    "retriever.calibration={blind: [-2.0, 0.5]}": {"calibrate_sources"},
    "retriever.rank_width=0.5": {"calibrate_sources"},
    "prompt.assemble=runs": {"build_prompts"},
    "prompt.facts=unique": {"build_prompts"},
    "prompt.theta=0.9": {"build_prompts", "build_preferences", "recall_context"},
    "prompt.grounding=triples": {"build_prompts"},
    "prompt.words=content": {"build_prompts"},
    "prompt.cite=true": {"build_prompts"},
    "prompt.best_last=false": {"build_prompts", "gather_context"},
    "prompt.encoding=lines": {"build_prompts"},
    "prompt.budget=256": {"build_prompts", "sample_questions", "gather_context", "replay_sessions"}
    | {"build_preferences", "recall_context"}
    | ANSWERS,
    "prompt.mix=0.3": {"build_prompts"},
    "prompt.enough=0.5": {"build_prompts"},
    "prompt.words_per_source=5": {"build_prompts"},
    "lm.model=package:other/model.gguf": {"build_prompts", "prepare_model", "gather_context", "replay_sessions"}
    | LOADS_LM,
    "lm.backend=sglang": {"prepare_model"} | LOADS_LM,
    "lm.dtype.cpu=bfloat16": LOADS_LM,
    "lm.window=4096": LOADS_LM | {"gather_context"},
    "lm.pack.cpu=128": LOADS_LM,
    "lm.url=http://localhost:8001": LOADS_LM,
    "lm.top_logprobs=20": LOADS_LM,
    "lm.concurrency=2": LOADS_LM,
    "lm.timeout=60": LOADS_LM,
    "lm.delays=[1]": LOADS_LM,
    "lm.max_wait=60": LOADS_LM,
    "ecs.shards=3": {"combine_scores", "select_greedily", "evaluate_selection"},
    "ecs.pooled_by=zsum": {"propose_passages"},
    "ecs.pool=24": {"propose_passages"},
    "ecs.pool_aware=0": {"propose_passages"},
    "ecs.neighbours=0": {"score_candidates", "select_greedily"},
    "ecs.probes=[judge_factual]": {"score_candidates"},
    "ecs.grow_by={zsum: 2.0}": {"select_greedily"},
    "ecs.layout=question_first": READS_LM - {"answer_questions"},
    "ecs.horizon=4": PASSES,
    "ecs.top_k=20": PASSES,
    "ecs.epsilon=1e-9": PASSES,
    "ecs.length_penalty=0.002": {"combine_scores", "check_red_herrings"},
    "ecs.draws=4": {"propose_passages", "combine_scores", "check_red_herrings"},
    "ecs.folds=5": {"combine_scores"},
    "ecs.percentile=0.9": {"combine_scores", "select_greedily", "check_red_herrings"},
    "ecs.threshold=0.1": {"check_red_herrings"},
    "ecs.quantiles=[0.5]": {"check_red_herrings"},
    "ecs.pseudo_answers=2": {"score_candidates"},
    "ecs.pseudo_tokens=12": {"score_candidates"},
    "ecs.pseudo_context=4": {"score_candidates"},
    "ecs.temperature=1.0": {"score_candidates"},
    "ecs.seed=8": {"propose_passages", "score_candidates", "check_red_herrings"},
    "ecs.questions=8": SWEEPS,
    "ecs.passages=32": SWEEPS,
    "memory.enabled=false": PREFERS | {"recall_context"},
    "memory.questions=1": {"build_preferences", "recall_context"},
    "memory.answers=1": {"build_preferences", "recall_context"},
    "memory.gold=true": {"build_preferences"},
    "memory.window=512": {"replay_sessions", "recall_context"},
    "memory.fresh=128": {"replay_sessions", "recall_context"},
    "memory.policy_of=none": {"recall_context"},
    "policy.alpha=2": LEARNT,
    "policy.beta=0.5": LEARNT,
    "policy.gamma=0.1": LEARNT,
    "policy.delta=1": LEARNT,
    "policy.clip=[0.1, 0.9]": LEARNT,
    "policy.latency=[0.1, 0.001]": LEARNT,
    "policy.trained_on=stem_old_test": {"evaluate_policy"},
    "policy.margin=0.05": {"train_policy"},
    "+policy.reference.facts=[0.2, 0.6, 0.2]": {"train_policy"},
    "policy.without=[score_margin]": {"train_policy"},
    "policy.hidden=[32]": {"train_policy"},
    "policy.beta_dpo=0.5": {"train_policy"},
    "policy.learning_rate=0.001": {"train_policy"},
    "policy.weight_decay=0": {"train_policy"},
    "policy.batch=32": {"train_policy"},
    "policy.epochs=10": {"train_policy"},
    "policy.patience=5": {"train_policy"},
    "policy.seed=8": {"train_policy"},
    "policy.budget=300": {"evaluate_policy"},
    "policy.frontier=[0.5]": {"evaluate_policy"},
    "policy.classifier_steps=100": {"evaluate_policy"},
    "answer.instructions=Answer.": WRITES | {"build_preferences"},
    "answer.window=1024": WRITES | {"build_preferences"},
    "answer.max_tokens=32": WRITES | {"build_preferences"},
    "answer.stop=[]": WRITES | {"build_preferences"},
    "answer.repeats=4": WRITES | {"build_preferences"},
    "answer.least_repeated=60": WRITES | {"build_preferences"},
    "answer.refusals=[no]": WRITES,
    "answer.shards=3": {"evaluate_answers"},
    "answer.backend=completions": WRITES,
    "answer.url=http://localhost:8001/v1": WRITES,
    "answer.model=another": WRITES,
    "answer.concurrency=2": WRITES,
    "answer.timeout=60": WRITES,
    "answer.delays=[1]": WRITES,
    "answer.max_wait=60": WRITES,
    "+scorer.scorers.mine={kind: dense}": RANKED,
    "+scorer.utilities.mine={kind: statistic, of: signed}": {"combine_scores"},
    "scorer.suffixes=['+neighbour', '+answer', '+neighbour+answer']": RANKED,
    "scorer.neighbour=0.5": RANKED,
    "scorer.keep=10": RANKED,
    "scorer.lifted=[zsum]": {"lift_sentences"},
    "system.path=sentences & system.context=null": {"select_context", "evaluate_selection"}
    | EXPERIMENT,  # of what `ecs` ranks its pool by
    "system.tracks=[blind]": EXPERIMENT,
    "system.extractor=other": EXTRACTS | FROM_CODEBOOK,
    "system.embedder=other": FROM_CODEBOOK | FROM_CONTEXT | PATHS["sentences"] | SELECTED,
    "system.codebook=other": FROM_RUNS,
    "system.consolidation=other": FROM_GRAPH,
    "system.retriever=paper": FROM_CANDIDATES,
    "system.prompt=paper": FROM_PROMPTS | {"gather_context"},
    "system.lm=other": FROM_PROMPTS | MODELS | FROM_LM | FROM_CONTEXT,
    "system.ecs=quick": FROM_POOL | {"recall_context"} | ANSWERS,  # in whose paths it stands
    "system.memory=none": PREFERS | ANSWERS | WRITES | {"replay_sessions"} | EXPERIMENT,
    "system.policy=other": LEARNT | EXPERIMENT | {"recall_context"} | ANSWERS,
    "system.scorer=turns": FROM_CONTEXT | PATHS["sentences"] - LIFTS | EXPERIMENT,  # lift is measured of none of them
    "system.selection_scorer=other": SELECTED,
    "system.answer=endpoint": ANSWERS | WRITES | EXPERIMENT,
    "system.context=closed_book": FROM_CONTEXT | EXPERIMENT,
    "eval.budgets=[64, 128, 256, 512]": {
        "build_prompts",
        "evaluate_prompts",
        "evaluate_sentences",
        "sample_questions",
    },
    "eval.exact_min_content=0.6": {"evaluate_prompts", "evaluate_answers", "replay_sessions"},
    "eval.claim=[64]": {"compare_variants"},
    "eval.against=[]": {"compare_variants"},
    "eval.answers_against=[closed_book]": {"compare_variants"},
    "eval.lift_budgets=[64]": LIFTS,
    "eval.lift_control=128": LIFTS,
    "eval.folds=3": {"calibrate_sources"},
    "eval.resamples=1000": {"compare_variants"},
    "eval.permutations=1000": {"compare_variants"},
    "eval.confidence=0.9": {"compare_variants"},
    "eval.min_clusters=3": {"calibrate_sources", "combine_scores", "compare_variants"},
    "eval.seed=8": RANKED | {"compare_variants", "measure_graph", "sample_questions"},
    "eval.samples=2": {"sample_questions"},
    "eval.max_edges=20": {"sample_questions"},
    "eval.lemma_questions=10": {"measure_graph"},
    "eval.symbol_shares=[0.1]": {"measure_graph"},
    "eval.read_shares=[0.1, 1.0]": {"measure_graph"},
    "eval.shortlists=[100]": {"measure_graph"},
    "eval.tau_steps=[0.0]": {"measure_graph"},
    "eval.windows=[1, 2]": {"measure_graph"},
    "experiment.title=Another": {"build_report"},
    "experiment.datasets=[toy_documents_smoke, stem_dev]": EXPERIMENT,
    "experiment.systems=[graph]": EXPERIMENT,
    "experiment.axes.retriever=[paper]": FROM_CANDIDATES
    - PREFERS
    - {"replay_sessions", "recall_context"},  # of `graph`
    "experiment.exclude=[{dataset: stem_dev}]": EXPERIMENT,
    "experiment.answers=false": {"compare_variants", "track_variants"},  # which no longer has the figures of graphs
}


# Keys that only some front ends or backends have are asked of a system that has one of them.
EXTRACTOR = dict.fromkeys(("model", "beams", "length_penalty", "max_tokens"), "rebel")
EXTRACTOR |= dict.fromkeys(("url", "timeout", "delays", "max_wait", "max_failed"), "llm")
EXTRACTOR |= dict.fromkeys(("kind", "files"), "lightrag_medical")
LM = dict.fromkeys(
    ("backend", "url", "top_logprobs", "concurrency", "timeout", "delays", "max_wait"), "vllm_qwen2_5_7b"
)
ENDPOINT = ("backend", "url", "model", "concurrency", "timeout", "delays", "max_wait")
SERVED = (  # of the utilities those that a server can give
    "system.selection_scorer=turns",
    "+scorer.utilities.signed={kind: statistic, of: signed}",
    "ecs.probes=[]",
    "retriever.reader=vllm_qwen2_5_7b",
    "system.answer=endpoint",
    "system.memory=none",  # what a session keeps is written in process
)


@pytest.mark.parametrize("override", KEYS)
def test_a_key_reruns_exactly_the_rules_that_read_it(matrix, override):
    group, name = re.split(r"[.=]", override.lstrip("+").replace(".settings", ""))[:2]
    option = {"extractor": EXTRACTOR, "lm": LM, "answer": dict.fromkeys(ENDPOINT, "endpoint")}.get(group, {}).get(name)
    given = (f"system.{group}={option}",) if option else ()
    given += ("experiment.systems=[rag_zsum]",) if name == "context" else ()
    given += ("experiment.systems=[compressed]",) if name == "policy_of" else ()
    given += SERVED if option and group == "lm" else ()
    given += ("+dataset.first.F1=1",) if name == "scored" else ()
    assert matrix.rerun(*override.split(" & "), given=given) == KEYS[override]


def test_the_table_names_every_key_of_every_group():
    keys = {f"{group}.{field.name}" for group, cls in GROUPS.items() for field in dataclasses.fields(cls)}
    assert {".".join(re.split(r"[.=]", override.lstrip("+"))[:2]) for override in KEYS} == keys


def test_overrides_at_once_rerun_what_each_of_them_does(matrix):
    assert matrix.rerun("retriever.top_k=100", "eval.resamples=1000") == SCORES_RUNS | {"compare_variants"}


def test_the_same_value_in_another_spelling_reruns_nothing(matrix):
    assert matrix.rerun("retriever.w_ent=1", "retriever.w_bm25=1.0", "eval.confidence=9.5e-1") == set()


def test_a_transferred_policy_is_the_one_learnt_on_the_other_data_set(matrix):
    jobs = matrix.jobs("policy.trained_on=stem_old_test")["evaluate_policy"]
    policies = [path for _, _, inputs in jobs for path in inputs if path.endswith("policy.safetensors")]
    assert len(jobs) > len(set(policies))  # one policy, on several data sets
    assert {tuple(path.split("/")[1:3]) for path in policies} == {("stem", "stem_old_test")}


def test_every_param_but_the_code_is_a_key_and_its_value_as_json(matrix):
    for text in matrix.params():
        name, _, value = text.partition("=")
        assert re.fullmatch(r"code|[a-z]+\.[a-z0-9_]+", name)
        assert name == "code" or json.loads(value) is not NotImplemented


def test_no_param_holds_a_path_of_this_machine(matrix):
    assert [text for text in matrix.params() if str(matrix.root) in text or str(Path.home()) in text] == []


def test_machine_settings_are_in_no_params(matrix, monkeypatch, tmp_path):
    before = matrix.jobs()
    for name in ("SECATEUR_MIRROR", "SECATEUR_CACHE", "CORES", "OMP_NUM_THREADS"):
        monkeypatch.setenv(name, str(tmp_path / "somewhere"))
    assert matrix.jobs() == before
    assert not [text for text in matrix.params() if text.startswith("local.")]


def test_reordered_keys_of_an_option_file_rerun_nothing(matrix):
    compose, option = matrix._of["compose"]._composed, matrix._of["compose"].option
    before = matrix.jobs()
    for name in ("retriever/paper", "scorer/turns", "dataset/locomo", "eval/default", "experiment/matrix"):
        path = matrix.root / f"conf/{name}.yaml"
        blocks = re.split(r"\n(?=\S)", path.read_text().rstrip("\n"))
        path.write_text("\n".join(reversed(blocks)) + "\n")
    for remembered in (compose, option):
        remembered.cache_clear()
    assert matrix.jobs() == before


def test_what_is_said_about_a_file_in_the_registry_reruns_nothing(matrix):
    before, path = matrix.jobs(), matrix.root / "data/registry/locomo.yaml"
    kept = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r"(?m)^  licence:.*$", "  licence: another", kept), encoding="utf-8")
    assert path.read_text(encoding="utf-8") != kept
    assert matrix.jobs() == before
    path.write_text(re.sub(r"(?m)^  sha256:.*$", f"  sha256: {'a' * 64}", kept), encoding="utf-8")
    after = matrix.jobs()
    path.write_text(kept, encoding="utf-8")
    assert {name for name in RULES if after[name] != before[name]} == {"fetch_dataset"}


# --- (b) every module of the library -------------------------------------------------------------

LIST = """
import importlib, json, pkgutil, sys
import secateur
from secateur.pipeline.provenance import GLUE, is_glue
for name in GLUE:
    package = importlib.import_module(f"secateur.{name}")
    for below in pkgutil.iter_modules(getattr(package, "__path__", ())):
        importlib.import_module(f"secateur.{name}.{below.name}")
found = {}
for rule in sys.argv[1:]:
    loaded = [n for n in sys.modules if n.startswith("secateur.")]
    for name in [n for n in loaded if not is_glue(n.removeprefix("secateur."))]:
        parent, _, own = name.rpartition(".")
        vars(sys.modules[parent]).pop(own, None) if parent in sys.modules else None
        del sys.modules[name]
    __import__(f"scripts.{rule}")
    found[rule] = sorted(n.removeprefix("secateur.") for n in sys.modules if n.startswith("secateur."))
print(json.dumps(found))
"""
LIBRARY = Path(__file__).parents[2] / "workflow" / "secateur"
MODULES = sorted(
    str(path.relative_to(LIBRARY).with_suffix("")).replace("/", ".")
    for path in LIBRARY.rglob("*.py")
    if path.name != "__init__.py"
)


@pytest.fixture(scope="module")
def users(untouched) -> dict[str, set[str]]:
    """By module: the rules whose stage loads it, as the interpreter says; what only the glue needs is glue."""
    said = untouched.run(sys.executable, "-c", LIST, *sorted(RULES))
    assert said.returncode == 0, said.stderr
    loaded = json.loads(said.stdout)
    return {module: {rule for rule in RULES if module in loaded[rule]} for module in MODULES}


def source(matrix, module: str) -> tuple[str, str]:
    name = f"workflow/secateur/{module.replace('.', '/')}.py"
    return name, (matrix.root / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("module", MODULES)
def test_a_statement_in_a_module_reruns_exactly_the_rules_that_load_it(matrix, users, module):
    name, text = source(matrix, module)
    expected = set() if provenance.is_glue(module) else users[module]
    assert matrix.edited({name: text + "\nADDED = 1\n"}) == expected


@pytest.mark.parametrize(
    ("module", "rules"),
    [
        ("evaluation.resampling", {"compare_variants"}),
        ("report.page", {"build_report"}),
        ("report.plots", {"build_report"}),
        ("graph.runs", {"build_runs", "measure_graph"}),
        ("graph.lemmas", {"measure_graph"}),
        ("graph.retrieval.candidates", SCORES_RUNS),
        ("report.drawing", {"build_report"}),
        ("report.sections.lemmas", {"build_report"}),
        ("graph.retrieval.passages", {"propose_candidates"}),
        ("ranking.calibration", {"calibrate_sources"}),
        ("contexts.cover", {"build_prompts"}),
        ("ranking.baselines", RANKED | SCORES_RUNS),
        ("models.embedder", EMBEDS),
        ("datasets.description", {"describe_dataset"}),
        ("evaluation.rankings", {"evaluate_selection"}),
        ("ranking.select", {"combine_scores", "select_greedily", "select_context", "evaluate_selection"}),
        ("ecs.selection.pool", {"propose_passages", "score_candidates", "select_greedily"}),
        ("ecs.scoring.combine", {"combine_scores", "select_greedily"}),
        ("ecs.scoring.fusion", {"combine_scores", "select_greedily"}),
        ("ecs.selection.grow", {"select_greedily"}),
        ("ecs.rerank", {"reread_sources"}),
        ("ecs.answer_gain", LIFTS | {"evaluate_answers", "build_preferences", "recall_context"}),
        ("evaluation.answers", {"evaluate_answers"}),
        ("answers.generate", WRITES | {"build_preferences"}),
        ("contexts.simple", {"gather_context", "recall_context", "replay_sessions"}),
        ("memory.sessions", WRITES | {"build_preferences", "replay_sessions"}),
        ("memory.store", {"recall_context", "build_preferences"}),
        ("memory.transcript", {"recall_context", "replay_sessions"}),
        ("policy.dpo", {"train_policy"}),
        ("policy.utility", LEARNT | {"build_preferences"}),
        ("datasets.fetch", {"fetch_dataset"}),
        ("pipeline.contract", set()),
        ("cli", set()),
        ("report.question", set()),
    ],
)
def test_a_module_is_used_by_the_rules_one_would_name(matrix, module, rules):
    name, text = source(matrix, module)
    assert matrix.edited({name: text + "\nADDED = 1\n"}) == rules


def test_a_comment_in_the_library_reruns_nothing(matrix):
    sources = dict(source(matrix, module) for module in MODULES)
    assert matrix.edited({name: f"# A thought.\n{text}\n\n# Another.\n" for name, text in sources.items()}) == set()


def redocumented(text: str) -> str:
    """A source with every docstring replaced by another one."""
    lines, said = text.splitlines(), []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) is not None:
            said.append(node.body[0])
    for one in sorted(said, key=lambda node: -node.lineno):
        lines[one.lineno - 1 : one.end_lineno] = [f'{" " * one.col_offset}"""Said otherwise."""']
    return "\n".join(lines) + "\n"


def test_a_docstring_in_the_library_reruns_nothing(matrix):
    sources = dict(
        source(matrix, module)
        for module in ("evaluation.resampling", "graph.retrieval.scores", "graph.triples.extractors.openie")
    )
    assert matrix.edited({name: redocumented(text) for name, text in sources.items()}) == set()


def test_a_rules_own_comment_reruns_nothing_and_its_own_text_only_itself(matrix):
    name = "workflow/rules/graph.smk"
    text = (matrix.root / name).read_text()
    commented = "# Before.\n" + text.replace("    threads: 1\n", "    # Why.\n    threads: 1  # so\n")
    assert matrix.edited({name: commented}) == set()
    assert matrix.edited({name: text.replace("Build the runs of", "Runs of")}) == {"build_runs"}


def test_a_script_reruns_its_own_rule(matrix):
    name = "scripts/build_runs.py"
    text = (matrix.root / name).read_text()
    assert matrix.edited({name: text + "\nprint()\n"}) == {"build_runs"}
    assert matrix.edited({name: text + "\n# A thought.\n"}) == set()


def test_the_reports_template_reruns_the_report(matrix):
    name = "workflow/secateur/report/page.html.j2"
    assert matrix.edited({name: (matrix.root / name).read_text() + "\n<p>\n"}) == {"build_report"}


def test_a_tables_declaration_reruns_the_rules_that_write_or_read_it(matrix, monkeypatch):
    before = matrix.digests()
    monkeypatch.setitem(TABLES, "candidates", dataclasses.replace(TABLES["candidates"], version=99))
    after = matrix.digests()
    assert {rule for rule in RULES if after[rule] != before[rule]} == {
        "propose_candidates",
        "build_prompts",
        "build_preferences",
        "recall_context",
    }


def test_what_is_said_about_a_table_reruns_nothing(matrix, monkeypatch):
    before = matrix.digests()
    monkeypatch.setitem(TABLES, "candidates", dataclasses.replace(TABLES["candidates"], doc="Said otherwise."))
    assert matrix.digests() == before


# --- a real `snakemake -n` on a finished run, in which no graph answers ---------------------------

SMOKE = ("--profile", "profiles/smoke", "-n")


def planned(project, *args: str) -> dict[str, int]:
    """Jobs by rule that a dry run would start."""
    said = project.snakemake(*SMOKE, *args)
    assert said.returncode == 0, said.stdout + said.stderr
    text = said.stdout + said.stderr
    if "Nothing to be done" in text:
        return {}
    table = text.partition("Job stats:")[2].partition("total")[0]
    return {rule: int(count) for rule, count in re.findall(r"^(\w+) +(\d+)$", table, re.M) if rule != "all"}


def test_a_finished_run_that_was_moved_elsewhere_reruns_nothing(rerun):
    assert planned(rerun) == {}


def test_an_override_reruns_from_its_rule_downwards_and_is_named_with_both_values(rerun):
    overrides = ("--config", "overrides=[retriever.top_k=100]")
    assert set(planned(rerun, *overrides)) == FROM_CANDIDATES
    said = rerun.snakemake("-n", "--config", "experiment=smoke", *overrides[1:])
    shown = said.stdout + said.stderr
    assert "retriever.top_k=200" in shown
    assert "retriever.top_k=100" in shown


def test_comments_in_library_rule_script_and_option_file_rerun_nothing(rerun):
    for name in (
        "workflow/secateur/models/words.py",
        "scripts/build_runs.py",
        "workflow/rules/graph.smk",
        "conf/lm/smollm2.yaml",
    ):
        with (rerun.root / name).open("a", encoding="utf-8") as file:
            file.write("\n# A thought.\n")
    assert planned(rerun) == {}


def test_an_edit_of_stats_reruns_the_comparison_and_the_report(rerun):
    with (rerun.root / "workflow/secateur/evaluation/resampling.py").open("a", encoding="utf-8") as file:
        file.write("\nADDED = 1\n")
    assert planned(rerun) == dict.fromkeys(EXPERIMENT, 1)


def test_an_edit_of_the_text_reruns_that_corpus_only(rerun):
    rerun.edit("data/toy/documents_smoke/passages.jsonl", "41 million euros", "42 million euros")
    jobs = planned(rerun)
    graph = (PATHS["graph"] | PATHS["policy"] | PATHS["sessions"] | PATHS["recall"]) - {"reread_sources"}
    assert set(jobs) == DATA - {"fetch_dataset"} | graph | PATHS["sentences"] | FROM_CONTEXT | EXPERIMENT
    assert jobs["prepare_corpus"] == jobs["prepare_dataset"] == 1


def test_a_touched_file_with_the_same_text_reruns_nothing(rerun):
    (rerun.root / "data/toy/documents_smoke/passages.jsonl").touch()
    assert planned(rerun) == {}


def test_an_option_that_no_variant_uses_reruns_nothing(rerun):
    (rerun.root / "conf/retriever/narrow.yaml").write_text("defaults: [default, _self_]\ntop_k: 50\n")
    assert planned(rerun) == {}


def test_a_new_variant_reruns_nothing_of_the_others(rerun):
    (rerun.root / "conf/retriever/narrow.yaml").write_text("defaults: [default, _self_]\ntop_k: 50\n")
    rerun.edit("conf/experiment/smoke.yaml", "axes: {ecs: [quick]}", "axes: {ecs: [quick], retriever: [narrow]}")
    jobs = planned(rerun)
    whole = {
        "measure_graph",
        "sample_questions",
        "replay_sessions",
        "recall_context",
    } | PREFERS  # of whole systems only
    assert set(jobs) == FROM_CANDIDATES - ANSWERS - whole
    assert jobs["propose_candidates"] == 2  # its two tracks; those of the default stay


def test_another_title_reruns_the_report(rerun):
    rerun.edit("conf/experiment/smoke.yaml", "title: ", "title: Still ")
    assert planned(rerun) == {"build_report": 1, "track_variants": 1}


def test_a_deleted_result_is_made_again_with_what_depends_on_it(rerun):
    (rerun.root / "results/experiments/smoke/metrics.parquet").unlink()
    assert planned(rerun) == dict.fromkeys(EXPERIMENT, 1)


def test_a_deleted_table_in_between_is_made_again_when_it_is_needed(rerun):
    (table,) = (rerun.root / "results").rglob("codebook/**/relations.parquet")
    table.unlink()
    assert planned(rerun) == {}
    assert set(planned(rerun, "--config", "overrides=[retriever.top_k=100]")) == FROM_CODEBOOK - {"reread_sources"}
