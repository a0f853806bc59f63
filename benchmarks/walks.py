"""Walks over the multi-hop sets of a mirror (SECATEUR_MIRROR): what they find, cross-fitted, and what they cost.

R@5 of the shipped settings, and of settings drawn and chosen on the other four folds of all sets together (folds by hash
of the question), as many draws for each. `named_two_step` and `requery` differ by the walk's steps alone. Then CPU seconds of the index and of a question. All rank
from the same base, the sum of z-scores of BM25 (title and text) and cosine; no triple is needed.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
from harness import Figure, cpu_seconds, mirrored, publish

from secateur.config import compose, plugins
from secateur.evaluation.folds import folds_of
from secateur.evaluation.resampling import paired
from secateur.evaluation.retrieval import by_hop
from secateur.graph.walks import beam, pagerank
from secateur.models.embedder import Embedder
from secateur.ranking.group import Group, Questions, scores_of, z_scores
from secateur.ranking.mentions import mentions_of
from secateur.ranking.passage_graph import PassageGraph
from secateur.ranking.scorers import dense, requery, two_step, zsum

ROOT = Path(__file__).resolve().parent.parent
SETS = ("hotpotqa", "2wikimultihopqa", "musique")
DRAWS, FOLDS, CUTOFF, SEED = int(os.environ.get("DRAWS", "40")), 5, 5, 7
SENTENCES, RATE, ASKED = 14_000, 200, 64  # of the walk by PageRank; questions that are timed
WEIGHTS = (1.0, 1.5, 2.0)  # of the cosine
Recalls = dict[tuple[str, str | None], dict[str, float]]  # (set, hop) -> question -> R@5
TWO_STEP = {
    "lines": (1, 2, 3, 5),
    "adds": ("names", "text"),
    "weight": (0.5, 1.0, 2.0, 4.0, 6.0, 10.0),
    "decay": (0.0, 0.3, 0.6),
}
NAMED = {"named": (3.0, 6.0, 10.0, 14.0)}
RANKERS = {"two_step": two_step, "named_two_step": two_step, "requery": requery}  # the others start from a base ranking
SPACE = {
    "beam": {
        "width": (5, 10, 20),
        "depth": (1, 2),
        "step": (6.0, 9.0, 12.0, 14.0, 18.0),
        "mention": (0.3, 0.5, 0.7),
        "rest": (0.0, 0.03, 0.1, 0.2),
        "decay": (0.3, 0.5, 0.8),
        "fade": (0.6, 0.8, 1.0),
        "named": (3.0, 6.0, 10.0, 14.0),
        "anchor": (0.0, 0.2, 0.4, 0.6),
    },
    "two_step": TWO_STEP,
    "named_two_step": TWO_STEP | NAMED,
    "requery": TWO_STEP
    | NAMED
    | {
        "width": (3, 5, 8),
        "step": (2.0, 3.0, 5.0, 7.0),
        "mention": (0.3, 0.5, 0.8),
        "entities": (4, 8),
        "fade": (0.0, 0.5, 1.0),
    },
    "pagerank": {
        "linked": (3, 5, 10),
        "damping": (0.4, 0.5, 0.6, 0.75),
        "passages": (0.02, 0.05, 0.2),
        "sharpness": (0.5, 1.0, 2.0),
        "weight": (1.0, 2.0, 4.0, 8.0),
    },
}


def option(group: str, name: str):
    return compose.option(ROOT / "conf", group, name)


@dataclass(frozen=True)
class Tried:
    """A way to rank: its settings, and the cosine's weight beside BM25 in what it starts from."""

    kind: str
    settings: Any
    weight: float


