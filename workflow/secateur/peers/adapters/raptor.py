"""RAPTOR (Sarthi et al. 2024), written here after its paper, since no package of it is published.

Chunks are clustered softly (a Gaussian mixture over reduced vectors, the number of clusters by BIC; first all, then
each cluster by itself), each cluster is summarised, and the summaries are clustered in turn. All nodes of the tree are
searched at once, the "collapsed tree". Unlike the paper, vectors are reduced by principal components, not by UMAP, and
components are spherical. In controlled mode a summary is extractive: the first of its texts' passages.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from secateur.core.fields import key
from secateur.peers.adapters._client import QUESTION, Client, answer_context, fitting, joined
from secateur.peers.wire import Document, Extraction, Prompt

SPLITS = False
SUMMARISE = "Write a summary of the following, including as many key details as possible:"  # the paper, appendix D
ANSWER = "Answer the question from the context.\nContext:\n"
SHARE = 0.28  # of passages in an extractive summary; in the paper, the share of the length (appendix C)


@dataclass(frozen=True)
class Settings:
    """The tree, and the size of the context."""

    layers: int = key("layers of summaries, at most", low=0)
    dimensions: int = key("dimensions of the vectors that are clustered (section 3)", low=1)
    clusters: int = key("clusters, at most, of all nodes or inside a cluster", low=1)
    threshold: float = key("probability above which a node belongs to a further cluster", low=0, high=1)
    tokens: int = key("tokens of the nodes in the context (section 4: 2,000)", low=1)


class Peer:
    """The tree, its nodes in one list."""

    def __init__(self, settings: Settings, folder: Path, url: str) -> None:
        self._settings, self._client = settings, Client(url)
        self._texts, self._vectors = folder / "nodes.json", folder / "vectors.npy"

    def index(self, documents: list[Document]) -> None:
        """Store the leaves, then layer by layer the summaries of clusters."""
        layer = [document.titled.strip() for document in documents]
        vectors = self._client.embed(layer)
        texts, all_vectors = [*layer], [vectors]
        for _ in range(self._settings.layers):
            if len(layer) <= self._settings.dimensions + 1:  # too few to cluster
                break
            clusters = list(_clusters(vectors, self._settings))
            layer = [self._client.ask(f"{SUMMARISE}\n{joined(layer[n] for n in cluster)}") for cluster in clusters]
            vectors = self._client.embed(layer)
            texts += layer
            all_vectors.append(vectors)
        self._texts.write_text(json.dumps(texts), encoding="utf-8")
        np.save(self._vectors, np.concatenate(all_vectors))

    def ask(self, question: str) -> None:
        """Answer from the nearest nodes, as many as fit."""
        texts, vectors = json.loads(self._texts.read_text(encoding="utf-8")), np.load(self._vectors)
        order = np.argsort(-(vectors @ self._client.embed([question])[0]), kind="stable")
        nodes = fitting((texts[node] for node in order), self._settings.tokens)
        self._client.ask(f"{ANSWER}{joined(nodes)}{QUESTION}{question}")


def _clusters(vectors: NDArray[np.float32], settings: Settings) -> Iterator[list[int]]:
    """The members of each cluster; a large cluster is clustered once more."""
    for members in _mixture(vectors, settings):
        if len(members) <= settings.dimensions + 1:
            yield members
        else:
            yield from ([members[n] for n in inner] for inner in _mixture(vectors[members], settings))


def _mixture(vectors: NDArray[np.float32], settings: Settings) -> list[list[int]]:
    """The members of each component of the mixture with the best BIC; no component is empty, no node without one."""
    from sklearn.decomposition import PCA
    from sklearn.mixture import GaussianMixture

    size = min(settings.dimensions, len(vectors) - 1)
    reduced = PCA(size, random_state=0).fit_transform(vectors).astype(np.float64)
    most = min(settings.clusters, len(vectors) - 1)
    counts = sorted({max(1, round(most * share)) for share in (0.02, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)})
    mixtures = [GaussianMixture(n, covariance_type="spherical", random_state=0).fit(reduced) for n in counts]
    probabilities = min(mixtures, key=lambda mixture: mixture.bic(reduced)).predict_proba(reduced)
    belongs = (probabilities > settings.threshold) | (probabilities == probabilities.max(1, keepdims=True))
    return [members for column in belongs.T if (members := np.flatnonzero(column).tolist())]


def context(prompt: Prompt) -> list[str] | None:
    """The nodes of an answering prompt, nearest first."""
    return answer_context(prompt, ANSWER)


def reply(prompt: Prompt, extraction: Extraction) -> str | None:
    """Summaries of the first passages of their texts."""
    if context(prompt) is not None:
        return "Read by another."
    if prompt.last.startswith(SUMMARISE):
        passages = list(dict.fromkeys(fact.passage for fact in extraction.facts(prompt.last)))
        return " ".join(passages[: max(1, round(len(passages) * SHARE))]) or prompt.last.removeprefix(SUMMARISE).strip()
    return None
