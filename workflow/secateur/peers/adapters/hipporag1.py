"""HippoRAG (Gutiérrez et al., NeurIPS 2024), reimplemented from the paper: its code is in no package.

Index: a model names the entities of a passage, then extracts triples with them; heads and tails are the phrase nodes.
Edges are triples and pairs of phrases with similar vectors. Question: a model names its entities, each is linked to the
phrase with the nearest vector, and personalised PageRank restarts at these, rare phrases first (node specificity). A
passage's score is the mass of its phrases, each counted once for every triple that names it (section 2.3). No passage is
a node, and no vector of a passage is read. Where the paper is silent it does as its authors' public code: phrases in lower
case without punctuation, edges weighted by the number of their triples or by their cosine, and passages in the order of
the corpus where no entity is named. Prompts are ours, without their examples.
"""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from secateur.core.fields import key
from secateur.core.pagerank import masses, transitions
from secateur.peers.adapters._client import QUESTION, Client, answer_context, joined
from secateur.peers.wire import Document, Extraction, Prompt, entity_passages

SPLITS = False  # it indexes each document as one passage
ENTITIES = 'Name the entities of the paragraph as JSON: {"named_entities": [...]}\nParagraph:\n'
TRIPLES = (
    'Write the paragraph as triples in JSON, each with one of the entities: {"triples": [[head, relation, tail]]}\n'
)
ASKED = 'Name the entities of the question as JSON: {"named_entities": [...]}\nQuestion: '
ANSWER = "Answer the question from the passages.\nPassages:\n"
SPOKEN = 3  # letters and digits of the shortest phrase with synonyms
BLOCK = 1024  # phrases compared at once


@dataclass(frozen=True)
class Settings:
    """The graph, its walk, and the size of the context."""

    synonyms: float = key("cosine from which on two phrases have an edge", low=-1, high=1)
    neighbours: int = key("synonyms of a phrase, at most", low=0)
    damping: float = key("probability of a step; else the walker restarts", low=0, high=0.99)
    qa_top_k: int = key("passages in the prompt that it answers from", low=1)


