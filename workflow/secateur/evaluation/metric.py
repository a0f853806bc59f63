"""What a context is worth by the kinds in metrics/: every one that an option names, over all cases at once."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from secateur.config import plugins
from secateur.evaluation.evidence import Case

__all__ = ["Embed", "Figure", "figure_of", "headlines", "measured", "only", "renamed"]

FORMER = {  # names until 0.1, which are still understood
    "exact": "evidence_recall",
    "exact_pointer": "provenance_recall",
    "held": "evidence_coverage",
    "novel": "token_recall",
    "lift": "answer_gain",
    "lift_shuffled": "answer_gain_shuffled",
    "read_lift": "read_gain",
}
Embed = Callable[[Sequence[str]], NDArray[np.float32]]  # texts to unit vectors (texts, d)


@dataclass(frozen=True)
class Figure:
    """How a metric is shown. better: which way; headline: it is shown and tested in pairs; floor: the context of another
    question is measured too, as METRIC_floor."""

    title: str
    digits: int = 3
    better: Literal["higher", "lower", ""] = "higher"
    headline: bool = True
    floor: bool = False


def figure_of(metric: str) -> Figure:
    """How a metric is shown: as its kind says; by its name alone where a stage of its own measures it.

    >>> figure_of("tokens").digits, figure_of("read_gain").title
    (0, 'read gain')
    """
    if metric in plugins.names("metric") or "." in metric:
        return plugins.load("metric", metric).FIGURE
    return Figure(metric.replace("_", " "))


def renamed(metric: str) -> str:
    """A metric by the name it has now.

    >>> renamed("exact@256"), renamed("read_lift"), renamed("token_recall@64")
    ('evidence_recall@256', 'read_gain', 'token_recall@64')
    """
    base, at, budget = metric.partition("@")
    return FORMER.get(base, base) + at + budget


def headlines(spec: Sequence[Any]) -> list[str]:
    """The metrics of `eval.metrics` or `dataset.metrics` that are shown and tested."""
    return [name for name in plugins.named(spec) if plugins.load("metric", name).FIGURE.headline]


def only(spec: Sequence[Any], names: Sequence[str]) -> list[Any]:
    """What names some of the metrics, and no other."""
    return [one for one in spec if plugins.named([one])[0] in names]


def measured(
    cases: Sequence[Case], others: Sequence[Case], spec: Sequence[Any], where: str, embed: Embed | None = None
) -> Iterator[Mapping[str, float]]:
    """The figures of each case; a metric that is undefined in a case is left out.

    others: each case with the context of another question, for the metrics that have a floor; empty for none. spec: what
    names the metrics, where: its option; embed: None where none of them asks for it.

    Raises SecateurError for a kind that fails, or gives no figure for each case.
    """
    found: list[dict[str, float]] = [{} for _ in cases]
    for one in spec:
        (name,) = plugins.named([one])
        kind, settings = plugins.load("metric", name), plugins.settings("metric", one, where)
        for label, given in {
            name: cases,
            **({f"{name}_floor": others} if kind.FIGURE.floor and others else {}),
        }.items():
            with plugins.calling("metric", kind):
                values = list(kind.measure(given, settings, embed))
                if len(values) != len(given):
                    raise ValueError(f"{len(values)} figures for {len(given)} contexts")
                for figures, value in zip(found, values, strict=True):
                    if value is not None:
                        figures[label] = _finite(float(value))
    yield from found


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError("a figure that is NaN or infinite (None where a metric is undefined)")
    return value