@dataclass(frozen=True)
class Set:
    """A set in memory. gold: hop (None: all) -> question id -> documents."""

    name: str
    group: Group
    texts: list[str]
    ids: list[str]
    gold: Mapping[str | None, Mapping[str, frozenset[int]]]
    passages: pl.DataFrame
    mentions: pl.DataFrame

    @cached_property
    def parts(self) -> tuple[np.ndarray, np.ndarray]:
        """z-scores of BM25 over title and text, and of the cosine."""
        asked = Questions(self.texts)
        spec = option("rankers", "multihop").scorers["title_zsum"]["lexical"]
        return z_scores(scores_of(spec, "lexical", self.group, asked, SEED)), z_scores(
            dense.score(dense.Settings(), self.group, asked, SEED)
        )

    def base(self, weight: float, count: int | None = None) -> np.ndarray:
        """What a walk starts from: the cosine weighs so much beside BM25."""
        words, cosine = self.parts
        return z_scores(words[:count] + weight * cosine[:count])

    @cached_property
    def graph(self) -> PassageGraph:
        places = {p: n for n, p in enumerate(self.group.ids)}
        fields = [f"{title} {text}" for title, text in zip(self.group.titles, self.group.texts, strict=True)]
        return PassageGraph.of(
            self.mentions, places, self.group.docs, fields, SimpleNamespace(k1=1.2, b=0.75, phrases=False)
        )

    def recall(self, scores: np.ndarray, hop: str | None = None) -> dict[str, float]:
        """question -> share of its gold articles among the first `CUTOFF` articles."""
        found = {}
        for row, qid in enumerate(self.ids):
            gold = self.gold[hop].get(qid)
            if gold:
                order = self.group.docs[np.argsort(-scores[row], kind="stable")]
                first = list(dict.fromkeys(order[: 50 * CUTOFF].tolist()))[:CUTOFF]
                found[qid] = len(gold & set(first)) / len(gold)
        return found


def load(name: str, naming, embedder: Embedder) -> Set:
    """A set of the mirror."""
    passages, asked = mirrored(option("dataset", name), name)
    names, docs = np.unique(passages["doc_id"].to_numpy(), return_inverse=True)
    place = {doc: n for n, doc in enumerate(names.tolist())}
    gold = {}
    for hop, articles in by_hop(asked.evidence, passages.select("passage_id", "doc_id")):
        parts = articles.group_by("question_id").agg("doc_id")
        gold[hop] = {qid: frozenset(place[doc] for doc in own) for qid, own in parts.iter_rows()}
    group = Group(
        passages["text"].to_list(),
        passages["title"].fill_null("").to_list(),
        docs,
        embedder.embed,
        passages["passage_id"].to_list(),
    )
    questions = asked.questions
    return Set(
        name, group, questions["text"].to_list(), questions["question_id"].to_list(), gold,
        passages, mentions_of(passages, {}, naming),
    )  # fmt: skip


def shipped(kind: str) -> Tried:
    """The settings of an option, and the cosine's weight in what it starts from."""
    if kind in RANKERS:
        spec = option("rankers", "multihop").scorers[kind]
        return Tried(kind, plugins.settings("ranker", spec, "conf/rankers", kind), spec["dense"])
    own = option("retriever", kind)
    return Tried(kind, plugins.settings("walk", own.walk, "conf/retriever", "walk"), own.w_dense)


def drawn(first: Tried, rng: np.random.Generator) -> Tried:
    """Settings around the shipped ones."""
    space = SPACE[first.kind]
    changed = {key: values[rng.integers(len(values))] for key, values in space.items()}
    weight = WEIGHTS[rng.integers(len(WEIGHTS))]
    more = {"dense": weight} if first.kind in RANKERS else {}
    return Tried(first.kind, replace(first.settings, **changed, **more), weight)


def ranked(tried: Tried, one: Set, count: int | None = None) -> np.ndarray:
    """Scores of the first `count` questions of a set, of all by default."""
    if tried.kind in RANKERS:
        return RANKERS[tried.kind].score(tried.settings, one.group, Questions(one.texts[:count]), SEED)
    walk = beam.walk if tried.kind == "beam" else pagerank.walk
    return walk(tried.settings, one.graph, one.texts[:count], one.base(tried.weight, count))[0]


def crossfitted(sets: list[Set], tried: list[Tried]) -> Recalls:
    """Each question under the settings that were the best, mean of the sets, on the other four folds of all of them."""
    every = [recalls(sets, lambda one, t=t: ranked(t, one)) for t in tried]
    fold = {
        qid: k for one in sets for qid, k in zip(one.ids, folds_of(one.ids, one.ids, 10, FOLDS).tolist(), strict=True)
    }
    best = {}
    for k in range(FOLDS):
        means = [
            np.mean([np.mean([v for q, v in own[one.name, None].items() if fold[q] != k]) for one in sets])
            for own in every
        ]
        best[k] = int(np.argmax(means))
        chosen = tried[best[k]]
        space = {key: getattr(chosen.settings, key) for key in SPACE[chosen.kind]}
        print(f"{chosen.kind}, fold {k}:", space | {"cosine": chosen.weight}, flush=True)
    return {key: {qid: every[best[fold[qid]]][key][qid] for qid in own} for key, own in every[0].items()}


