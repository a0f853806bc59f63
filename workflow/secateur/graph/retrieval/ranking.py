"""A group's passages, made ready once to be ranked by the graph for any questions."""

from collections.abc import Sequence
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from secateur.config import plugins
from secateur.contexts.channels import apply_action
from secateur.core.layout import NONE
from secateur.core.tables.vectors import Packed
from secateur.graph.retrieval.candidates import Book, GroupRuns, Symbols, coarse_of, fine_of
from secateur.graph.retrieval.passages import Standing, smoothed, source_scores
from secateur.graph.walkable import NOBODY, Walkable
from secateur.ranking.bm25 import Bm25
from secateur.ranking.group import Scores, top

__all__ = ["GraphRanking", "candidates_of", "lines_of", "paths_of", "ranked"]

EPS = 1e-12


class GraphRanking:
    """What ranks the passages of one group, whatever is asked.

    cfg: the retriever; neighbour: share of the better neighbour's score; passages: of one group; book and run_edges: of its
    graph; mentions: of its entities, where the retriever walks.
    """

    def __init__(
        self,
        cfg,
        neighbour: float,
        passages: pl.DataFrame,
        book: Book,
        run_edges: pl.DataFrame,
        mentions: pl.DataFrame | None,
        embedder,
    ) -> None:
        own = passages.sort("doc_id", "position")
        self.cfg, self.neighbour, self.book, self.embedder, self.mentions = cfg, neighbour, book, embedder, mentions
        self.ids, self.sentences = own["passage_id"].to_list(), own["text"].to_list()
        titles = own["title"].fill_null("").to_list()
        self.titled = [f"{title} {text}" for title, text in zip(titles, self.sentences, strict=True)]
        _, self.docs = np.unique(own["doc_id"].to_numpy(), return_inverse=True)
        places = {p: n for n, p in enumerate(self.ids)}
        self.runs_of = run_edges.filter(pl.col("passage_id").is_in(self.ids)).sort("run_id", "n")
        weighted = cfg.coarse == "idf_maxpair"
        self.group = GroupRuns(book, self.runs_of, places, weighted) if self.runs_of.height else None

    @cached_property
    def vectors(self) -> NDArray[np.float32]:
        """Of the passages."""
        return self.embedder.embed(self.sentences)

    @cached_property
    def words(self) -> Bm25:
        """BM25 over the passages, with their titles where the option says so."""
        return Bm25(self.titled if self.cfg.title else self.sentences, self.cfg.k1, self.cfg.b)

    @cached_property
    def walkable(self) -> Walkable:
        """The passages as a graph of what they mention."""
        return Walkable.of(self.mentions, {p: n for n, p in enumerate(self.ids)}, self.docs, self.titled, self.cfg)

    @cached_property
    def lines(self) -> tuple[Packed, Standing]:
        """The lines of the group's runs: vectors, and which of them stand in which passage."""
        edges, local = np.unique(self.group.edge_passages[0], return_inverse=True)
        return self.book.lines.at(edges), Standing.of(local, self.group.edge_passages[1])

    @cached_property
    def runs(self) -> Standing:
        """Which of the group's runs stand in which passage."""
        return Standing.of(*self.group.passages)

    @property
    def run_count(self) -> int:
        """The group's runs."""
        return len(self.group.ids) if self.group else 0

    def coarse(self, texts: Sequence[str], symbols: Sequence[Symbols]) -> Scores | None:
        """(questions, runs) coarse scores; None where the group has no run."""
        return coarse_of(self.cfg, self.book, self.group, symbols, texts, self.embedder) if self.group else None

    def scores(self, texts: Sequence[str], coarse: Scores | None) -> tuple[Scores, NDArray[np.int64] | None]:
        """(questions, passages) scores, and the place of the passage that each was reached from where the option walks."""
        lexical = self.words.scores(texts) if self.cfg.w_bm25 else np.zeros((len(texts), len(self.ids)))
        scores = source_scores(self.cfg, lexical, self._signals(texts, coarse))
        scores = smoothed(scores, self.docs, self.neighbour)
        return (scores, None) if self.cfg.walk == NONE else self._walked(texts, scores)

    def _signals(self, texts: Sequence[str], coarse: Scores | None) -> dict[str, Scores]:
        """What ranks sentences besides BM25: their cosine, their best run's coarse score, their best line's cosine."""
        found, count = {}, len(self.ids)
        if self.cfg.w_dense:
            found["dense"] = (self.embedder.embed(texts) @ self.vectors.T).astype(float)
        if self.group and self.cfg.w_run:
            found["run"] = self.runs.best(coarse, count)
        if self.group and self.cfg.w_line:
            vectors, standing = self.lines
            found["line"] = standing.best(vectors.products(self.embedder.embed(texts)), count)
        return found

    @cached_property
    def walk(self) -> tuple[ModuleType, Any]:
        """The kind of the option's walk, and its settings."""
        kind = plugins.load("walk", *plugins.named(self.cfg.walk))
        return kind, plugins.settings("walk", self.cfg.walk, "conf/retriever", "walk")

    def _walked(self, texts: Sequence[str], scores: Scores) -> tuple[Scores, NDArray[np.int64]]:
        kind, settings = self.walk
        with plugins.calling("walk", kind):
            found, came = kind.walk(settings, self.walkable, texts, scores)
            if found.shape != scores.shape or not np.isfinite(found).all():
                raise ValueError(f"scores of shape {found.shape} or not finite; {scores.shape} finite ones are needed")
        return found, came


