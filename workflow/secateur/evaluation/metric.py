"""Metrics of contexts: run the plug-ins in metrics/ that an option names."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from secateur.config import plugins
from secateur.evaluation.evidence import Case
from secateur.evaluation.figure import Figure

__all__ = ["Embed", "Figure", "measure_all", "select_metrics"]

Embed = Callable[[Sequence[str]], NDArray[np.float32]]  # texts to unit vectors (texts, d)


def select_metrics(specs: Sequence[Any], names: Sequence[str]) -> list[Any]:
    """The specs of the metrics with these names."""
    return [spec for spec in specs if plugins.names_in([spec])[0] in names]


def measure_all(
    cases: Sequence[Case], others: Sequence[Case], specs: Sequence[Any], where: str, embed: Embed | None = None
) -> Iterator[Mapping[str, float]]:
    """Yield metric -> value for each case, without the metrics that are undefined for it.

    others: each case with the context of another question, for the floors; empty for no floors. specs: of the metrics.
    where: the option that has them, for messages. embed: None if no metric needs it.
    Raises SecateurError for a plug-in that fails, or does not return one finite number or None for each case.
    """
    figures: list[dict[str, float]] = [{} for _ in cases]
    for spec in specs:
        (name,) = plugins.names_in([spec])
        plugin, settings = plugins.load("metric", name), plugins.settings("metric", spec, where)
        measured = {name: cases}
        if plugin.FIGURE.floor and others:
            measured[f"{name}_floor"] = others
        for label, contexts in measured.items():
            with plugins.calling("metric", plugin):
                values = list(plugin.measure(contexts, settings, embed))
                if len(values) != len(contexts):
                    raise ValueError(f"{len(values)} figures for {len(contexts)} contexts")
                for by_metric, value in zip(figures, values, strict=True):
                    if value is not None:
                        by_metric[label] = _finite(float(value))
    yield from figures


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError("a figure that is NaN or infinite (None where a metric is undefined)")
    return value
