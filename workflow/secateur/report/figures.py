"""The plots of an experiment as files for a paper: differences to the best plain ranking, recall against
tokens, and tokens at equal quality."""

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from secateur.core.errors import SecateurError
from secateur.report.compare import settings
from secateur.report.finding import findings
from secateur.report.format import named
from secateur.report.plots.style import saved
from secateur.report.sections.equal_quality import equal_quality_plots
from secateur.report.sections.plain import plain_plot
from secateur.report.sections.recall import panels_of

__all__ = ["drawings"]


def drawings(
    root: Path,
    experiment: str,
    metrics: pl.DataFrame,
    comparisons: pl.DataFrame,
    equal: pl.DataFrame,
    folder: Path,
    form: str,
) -> Iterator[Path]:
    """Writes a file for each plot and yields its path.

    form: svg, pdf or png. Raises SecateurError where the experiment has neither differences nor curves.
    """
    config, plots = settings(root, experiment), {}
    families, min_units = config["extra.plan"]["families"], config["eval.min_units"]
    for dataset, lines, _ in findings(metrics, comparisons, families, min_units):
        plots[f"differences-{dataset}"] = plain_plot(dataset, lines)
    rows = named(metrics.filter(~pl.col("published")))
    for (dataset, order), part in rows.drop_nulls("order").group_by("dataset", "order", maintain_order=True):
        for metric, plot in panels_of(part, order):
            plots[f"{metric}-{dataset}-{order}"] = plot
    plots |= dict(equal_quality_plots(equal, families))
    if not plots:
        raise SecateurError(f"{experiment} has nothing to draw: neither pairs with a plain ranking nor contexts.")
    folder.mkdir(parents=True, exist_ok=True)
    for name, plot in plots.items():
        yield saved(plot, folder / f"{name}.{form}")
