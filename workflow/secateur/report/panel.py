"""What readers say of the same rows: how alike they rank them, and on which pairs they part.

Rows that differ in nothing but the reader are one row here, read by each. A small reader is worth trusting on what a larger
one says too, and on nothing else.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from secateur.core.errors import SecateurError
from secateur.evaluation.comparison import AXES, axes_of
from secateur.evaluation.metric import renamed
from secateur.evaluation.resampling import drawn_means, holm, paired, units
from secateur.report.compare import figures_of, questions_of, settings
from secateur.report.format import UNTOLD, enough, sizes

__all__ = ["lines", "panel", "ranks_alike"]

LEAST = 3  # rows: of two, a rank correlation says nothing
COUNTED = "reader"  # behind a reader's name, where budgets are counted in its own tokens
OTHERS = tuple(axis for axis in AXES if axis != "reader")
Found = dict[str, Any]


@dataclass(frozen=True)
class _Read:
    """The rows of a data set in one order. values: (questions, rows, readers); axes: of each row, the reader aside."""

    dataset: str
    order: str | None
    names: list[str]
    axes: list[dict[str, str]]
    readers: list[str]
    values: NDArray[np.float64]
    unit: NDArray[np.int64]


def panel(root: Path, experiment: str, metric: str) -> list[Found]:
    """For each data set, order and pair of readers: the rank correlation of their means, and what becomes of each pair of
    rows. Raises SecateurError where no row was read by two readers.
    """
    config = settings(root, experiment)
    cfg = SimpleNamespace(**{k.removeprefix("eval."): v for k, v in config.items() if k.startswith("eval.")})
    found = []
    for read in _reads(root, experiment, config, cfg, renamed(metric)):
        found += [_agreement(read, pair, cfg) for pair in combinations(range(len(read.readers)), 2)]
    if not found:
        raise SecateurError(
            f"{experiment} has no {LEAST} rows whose {metric} two readers measured on the same questions. "
            "Fix: an experiment with `gains: true`, `axes: {reader: [...]}` and `crossed: [reader]`, e.g. readers."
        )
    return found


def _reads(root: Path, experiment: str, config: Mapping[str, Any], cfg, metric: str) -> Iterator[_Read]:
    """Data sets and orders with rows that two readers and more have read."""
    for dataset in dict.fromkeys(v["dataset"] for v in config["extra.variants"]):
        own = [v for v in config["extra.variants"] if v["dataset"] == dataset and not v["listed"]]
        for order in dict.fromkeys(v["order"] for v in own):
            by_row: dict[tuple, dict[str, list[Found]]] = {}  # a variant stands there once for each file of its figures
            for variant in (v for v in own if v["order"] == order):
                axes = dict(axes_of(variant, None))
                reader = axes["reader"].removesuffix(COUNTED)
                behind = by_row.setdefault(tuple(axes[a] for a in OTHERS), {}).setdefault(reader, [])
                if all(one["system"] == variant["system"] for one in behind):
                    behind.append(variant)
            readers = sorted({reader for row in by_row.values() for reader in row})
            whole = [row for row in by_row.values() if len(row) == len(readers)]
            if len(readers) < 2 or len(whole) < LEAST:
                continue
            asked = questions_of(root, experiment, config, dataset).sort("question_id")
            tables = [
                figures_of(root, row[reader], cfg, {"order": order, "metric": metric}, None)
                for row in whole
                for reader in readers
            ]
            for n, table in enumerate(tables):
                asked = asked.join(table.rename({"value": f"v{n}"}), on="question_id", maintain_order="left")
            if asked.is_empty():
                continue
            values = asked.select(pl.selectors.starts_with("v")).to_numpy()
            axes = [dict(axes_of(row[readers[0]][0], None)) for row in whole]
            names = [min((behind[0]["system"] for behind in row.values()), key=len) for row in whole]
            unit = units(asked["cluster_id"].to_list(), cfg.min_clusters)
            yield _Read(dataset, order, names, axes, readers, values.reshape(-1, len(whole), len(readers)), unit)


def ranks_alike(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n,) Spearman's correlation of rows of two (n, rows) arrays.

    >>> ranks_alike(np.array([[1.0, 2.0, 3.0]]), np.array([[10.0, 40.0, 30.0]])).item()
    0.5
    """
    from scipy.stats import rankdata

    a, b = (rankdata(x, axis=1) for x in (one, other))
    a, b = (x - x.mean(1, keepdims=True) for x in (a, b))
    return (a * b).sum(1) / np.maximum(np.sqrt((a**2).sum(1) * (b**2).sum(1)), 1e-12)


