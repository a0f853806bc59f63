"""The configuration, declared once: one frozen dataclass per Hydra group, read strictly.

Hydra composes YAML (`compose`); `from_dict` turns it into dataclasses and lists every problem at
once. `option` gives one option of one group with the user's overrides applied.
"""

import json
import math
import os
import re
import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from secateur.pipeline.cache import RequestCache, digest
from secateur.pipeline.errors import SecateurError, nearest

__all__ = [
    "CONTEXTS",
    "GROUPS",
    "Answer",
    "ConfigError",
    "Ecs",
    "Experiment",
    "Lm",
    "Memory",
    "Policy",
    "Scorers",
    "from_dict",
    "key",
    "leaf",
    "leaves",
    "load",
    "local",
    "names",
    "option",
    "unflatten",
]


class ConfigError(SecateurError):
    """A configuration that does not fit its declaration."""


def key(
    doc: str, *, low: float | None = None, high: float | None = None, default: Any = MISSING, family: str = ""
) -> Any:
    """A field with its documentation and its closed range; one that names kinds says of which family."""
    extra = {} if default is MISSING else {"default": default}
    return field(metadata={"doc": doc, "low": low, "high": high, "family": family}, **extra)


SPLITS = ("train", "dev", "test")

# --- the groups --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Corpus:
    """Text to read: where its passages come from."""

    format: Any = key("the format of its files: a name, or {kind: NAME, its settings} (kinds.md)", family="format")
    files: tuple[str, ...] = key("names in data/registry, or paths with a slash")
    extra: tuple[str, ...] = key("files of the repository the format needs besides, e.g. titles")
    documents: int | None = key("a sample: so many documents, the first by hash of their name; all where null", low=1)
    shuffle: int | None = key("control: seed by which the passages inside each document are put in another order")
    folder: str | None = key("folder with passages.jsonl and questions.jsonl, for the format `folder`")


@dataclass(frozen=True)
class Dataset:
    """A corpus with one set of questions, in one release."""

    corpus: str = key("option of conf/corpus the questions are asked of")
    control_of: str | None = key("the data set whose questions and splits these are, on a changed corpus")
    kind: Literal["documents", "dialogue"] = key("documents take the graph path, dialogues the selection path")
    format: Any = key("the format of its questions: a name, or {kind: NAME, its settings} (kinds.md)", family="format")
    files: tuple[str, ...] = key("names in data/registry, or paths with a slash")
    folder: str | None = key("folder with questions.jsonl, for the format `folder`")
    split: Literal["train", "dev", "test", "all"] = key("the split whose figures are reported; all: every question")
    sample: dict[str, int] = key(
        "split: how many of its questions are kept, the first by hash of their id; else all", low=1
    )
    semantic: bool = key("also measure semantic@B (for evidence that is not quoted from the text)")
    crossfit: bool = key(
        "probabilities of sources are fitted on this data set's other folds, not taken from the option"
    )
    types: dict[str, tuple[str, ...]] = key("named subsets of question types that get rows of their own")
    first: dict[str, int] = key("named subsets: the first N questions with evidence of each group")
    unanswerable: tuple[str, ...] = key("question types left out of every answer-aware row")
    scored: str | None = key("the subset of `first` that a language model reads; all questions where null")
    probed: str | None = key(
        "the subset of `first` that gets the costly scorers and null draws; all questions where null"
    )
    grown: tuple[str, ...] = key("question types whose context is also selected as a set, greedily (ECS, algorithm 1)")
    grown_of: str | None = key("the subset of `first` in which that is done; all questions where null")
    lift: int = key("questions on which answer lift is measured, the first by hash of their id; 0: it is not", low=0)
    answered: int = key(
        "questions that are answered, the first by hash of their id, where an experiment asks for answers; 0: none",
        low=0,
    )
    trained: dict[str, int] = key(
        "split: how many of its questions the compression policy is trained (train), stopped (dev) and tested (test) on, "
        "the first by hash of their id; none where empty",
        low=1,
    )
    cutoffs: tuple[int, ...] = key("ranks at which recall_any, recall_all and ndcg_any are measured", low=1, default=())


@dataclass(frozen=True)
class Extractor:
    """Text to triples. Which of the keys that may be null a front end needs is in `EXTRACTORS`."""

    kind: Literal["openie", "rebel", "llm", "import"] = key("the front end")
    shards: int = key("jobs the documents are spread over", low=1, high=1000)
    block: int = key("sentences of one document extracted and cached together; for llm, in one request", low=1)
    batch: int | None = key("sentences in one batch of the parser or the model", low=1, default=None)
    model: str | None = key("rebel: folder or hub id; llm: the endpoint's name for its model", default=None)
    beams: int | None = key("rebel: beams", low=1, high=64, default=None)
    length_penalty: float | None = key("rebel: exponent of the length that divides a beam's score", default=None)
    max_tokens: int | None = key("rebel: window of a sentence and of its output; llm: of a reply", low=8, default=None)
    url: str | None = key("llm: address of an OpenAI-compatible endpoint, up to /v1", default=None)
    timeout: float | None = key("llm: seconds without a byte before a request has failed", low=0.01, default=None)
    delays: tuple[float, ...] | None = key("llm: seconds waited before each repeated attempt", low=0, default=None)
    max_wait: float | None = key("llm: longest wait in seconds that an endpoint may ask for", low=0, default=None)
    max_failed: float | None = key("llm: share of passages that may stay without a reply", low=0, high=1, default=None)
    files: tuple[str, ...] | None = key(
        "import: LightRAG's .graphml and its .json of chunks, or one .csv or .parquet of triples; names in data/registry, "
        "or paths with a slash",
        default=None,
    )


