"""Slices of the configuration that several rules share: the keys on which a rule's result depends."""

from dataclasses import fields

from secateur.config.groups import GROUPS

__all__ = ["keys_but", "keys_of"]


def keys_but(group: str, *excluded: str) -> tuple[str, ...]:
    """`group.key` for every key of a group except some."""
    return tuple(f"{group}.{f.name}" for f in fields(GROUPS[group]) if f.name not in excluded)


def keys_of(group: str, *names: str) -> tuple[str, ...]:
    """`group.key` for the named keys."""
    return tuple(f"{group}.{name}" for name in names)


EXTRACTION = keys_but("extractor", "shards", "files", "max_malformed")  # two are in paths and inputs, one of imports
ANSWER_TRIPLES = keys_but("extractor", "shards", "files", "block", "max_malformed")  # for single texts
RECALL = keys_of(  # which runs of a session are recalled
    *("retriever", "w_ent", "w_rel", "top_k", "top_t", "coverage", "w_coverage", "tau_coverage"),
    *("w_pairs", "tau_pairs", "t_pairs", "w_distinct", "tau_distinct", "w_whole", "tau_whole", "t_whole"),
)
READER = keys_but("lm", "seconds")  # all that a value of the reader depends on
EMBEDDING = keys_but("embedder", "tau", "shards")  # tau decides runs, not vectors; shards are in paths
RETRIEVAL = keys_but("retriever", "shards")
CONSOLIDATING = keys_but("consolidation", "joins", "skipped", "longest")
PRUNING = keys_of("consolidation", "prune", "min_mentions", "keep", "seed")
NAMING = (*keys_of("consolidation", "joins", "skipped", "longest"), *PRUNING)  # names that a walk follows
RANKING = keys_but("rankers", "scores", "utilities", "rules", "fitted_on", "shards")
PASSING = keys_of("ecs", "layout", "horizon", "top_k", "epsilon")  # result of a pass
ROWS = (*PASSING, *keys_of("ecs", "questions", "passages"))
DRAWING = keys_of("ecs", "pseudo_answers", "pseudo_tokens", "temperature", "seed")  # answers sampled from the model
READING = (*ROWS, *keys_of("ecs", "before", "probes"))
GAINING = (
    "dataset.split",
    "dataset.gain",
    "dataset.gain_at",
    "ecs.layout",
    "eval.gain_budgets=default",
    "eval.gain_control=default",
)
MEASURING = "eval.metrics=default"
ANSWERING = keys_but("answer", "shards")  # shards are in paths
WRITING = keys_of(  # an answer written in process
    *("answer", "instructions", "window", "max_tokens", "stop", "repeats", "least_repeated", "template")
)
JUDGING = ("budget", "frontier", "classifier_steps")  # policy keys that training does not read
WEIGHING = keys_of("policy", "alpha", "beta", "gamma", "delta", "accuracy", "clip", *JUDGING)
CHECKING = (*ROWS, *keys_of("ecs", "seed", "draws", "percentile", "threshold", "quantiles"))
CHECKING += ("rankers.scores=utility", "rankers.rules=utility")
