"""Intervals and paired tests over resampling units."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

__all__ = ["CONFIDENCE", "Paired", "drawn_means", "holm", "jackknife", "paired", "units"]

CONFIDENCE = 0.95  # of the intervals that are shown; every page says so

_CELLS = 1 << 20  # draws x series computed at once: 8 MB an array
_SHORT = 1e-6  # times the sum of absolute values: what 32-bit floats round
_ROUNDING = 1e-12  # times the largest difference: smaller means count as 0, so that rounding breaks no tie


@dataclass(frozen=True)
class Paired:
    """Mean difference, interval and two-sided p of each series, each (series,), and the number of resampling units."""

    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    p: NDArray[np.float64]
    units: int


def units(clusters: Sequence[str]) -> NDArray[np.int64]:
    """(n,) resampling unit of each question: the place of its cluster among the sorted ones."""
    return np.unique(np.asarray(clusters, dtype=object).astype(str), return_inverse=True)[1]


def _sums(values: NDArray[np.float64], unit: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(units, series) sums of the values of each unit, and (units,) numbers of questions."""
    count = int(unit.max()) + 1
    sums = np.zeros((count, values.shape[1]))
    np.add.at(sums, unit, values)
    return sums, np.bincount(unit, minlength=count).astype(float)


def drawn_means(values: NDArray[np.float64], unit: NDArray[np.int64], resamples: int, seed: int) -> NDArray[np.float64]:
    """(resamples, series) means over questions, units drawn with replacement; equal seeds draw equal units."""
    sums, sizes = _sums(values, unit)
    drawn = np.random.default_rng(seed).multinomial(len(sizes), np.full(len(sizes), 1 / len(sizes)), size=resamples)
    return (drawn @ sums) / (drawn @ sizes)[:, None]


