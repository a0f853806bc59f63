"""Models the CPU time of a job by the sizes of what it reads.

    seconds = pace x (c_job + c_1 x size_1 + c_2 x size_2 + ...)

The coefficients c of a rule stand in data/costs.yaml, fitted to jobs on a reference machine. The pace is calibrated here:
the CPU time that jobs took on this machine, over the time that the coefficients foretell for the same jobs. It is taken
from jobs of the same rule and options on any data, of the same rule, and of all rules, in this order: `blended`. Before any
job ran, it is that of a product of matrices (`machine_pace`).
"""

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import yaml
from threadpoolctl import threadpool_limits

from secateur.config.limits import not_run
from secateur.core.artifacts import read_json
from secateur.planning.sizes import READ, SHARD, Data, Sizes, data_of, pairs_of

__all__ = [
    "Coefficients",
    "Paces",
    "Ran",
    "blended",
    "fitted",
    "jobs_here",
    "kind_of",
    "load_coefficients",
    "machine_pace",
    "total",
    "unseen",
    "written",
]

TOKENS = ("tokens_read", "tokens_in", "tokens_out")  # counts of a record: tokens that a language model reads and writes
COUNTED = ("pairs", "rivals", "rankings", "requeries", "token_characters")  # sizes that a record's metrics count
SHORT = 2.0  # CPU seconds below which all jobs weigh the same in fitting
SIDE = 384  # of the matrices that are multiplied to see how fast a machine is
TINY = 1e-3  # penalty of a coefficient that the jobs do not determine
BY_OPTIONS = ("index_peer", "ask_peer")  # one peer takes up to forty times another's time (docs/peers.md)
ENOUGH = 20.0  # reference seconds of jobs from which on their pace is taken as it is; converting a model once takes ten
HEAD = """# CPU seconds of a job for each unit of a size, by rule. workflow/secateur/planning/sizes.py explains the sizes.
# `secateur plan` multiplies them by the pace of this machine. null: not measured; known here once such a job ran.
# `tokens`: tokens that a language model reads and writes. `start`: CPU seconds of a job outside its stage, for Python,
# imports and Snakemake. Fitted on the reference machine to {jobs} jobs of
#   {experiments}
# by secateur costs {experiment} --whole {whole:.0f}"""


@dataclass(frozen=True)
class Coefficients:
    """data/costs.yaml. rules, tokens: coefficient by rule and size; start: CPU seconds of a job outside its stage.

    product: CPU seconds of `product_seconds` on the reference machine; None if they were not measured.
    """

    machine: str
    start: float
    rules: Mapping[str, Mapping[str, float | None]]
    tokens: Mapping[str, Mapping[str, float]]
    product: float | None = None

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
    folder = SHARD.sub("/", record.removeprefix("results/")).rpartition("/")[0]
    return "/".join(folder.split("/")[sum(name is not None for name in data_of(record)) :])


def jobs_here(results: Path) -> list[Ran]:
    """The jobs that succeeded here, in the order of their ends, as far as the data that they read are still here."""
    data, ran, seen = Data(), [], set()
    found = [(str(path), read_json(path)) for path in results.rglob("run.json")]
    for path, record in sorted(found, key=lambda pair: (pair[1]["finished"], pair[0])):
        sizes, (corpus, _) = data.sizes(path), data_of(path)
        if sizes is not None and record["failure"] is None:
            rule, counts = record["stage"], record["counts"]
            sizes |= unseen(rule, corpus, sizes, seen) | _counted(record)
            tokens = [counts[name] for name in TOKENS if name in counts]
            read, experiment = sum(tokens) if tokens else None, record.get("experiment")
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


def blended(used: float, reference: float, otherwise: float) -> float:
    """The pace of some jobs, which took `used` CPU seconds and on the reference machine `reference`.

    Short jobs tell little of long ones: below ENOUGH reference seconds the wider pace `otherwise` has a share.

    >>> blended(40.0, 20.0, 1.0), blended(10.0, 5.0, 1.0)
    (2.0, 1.25)
    """
    share = min(1.0, reference / ENOUGH)
    return otherwise if not reference else share * used / reference + (1 - share) * otherwise


def product_seconds() -> float:
    """CPU seconds of twenty products of matrices on one thread: the least of seven times, since others may be at work."""
    matrix, seconds = np.linspace(-1, 1, SIDE * SIDE, dtype=np.float32).reshape(SIDE, SIDE), []
    with threadpool_limits(1):
        for _ in range(7):
            start = time.process_time()
            for _ in range(20):
                matrix @ matrix
            seconds.append(time.process_time() - start)
    return min(seconds)


def machine_pace(coefficients: Coefficients) -> float:
    """How many times as long as on the reference machine a product of matrices takes here; 1 if it was not measured there."""
    return product_seconds() / coefficients.product if coefficients.product else 1.0