EXTRACTORS: dict[str, frozenset[str]] = {  # kind: the keys it needs besides kind, shards and block
    "openie": frozenset({"batch"}),
    "rebel": frozenset({"batch", "model", "beams", "length_penalty", "max_tokens"}),
    "llm": frozenset({"model", "max_tokens", "url", "timeout", "delays", "max_wait", "max_failed"}),
    "import": frozenset({"batch", "files"}),
}
ADDRESS = re.compile(r"https?://[^\s/?#@]+(/[^\s?#@]*)?")  # no name, no password, no query: keys come from elsewhere


def _misfits(group: str, config: Any, kind: str, needs: Mapping[str, frozenset[str]]) -> list[str]:
    """Keys that an option of this kind lacks, keys that belong to others, and a url that is none, each in a clause."""
    given = {f.name for f in fields(config) if getattr(config, f.name) is not None}
    own = needs[getattr(config, kind)]
    at, optional = f"{kind} {getattr(config, kind)}", frozenset.union(*needs.values())
    found = [f"{group}.{name} is needed by {at}" for name in sorted(own - given)]
    found += [f"{group}.{name} does not belong to {at}" for name in sorted(given & optional - own)]
    if "url" in own and config.url and not ADDRESS.fullmatch(config.url):
        found.append(
            f"{group}.url is no http address without user, password and query (keys come from the environment)"
        )
    return found


def extractor_problems(extractor: Extractor) -> list[str]:
    """What does not fit together in an extractor, each in a clause."""
    kind, found = extractor.kind, _misfits("extractor", extractor, "kind", EXTRACTORS)
    if kind == "import" and extractor.shards != 1:
        found.append(f"extractor.shards is {extractor.shards}, an import is one job")
    if kind == "import" and extractor.files is not None:
        endings = [Path(name).suffix for name in extractor.files]
        if endings not in ([".graphml", ".json"], [".csv"], [".parquet"]):
            found.append("extractor.files is neither a .graphml and a .json, in this order, nor one .csv or .parquet")
    return found


@dataclass(frozen=True)
class Embedder:
    """Strings to unit vectors."""

    model: str = key(
        "folder or hub id of a sentence-transformers model, or package:PACKAGE/FOLDER inside a PyPI package"
    )
    dim: int = key("dimension of the vectors", low=1)
    max_tokens: int = key("the model's window; longer strings are cut, counted and logged", low=8)
    engine: Literal["openvino", "torch"] = key("what runs it on a CPU; a GPU always takes torch")
    batch: int = key("strings in one batch of torch, after sorting by length", low=1)
    batch_tokens: int = key("tokens in one batch of openvino, padding included, after sorting by length", low=1)
    block: int = key("strings embedded and cached together", low=1)
    tau: float = key("fit threshold of a run for this model (paper 2.3)", low=-1, high=1)


@dataclass(frozen=True)
class Codebook:
    """Triples to runs (paper 2.2, 2.3)."""

    bonus_path: float = key("fit bonus where the new head is the previous tail", low=0, high=1)
    bonus_node: float = key("fit bonus where head or tail already occurs in the run", low=0, high=1)
    refine: bool = key("re-segment across boundaries until nothing changes")


@dataclass(frozen=True)
class Consolidation:
    """Entity-only alias groups, a budget of entities, pruning of edges (paper 2.7)."""

    merge: bool = key("join aliases at all")
    tau: float = key("cosine from which two entities may be aliases", low=0, high=1)
    slack: float = key("every pair of a group has cosine >= tau - slack (complete link)", low=0, high=1)
    guarded: bool = key("keep apart numbers, dates, polarity, direction, markers; join acronyms and equal normal forms")
    aliases: str | None = key("YAML file with `force` and `forbid` lists of surface forms")
    exact_limit: int = key("entities up to which every pair is compared; an inverted index above", low=0)
    probes: int = key("cells of the inverted index that a search looks into", low=1)
    budget: int = key("entities that may remain; above it close ones merge further (layer 2)", low=1)
    floor: float = key("layer 2 merges nothing below this cosine, even if the budget is missed", low=0, high=1)
    iterations: int = key("of k-means", low=1)
    seed: int = key("of k-means", low=0)
    prune: Literal["none", "frequency"] = key("which edges go to the tombstones")
    min_mentions: int = key("prune `frequency` keeps edges that are mentioned this often", low=1)