def jackknife(
    values: NDArray[np.float64], unit: NDArray[np.int64], confidence: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Student intervals of the mean of each series by the jackknife over units: (low, high), each (series,).

    Degrees of freedom are Satterthwaite's, for questions of a unit that are all alike: the fewest, so the widest interval.
    Units of equal size have units - 1, single questions the usual interval. Ends stay in the range of the values. values:
    (questions, series); one unit bounds nothing: -inf, inf. Source: Bell and McCaffrey (2002), "Bias reduction in standard
    errors for linear regression with multi-stage samples", for a mean.

    >>> low, high = jackknife(np.array([[0.0], [1.0], [2.0], [3.0]]), np.arange(4), 0.95)
    >>> low.round(3).tolist(), high.round(3).tolist()  # 1.5 - 3.182 x .645 is below the values
    ([0.0], [3.0])
    """
    sums, sizes = _sums(values, unit)
    sums, sizes = sums[sizes > 0], sizes[sizes > 0]
    count, total = len(sizes), sizes.sum()
    if count < 2:
        return np.full(values.shape[1], -np.inf), np.full(values.shape[1], np.inf)
    mean = sums.sum(0) / total
    moved = (sums - sizes[:, None] * mean) / (total - sizes)[:, None]  # of the mean, by leaving a unit out
    error = np.sqrt((count - 1) / count * (moved**2).sum(0))
    half = stdtrit(_freedom(sizes), (1 + confidence) / 2) * error
    return np.clip(mean - half, values.min(0), mean), np.clip(mean + half, mean, values.max(0))


def _freedom(sizes: NDArray[np.float64]) -> float:
    """Degrees of freedom of the jackknife variance of a mean over units of these sizes, each of questions that are alike.

    The variance is z'Dz, z the units' sums minus size times mean. z has the covariance M = L + U C U', L the diagonal of
    squared sizes, and the variance tr(DM)^2 / tr(DMDM) degrees (Satterthwaite 1946). Takes time and memory in proportion to units.

    >>> [round(float(_freedom(np.array(sizes))), 3) for sizes in ([3.0] * 12, [1.0, 1, 1, 1, 20])]
    [11.0, 1.013]
    """
    total, spread = sizes.sum(), sizes**2
    weight = (total - sizes) ** -2
    sides = np.stack([sizes, spread], axis=1)
    inner = np.array([[spread.sum() / total**2, -1 / total], [-1 / total, 0]])
    alone, joint = weight * spread, inner @ (sides.T * weight) @ sides
    mixed = inner @ (sides.T * (alone * weight)) @ sides
    return (alone.sum() + np.trace(joint)) ** 2 / ((alone**2).sum() + 2 * np.trace(mixed) + np.trace(joint @ joint))


def paired(
    differences: NDArray[np.float64],
    unit: NDArray[np.int64],
    permutations: int,
    confidence: float,
    seed: int,
    at_floor: int = 0,
) -> Paired:
    """Mean of each series, p of the sign-flip test, and the interval of the means that this test does not reject.

    p and interval agree: 0 lies outside [low, high] iff p <= 1 - confidence. The mean always lies inside. The interval is
    (-inf, inf) if units or draws are too few for so small a p. All assignments of signs are used if there are at most
    `permutations`; else that many are drawn. The observed assignment counts as one, so p is never 0. Where none of the others
    is as extreme, `at_floor` assignments are drawn to find a smaller p; p <= t is still as likely as t at most.

    differences: (questions, series), at least one question; a series with NaN gives NaN. unit: (questions,); signs of whole
    units are flipped, the mean is over questions. confidence: above 0, below 1. Source: Hartigan (1969), "Using subsample
    values as typical values", for units of equal size; `_reach` has the proof for any sizes.

    >>> result = paired(np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [9.0]]), np.arange(6), 1000, 0.95, 7)
    >>> result.mean.item(), result.low.item(), result.high.item(), result.p.item(), result.units
    (4.0, 1.0, 9.0, 0.03125, 6)
    """
    sums, sizes = _sums(differences, unit)
    sums, sizes = sums[sizes > 0], sizes[sizes > 0]
    kept = _kept(len(sizes), permutations, seed)
    rejected = np.count_nonzero(
        np.arange(1, len(kept) + 1) / len(kept) <= 1 - confidence
    )  # numbers of extreme assignments with p <= 1 - confidence
    rounding = _ROUNDING * np.abs(differences).max(0)
    width = max(1, _CELLS // len(kept))
    blocks = [slice(start, start + width) for start in range(0, sums.shape[1], width)]
    inverted = [_inverted(sums[:, block], sizes, kept, rejected, rounding[block]) for block in blocks]
    mean, low, high, p = np.concatenate([np.empty((4, 0)), *inverted], axis=1)
    if rejected and at_floor > len(kept):  # else no p is small enough for an interval, or p is exact
        floored = (p <= 1 / len(kept)) & (2 ** (len(sizes) - 1) > permutations)
        p[floored] = np.minimum(
            p[floored], _drawn_p(sums[:, floored], len(differences) * rounding[floored], at_floor, seed)
        )
    return Paired(mean, low, high, p, units=len(sizes))


def _drawn_p(sums: NDArray[np.float64], rounding: NDArray[np.float64], draws: int, seed: int) -> NDArray[np.float64]:
    """(series,) p over that many drawn assignments and the observed one, a block of assignments in memory at once.

    sums: (units, series); rounding: (series,), of a sum.
    """
    rng, extreme = np.random.default_rng((seed, draws)), np.ones(sums.shape[1])
    if not sums.shape[1]:
        return extreme
    total, short = (
        sums.sum(0).astype(np.float32),
        sums.astype(np.float32),
    )  # half the time; what it rounds counts as a tie
    beyond = np.abs(total) - (rounding + _SHORT * np.abs(sums).sum(0)).astype(np.float32)
    rows = 4 * max(
        1, _CELLS // (4 * (len(sums) + sums.shape[1]))
    )  # whole words of 4 bytes: equal draws in blocks of any size
    for start in range(0, draws, rows):
        size = (min(rows, draws - start), -(-len(sums) // 8))
        kept = np.unpackbits(rng.integers(0, 256, size, np.uint8), axis=1, count=len(sums)).astype(np.float32)
        extreme += (np.abs(2 * (kept @ short) - total) >= beyond).sum(0)
    return extreme / (draws + 1)


def _kept(count: int, permutations: int, seed: int) -> NDArray[np.float64]:
    """(assignments, count) 1 if a unit keeps its sign, 0 if it is flipped; the observed assignment comes first.

    Flipping every sign changes no absolute value, so it suffices to enumerate assignments that keep the last unit.

    >>> _kept(3, 4, 7).astype(int).tolist()
    [[1, 1, 1], [0, 1, 1], [1, 0, 1], [0, 0, 1]]
    """
    if 2 ** (count - 1) <= permutations:
        return 1.0 - (np.arange(2 ** (count - 1))[:, None] >> np.arange(count) & 1)
    drawn = np.random.default_rng(seed).choice([0.0, 1.0], size=(permutations, count))
    return np.vstack([np.ones(count), drawn])


def _reach(
    sums: NDArray[np.float64], sizes: NDArray[np.float64], kept: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The shifts [low, high], each (assignments, series), under which an assignment is as extreme as the observed one.

    They reach from the lower to the higher of two means: of the questions whose sign it keeps, and of those it flips.
    sums: (units, series) of the values minus their mean; the ends are relative to that mean.

    Proof: under a shift d let K and F be the sums of the values minus d over the kept and the flipped units. |K - F| >=
    |K + F| iff K F <= 0. K and F fall in d and are 0 at the means of their units, so this holds iff d lies between these
    means. If all or no units are kept, K F = 0 for any d. The overall mean is an average of the two, hence between them.
    """
    total, size = kept @ sums, (kept @ sizes)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        means = total / size, -total / (sizes.sum() - size)  # the values minus their mean sum to 0
    everywhere = (size == 0) | (size == sizes.sum())
    return np.where(everywhere, -np.inf, np.minimum(*means)), np.where(everywhere, np.inf, np.maximum(*means))