class Peer:
    """Passages, phrases with their vectors, edges, and the triples of each passage that name a phrase."""

    def __init__(self, settings: Settings, folder: Path, url: str) -> None:
        self._settings, self._folder, self._client = settings, folder, Client(url)

    def index(self, documents: list[Document]) -> None:
        """Store the graph. Raises ValueError where no passage has a triple."""
        from scipy.sparse import save_npz

        passages = [document.titled.strip() for document in documents]
        triples = [self._triples(passage) for passage in passages]
        phrases = sorted({phrase for facts in triples for head, _, tail in facts for phrase in (head, tail)})
        if not phrases:
            raise ValueError("no triple in any passage")
        vectors = self._client.embed(phrases)
        edges, counts = graph(triples, phrases, vectors, self._settings)
        texts = {"passages": passages, "phrases": phrases}
        (self._folder / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
        np.save(self._folder / "vectors.npy", vectors)
        save_npz(self._folder / "edges.npz", edges)
        save_npz(self._folder / "counts.npz", counts)

    def ask(self, question: str) -> None:
        """Link, walk, and answer from the best passages."""
        from scipy.sparse import load_npz

        texts = json.loads((self._folder / "texts.json").read_text(encoding="utf-8"))
        vectors, counts = np.load(self._folder / "vectors.npy"), load_npz(self._folder / "counts.npz")
        named = _phrases(_read(self._client.ask(f"{ASKED}{question}"), "named_entities"))
        scores = np.zeros(len(texts["passages"]))
        if named:
            linked = (self._client.embed(named) @ vectors.T).argmax(1)
            steps = transitions(load_npz(self._folder / "edges.npz"))
            mass = masses(steps, restart(counts, linked), self._settings.damping)
            scores = counts @ mass
        best = np.argsort(-scores, kind="stable")[: self._settings.qa_top_k]
        self._client.ask(f"{ANSWER}{joined(texts['passages'][n] for n in best)}{QUESTION}{question}")

    def _triples(self, passage: str) -> list[tuple[str, ...]]:
        """The distinct triples of a passage, cleaned; a malformed one is left out."""
        entities = json.dumps({"named_entities": _read(self._client.ask(f"{ENTITIES}{passage}"), "named_entities")})
        rows = _read(self._client.ask(f"{TRIPLES}Entities: {entities}\nParagraph:\n{passage}"), "triples")
        cleaned = [tuple(map(cleaned_phrase, row)) for row in rows if isinstance(row, list) and len(row) == 3]
        return [facts for facts in dict.fromkeys(cleaned) if facts[0] and facts[2]]


def cleaned_phrase(phrase: object) -> str:
    """Lower case, letters and digits of any script alone.

    >>> cleaned_phrase("Kent (1999)!")
    'kent 1999'
    """
    return " ".join(re.findall(r"[^\W_]+", str(phrase).lower()))


def _phrases(names: Sequence) -> list[str]:
    return list(dict.fromkeys(filter(None, map(cleaned_phrase, names))))


def _read(reply: str, name: str) -> list:
    """A list of the JSON object in a model's reply; empty, and said in the log, where there is none."""
    try:
        rows = json.loads(reply[reply.index("{") : reply.rindex("}") + 1])[name]
    except (ValueError, KeyError):
        rows = None
    if not isinstance(rows, list):
        print(f"no list {name} in a reply: {reply[:200]!r}")
    return rows if isinstance(rows, list) else []


def graph(triples: Sequence[Sequence[tuple]], phrases: list[str], vectors: NDArray[np.float32], settings: Settings):
    """(edges, counts): sparse (phrases, phrases) symmetric weights, and (passages, phrases) numbers of triples."""
    from scipy.sparse import csr_array

    node = {phrase: n for n, phrase in enumerate(phrases)}
    size = len(phrases)
    weights, counts = Counter(), Counter()
    for passage, facts in enumerate(triples):
        for head, _, tail in facts:
            ends = node[head], node[tail]
            counts.update((passage, end) for end in {*ends})
            weights.update([ends, ends[::-1]])
    linked = dict(weights) | _synonyms(phrases, vectors, settings)  # a synonym's cosine replaces the number of triples
    edges = _sparse({pair: weight for pair, weight in linked.items() if pair[0] != pair[1]}, (size, size))
    return csr_array(edges + edges.T), _sparse(counts, (len(triples), size))


def _synonyms(phrases: list[str], vectors: NDArray[np.float32], settings: Settings) -> dict[tuple[int, int], float]:
    """The cosine of each phrase and its nearest ones, from `synonyms` on."""
    pairs = {}
    for start in range(0, len(phrases), BLOCK):
        near = vectors[start : start + BLOCK] @ vectors.T
        for row, cosines in enumerate(near, start):
            cosines[row] = -2
            candidates = np.flatnonzero(cosines >= settings.synonyms)
            order = candidates[np.argsort(-cosines[candidates], kind="stable")][: settings.neighbours]
            if len(phrases[row].replace(" ", "")) >= SPOKEN:
                pairs |= {(row, other): float(cosines[other]) for other in order.tolist()}
    return pairs


def _sparse(values: dict[tuple[int, int], float], shape: tuple[int, int]):
    from scipy.sparse import csr_array

    rows, columns = np.array(list(values), int).reshape(-1, 2).T
    return csr_array((np.array(list(values.values()), float), (rows, columns)), shape=shape)


def restart(counts, linked: Sequence[int]) -> NDArray[np.float64]:
    """Restart probabilities: each linked phrase by one over the number of passages with it."""
    weights = np.zeros(counts.shape[1])
    weights[linked] = 1 / np.bincount(counts.indices, minlength=counts.shape[1])[linked]
    return weights / weights.sum()


def context(prompt: Prompt) -> list[str] | None:
    """The passages of an answering prompt, best first."""
    return answer_context(prompt, ANSWER)


def reply(prompt: Prompt, extraction: Extraction) -> str | None:
    """The extraction in its format; the entities of a question are its phrases."""
    if context(prompt) is not None:
        return "Read by another."
    if prompt.last.startswith(ASKED):
        return json.dumps({"named_entities": extraction.phrases(prompt.last.removeprefix(ASKED))})
    facts = extraction.facts(prompt.last)
    if prompt.last.startswith(ENTITIES):
        return json.dumps({"named_entities": list(entity_passages(facts))})
    if prompt.last.startswith(TRIPLES):
        return json.dumps({"triples": [[fact.head, fact.relation, fact.tail] for fact in facts]})
    return None
