"""The pairs of near vectors among some tiles of all pairs: products of 8-bit codes of sketches say which may be near, fp32
which are."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from secateur.core.distinct import distinct_pairs

__all__ = ["ROUNDING", "Pairs", "Tile", "near_pairs"]

LEVELS = 127  # of codes, on each side of 0
ROUNDING = 1e-5  # of a cosine in fp32, whichever way it is summed
BLOCK = 4096  # rows coded at once
MANY = 10_000  # vectors from which it pays to look for the directions of a sketch
NEAR = 0.8  # cosine below which sketches let through too many pairs that lie further apart
SKETCH, SAMPLE = 128, 8192  # numbers of a sketch; vectors whose directions it takes

Vectors = NDArray[np.float32]  # (n, d)
Pairs = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]  # i < j, cosine
Tile = tuple[slice, NDArray[np.int64]]  # places that are compared with other places


def near_pairs(vectors: Vectors, order: NDArray[np.int64], tau: float, tiles: Iterable[Tile], scattered: bool) -> Pairs:
    """The pairs i < j with cosine >= tau in the tiles, once each, sorted by (i, j), exactly.

    vectors: (n, d) unit rows, which may be memory-mapped; order: a permutation, whose places the tiles are of; scattered:
    whether what a tile holds lies far apart for the most part, so that sketches tell it apart.
    """
    screen, found = _Screen.of(vectors, order, tau, scattered), [np.zeros((2, 0), np.int64)]
    for own, others in tiles:
        i, j = screen.passing(own, others)
        found.append(np.sort(np.stack([order[own][i], order[others[j]]]), axis=0)[:, own.start + i != others[j]])
    i, j = distinct_pairs(*np.concatenate(found, axis=1))
    parts = [slice(start, start + BLOCK) for start in range(0, len(i), BLOCK)]
    exact = [np.einsum("nd,nd->n", *(np.asarray(vectors[n[part]], np.float32) for n in (i, j))) for part in parts]
    cosine = np.concatenate([np.zeros(0, np.float32), *exact])
    near = cosine >= tau
    return i[near], j[near], cosine[near]


@dataclass(frozen=True)
class _Screen:
    """rows: what is multiplied, by place; least: the product of two rows from which their vectors may have cosine tau.

    Codes are a quarter of the vectors' bytes, and their products half as fast again as those of bfloat16. Which screen a
    CPU takes is not seen in what is left once cosines are computed in fp32.
    """

    rows: Any
    least: float
    coded: bool

    @classmethod
    def of(cls, vectors: Vectors, order: NDArray[np.int64], tau: float, scattered: bool) -> "_Screen":
        """With v = (c + e) / s, c whole: |v_i v_j - c_i c_j / s^2| <= |e_i|/s + |e_j|/s + |e_i||e_j|/s^2 (Cauchy-Schwarz), for
        vectors of length 1 at most, or sketches of them."""
        import torch

        near = scattered and tau >= NEAR
        sketch, width = _sketch(vectors, order) if near else (lambda rows: rows, vectors.shape[1])

        def parts() -> Iterator[NDArray[np.float32]]:
            for start in range(0, len(order), BLOCK):
                yield sketch(np.asarray(vectors[order[start : start + BLOCK]], np.float32))

        if not len(order) or not _multiplies_codes():
            rows, start = np.empty((len(order), width), np.float32), 0
            for part in parts():
                rows[start : start + len(part)] = part
                start += len(part)
            return cls(torch.from_numpy(rows), tau - ROUNDING, False)
        scale = np.float32(LEVELS / max(float(np.abs(part).max()) for part in parts()))
        codes, error, start = np.empty((len(order), width), np.int8), 0.0, 0
        for part in parts():
            whole = np.rint(part * scale)
            error = max(error, float(np.linalg.norm(part * scale - whole, axis=1).max() / scale))
            codes[start : start + len(part)] = whole
            start += len(part)
        return cls(torch.from_numpy(codes), (tau - error * (2 + error) - ROUNDING) * float(scale) ** 2, True)

    def passing(self, own: slice, others: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Of the pairs that may be near: which of `own`, and which of `others`."""
        import torch

        product = (torch._int_mm if self.coded else torch.mm)(self.rows[own], self.rows[others].T)
        hit = torch.nonzero(product.amax(1) >= self.least).ravel()  # few rows have a neighbour in most tiles
        i, j = torch.nonzero(product[hit] >= self.least, as_tuple=True)
        return hit[i].numpy(), j.numpy()


def _sketch(vectors: Vectors, order: NDArray[np.int64]) -> tuple[Callable[[Vectors], Vectors], int]:
    """What makes sketches of rows, and how many numbers one has: the coordinates a along the directions in which a sample
    has most of its length, and the length t of the rest, so that v_i v_j <= a_i a_j + t_i t_j (Cauchy-Schwarz). Few
    vectors, and short ones, are their own sketches.
    """
    count, width = len(order), vectors.shape[1]
    if count < MANY or width <= 2 * SKETCH:
        return lambda rows: rows, width
    sample = np.asarray(vectors[order[:: max(1, count // SAMPLE)]], np.float64)
    axes = np.linalg.eigh(sample.T @ sample)[1][:, 1 - SKETCH :].astype(np.float32)

    def sketch(rows: Vectors) -> Vectors:
        along = rows @ axes
        rest = np.maximum(1 - (along * along).sum(1, keepdims=True), 0)
        return np.concatenate([along, np.sqrt(rest + ROUNDING)], axis=1)  # rounding may not make it shorter than it is

    return sketch, SKETCH


def _multiplies_codes() -> bool:
    """Whether the CPU multiplies 8-bit numbers into 32-bit sums: without, a product may overflow, and is slower."""
    import torch

    return torch.cpu.get_capabilities().get("avx512_vnni", False)