def _inverted(
    sums: NDArray[np.float64],
    sizes: NDArray[np.float64],
    kept: NDArray[np.float64],
    rejected: int,
    rounding: NDArray[np.float64],
) -> NDArray[np.float64]:
    """(4, series) mean, low, high and p of the test that rejects if at most `rejected` assignments are as extreme.

    An assignment is as extreme for all shifts of a range around the mean (`_reach`). A shift above the mean is rejected iff
    at most `rejected` upper ends reach it, so the highest shift that is not rejected is the next upper end in falling order;
    likewise below.
    """
    mean = sums.sum(0) / sizes.sum()
    lows, highs = (mean + end for end in _reach(sums - sizes[:, None] * mean, sizes, kept))
    mean, lows, highs = (np.where(np.abs(value) <= rounding, 0.0, value) for value in (mean, lows, highs))
    p = ((lows <= 0) & (highs >= 0)).sum(0) / len(kept)
    low = np.partition(np.ascontiguousarray(lows.T), rejected)[:, rejected]
    high = -np.partition(np.ascontiguousarray(-highs.T), rejected)[:, rejected]
    return np.stack([mean, low, high, np.where(np.isnan(mean), np.nan, p)])


def holm(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """(k,) p-values adjusted over all tests; NaN is no test, stays NaN and does not count.

    Source: Holm (1979), "A simple sequentially rejective multiple test procedure".

    >>> holm(np.array([0.04, np.nan, 0.01, 0.03])).round(6).tolist()
    [0.06, nan, 0.03, 0.06]
    """
    adjusted = np.array(p, dtype=float)
    order = np.argsort(adjusted)[: np.count_nonzero(~np.isnan(adjusted))]  # NaN is sorted last
    remaining = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(1, np.maximum.accumulate(remaining * adjusted[order]))
    return adjusted