@dataclass(frozen=True)
class Track:
    """What a ranking may know of document order."""

    runs: Literal["sentence", "document"] = key("where runs are cut: at sentence ends, or only where the fit fails")
    neighbour: float = key("share of the better neighbouring sentence's z-score that is carried over", low=0, high=2)


@dataclass(frozen=True)
class Retriever:
    """Coarse-to-fine path retrieval (paper 2.4, A.3) and the ranking of source sentences."""

    coarse: Literal["maxpair", "idf_maxpair", "ere"] = key(
        "symbol-space score of a run: best pairs of symbols, the same weighted by idf, or its best edge (proposition 16)"
    )
    w_ent: float = key("weight of the best entity pair", low=0)
    w_rel: float = key("weight of the best relation pair", low=0)
    w_text: float = key("hybrid: weight of BM25 over the run's text (z-score) in the coarse score", low=0)
    top_k: int = key("runs that survive the coarse stage", low=1)
    top_m: int = key("runs that survive the fine stage", low=1)
    top_t: int = key("entries averaged in RelTopT", low=1)
    coverage: Literal["share", "count"] = key("Coverage as a share of the query lines, or the paper's count")
    w_coverage: float = key("weight of Coverage", low=0)
    tau_coverage: float = key("cosine at which a query line counts as covered", low=-1, high=1)
    w_pairs: float = key("weight of ManyToMany", low=0)
    tau_pairs: float = key("centre of ManyToMany's sigmoid", low=-1, high=1)
    t_pairs: float = key("width of ManyToMany's sigmoid", low=0.001)
    w_distinct: float = key("weight of Distinct1to1", low=0)
    tau_distinct: float = key("cosine from which a 1:1 match counts", low=-1, high=1)
    w_whole: float = key("weight of WholeChunk", low=0)
    tau_whole: float = key("centre of WholeChunk's gate", low=-1, high=1)
    t_whole: float = key("width of WholeChunk's gate", low=0.001)
    sources: int = key("source sentences kept for each question", low=1)
    w_bm25: float = key("weight of BM25 over title and sentence (z-score) in the ranking of sources", low=0)
    w_dense: float = key("weight of the sentence's cosine (z-score) in the ranking of sources", low=0)
    w_run: float = key("weight of the best coarse run score (z-score) in the ranking of sources", low=0)
    w_line: float = key("weight of the best line's cosine (z-score) in the ranking of sources", low=0)
    title: bool = key("the document's title is a field of the sentence's BM25 text")
    k1: float = key("BM25 term saturation over title and sentence", low=0)
    b: float = key("BM25 length normalisation over title and sentence", low=0, high=1)
    reader: str | None = key("option of conf/lm that reads the best sources again; none where null")
    reread: int = key("sources it reads for each question", low=1)
    w_pmi: float = key("weight of pmi_q (z-score over the sources read) in the ranking of sources", low=0)
    calibration: dict[str, tuple[float, ...]] = key(
        "track: [slope, intercept] of the logistic map from log(1 + a source's soft rank) to its probability"
    )
    rank_width: float = key("difference in scores over which one source is better than another", low=0.001)


@dataclass(frozen=True)
class Prompt:
    """Selected runs to a prompt (paper 2.5, 2.6)."""

    assemble: Literal["cover", "ranked", "runs"] = key(
        "budgeted cover of source sentences, whole sources best first, or runs in fine order (the paper)"
    )
    facts: Literal["include_all", "unique", "not_include"] = key("action on the facts channel")
    theta: float = key("cosine from which runs are one cluster under `unique`", low=-1, high=1)
    grounding: Literal["triples", "sentences", "both"] = key("show lines, whole sentences, or lines with upgrades")
    words: Literal["all", "content"] = key("keep the function words of a line, or drop them")
    best_last: bool = key("sources stand in reverse order, the best next to the question")
    cite: bool = key("end each record of cited lines with the number of its source")
    encoding: Literal["cheapest", "words", "ids", "matrix", "lines"] = key("view of the edges in the prompt")
    budget: int = key("word pieces of evidence in the prompt as used", low=1)
    mix: float = key("lambda: weight of sentences held nearly whole against words new anywhere", low=0, high=1)
    enough: float = key("share of a sentence's content words from which the cover takes it for whole", low=0.01, high=1)
    words_per_source: float = key("new words that are worth one source sentence", low=0.001)


