"""RAPTOR (Sarthi et al. 2024), written here after its paper, since no package of it is published.

Chunks are clustered softly (a Gaussian mixture over reduced vectors, the number of clusters by BIC; first all, then
each cluster by itself), each cluster is summarised, and again upwards. All nodes of the tree are searched at once, the
"collapsed tree". It differs in one point: vectors are reduced by principal components, not by UMAP, and components are spheres. In controlled mode
a summary is extractive: the first of its texts' passages.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from secateur.core.fields import key
from secateur.peers.adapters._client import Client, fitting
from secateur.peers.wire import Document, Extraction, Prompt, between

SPLITS = False
SUMMARISE = "Write a summary of the following, including as many key details as possible:"  # the paper, appendix D
ANSWER, QUESTION, PART = "Answer the question from the context.\nContext:\n", "\nQuestion: ", "\n\n"
SHARE = 0.28  # of its texts' passages that a summary keeps in controlled mode: of the length, in the paper (appendix C)


@dataclass(frozen=True)
class Settings:
    """The tree, and how much of it is read."""

    layers: int = key("summaries of summaries, at most", low=0)
    dimensions: int = key("to which vectors are reduced before they are clustered (section 3)", low=1)
    clusters: int = key("clusters at most, of all nodes or inside one cluster", low=1)
    threshold: float = key("probability from which a node belongs to a cluster too", low=0, high=1)
    tokens: int = key("tokens of the nodes that are read (section 4: 2,000)", low=1)


class Peer:
    """The tree, its nodes in one table."""

    def __init__(self, settings: Settings, folder: Path, url: str) -> None:
        self._settings, self._client = settings, Client(url)
        self._texts, self._vectors = folder / "nodes.json", folder / "vectors.npy"

    def index(self, documents: list[Document]) -> None:
        """The leaves, then layer by layer the summaries of clusters."""
        layer = [f"{one.title}\n{one.text}".strip() for one in documents]
        vectors = self._client.embed(layer)
        texts, all_vectors = [*layer], [vectors]
        for _ in range(self._settings.layers):
            if len(layer) <= self._settings.dimensions + 1:  # too few to be reduced and clustered
                break
            members = list(_clusters(vectors, self._settings))
            layer = [self._client.ask(f"{SUMMARISE}\n{PART.join(layer[n] for n in own)}") for own in members]
            vectors = self._client.embed(layer)
            texts += layer
            all_vectors.append(vectors)
        self._texts.write_text(json.dumps(texts), encoding="utf-8")
        np.save(self._vectors, np.concatenate(all_vectors))

    def ask(self, question: str) -> None:
        """The nodes that are nearest, as many as fit."""
        texts, vectors = json.loads(self._texts.read_text(encoding="utf-8")), np.load(self._vectors)
        order = np.argsort(-(vectors @ self._client.embed([question])[0]), kind="stable")
        read = fitting((texts[node] for node in order), self._settings.tokens)
        self._client.ask(f"{ANSWER}{PART.join(read)}{QUESTION}{question}")


def _clusters(vectors: NDArray[np.float32], settings: Settings) -> Iterator[list[int]]:
    """The members of each cluster: of all nodes first, then of those of one cluster."""
    for own in _mixture(vectors, settings):
        if len(own) <= settings.dimensions + 1:
            yield own
        else:
            yield from ([own[n] for n in inner] for inner in _mixture(vectors[own], settings))


def _mixture(vectors: NDArray[np.float32], settings: Settings) -> list[list[int]]:
    """The members of the components of the mixture with the best BIC; none is empty, each node is in one at least."""
    from sklearn.decomposition import PCA
    from sklearn.mixture import GaussianMixture

    size = min(settings.dimensions, len(vectors) - 1)
    reduced = PCA(size, random_state=0).fit_transform(vectors).astype(np.float64)
    most = min(settings.clusters, len(vectors) - 1)
    counts = sorted({max(1, round(most * share)) for share in (0.02, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)})
    made = [GaussianMixture(n, covariance_type="spherical", random_state=0).fit(reduced) for n in counts]
    belongs = min(made, key=lambda one: one.bic(reduced)).predict_proba(reduced)
    held = (belongs > settings.threshold) | (belongs == belongs.max(1, keepdims=True))
    return [own for column in held.T if (own := np.flatnonzero(column).tolist())]


def context(prompt: Prompt) -> list[str] | None:
    """The nodes that are read, nearest first."""
    if not prompt.last.startswith(ANSWER):
        return None
    return between(prompt.last, ANSWER, QUESTION).split(PART)


def reply(prompt: Prompt, extraction: Extraction) -> str | None:
    """Summaries of the first passages."""
    if context(prompt) is not None:
        return "Read by another."
    if prompt.last.startswith(SUMMARISE):
        said = list(dict.fromkeys(fact.said for fact in extraction.facts(prompt.last)))
        return " ".join(said[: max(1, round(len(said) * SHARE))]) or prompt.last.removeprefix(SUMMARISE).strip()
    return None