def recalls(sets: list[Set], scores: Callable[[Set], np.ndarray]) -> Recalls:
    """R@5 of one ranking."""
    made = {one.name: scores(one) for one in sets}
    return {(one.name, hop): one.recall(made[one.name], hop) for one in sets for hop in one.gold}


def rows_of(name: str, found: Recalls) -> list[Figure]:
    """Means, with what stands behind them."""
    unit = f"R@{CUTOFF}"
    return [
        Figure(
            f"{of} {hop or 'all'}: {name} (n {len(own)})", float(np.mean([*own.values()])), unit, None, None, None, None
        )
        for (of, hop), own in found.items()
    ]


def minus(name: str, one: Recalls, other: Recalls) -> list[Figure]:
    """Paired differences, with their intervals and p in the name of the row."""
    rows = []
    for (of, hop), own in one.items():
        difference = np.array([[own[qid] - other[of, hop][qid]] for qid in own])
        test = paired(difference, np.arange(len(own)), 10_000, 0.95, SEED)
        said = f"({test.low[0]:+.3f} to {test.high[0]:+.3f}), p {test.p[0]:.4f}, n {len(own)}"
        rows.append(Figure(f"{of} {hop or 'all'}: {name} {said}", test.mean[0], f"R@{CUTOFF}", None, None, None, None))
    return rows


def plain(one: Set, count: int) -> np.ndarray:
    """The plain ranking of the first `count` questions, computed anew; its vectors are known."""
    spec = option("rankers", "multihop").scorers["title_zsum"]
    settings = plugins.settings("ranker", spec, "conf/rankers", "title_zsum")
    return zsum.score(settings, one.group, Questions(one.texts[:count]), SEED)


def costs(sets: list[Set], naming, kept: Mapping[str, Tried]) -> list[Figure]:
    """CPU time of the index and of a question, and questions a second of PageRank on as many sentences as is aimed for."""
    rows = []
    for one in sets:
        size = len(one.group.texts)
        (index,) = cpu_seconds(lambda one=one: mentions_of(one.passages, {}, naming), repeats=1)
        rows.append(Figure(f"{one.name}: names of {size} passages", index, "CPU s", None, None, None, None))
        again = [lambda t=t, one=one: ranked(t, one, ASKED) for t in kept.values()]
        base, *taken = (1000 / ASKED * s for s in cpu_seconds(lambda one=one: plain(one, ASKED), *again))
        for kind, each in zip(kept, taken, strict=True):
            name = f"{one.name}: {kind}, {size} passages"
            rows.append(Figure(name, each, "CPU ms a question", "plain z-sum", base, None, None))
            if kind == "pagerank" and size >= SENTENCES:
                rows.append(Figure(f"{name}, rate", 1000 / each, "questions a CPU second", None, None, RATE, ">="))
    return rows


def main() -> None:
    """All figures."""
    if "SECATEUR_MIRROR" not in os.environ:
        print("Nothing is measured: set SECATEUR_MIRROR to a folder with the multi-hop sets.")
        return
    naming = option("consolidation", "default")
    cache = Path(os.environ.get("SECATEUR_CACHE", ROOT / ".cache"))
    sets = [load(name, naming, Embedder(option("embedder", "minilm"), cache)) for name in SETS]
    kept = {kind: shipped(kind) for kind in SPACE}
    rows = rows_of("plain z-sum", recalls(sets, lambda one: one.base(1.0)))
    for kind, tried in kept.items():
        rows += rows_of(f"{kind}, shipped", recalls(sets, lambda one, t=tried: ranked(t, one)))
    rng, found = np.random.default_rng(SEED), {}
    for kind, first in kept.items():
        found[kind] = crossfitted(sets, [first, *(drawn(first, rng) for _ in range(DRAWS))])
        rows += rows_of(f"{kind}, cross-fitted", found[kind])
    pairs = [("beam", "two_step"), ("beam", "pagerank"), ("beam", "named_two_step"), ("requery", "named_two_step")]
    for one, other in pairs:
        rows += minus(f"{one} minus {other}, cross-fitted", found[one], found[other])
    publish("walks", rows + costs(sets, naming, kept))


if __name__ == "__main__":
    main()