@dataclass(frozen=True)
class Lm:
    """A causal language model: the reader whose tokens a prompt costs, and the scorer of context utility. Which of the
    keys that may be null a backend needs is in `LMS`."""

    backend: Literal["transformers", "vllm", "sglang"] = key("what computes scores: this process, or a server")
    model: str = key(
        "folder or hub id, a GGUF file (also as package:PACKAGE/FILE.gguf), or assemble:PACKAGE for a GGUF file in pieces; "
        "for a server the tokenizer's folder or hub id, and the model that the server must state"
    )
    window: int = key("tokens read at once; longer contexts are cut from the left, counted and logged", low=16)
    dtype: dict[str, Literal["float32", "bfloat16", "float16"]] | None = key(
        "transformers: data type on cpu and on cuda", default=None
    )
    pack: dict[str, int] | None = key(
        "transformers: tokens read in one forward pass, on cpu and on cuda; bounds memory", low=16, default=None
    )
    url: str | None = key("server: its address, up to where /v1 or /generate begins", default=None)
    top_logprobs: int | None = key(
        "server: most probable first answer tokens that are asked for, by a request of their own; kl_topk:paper needs "
        "ecs.top_k of them; 0 for none",
        low=0,
        default=None,
    )
    concurrency: int | None = key("server: requests under way at once", low=1, high=100, default=None)
    timeout: float | None = key("server: seconds without a byte before a request has failed", low=0.01, default=None)
    delays: tuple[float, ...] | None = key("server: seconds waited before each repeated attempt", low=0, default=None)
    max_wait: float | None = key("server: longest wait in seconds that it may ask for", low=0, default=None)


SERVER = frozenset({"url", "top_logprobs", "concurrency", "timeout", "delays", "max_wait"})
LMS: dict[str, frozenset[str]] = {  # backend: the keys it needs besides backend, model and window
    "transformers": frozenset({"dtype", "pack"}),
    "vllm": SERVER,
    "sglang": SERVER,
}


def lm_problems(lm: Lm) -> list[str]:
    """What does not fit together in a language model, each in a clause."""
    found = _misfits("lm", lm, "backend", LMS)
    if lm.url and lm.url.rstrip("/").endswith("/v1"):
        found.append("lm.url ends in /v1, the address before it is needed")
    for name in ("dtype", "pack"):
        if (given := getattr(lm, name)) is not None and set(given) != {"cpu", "cuda"}:
            found.append(f"lm.{name} has entries for {sorted(given)}, needs exactly cpu and cuda")
    return found


@dataclass(frozen=True)
class Ecs:
    """Utility of context under a language model (ECS paper, section 3)."""

    shards: int = key("jobs the questions are spread over", low=1, high=1000)
    pooled_by: str = key("scorer without a language model by which a question's candidates are found")
    pool: int = key("candidates of each question, by that scorer", low=1)
    pool_aware: int = key("candidates found by its +answer form besides, for answer-aware scorers only", low=0)
    neighbours: int = key("passages of the document shown on each side of a candidate", low=0)
    probes: tuple[str, ...] = key("columns of the statistics that take passes of their own, for probed questions")
    grow_by: dict[str, float] = key("greedy selection: weight of each score (z) in a candidate's utility given C")
    layout: Literal["passage_first", "question_first"] = key("order of passage and question in the template")
    horizon: int = key("T: steps of a trajectory (definition 2)", low=1, high=64)
    top_k: int = key("tokens of the top-k divergences", low=1)
    epsilon: float = key("kl_topk:paper: probability of a token that is not in the base's top k", low=1e-30, high=1)
    length_penalty: float = key("lambda of definition 1, in nats per token of the candidate's text", low=0)
    draws: int = key("m: random passages that make a null distribution", low=2)
    folds: int = key("folds of fitted weights, by conversation; each a fold of its own where there are no more", low=2)
    percentile: float = key("percentile of the null that gives tau", low=0.5, high=1)
    threshold: float = key("tau as the paper fixes it, for every scorer alike (ECS, table 2)")
    quantiles: tuple[float, ...] = key("quantiles of each score's distributions that are tabled", low=0, high=1)
    pseudo_answers: int = key("expected_shift: sampled answers", low=1)
    pseudo_tokens: int = key("expected_shift: longest sampled answer", low=1)
    pseudo_context: int = key("expected_shift: best passages of the z-sum under which answers are sampled", low=0)
    temperature: float = key("expected_shift: temperature of the samples", low=0.01)
    seed: int = key("seed of samples and of the null's passages", low=0)
    questions: int = key("questions of one conversation swept together", low=1)
    passages: int = key("passages swept and cached together; a killed job repeats one such block at most", low=1)


@dataclass(frozen=True)
class Memory:
    """What a session keeps from question to question (paper 1.1, P3)."""

    enabled: bool = key("remember questions, answers and what was shown; else every question stands alone")
    questions: int = key("earlier questions recalled, at most", low=0)
    answers: int = key("earlier answers recalled, at most", low=0)
    gold: bool = key("training questions store their gold answer; else what the model says, as all others do")
    window: int = key("word pieces of shown evidence that the reader still has before it", low=0)
    fresh: int | None = key(
        "word pieces of new evidence that a later prompt carries: smaller blocks are tried until one has no more; no "
        "limit where null",
        low=0,
    )
    policy_of: str | None = key("the option whose policy chooses what an answered prompt shows; all of it where null")


