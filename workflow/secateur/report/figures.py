"""The plots of an experiment as files for a paper: differences to the best plain ranking, and recall against tokens."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from secateur.core.errors import SecateurError
from secateur.evaluation.metric import figure_of
from secateur.report.compare import settings
from secateur.report.finding import Line, findings
from secateur.report.forest import FAMILIES
from secateur.report.format import NOT_ENOUGH, named, sizes, with_enough_data
from secateur.report.plots import COLOURS, saved, stripes, words
from secateur.report.sections.recall import panels_of, without_data

__all__ = ["drawings"]

PAINT = dict(zip(FAMILIES, COLOURS, strict=False))


def drawings(
    root: Path, experiment: str, metrics: pl.DataFrame, comparisons: pl.DataFrame, folder: Path, form: str
) -> Iterator[Path]:
    """Write them, one file each, and name each; form: svg, pdf or png. What rests on too little says so in the place of a
    plot.

    Raises SecateurError where the experiment has neither differences nor curves.
    """
    known, made = settings(root, experiment), 0
    folder.mkdir(parents=True, exist_ok=True)
    for dataset, lines, _ in findings(metrics, comparisons, known["extra.families"], known["eval.min_units"]):
        made += 1
        yield _forest(dataset, lines, folder / f"differences-{dataset}.{form}")
    rows = with_enough_data(named(metrics.filter(~pl.col("published"))), known["eval.min_units"])
    for (dataset, order), own in rows.group_by("dataset", "order", maintain_order=True):
        for metric, figure in _curves(str(dataset), own, str(order)) if order else ():
            made += 1
            path = folder / f"{metric}-{dataset}-{order}.{form}"
            saved(figure, path)
            yield path
    if not made:
        raise SecateurError(f"{experiment} has nothing to draw: neither pairs with a plain ranking nor contexts.")


def _curves(dataset: str, own: pl.DataFrame, order: str) -> Iterator[tuple[str, Any]]:
    """(metric, figure) of an order, those of words last."""
    yield from panels_of(own, order)
    for metric, few in without_data(own, order):
        yield metric, words(f"{figure_of(metric).title} on {dataset}, order-{order}:\n{few}")


def _forest(dataset: str, lines: list[Line], path: Path) -> Path:
    """The lines that rest on enough; in words what each says."""
    metric = lines[0].metric.partition("@")[0].replace("_", " ")
    drawn = [line for line in lines if line.enough_data]
    if not drawn:
        few = sizes({"n": lines[0].n, "units": lines[0].units})
        saved(words(f"{dataset}: {metric} minus the best plain ranking's:\n{NOT_ENOUGH}, {few}"), path)
        return path
    rows = [
        (
            line.name,
            line.difference,
            line.low,
            line.high,
            f"{line.difference:+.3f} ({line.interval})",
            PAINT.get(line.family, COLOURS[-1]),
        )
        for line in drawn
    ]
    n = " and ".join(sorted({f"n {line.n}, {line.units} units" for line in drawn}))
    stripes(rows, f"{dataset}: {metric} minus the best plain ranking's, 95 % intervals; {n}", path)
    return path