class Paces:
    """CPU seconds here for each reference second: of all jobs, of a rule, and of its jobs with the same options.

    machine: the pace while nothing ran.
    """

    def __init__(self, coefficients: Coefficients, ran: Iterable[Ran], machine: float = 1.0) -> None:
        self.coefficients, self.machine = coefficients, machine
        self._sums: dict[tuple[str, ...], tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))
        for job in ran:
            reference = coefficients.seconds(job.rule, job.sizes)
            wider = [()] if coefficients.measured(job.rule) else []
            for key in [*wider, (job.rule,), (job.rule, job.kind)] if reference else []:
                used, sum_ = self._sums[key]
                self._sums[key] = used + job.seconds, sum_ + reference

    def ran(self, rule: str) -> bool:
        """Whether a job of the rule ran here."""
        return (rule,) in self._sums

    def pace(self, rule: str, kind: str) -> float | None:
        """The pace of a job; None where neither this machine nor the reference machine ran its rule."""
        if not self.coefficients.measured(rule):
            key = (rule, kind) if rule in BY_OPTIONS or (rule, kind) in self._sums else (rule,)
            used, reference = self._sums.get(key, (0.0, 0.0))
            return used / reference if reference else None
        pace = self.machine
        for key in ((), (rule,), (rule, kind)):
            pace = blended(*self._sums.get(key, (0.0, 0.0)), pace)
        return pace

    def overall(self) -> float:
        """The pace of all jobs."""
        return blended(*self._sums.get((), (0.0, 0.0)), self.machine)


# --- the shipped coefficients --------------------------------------------------------------------


def fitted(coefficients: Coefficients, ran: Sequence[Ran]) -> dict[str, dict[str, float | None]]:
    """The coefficients of every rule: fitted to its jobs that ran here, else as they are.

    Non-negative least squares, each job weighted by the inverse of its time: the sum of all times is met, not that of short
    jobs alone. Jobs of one size leave all to the coefficient of `job`.
    """
    from scipy.optimize import nnls

    rules = {rule: dict(row) for rule, row in coefficients.rules.items()}
    for rule, row in rules.items():
        jobs = [job for job in ran if job.rule == rule and row.keys() <= job.sizes.keys()]
        if jobs:
            seconds = np.array([job.seconds for job in jobs])
            weights = 1 / np.sqrt(np.maximum(seconds, SHORT))
            sizes = np.array([[job.sizes[name] for name in row] for job in jobs]) * weights[:, None]
            scale = np.maximum(sizes.max(axis=0), TINY)
            last_resort = np.diag([0.0 if name == "job" else TINY for name in row])
            values, _ = nnls(np.vstack([sizes / scale, last_resort]), np.append(seconds * weights, np.zeros(len(row))))
            rules[rule] = dict(zip(row, (values / scale).tolist(), strict=True))
    return rules


def tokens_of(coefficients: Coefficients, ran: Sequence[Ran]) -> dict[str, dict[str, float]]:
    """Tokens that a language model reads and writes for each unit of a rule's first size: the ratio of their sums."""
    tokens = dict(coefficients.tokens)
    for rule, row in coefficients.rules.items():
        unit = next((name for name in row if name != "job"), "job")
        jobs = [job for job in ran if job.rule == rule and job.tokens is not None and job.sizes.get(unit)]
        if jobs:
            tokens[rule] = {unit: sum(job.tokens for job in jobs) / sum(job.sizes[unit] for job in jobs)}
    return tokens


def written(coefficients: Coefficients, ran: Sequence[Ran], experiment: str, whole: float, machine: str) -> str:
    """The text of data/costs.yaml, fitted to the jobs that ran here.

    whole: CPU seconds of the experiment's first run in a new clone.
    """
    jobs = [job for job in ran if job.experiment == experiment]
    if not jobs:
        raise not_run(experiment)
    start = (whole - sum(job.seconds for job in jobs)) / len(jobs)
    names = ", ".join(sorted({job.experiment for job in ran if job.experiment}))
    head = HEAD.format(experiment=experiment, whole=whole, jobs=len(ran), experiments=names)
    lines = [head, f"machine: {machine}", f"start: {start:.2f}", f"product: {product_seconds():.4f}"]
    for head, rows in (("rules", fitted(coefficients, ran)), ("tokens", tokens_of(coefficients, ran))):
        lines.append(f"{head}:")
        lines += [f"  {rule}: {{{', '.join(map(_entry, row.items()))}}}" for rule, row in sorted(rows.items())]
    return "\n".join([*lines, ""])


def _entry(coefficient: tuple[str, float | None]) -> str:
    name, value = coefficient
    return f"{name}: null" if value is None else f"{name}: {float(f'{value:.3g}')!r}"