@dataclass(frozen=True)
class Answer:
    """How a language model answers questions under a context. Which of the keys that may be null a backend needs is in
    `ANSWERERS`."""

    instructions: str = key("what the model is told before the context; the same for every system")
    window: int | None = key(
        "tokens of a prompt at most; context is cut from the end that is farthest from the question; what `lm.window` "
        "leaves where null",
        low=16,
    )
    max_tokens: int = key("tokens of an answer at most", low=1)
    stop: tuple[str, ...] = key("texts that end an answer; they are no part of it")
    repeats: int = key("times in a row that an answer may say the same before it is cut", low=2)
    least_repeated: int = key("characters that must be nothing but such repeats", low=1)
    refusals: tuple[str, ...] = key("phrases by which an answer counts as a refusal, in lower case")
    shards: int = key("jobs the sessions are spread over", low=1, high=1000)
    batch: int = key("prompts of like length answered at once, in process", low=1)
    backend: Literal["lm", "chat", "completions"] = key(
        "what answers: the system's `lm` in process, or an OpenAI-compatible endpoint"
    )
    url: str | None = key("endpoint: its address, up to /v1", default=None)
    model: str | None = key("endpoint: its name for its model", default=None)
    concurrency: int | None = key("endpoint: requests under way at once", low=1, high=100, default=None)
    timeout: float | None = key("endpoint: seconds without a byte before a request has failed", low=0.01, default=None)
    delays: tuple[float, ...] | None = key("endpoint: seconds waited before each repeated attempt", low=0, default=None)
    max_wait: float | None = key("endpoint: longest wait in seconds that it may ask for", low=0, default=None)


ANSWERERS: dict[str, frozenset[str]] = {"lm": frozenset()}  # backend: the optional keys it needs
ANSWERERS |= dict.fromkeys(
    ("chat", "completions"), frozenset({"url", "model", "concurrency", "timeout", "delays", "max_wait"})
)


def answer_problems(answer: Answer, lm: Lm) -> list[str]:
    """What does not fit together in the answering of questions by a language model, each in a clause."""
    found = _misfits("answer", answer, "backend", ANSWERERS)
    if answer.backend == "lm" and lm.backend != "transformers":
        found.append(f"answer.backend lm writes in process, lm.backend is {lm.backend}; take answer.backend chat")
    if answer.max_tokens >= lm.window:
        found.append(f"answer.max_tokens is {answer.max_tokens}, lm.window ({lm.window}) must hold a prompt besides")
    found += [f"answer.refusals holds {p!r}, which is not in lower case" for p in answer.refusals if p != p.lower()]
    return found + ["answer.stop holds an empty text" for text in answer.stop if not text]


@dataclass(frozen=True)
class Policy:
    """The compression policy: utility of a configuration, preferences, training (paper 2.8, lemmas 12 and 13)."""

    alpha: float = key("weight of accuracy: answer lift for each token, clipped and scaled to 0 to 1", low=0)
    beta: float = key("weight of prompt tokens, in units of the question's prompt that includes all", low=0)
    gamma: float = key("weight of latency in seconds, as modelled from tokens", low=0)
    delta: float = key("weight of faithfulness", low=0)
    clip: tuple[float, ...] = key(
        "quantiles of the training questions' lift that become accuracy 0 and 1", low=0, high=1
    )
    latency: tuple[float, ...] | None = key(
        "seconds of a request, and of each prompt token; null where nobody measured", low=0
    )
    trained_on: str | None = key("the data set whose questions the policy learns from; its own where null")
    margin: float = key("difference in utility above which one configuration is preferred to another", low=0)
    reference: dict[str, tuple[float, ...]] = key(
        "channel: the reference policy's probabilities of include_all, unique, not_include; uniform where not stated",
        low=0.000001,
        high=1,
    )
    without: tuple[str, ...] = key("features that the policy does not see, for an ablation")
    hidden: tuple[int, ...] = key("units of each hidden layer", low=1)
    beta_dpo: float = key("beta of the loss: how far preferences may pull the policy from the reference", low=0.0001)
    learning_rate: float = key("of AdamW", low=0)
    weight_decay: float = key("of AdamW", low=0)
    batch: int = key("questions in one step, with all their pairs", low=1)
    epochs: int = key("passes over the pairs, at most", low=1)
    patience: int = key("epochs without a higher utility on dev after which training stops", low=1)
    seed: int = key("of the first weights and of the order of pairs", low=0)
    budget: int | None = key("mean prompt tokens that the policy may cost; no penalty where null", low=1)
    frontier: tuple[float, ...] = key(
        "mean prompt tokens of the frontier's points, between the cheapest prompts (0) and the policy without a budget (1)",
        low=0,
        high=1,
    )
    classifier_steps: int = key("steps of the supervised baseline's solver, at most", low=1)


@dataclass(frozen=True)
class Scorers:
    """A named list of scorers of passages; rows, not variants."""

    scorers: dict[str, dict[str, Any]] = key("those without a language model: name: {kind, and the kind's parameters}")
    utilities: dict[str, dict[str, Any]] = key("those over a language model's statistics: the same form")
    suffixes: tuple[str, ...] = key("variants of each that are added: +neighbour, +answer")
    neighbour: float = key("share of the better neighbour's z-score that +neighbour adds", low=0)
    keep: int = key("best passages kept for each question and scorer", low=1)
    lifted: tuple[str, ...] = key("those whose answer lift is measured, where a data set asks for it")


