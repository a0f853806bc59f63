"""The plots of an experiment as files for a paper: differences to the best plain ranking, and recall against tokens."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from secateur.core.errors import SecateurError
from secateur.evaluation.metric import figure_of
from secateur.report.compare import settings
from secateur.report.finding import findings
from secateur.report.format import named, with_enough_data
from secateur.report.plots.style import saved, words
from secateur.report.sections.plain import plain_plot
from secateur.report.sections.recall import panels_of, without_data

__all__ = ["drawings"]


def drawings(
    root: Path, experiment: str, metrics: pl.DataFrame, comparisons: pl.DataFrame, folder: Path, form: str
) -> Iterator[Path]:
    """Write them, one file each, and name each; form: svg, pdf or png. What rests on too little says so in the place of a
    plot.

    Raises SecateurError where the experiment has neither differences nor curves.
    """
    known, made = settings(root, experiment), 0
    folder.mkdir(parents=True, exist_ok=True)
    for dataset, lines, _ in findings(metrics, comparisons, known["extra.plan"]["families"], known["eval.min_units"]):
        made += 1
        yield saved(plain_plot([(dataset, lines)]), folder / f"differences-{dataset}.{form}")
    rows = with_enough_data(named(metrics.filter(~pl.col("published"))), known["eval.min_units"])
    for (dataset, order), own in rows.group_by("dataset", "order", maintain_order=True):
        for metric, figure in _curves(str(dataset), own, str(order)) if order else ():
            made += 1
            yield saved(figure, folder / f"{metric}-{dataset}-{order}.{form}")
    if not made:
        raise SecateurError(f"{experiment} has nothing to draw: neither pairs with a plain ranking nor contexts.")


def _curves(dataset: str, own: pl.DataFrame, order: str) -> Iterator[tuple[str, Any]]:
    """(metric, figure) of an order, those of words last."""
    yield from panels_of(own, order)
    for metric, few in without_data(own, order):
        yield metric, words(f"{figure_of(metric).title} on {dataset}, order-{order}:\n{few}")
