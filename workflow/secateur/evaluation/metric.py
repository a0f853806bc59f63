"""Metrics of contexts: run the plug-ins in metrics/ that an option names, and describe how each is shown."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from secateur.config import plugins
from secateur.core.fields import ConfigError
from secateur.evaluation.evidence import Case

__all__ = ["Embed", "Figure", "figure_of", "headlines", "measure_all", "select_metrics"]

Embed = Callable[[Sequence[str]], NDArray[np.float32]]  # texts to unit vectors (texts, d)


@dataclass(frozen=True)
class Figure:
    """How a metric is shown.

    better: direction. headline: shown and compared in pairs. floor: also measured on another question's context, as
    METRIC_floor.
    """

    title: str
    digits: int = 3
    better: Literal["higher", "lower", ""] = "higher"
    headline: bool = True
    floor: bool = False

    def __post_init__(self) -> None:
        if self.headline and self.better == "lower":
            raise ConfigError(
                f"metric {self.title!r}: headline=True with better='lower'; boards and baselines rank the highest first. "
                "Fix: measure its opposite, or headline=False"
            )


def figure_of(metric: str) -> Figure:
    """How a metric is shown: from its plug-in; metrics of other stages by their name and the defaults.

    >>> figure_of("tokens").digits, figure_of("read_gain").title
    (0, 'read gain')
    """
    if metric in plugins.names("metric") or "." in metric:
        return plugins.load("metric", metric).FIGURE
    return Figure(metric.replace("_", " "))


def headlines(spec: Sequence[Any]) -> list[str]:
    """Names of the headline metrics in `eval.metrics` or `dataset.metrics`."""
    return [name for name in plugins.names_in(spec) if plugins.load("metric", name).FIGURE.headline]


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