BASELINES: dict[str, frozenset[str]] = {  # kind of a scorer without a language model: its parameters
    "random": frozenset(),
    "recency": frozenset(),
    "tfidf": frozenset(),
    "tfidf_question": frozenset(),
    "bm25": frozenset({"k1", "b"}),
    "lucene": frozenset({"k1", "b", "title"}),
    "dense": frozenset(),
    "zsum": frozenset({"lexical"}),
}
UTILITIES: dict[str, frozenset[str]] = {  # kind of a scorer over the statistics of one: its parameters
    "statistic": frozenset({"of"}),
    "null": frozenset({"of"}),
    "threshold": frozenset({"of"}),
    "sum": frozenset({"of"}),
    "fitted": frozenset({"of"}),
    "distilled": frozenset({"of", "label"}),
}


def scorer_problems(scorer: Scorers) -> list[str]:
    """What is wrong with a list of scorers, each in a clause."""
    found = []
    for listed, kinds in ((scorer.scorers, BASELINES), (scorer.utilities, UTILITIES)):
        for name, spec in listed.items():
            kind, have = spec.get("kind"), set(spec) - {"kind"}
            if kind not in kinds:
                found.append(f"scorer {name}: kind is {kind!r}, allowed: {', '.join(kinds)}{nearest(str(kind), kinds)}")
            elif have != kinds[kind]:
                found.append(f"scorer {name} of kind {kind}: has {sorted(have)}, needs exactly {sorted(kinds[kind])}")
    return found


@dataclass(frozen=True)
class System:
    """A named way from question to context: which option of each axis it uses."""

    path: Literal["graph", "sentences", "utility", "herrings", "context", "policy", "sessions", "recall"] = key(
        "which path of the DAG it takes"
    )
    tracks: tuple[str, ...] = key("options of conf/track it has rows in")
    extractor: str = key("option of conf/extractor")
    embedder: str = key("option of conf/embedder")
    codebook: str = key("option of conf/codebook")
    consolidation: str = key("option of conf/consolidation")
    retriever: str = key("option of conf/retriever")
    prompt: str = key("option of conf/prompt")
    lm: str = key("option of conf/lm")
    ecs: str = key("option of conf/ecs")
    memory: str = key("option of conf/memory")
    policy: str = key("option of conf/policy")
    scorer: str = key("option of conf/scorer, for sentence rankings on documents")
    selection_scorer: str = key("option of conf/scorer, for dialogues")
    answer: str = key("option of conf/answer, where questions are answered")
    context: str | None = key(
        "path context: what a question is answered with: closed_book, full_context, oracle_evidence, or the best "
        "passages of a scorer of `scorer`, by its name",
    )


CONTEXTS = ("closed_book", "full_context", "oracle_evidence")  # that no scorer makes


@dataclass(frozen=True)
class Eval:
    """How contexts are measured (budgets, intervals)."""

    budgets: tuple[int, ...] = key("word pieces of evidence at which recall is measured", low=1)
    exact_min_content: float = key("share of a gold sentence's new content words that edges must keep", low=0, high=1)
    claim: tuple[int, ...] = key("budgets whose mean is the claim: metric@claim, tested in pairs", low=1)
    answers_against: tuple[str, ...] = key("systems whose answers those of all others are compared with")
    against: tuple[str, ...] = key(
        "scorers (of system sentences, or of the policy) every row is compared with besides the best, where they have rows"
    )
    lift_budgets: tuple[int, ...] = key("word pieces of evidence at which answer lift is measured", low=1)
    lift_control: int = key("the budget at which the context of another question is shown", low=1)
    folds: int = key("folds of a cross-fitted figure, by hash of the resampling unit", low=2)
    resamples: int = key("bootstrap resamples", low=100)
    permutations: int = key("sign flips of a paired test", low=100)
    confidence: float = key("coverage of the intervals", low=0.5, high=0.999)
    min_clusters: int = key("below this many clusters questions are resampled instead", low=1)
    seed: int = key("seed of resampling, of the random scorer and of samples", low=0)
    samples: int = key("questions of each data set that the report draws, hits and misses in turn", low=0)
    max_edges: int = key("edges of one drawing", low=1)
    lemma_questions: int = key("questions on which the paper's lemmas are measured", low=1)
    symbol_shares: tuple[float, ...] = key(
        "top shares of the symbols whose mentions are counted (lemma 1)", low=0.0001, high=1
    )
    read_shares: tuple[float, ...] = key(
        "shares of the passages after which the codebook is counted", low=0.0001, high=1
    )
    shortlists: tuple[int, ...] = key("coarse shortlists compared with the full fine ranking (lemma 7)", low=1)
    tau_steps: tuple[float, ...] = key(
        "steps from the embedder's tau at which runs are built anew (corollary 6)", low=-1, high=1
    )
    windows: tuple[int, ...] = key("sentences in the windows around a gold sentence (lemma 14)", low=1)


