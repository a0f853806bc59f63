"""Which keys of the configuration decide what a family of rules computes: the slices that several rules share."""

from dataclasses import fields

from secateur.config.groups import GROUPS

__all__ = ["keys_but", "keys_of"]


def keys_but(group: str, *without: str) -> tuple[str, ...]:
    """`group.key` for every key of a group, some left out."""
    return tuple(f"{group}.{f.name}" for f in fields(GROUPS[group]) if f.name not in without)


def keys_of(group: str, *names: str) -> tuple[str, ...]:
    """`group.key` for each of some keys."""
    return tuple(f"{group}.{name}" for name in names)


EXTRACTION = keys_but("extractor", "shards", "files")  # those two stand in paths and inputs
ANSWER_TRIPLES = keys_but("extractor", "shards", "files", "block")  # of texts that are read alone
RECALL = keys_of(  # what decides which runs of a session are recalled
    *("retriever", "w_ent", "w_rel", "top_k", "top_t", "coverage", "w_coverage", "tau_coverage"),
    *("w_pairs", "tau_pairs", "t_pairs", "w_distinct", "tau_distinct", "w_whole", "tau_whole", "t_whole"),
)
EMBEDDING = keys_but("embedder", "tau")  # tau decides runs, not vectors
RETRIEVAL = keys_but("retriever")
CONSOLIDATING = keys_but("consolidation", "joins", "skipped", "longest")
NAMING = keys_of("consolidation", "joins", "skipped", "longest")  # which names a graph is walked over
RANKING = keys_but("rankers", "scores", "utilities")
PASSING = keys_of("ecs", "layout", "horizon", "top_k", "epsilon")  # what a pass gives
ROWS = (*PASSING, *keys_of("ecs", "questions", "passages"))
DRAWING = keys_of("ecs", "pseudo_answers", "pseudo_tokens", "temperature", "seed")  # answers of the model's own
READING = (*ROWS, *keys_of("ecs", "before", "probes"))
GAINING = ("dataset.split", "dataset.gain", "ecs.layout", "eval.gain_budgets=default", "eval.gain_control=default")
MEASURING = "eval.metrics=default"
ANSWERING = keys_but("answer", "shards")  # which stands in paths
WRITING = keys_of(  # what an answer that is written in process depends on
    *("answer", "instructions", "window", "max_tokens", "stop", "repeats", "least_repeated")
)
JUDGING = ("budget", "frontier", "classifier_steps")  # of a policy, what its training does not see
WEIGHING = keys_of("policy", "alpha", "beta", "gamma", "delta", "clip", "latency", *JUDGING)
CHECKING = (*ROWS, *keys_of("ecs", "seed", "draws", "percentile", "threshold", "quantiles"), "rankers.scores=utility")