def candidates_of(
    ranking: GraphRanking, coarse: Scores, qids: Sequence[str], symbols: Sequence[Symbols]
) -> list[pl.DataFrame]:
    """The best runs of each question with every term of the fine stage."""
    cfg, book, group, embedder = ranking.cfg, ranking.book, ranking.group, ranking.embedder
    chosen = [top(row, cfg.top_k) for row in coarse]
    if cfg.w_whole:  # embedded in one plan: a run is a candidate of many questions
        runs = np.unique(np.concatenate(chosen))
        embedder.embed([*group.texts(book, runs), *(" ; ".join(lines) for _, _, lines in symbols)])
    found = []
    for qid, own, row, runs in zip(qids, symbols, coarse, chosen, strict=True):
        terms = fine_of(cfg, book, group, runs, own, embedder)
        order = top(terms["fine"], cfg.top_m)
        columns = {"run_id": group.ids[runs[order]], "coarse": row[runs[order]]}
        named = pl.DataFrame(columns | {k: v[order] for k, v in terms.items()}).with_row_index("rank")
        found.append(named.with_columns(question_id=pl.lit(qid), channel=pl.lit("facts")))
    return found


def ranked(ranking: GraphRanking, scores: Scores, qids: Sequence[str]) -> list[pl.DataFrame]:
    """The best passages of each question."""
    found = []
    for qid, row in zip(qids, scores, strict=True):
        order = top(row, ranking.cfg.passages)
        columns = {"passage_id": [ranking.ids[n] for n in order], "value": row[order]}
        whole = pl.lit(None, pl.Int32)
        found.append(pl.DataFrame(columns).with_row_index("rank").with_columns(question_id=pl.lit(qid), edge_id=whole))
    return found


def paths_of(ranking: GraphRanking, made: Sequence[pl.DataFrame], came: NDArray[np.int64]) -> list[pl.DataFrame]:
    """The steps that led to ranked passages."""
    place, found = {p: n for n, p in enumerate(ranking.ids)}, []
    for one, row in zip(made, came, strict=True):
        via = row[[place[p] for p in one["passage_id"]]]
        named = [None if n == NOBODY else ranking.ids[n] for n in via]
        found.append(one.select("question_id", "passage_id", via=pl.Series(named, dtype=pl.String)).drop_nulls())
    return found


def lines_of(ranking: GraphRanking, candidates: pl.DataFrame) -> pl.DataFrame:
    """The lines of one question's best runs: runs by fine score, those that the action on the channel keeps, lines in run
    order, a repeated line once (paper 2.5)."""
    best, vectors = candidates.sort("rank"), ranking.book.lines
    own = [ranking.runs_of.filter(pl.col("run_id") == run).sort("n") for run in best["run_id"]]
    mean = np.stack([vectors[part["edge_id"].to_numpy()].sum(0) for part in own])
    mean /= np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), EPS)
    kept = apply_action(ranking.cfg.facts, mean, ranking.cfg.theta)
    lines = [own[n].select("passage_id", "edge_id", value=pl.lit(best["fine"][n])) for n in kept]
    if not lines:
        return pl.DataFrame()
    question = pl.lit(best["question_id"][0])
    return (
        pl.concat(lines)
        .unique("edge_id", keep="first", maintain_order=True)
        .with_row_index("rank")
        .with_columns(question_id=question)
    )
