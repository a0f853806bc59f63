"""Coarse and fine scores of runs (paper 2.4, A.3)."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from secateur.core.distinct import distinct_pairs

__all__ = ["Membership", "coarse_scores", "edge_scores", "fine_scores", "symbol_idf"]

Vectors = NDArray[np.float32]  # (n, d), unit rows


@dataclass(frozen=True)
class Membership:
    """Symbols by run: run i has symbols[starts[i]:starts[i + 1]]; no run is empty."""

    symbols: NDArray[np.int64]
    starts: NDArray[np.int64]  # (runs + 1,)

    @classmethod
    def of(cls, runs: NDArray[np.int64], symbols: NDArray[np.int64], count: int) -> "Membership":
        """From parallel (run, symbol) pairs, without repeats. count: number of runs."""
        run, symbol = distinct_pairs(runs, symbols)
        return cls(symbol, np.concatenate([[0], np.cumsum(np.bincount(run, minlength=count))]))

    @cached_property
    def columns(self) -> tuple[NDArray[np.int64], list[NDArray[np.int32]]]:
        """(runs by falling size, for each n the n-th symbols of all runs that have one)."""
        sizes = np.diff(self.starts)
        runs = np.argsort(-sizes, kind="stable")
        counts = np.searchsorted(-sizes[runs], -np.arange(sizes.max(initial=0)))  # runs with an n-th symbol
        return runs, [self.symbols[self.starts[runs[:count]] + n].astype(np.int32) for n, count in enumerate(counts)]

    def maxima(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """(runs,) maximum of each run's symbols. values: (symbols,)."""
        runs, columns = self.columns
        best, maxima = values[columns[0]], np.empty(len(runs), values.dtype)
        for column in columns[1:]:
            np.maximum(best[: len(column)], values[column], out=best[: len(column)])
        maxima[runs] = best
        return maxima


def symbol_idf(members: Membership, count: int) -> NDArray[np.float32]:
    """(count,) idf(e) = ln(1 + runs / runs with e), scaled to a maximum of 1; 0 for a symbol without runs.

    Runs and maximum are the group's, so other groups have no influence.
    """
    frequency = np.bincount(members.symbols, minlength=count)
    idf = np.where(frequency > 0, np.log1p((len(members.starts) - 1) / np.maximum(frequency, 1)), 0)
    return (idf / idf.max()).astype(np.float32)


def coarse_scores(
    query_entities: Vectors,
    query_relations: Vectors,
    entities: Vectors,
    relations: Vectors,
    members: tuple[Membership, Membership],
    weights: tuple[float, float],
    idf: tuple[NDArray[np.float32] | None, NDArray[np.float32] | None] = (None, None),
) -> NDArray[np.float32]:
    """(runs,) w_ent max_ij cos(E(q)_i, E(f)_j) + w_rel max_pr cos(R(q)_p, R(f)_r) (equation of 2.4).

    One matrix product of query symbols and unique codebook symbols, then a maximum over each run's symbols. Entities
    or relations that the query lacks contribute 0.
    """
    total = np.zeros(len(members[0].starts) - 1, np.float32)
    sides = zip((query_entities, query_relations), (entities, relations), members, weights, idf, strict=True)
    for query, codebook, member, weight, scale in sides:
        if len(query) and weight:
            best = (query @ codebook.T).max(0)
            total += weight * member.maxima(best if scale is None else best * scale)
    return total


def edge_scores(
    query_entities: Vectors,
    query_relations: Vectors,
    entities: Vectors,
    relations: Vectors,
    edges: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]],
    weights: tuple[float, float],
) -> NDArray[np.float32]:
    """(edges,) w_ent / 2 (max_i cos(E(q)_i, h) + max_i cos(E(q)_i, t)) + w_rel max_p cos(R(q)_p, r).

    The compositional score of proposition 16, with the query symbol nearest to each part of an edge (h, r, t). Entities
    or relations that the query lacks contribute 0.
    """
    h, r, t = edges
    total = np.zeros(len(h), np.float32)
    if len(query_entities):
        best = (query_entities @ entities.T).max(0)
        total += weights[0] / 2 * (best[h] + best[t])
    if len(query_relations):
        total += weights[1] * (query_relations @ relations.T).max(0)[r]
    return total


def _sigmoid(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-x))


def _one_to_one(s: NDArray[np.float64], threshold: float) -> NDArray[np.float64]:
    """(k,) greedy 1:1 matches with cosine >= threshold: sum / sqrt(matches). s: (k, nq, nc), -inf for padding."""
    s, runs = s.copy(), np.arange(len(s))
    total, matches = np.zeros(len(s)), np.zeros(len(s))
    for _ in range(min(s.shape[1:])):
        flat = s.reshape(len(s), -1).argmax(1)
        row, column = np.divmod(flat, s.shape[2])
        best = s[runs, row, column]
        matched = best >= threshold
        if not matched.any():
            break
        total += np.where(matched, best, 0)
        matches += matched
        s[runs, row, :] = -np.inf
        s[runs, :, column] = -np.inf
    return total / np.sqrt(np.maximum(matches, 1))


def fine_scores(
    query_lines: Vectors, lines: Vectors, starts: NDArray[np.int64], cfg, whole: Callable[[], NDArray[np.float32]]
) -> dict[str, NDArray[np.float64]]:
    """The five terms of A.3 and their weighted sum `fine`, each (k,), for k candidate runs.

    query_lines: (nq, d); lines: (sum of run sizes, d), run i has lines[starts[i]:starts[i + 1]]; whole: returns the k
    cosines of the joined texts, called only if the term has weight. Thresholds apply to the cosines themselves.
    """
    sizes = np.diff(starts)
    k, nq, nc = len(sizes), len(query_lines), int(sizes.max())
    s = np.full((k, nq, nc), -np.inf)
    run = np.repeat(np.arange(k), sizes)
    s[run, :, np.arange(len(lines)) - starts[:-1][run]] = lines @ query_lines.T
    entries = np.sort(s.reshape(k, -1), axis=1)[:, ::-1][:, : cfg.top_t]
    valid = np.isfinite(entries)
    rel_top = np.where(valid, entries, 0).sum(1) / np.maximum(valid.sum(1), 1)
    covered = (s.max(2) >= cfg.tau_coverage).sum(1)
    coverage = covered / nq if cfg.coverage == "share" else covered.astype(float)
    soft = _sigmoid((s - cfg.tau_pairs) / cfg.t_pairs)  # padding is -inf: exactly 0
    pairs = np.log1p(soft.sum((1, 2)) / np.sqrt(nq * sizes))
    distinct = _one_to_one(s, cfg.tau_distinct)
    gate = np.zeros(k)
    if cfg.w_whole:
        cosine = whole().astype(float)
        gate = _sigmoid((cosine - cfg.tau_whole) / cfg.t_whole) * cosine / np.sqrt(sizes)
    fine = rel_top + cfg.w_coverage * coverage + cfg.w_pairs * pairs + cfg.w_distinct * distinct + cfg.w_whole * gate
    return {"rel_top": rel_top, "coverage": coverage, "pairs": pairs, "distinct": distinct, "whole": gate, "fine": fine}
