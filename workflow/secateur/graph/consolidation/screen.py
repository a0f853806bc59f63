"""Pairs of near vectors among tiles of all pairs: screened by products of 8-bit codes, decided in fp32."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from secateur.core.distinct import distinct_pairs

__all__ = ["ROUNDING", "Pairs", "Tile", "near_pairs"]

LEVELS = 127  # largest code
ROUNDING = 1e-5  # largest error of a cosine in fp32, whatever the order of summation
BLOCK = 4096  # rows per step
MANY = 10_000  # vectors from which sketches pay
NEAR = 0.8  # cosine below which sketches pass too many pairs
SKETCH, SAMPLE = 128, 8192  # dimensions of a sketch; vectors from which its axes are computed

Vectors = NDArray[np.float32]  # (n, d)
Pairs = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]  # i < j, cosine
Tile = tuple[slice, NDArray[np.int64]]  # places to compare with other places


def near_pairs(vectors: Vectors, order: NDArray[np.int64], tau: float, tiles: Iterable[Tile], scattered: bool) -> Pairs:
    """Pairs i < j with cosine >= tau in the tiles, exact, once each, sorted by (i, j).

    vectors: (n, d) unit rows, which may be memory-mapped; order: a permutation, whose places the tiles index; scattered:
    whether most vectors of a tile are far apart, so that sketches separate them.
    """
    screen = _Screen.of(vectors, order, tau, scattered)
    candidates = [np.zeros((2, 0), np.int64)]
    for places, others in tiles:
        i, j = screen.passing(places, others)
        pairs = np.sort(np.stack([order[places][i], order[others[j]]]), axis=0)
        candidates.append(pairs[:, places.start + i != others[j]])
    i, j = distinct_pairs(*np.concatenate(candidates, axis=1))
    blocks = [slice(start, start + BLOCK) for start in range(0, len(i), BLOCK)]
    exact = [np.einsum("nd,nd->n", *(np.asarray(vectors[n[part]], np.float32) for n in (i, j))) for part in blocks]
    cosine = np.concatenate([np.zeros(0, np.float32), *exact])
    near = cosine >= tau
    return i[near], j[near], cosine[near]


@dataclass(frozen=True)
class _Screen:
    """rows: codes or vectors by place; least: smallest product of two rows whose vectors may have cosine tau.

    Codes take a quarter of the vectors' bytes, and their products are 1.5 times as fast as in bfloat16. The final pairs
    do not depend on the screen, since cosines are recomputed in fp32.
    """

    rows: Any
    least: float
    coded: bool

    @classmethod
    def of(cls, vectors: Vectors, order: NDArray[np.int64], tau: float, scattered: bool) -> "_Screen":
        """The screen of vectors, or sketches, of length 1 at most.

        With v = (c + e) / s and integer codes c, |v_i v_j - c_i c_j / s^2| <= |e_i|/s + |e_j|/s + |e_i||e_j|/s^2
        (Cauchy-Schwarz).
        """
        import torch

        near = scattered and tau >= NEAR
        sketch, width = _sketch(vectors, order) if near else (lambda rows: rows, vectors.shape[1])

        def blocks() -> Iterator[NDArray[np.float32]]:
            for start in range(0, len(order), BLOCK):
                yield sketch(np.asarray(vectors[order[start : start + BLOCK]], np.float32))

        if not len(order) or width == 1 or not _multiplies_codes():  # of one column torch 2.13 gives what memory held
            rows, start = np.empty((len(order), width), np.float32), 0
            for part in blocks():
                rows[start : start + len(part)] = part
                start += len(part)
            return cls(torch.from_numpy(rows), tau - ROUNDING, False)
        scale = np.float32(LEVELS / max(float(np.abs(part).max()) for part in blocks()))
        codes, error, start = np.empty((len(order), width), np.int8), 0.0, 0
        for part in blocks():
            rounded = np.rint(part * scale)
            error = max(error, float(np.linalg.norm(part * scale - rounded, axis=1).max() / scale))
            codes[start : start + len(part)] = rounded
            start += len(part)
        return cls(torch.from_numpy(codes), (tau - error * (2 + error) - ROUNDING) * float(scale) ** 2, True)

    def passing(self, places: slice, others: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Pairs that may be near, as indices into `places` and `others`."""
        import torch

        product = (torch._int_mm if self.coded else torch.mm)(self.rows[places], self.rows[others].T)
        hit = torch.nonzero(product.amax(1) >= self.least).ravel()  # in most tiles few rows have a neighbour
        i, j = torch.nonzero(product[hit] >= self.least, as_tuple=True)
        return hit[i].numpy(), j.numpy()


def _sketch(vectors: Vectors, order: NDArray[np.int64]) -> tuple[Callable[[Vectors], Vectors], int]:
    """(function that sketches rows, dimensions of a sketch); the identity for few or short vectors.

    A sketch holds the coordinates a along the principal axes of a sample, and the length t of the rest, so that
    v_i v_j <= a_i a_j + t_i t_j (Cauchy-Schwarz).
    """
    count, width = len(order), vectors.shape[1]
    if count < MANY or width <= 2 * SKETCH:
        return lambda rows: rows, width
    sample = np.asarray(vectors[order[:: max(1, count // SAMPLE)]], np.float64)
    axes = np.linalg.eigh(sample.T @ sample)[1][:, 1 - SKETCH :].astype(np.float32)

    def sketch(rows: Vectors) -> Vectors:
        along = rows @ axes
        remainder = np.maximum(1 - (along * along).sum(1, keepdims=True), 0)
        return np.concatenate([along, np.sqrt(remainder + ROUNDING)], axis=1)  # rounding must not shorten it

    return sketch, SKETCH


def _multiplies_codes() -> bool:
    """True if the CPU multiplies 8-bit numbers into 32-bit sums (AVX-512 VNNI); without, products may overflow."""
    import torch

    return torch.cpu.get_capabilities().get("avx512_vnni", False)
