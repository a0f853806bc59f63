"""The plots of an experiment as files for a paper: differences to the best plain ranking, and recall against tokens."""

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from secateur.pipeline.errors import SecateurError
from secateur.report.compare import settings
from secateur.report.finding import Line, findings
from secateur.report.forest import FAMILIES
from secateur.report.format import named
from secateur.report.plots import COLOURS, saved, stripes
from secateur.report.sections.recall import panels_of

__all__ = ["drawings"]

PAINT = dict(zip(FAMILIES, COLOURS, strict=False))


def drawings(
    root: Path, experiment: str, metrics: pl.DataFrame, comparisons: pl.DataFrame, folder: Path, form: str
) -> Iterator[Path]:
    """Write them, one file each, and name each; form: svg, pdf or png.

    Raises SecateurError where the experiment has neither differences nor curves.
    """
    known, made = settings(root, experiment), 0
    folder.mkdir(parents=True, exist_ok=True)
    told = findings(metrics, comparisons, known["extra.families"], known["eval.min_units"], known["eval.claim"])
    for dataset, lines, _ in told:
        made += 1
        yield _forest(dataset, lines, folder / f"differences-{dataset}.{form}")
    rows = named(metrics.filter(~pl.col("published")))
    for (dataset, order), own in rows.group_by("dataset", "order", maintain_order=True):
        for metric, figure in panels_of(own, str(order)) if order else ():
            made += 1
            path = folder / f"{metric}-{dataset}-{order}.{form}"
            saved(figure, path)
            yield path
    if not made:
        raise SecateurError(f"{experiment} has nothing to draw: neither pairs with a plain ranking nor contexts.")


def _forest(dataset: str, lines: list[Line], path: Path) -> Path:
    """The lines that rest on enough; in words what each says."""
    rows = [
        (
            line.name,
            line.difference,
            line.low,
            line.high,
            f"{line.difference:+.3f} ({line.interval})",
            PAINT.get(line.family, COLOURS[-1]),
        )
        for line in lines
        if line.told
    ]
    metric = lines[0].metric.partition("@")[0].replace("_", " ")
    n = " and ".join(sorted({f"n {line.n}, {line.units} units" for line in lines if line.told})) or "too few to tell"
    stripes(rows, f"{dataset}: {metric} less the best plain ranking's, 95 % intervals; {n}", path)
    return path