@dataclass(frozen=True)
class Experiment:
    """A matrix of variants: data sets, systems and, for ablations, single options."""

    title: str = key("one line for the report")
    datasets: tuple[str, ...] = key("options of conf/dataset")
    systems: tuple[str, ...] = key("options of conf/system")
    axes: dict[str, tuple[str, ...]] = key("further options of a system's axes, each varied by itself")
    exclude: tuple[dict[str, str], ...] = key("combinations left out, e.g. {dataset: medical_v2, system: apr}")
    answers: bool = key("graph systems answer questions too; those of path context always do", default=False)


@dataclass(frozen=True)
class Local:
    """Settings of one machine, in conf/local/local.yaml (git-ignored); in no params and no fingerprint."""

    mirror: str | None = key("folder asked for data files before their addresses (SECATEUR_MIRROR)", default=None)
    cache: str | None = key("folder of the caches (SECATEUR_CACHE)", default=None)


GROUPS: dict[str, type] = {
    "corpus": Corpus,
    "dataset": Dataset,
    "extractor": Extractor,
    "embedder": Embedder,
    "codebook": Codebook,
    "consolidation": Consolidation,
    "track": Track,
    "retriever": Retriever,
    "prompt": Prompt,
    "lm": Lm,
    "ecs": Ecs,
    "memory": Memory,
    "answer": Answer,
    "policy": Policy,
    "scorer": Scorers,
    "system": System,
    "eval": Eval,
    "experiment": Experiment,
}


# --- strict reading ----------------------------------------------------------------------------


