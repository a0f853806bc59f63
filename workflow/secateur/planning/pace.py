"""Models the CPU time of a job by the sizes of what it reads.

    seconds = pace x (c_job + c_1 x size_1 + c_2 x size_2 + ...)

The coefficients c of a rule stand in data/costs.yaml, fitted to jobs on a reference machine. The pace is the median, over
jobs that ran here, of the CPU time that a job took by the time that the coefficients foretell for it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import polars as pl
import yaml

from secateur.core.artifacts import read_json
from secateur.core.layout import data_of
from secateur.planning.sizes import READ, SHARD, Data, Sizes, joining, pairs_of

__all__ = ["Coefficients", "Paces", "Ran", "jobs_here", "kind_of", "load_coefficients", "total", "unseen"]

TOKENS = ("tokens_read", "tokens_in", "tokens_out")  # counts of a record: tokens that a language model reads and writes
COUNTED = ("pairs", "rivals", "rankings", "requeries", "token_characters")  # sizes that a record's metrics count
BY_OPTIONS = ("index_peer", "ask_peer")  # one peer takes up to forty times another's time (docs/peers.md)


@dataclass(frozen=True)
class Coefficients:
    """data/costs.yaml.

    rules, tokens: coefficient by rule and size; start: CPU seconds of a job outside its stage; disk, memory: bytes by size
    of a corpus, on disk in all and in memory at most.
    """

    machine: str
    start: float
    rules: Mapping[str, Mapping[str, float | None]]
    tokens: Mapping[str, Mapping[str, float]]
    disk: Mapping[str, float]
    memory: Mapping[str, float]

    def seconds(self, rule: str, sizes: Sizes | None) -> float | None:
        """Reference seconds of a job's stage; None if a size is unknown. A coefficient that is null counts as 1."""
        row = {name: 1.0 if value is None else value for name, value in self.rules.get(rule, {"job": None}).items()}
        return total(row, sizes)

    def measured(self, rule: str) -> bool:
        """Whether all coefficients of a rule are known."""
        return rule in self.rules and None not in self.rules[rule].values()


def total(coefficients: Mapping[str, float], sizes: Sizes | None) -> float | None:
    if sizes is None or not coefficients.keys() <= sizes.keys():
        return None
    return sum(value * sizes[name] for name, value in coefficients.items())


def load_coefficients(path: Path) -> Coefficients:
    """Reads data/costs.yaml."""
    return Coefficients(**yaml.safe_load(path.read_text(encoding="utf-8")))


# --- what ran here -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ran:
    """A job that succeeded here. kind: its options; tokens: those of a language model, None if it counts none."""

    rule: str
    kind: str
    seconds: float
    sizes: Sizes
    corpus: str | None = None
    tokens: float | None = None
    experiment: str | None = None


def kind_of(record: str) -> str:
    """The options of a job: the folder of its record without corpus, data set and shard.

    >>> kind_of("results/stem/stem_dev/triples/openie/run.json"), kind_of("results/stem/triples/openie/0of2/run.json")
    ('triples/openie', 'triples/openie')
    """
    *_, below = data_of(SHARD.sub("/", record))
    return "/".join(below[:-1])


def jobs_here(results: Path) -> list[Ran]:
    """The jobs that succeeded here, in the order of their ends, as far as the data that they read are still here."""
    data, ran, seen = Data(), [], set()
    records = [(str(path), read_json(path)) for path in results.rglob("run.json")]
    joins = joining(path for path, _ in records)
    for path, record in sorted(records, key=lambda pair: (pair[1]["finished"], pair[0])):
        sizes, (corpus, *_) = data.sizes(path), data_of(path)
        if sizes is not None and record["failure"] is None and path not in joins:
            rule, counts = record["stage"], record["counts"]
            sizes |= unseen(rule, corpus, sizes, seen) | _counted(record)
            tokens = [counts[name] for name in TOKENS if name in counts]
            read = sum(tokens) if tokens else None
            experiment = record.get("experiment")
            ran.append(Ran(rule, kind_of(path), record["cpu_seconds"], sizes, corpus, read, experiment))
    return ran


def unseen(rule: str, corpus: str | None, sizes: Sizes, seen: set[tuple[str, str | None]]) -> Sizes:
    """Characters that no job of the rule has read before. seen: rules with their corpora; the job's are added."""
    first = (rule, corpus) not in seen
    seen.add((rule, corpus))
    return {"unseen": sizes.get("characters", 0) if first else 0}


def _counted(record: Mapping[str, Any]) -> Sizes:
    """The sizes that a record counts itself: what options limit, and the variants of an experiment."""
    metrics, config = record["metrics"], record["config"]
    sizes = dict.fromkeys(READ, metrics["questions"]) if "questions" in metrics else {}
    sizes |= (
        {"rankings": metrics["questions"] * metrics["scorers"]} if {"questions", "scorers"} <= metrics.keys() else {}
    )
    sizes |= {name: metrics[name] for name in COUNTED if name in metrics}
    if probes := config.get("ecs.probes"):
        pools = [Path(path) for path in record["inputs"] if path.endswith("/pool.parquet")]
        probed = [pl.read_parquet(path)["probed"].mean() for path in pools if path.exists()]
        sizes |= {"probes": metrics.get("pairs", 0) * len(probes) * sum(probed)}
    else:
        sizes |= {"probes": 0}
    if reranker := config.get("reranker.spec"):
        sizes |= {"reread": metrics.get("questions", 0) * reranker.get("top", 0)}
    listed = config.get("extra.variants") or config.get("extra.plan", {}).get("variants") or ()
    rows = [tuple(row.get(name) for name in ("dataset", "system", "order")) for row in listed]
    return sizes | ({"variants": len(rows), "paired": pairs_of(rows)} if rows else {})


# --- the pace of this machine --------------------------------------------------------------------


class Paces:
    """CPU seconds here for each reference second: the median of a rule's jobs with the same options, of its jobs, of all."""

    def __init__(self, coefficients: Coefficients, ran: Iterable[Ran]) -> None:
        self.coefficients = coefficients
        ratios: dict[tuple[str, ...], list[float]] = defaultdict(list)
        for job in ran:
            reference = coefficients.seconds(job.rule, job.sizes)
            wider = [()] if coefficients.measured(job.rule) else []
            for key in [*wider, (job.rule,), (job.rule, job.kind)] if reference else []:
                ratios[key].append(job.seconds / reference)
        self._medians = {key: median(paces) for key, paces in ratios.items()}

    def ran(self, rule: str) -> bool:
        """Whether a job of the rule ran here."""
        return (rule,) in self._medians

    def pace(self, rule: str, kind: str) -> float | None:
        """The pace of a job; None where neither this machine nor the reference machine ran its rule."""
        keys = [(rule, kind)] if rule in BY_OPTIONS else [(rule, kind), (rule,)]
        if self.coefficients.measured(rule):
            return next((self._medians[key] for key in keys if key in self._medians), self.overall())
        return next((self._medians[key] for key in keys if key in self._medians), None)

    def overall(self) -> float:
        """The pace of all jobs; 1 before any ran."""
        return self._medians.get((), 1.0)
