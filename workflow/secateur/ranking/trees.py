"""Boosted decision trees as arrays: fitted by scikit-learn, kept and evaluated without it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

__all__ = ["Trees", "fitted"]

LEAF = -1  # in place of a child


@dataclass(frozen=True)
class Trees:
    """Several boosted ensembles, whose probabilities are averaged.

    feature, threshold, below, above, value: of each node; a leaf has no children, and the value that it adds to the log
    odds. roots: (ensembles, trees) nodes; base: (ensembles,) log odds before any tree.
    """

    feature: NDArray[np.int16]
    threshold: NDArray[np.float32]
    below: NDArray[np.int32]
    above: NDArray[np.int32]
    value: NDArray[np.float32]
    roots: NDArray[np.int32]
    base: NDArray[np.float32]

    def probabilities(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """(n,) mean probability of the ensembles. features: (n, features)."""
        node = np.broadcast_to(self.roots.ravel(), (len(features), self.roots.size))
        rows = np.arange(len(features))[:, None]
        while (inner := self.below[node] != LEAF).any():
            goes_below = features[rows, self.feature[node]] <= self.threshold[node]
            node = np.where(inner, np.where(goes_below, self.below[node], self.above[node]), node)
        summed = self.value[node].astype(float).reshape(len(features), *self.roots.shape).sum(2) + self.base
        return (1 / (1 + np.exp(-summed))).mean(1)

    def arrays(self, prefix: str) -> dict[str, NDArray]:
        """The arrays by name, for a file."""
        return {f"{prefix}.{part.name}": getattr(self, part.name) for part in fields(self)}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray], prefix: str) -> "Trees":
        """From the arrays of `arrays()`."""
        return cls(**{part.name: arrays[f"{prefix}.{part.name}"] for part in fields(cls)})


def fitted(features: NDArray[np.float32], labels: NDArray[np.bool_], seeds: Sequence[int], **settings) -> Trees:
    """Ensembles fitted to labels, one for each seed. settings: of scikit-learn's HistGradientBoostingClassifier."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    models = [HistGradientBoostingClassifier(random_state=seed, **settings).fit(features, labels) for seed in seeds]
    nodes, roots, at = [], [], 0
    for model in models:
        for (tree,) in model._predictors:
            part = tree.nodes.copy()
            children = part["is_leaf"] == 0
            part["left"][children] += at
            part["right"][children] += at
            nodes.append(part)
            roots.append(at)
            at += len(part)
    joined = np.concatenate(nodes)
    leaf = joined["is_leaf"] == 1
    return Trees(
        joined["feature_idx"].astype(np.int16),
        joined["num_threshold"].astype(np.float32),
        np.where(leaf, LEAF, joined["left"].astype(np.int64)).astype(np.int32),
        np.where(leaf, LEAF, joined["right"].astype(np.int64)).astype(np.int32),
        np.where(leaf, joined["value"], 0.0).astype(np.float32),
        np.array(roots, np.int32).reshape(len(models), -1),
        np.array([model._baseline_prediction.item() for model in models], np.float32),
    )