def _convert(value: Any, hint: Any, where: str, found: list[str]) -> Any:
    """`value` as the type `hint`, or a problem appended to `found`."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Literal:
        if value not in args:
            found.append(
                f"{where} is {value!r}, allowed: {', '.join(map(str, args))}{nearest(str(value), map(str, args))}"
            )
        return value
    if origin in (Union, types.UnionType):
        return None if value is None else _convert(value, next(a for a in args if a is not type(None)), where, found)
    if origin is tuple:
        if not isinstance(value, (list, tuple)):
            found.append(f"{where} is {value!r}, a list is needed")
            return ()
        return tuple(_convert(item, args[0], f"{where}[{n}]", found) for n, item in enumerate(value))
    if origin is dict:
        if not isinstance(value, Mapping):
            found.append(f"{where} is {value!r}, a mapping is needed")
            return {}
        return {str(k): _convert(item, args[1], f"{where}.{k}", found) for k, item in value.items()}
    if hint is Any:
        return value
    good = isinstance(value, hint) and not (isinstance(value, bool) and hint is not bool)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)  # YAML writes 1 for 1.0; one value, one form, so that nothing re-runs
    if not good:
        found.append(f"{where} is {value!r} ({type(value).__name__}), a value of type {hint.__name__} is needed")
    return value


def _in_range(value: Any, spec: Field, where: str) -> list[str]:
    """Problems of a number, or of the numbers in a list or mapping; NaN and infinity are never allowed."""
    if isinstance(value, Mapping):
        return [p for name, item in value.items() for p in _in_range(item, spec, f"{where}.{name}")]
    if isinstance(value, tuple):
        return [p for n, item in enumerate(value) for p in _in_range(item, spec, f"{where}[{n}]")]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return []
    low, high = spec.metadata.get("low"), spec.metadata.get("high")
    outside = (low is not None and value < low) or (high is not None and value > high) or not math.isfinite(value)
    allowed = f"[{'-inf' if low is None else low}, {'inf' if high is None else high}]"
    return [f"{where} is {value}, allowed: {allowed}"] if outside else []


def from_dict(cls: type, data: Mapping[str, Any], where: str, path: str = "") -> Any:
    """A frozen dataclass from plain data; ConfigError lists every unknown key, type and range at once.

    `path` is what its keys begin with in messages, where that is not the group of the option `where`.
    """
    hints, specs = typing.get_type_hints(cls), {f.name: f for f in fields(cls)}
    group = path or (where.split("/")[-2] if "/" in where else where)
    found = [f"unknown key {group}.{k}{nearest(str(k), specs)}" for k in data if k not in specs]
    found += [
        f"key {group}.{k} missing"
        for k, s in specs.items()
        if k not in data and s.default is s.default_factory is MISSING
    ]
    values = {}
    for name in (n for n in specs if n in data):
        values[name] = _convert(data[name], hints[name], f"{group}.{name}", found)
        found += _in_range(values[name], specs[name], f"{group}.{name}")
    if found:
        count = f"{len(found)} problem{'s' if len(found) > 1 else ''}"
        raise ConfigError(
            f"{where}.yaml: {count}: {'; '.join(found)}. Fix: edit that file or the override that set it."
        )
    return cls(**values)


# --- composition -------------------------------------------------------------------------------


def names(conf: Path, group: str) -> list[str]:
    """The options of a group."""
    return sorted(path.stem for path in (conf / group).glob("*.yaml"))


def _known(conf: Path, group: str, name: str, asked_by: str) -> None:
    allowed = names(conf, group)
    if name not in allowed:
        raise ConfigError(
            f"{asked_by}: {group} {name!r} is no option of conf/{group}; allowed: {', '.join(allowed)}{nearest(name, allowed)}"
        )


def _check_overrides(overrides: tuple[str, ...]) -> None:
    """Each `group.key=value` must name a declared key."""
    for text in overrides:
        path, _, value = text.partition("=")
        group, _, rest = path.lstrip("+~").partition(".")
        if "=" not in text or not rest or value == "":
            raise ConfigError(f"override {text!r}: the form is group.key=value, e.g. retriever.top_k=100")
        if group not in GROUPS:
            raise ConfigError(
                f"override {text!r}: unknown group {group!r}; allowed: {', '.join(GROUPS)}{nearest(group, GROUPS)}"
            )
        allowed, name = [f.name for f in fields(GROUPS[group])], rest.split(".")[0]
        if name not in allowed:
            raise ConfigError(
                f"override {text!r}: conf/{group} has no key {name!r}; allowed: {', '.join(allowed)}{nearest(name, allowed)}"
            )


@cache
def _composed(conf: Path, group: str, name: str, mine: tuple[str, ...]) -> dict[str, Any]:
    """One option as plain data, remembered under the content of its group: every job parses the Snakefile anew,
    and importing and calling Hydra costs more than most jobs."""
    files = [conf / "config.yaml", *sorted((conf / group).glob("*.yaml"))]
    key = digest(name, mine, [(path.name, path.read_text(encoding="utf-8")) for path in files])
    remembered = RequestCache(Path(os.environ.get("SECATEUR_CACHE", conf.resolve().parent / ".cache")) / "config")
    found = remembered.get(key)
    if found is None:
        found = _compose(conf, group, name, mine)
        remembered.put(key, found)
    return found


def _compose(conf: Path, group: str, name: str, mine: tuple[str, ...]) -> dict[str, Any]:
    from hydra import compose, initialize_config_dir
    from hydra.errors import HydraException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    try:
        with initialize_config_dir(config_dir=str(conf.resolve()), version_base="1.3"):
            composed = compose(config_name="config", overrides=[f"+{group}={name}", *mine])
        return OmegaConf.to_container(composed, resolve=True)[group]
    except (HydraException, OmegaConfBaseException, YAMLError) as error:
        deepest = error
        while deepest.__cause__ is not None:
            deepest = deepest.__cause__
        raise ConfigError(f"conf/{group}/{name}.yaml{' with ' + ' '.join(mine) if mine else ''}: {deepest}") from error


@cache
def option(
    conf: Path, group: str, name: str, overrides: tuple[str, ...] = (), asked_by: str = "the command line"
) -> Any:
    """One option of one group as its dataclass, inheritance and overrides applied.

    Raises ConfigError for an unknown group, option or key, a wrong type, a value out of range.
    """
    _known(conf, group, name, asked_by)
    _check_overrides(overrides)
    mine = tuple(o for o in overrides if o.lstrip("+~").partition(".")[0] == group)
    return from_dict(GROUPS[group], _composed(conf, group, name, mine), f"conf/{group}/{name}")


def local(conf: Path) -> Local:
    """This machine's settings; all null where there is no conf/local/local.yaml."""
    import yaml

    path = conf / "local" / "local.yaml"
    return from_dict(Local, yaml.safe_load(path.read_text()) or {}, "conf/local/local") if path.exists() else Local()


# --- leaves: what a stage sees of the configuration ----------------------------------------------


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value))


def leaf(config: Any, name: str) -> str:
    """One field as canonical JSON, so equal settings have equal text."""
    return json.dumps(_plain(getattr(config, name)), sort_keys=True, separators=(",", ":"))


def leaves(group: str, config: Any) -> dict[str, str]:
    """`{'retriever.top_k': '200'}`: every field of an option."""
    return {f"{group}.{f.name}": leaf(config, f.name) for f in fields(config)}


def unflatten(flat: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """The inverse of `leaves`, for several groups at once."""
    nested: dict[str, dict[str, Any]] = {}
    for path, text in flat.items():
        group, _, name = path.partition(".")
        nested.setdefault(group, {})[name] = json.loads(text)
    return nested


def load(flat: Mapping[str, str]) -> types.SimpleNamespace:
    """A stage's configuration from its leaves: one dataclass (or, for part of a group, namespace) per group."""
    parts = {}
    for group, values in unflatten(flat).items():
        whole = group in GROUPS and set(values) == {f.name for f in fields(GROUPS[group])}
        parts[group] = from_dict(GROUPS[group], values, f"{group}") if whole else types.SimpleNamespace(**values)
    return types.SimpleNamespace(**parts)