def _agreement(read: _Read, pair: tuple[int, int], cfg) -> Found:
    """Two readers of the same rows."""
    first, second = (read.values[:, :, reader] for reader in pair)
    drawn = [drawn_means(values, read.unit, cfg.resamples, cfg.seed) for values in (first, second)]
    tail = (1 - cfg.confidence) / 2
    low, high = np.quantile(ranks_alike(*drawn), [tail, 1 - tail])
    told = enough(len(first), len(set(read.unit.tolist())), cfg.min_units)
    pairs = list(combinations(range(len(read.names)), 2))
    differences = [np.stack([v[:, a] - v[:, b] for a, b in pairs], axis=1) for v in (first, second)]
    tests = [paired(d, read.unit, cfg.permutations, cfg.confidence, cfg.seed) for d in differences]
    sure = [holm(test.p) <= 1 - cfg.confidence + 1e-12 for test in tests]
    alike = np.sign(tests[0].mean) == np.sign(tests[1].mean)
    parted = np.flatnonzero(~alike & (sure[0] | sure[1]))
    return {
        "dataset": read.dataset,
        "order": read.order,
        "readers": [read.readers[n] for n in pair],
        "rows": len(read.names),
        "n": len(first),
        "units": len(set(read.unit.tolist())),
        "correlation": float(ranks_alike(first.mean(0)[None], second.mean(0)[None])[0]) if told else None,
        "low": float(low) if told else None,
        "high": float(high) if told else None,
        "verdict": "" if told else UNTOLD,
        "pairs": len(pairs),
        "both_alike": int((sure[0] & sure[1] & alike).sum()),
        "both_contrary": int((sure[0] & sure[1] & ~alike).sum()),
        "first_alone": int((sure[0] & ~sure[1]).sum()),
        "second_alone": int((sure[1] & ~sure[0]).sum()),
        "parted": [_parted(read, pairs[n], [float(test.mean[n]) for test in tests]) for n in parted] if told else [],
    }


def _parted(read: _Read, pair: tuple[int, int], means: list[float]) -> Found:
    """A pair of rows that two readers put in contrary order, one of them for sure."""
    a, b = pair
    differing = [axis for axis in OTHERS if read.axes[a][axis] != read.axes[b][axis]]
    return {"a": read.names[a], "b": read.names[b], "axes": differing, "means": means}


def lines(found: Found, metric: str) -> list[str]:
    """An agreement for a terminal."""
    one, other = found["readers"]
    order = f", order-{found['order']}" if found["order"] else ""
    head = f"{found['dataset']}{order}: {found['rows']} rows by {metric}, {one} and {other}"
    over = f"  over              {sizes(found)}"
    if found["correlation"] is None:
        return [head, over, f"  {found['verdict']}"]
    said = [
        head,
        over,
        f"  rank correlation  {found['correlation']:+.3f} ({found['low']:+.3f} to {found['high']:+.3f})",
        f"  pairs of rows     {found['pairs']}: sure for both and alike {found['both_alike']}, sure for both and contrary "
        f"{found['both_contrary']}, sure for {one} alone {found['first_alone']}, for {other} alone {found['second_alone']}",
    ]
    for pair in found["parted"]:
        means = " and ".join(f"{mean:+.3f}" for mean in pair["means"])
        said.append(f"  they part on      {pair['a']} less {pair['b']} ({', '.join(pair['axes'])}): {means}")
    return said
