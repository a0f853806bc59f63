"""Rankings of a group's passages, and of the lines of its best runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from secateur.config import plugins
from secateur.contexts.channels import apply_action
from secateur.core.layout import NONE
from secateur.core.products import by_component, cosines, first_of_equal
from secateur.core.tables.vectors import Packed
from secateur.graph.retrieval.candidates import CodebookArrays, GroupRuns, Symbols, coarse_run_scores, fine_run_terms
from secateur.models.prompts import asked
from secateur.ranking.bm25 import Bm25
from secateur.ranking.group import Scores, articles_of, neighbour_smoothed, texts_read, top, without_excluded, z_scores
from secateur.ranking.passage_graph import NO_PLACE, PassageGraph

__all__ = [
    "GraphRanking",
    "PassageUnits",
    "best_candidates",
    "best_lines",
    "best_passages",
    "passage_scores",
    "walk_steps",
]

EPS = 1e-12


@dataclass(frozen=True)
class PassageUnits:
    """Units (runs or lines) by passage: passages[i] has units[starts[i]:starts[i + 1]]; others have none."""

    units: NDArray[np.int64]
    passages: NDArray[np.int64]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, units: NDArray[np.int64], passages: NDArray[np.int64]) -> "PassageUnits":
        """From parallel pairs."""
        order = np.argsort(passages, kind="stable")
        return cls(units[order], *np.unique(passages[order], return_index=True))

    def best(self, values: NDArray[np.float32], count: int) -> Scores:
        """(questions, count) best value of each passage's units; the row's minimum for a passage without units.

        values: (questions, units).
        """
        best = np.tile(values.min(1, keepdims=True), count).astype(np.float64)
        if len(self.units):
            best[:, self.passages] = np.maximum.reduceat(values[:, self.units], self.starts, axis=1)
        return best


def passage_scores(cfg, signals: Mapping[str, Scores], docs: NDArray[np.int64], neighbour: float) -> Scores:
    """(questions, passages) z-scores of the weighted sum of z-scores; order-aware if `neighbour` is above 0.

    signals: scores by name, weighted by `w_NAME` of the option `retriever`, at least one; docs: (passages,) document of
    each; neighbour: weight of the better neighbour's score.
    """
    total = np.zeros(next(iter(signals.values())).shape)
    for name, scores in signals.items():
        total += getattr(cfg, f"w_{name}") * z_scores(scores)
    return z_scores(neighbour_smoothed(total, docs, neighbour) if neighbour else total)


class GraphRanking:
    """Scores of a group's passages and runs; everything that does not depend on a question is computed once.

    cfg: the option `retriever`; neighbour: weight of the better neighbour's score; passages: of one group; book and
    run_edges: of its graph; mentions: of its entities, if the retriever walks.
    """

    def __init__(
        self,
        cfg,
        neighbour: float,
        passages: pl.DataFrame,
        book: CodebookArrays,
        run_edges: pl.DataFrame,
        mentions: pl.DataFrame | None,
        embedder,
    ) -> None:
        passages = passages.sort("doc_id", "position")
        self.cfg, self.neighbour, self.book, self.embedder, self.mentions = cfg, neighbour, book, embedder, mentions
        self.ids, self.texts = passages["passage_id"].to_list(), texts_read(passages)
        titles = passages["title"].fill_null("").to_list()
        self.titled = [f"{title} {text}" for title, text in zip(titles, self.texts, strict=True)]
        _, self.docs = np.unique(passages["doc_id"].to_numpy(), return_inverse=True)
        self.articles = articles_of(passages)
        self.places = {p: n for n, p in enumerate(self.ids)}
        self.run_edges = run_edges.filter(pl.col("passage_id").is_in(self.ids)).sort("run_id", "n")
        weighted = cfg.coarse == "idf_maxpair"
        self.group = GroupRuns(book, self.run_edges, self.places, weighted) if self.run_edges.height else None

    @cached_property
    def vectors(self) -> NDArray[np.float32]:
        """(passages, d) embeddings."""
        return by_component(self.embedder.embed(self.texts))

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """(passages,) place of the first passage with the same text."""
        return first_of_equal(self.texts)

    @cached_property
    def words(self) -> Bm25:
        """BM25 over the passages, with titles if the option says so."""
        return Bm25(self.titled if self.cfg.title else self.texts, self.cfg.k1, self.cfg.b)

    @cached_property
    def passage_graph(self) -> PassageGraph:
        """The passages as a graph of their mentions."""
        return PassageGraph.of(self.mentions, self.places, self.articles, self.titled, self.cfg)

    @cached_property
    def lines(self) -> tuple[Packed, PassageUnits]:
        """Vectors of the lines of the group's runs, and the lines by passage."""
        edges, local = np.unique(self.group.edge_passages[0], return_inverse=True)
        return self.book.lines.at(edges), PassageUnits.of(local, self.group.edge_passages[1])

    @cached_property
    def runs(self) -> PassageUnits:
        """The group's runs by passage."""
        return PassageUnits.of(*self.group.passages)

    @property
    def run_count(self) -> int:
        """Number of the group's runs."""
        return len(self.group.ids) if self.group else 0

    def coarse(self, texts: Sequence[str], symbols: Sequence[Symbols]) -> Scores | None:
        """(questions, runs) coarse scores; None for a group without runs."""
        return coarse_run_scores(self.cfg, self.book, self.group, symbols, texts, self.embedder) if self.group else None

    def scores(self, texts: Sequence[str], coarse: Scores | None) -> tuple[Scores, NDArray[np.int64] | None]:
        """(questions, passages) scores, and the place of each passage's origin if the retriever walks, else None."""
        scores = passage_scores(self.cfg, self._signals(texts, coarse), self.docs, self.neighbour)
        return (scores, None) if self.cfg.walk == NONE else self._walked(texts, scores)

    def _signals(self, texts: Sequence[str], coarse: Scores | None) -> dict[str, Scores]:
        """(questions, passages) scores by name: BM25, cosine, coarse score of the best run, cosine of the best line."""
        count = len(self.ids)
        signals = {"bm25": self.words.scores(texts) if self.cfg.w_bm25 else np.zeros((len(texts), count))}
        if self.cfg.w_dense:
            signals["dense"] = cosines(self.embedder.embed(asked(texts)), self.vectors, self.first)
        if self.group and self.cfg.w_run:
            signals["run"] = self.runs.best(coarse, count)
        if self.group and self.cfg.w_line:
            vectors, lines = self.lines
            signals["line"] = lines.best(vectors.products(self.embedder.embed(asked(texts))), count)
        return signals

    @cached_property
    def walk(self) -> tuple[ModuleType, Any]:
        """The walk's plug-in and its settings."""
        plugin = plugins.load("walk", *plugins.names_in(self.cfg.walk))
        return plugin, plugins.settings("walk", self.cfg.walk, "conf/retriever", "walk")

    def _walked(self, texts: Sequence[str], scores: Scores) -> tuple[Scores, NDArray[np.int64]]:
        plugin, settings = self.walk
        with plugins.calling("walk", plugin):
            walked, origins = plugin.walk(settings, self.passage_graph, texts, scores)
            if walked.shape != scores.shape or not np.isfinite(walked).all():
                raise ValueError(f"scores have shape {walked.shape} or are not finite; allowed: {scores.shape}, finite")
        return walked, origins


def best_candidates(
    ranking: GraphRanking, coarse: Scores, qids: Sequence[str], symbols: Sequence[Symbols]
) -> list[pl.DataFrame]:
    """Rows of the table `candidates`, a frame per question: the best runs with all terms of the fine score."""
    cfg, book, group, embedder = ranking.cfg, ranking.book, ranking.group, ranking.embedder
    chosen = [top(row, cfg.top_k) for row in coarse]
    if cfg.w_whole:  # embedded together, since a run is a candidate of many questions
        runs = np.unique(np.concatenate(chosen))
        embedder.embed([*group.texts(book, runs), *(" ; ".join(lines) for _, _, lines in symbols)])
    frames = []
    for qid, question_symbols, row, runs in zip(qids, symbols, coarse, chosen, strict=True):
        terms = fine_run_terms(cfg, book, group, runs, question_symbols, embedder)
        order = top(terms["fine"], cfg.top_m)
        columns = {"run_id": group.ids[runs[order]], "coarse": row[runs[order]]}
        frame = pl.DataFrame(columns | {k: v[order] for k, v in terms.items()}).with_row_index("rank")
        frames.append(frame.with_columns(question_id=pl.lit(qid), channel=pl.lit("facts")))
    return frames


def best_passages(ranking: GraphRanking, scores: Scores, qids: Sequence[str]) -> list[pl.DataFrame]:
    """The best passages of each question, a frame per question, without those that score minus infinity."""
    frames = []
    for qid, row in zip(qids, scores, strict=True):
        best = top(row, ranking.cfg.passages)
        order = best[np.isfinite(row[best])]
        frame = pl.DataFrame({"passage_id": [ranking.ids[n] for n in order], "value": row[order]})
        labels = {"question_id": pl.lit(qid), "edge_id": pl.lit(None, pl.Int32)}
        frames.append(frame.with_row_index("rank").with_columns(**labels))
    return frames


def walk_steps(
    ranking: GraphRanking, passages: Sequence[pl.DataFrame], origins: NDArray[np.int64]
) -> list[pl.DataFrame]:
    """Rows of the table `paths`: the origin of each ranked passage that a walk reached, a frame per question."""
    steps = []
    for frame, row in zip(passages, origins, strict=True):
        via = [row[ranking.places[p]] for p in frame["passage_id"]]
        ids = pl.Series([None if n == NO_PLACE else ranking.ids[n] for n in via], dtype=pl.String)
        steps.append(frame.select("question_id", "passage_id", via=ids).drop_nulls())
    return steps


def best_lines(ranking: GraphRanking, candidates: pl.DataFrame) -> pl.DataFrame:
    """Lines of one question's best runs, without repeats: runs by fine score, filtered by the action on `facts`, lines in
    run order (paper 2.5)."""
    best, vectors = candidates.sort("rank"), ranking.book.lines
    runs = [ranking.run_edges.filter(pl.col("run_id") == run).sort("n") for run in best["run_id"]]
    mean = np.stack([vectors[run["edge_id"].to_numpy()].sum(0) for run in runs])
    mean /= np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), EPS)
    kept = apply_action(ranking.cfg.facts, mean, ranking.cfg.theta)
    lines = [runs[n].select("passage_id", "edge_id", value=pl.lit(best["fine"][n])) for n in kept]
    if not lines:
        return pl.DataFrame()
    distinct = pl.concat(lines).unique("edge_id", keep="first", maintain_order=True)
    return distinct.with_row_index("rank").with_columns(question_id=pl.lit(best["question_id"][0]))


@dataclass(frozen=True)
class RankedBlock:
    """A block of questions, a frame a question: candidate runs, what is ranked (passages or lines), steps of the walk."""

    candidates: list[pl.DataFrame]
    rankings: list[pl.DataFrame]
    steps: list[pl.DataFrame]


def rank_block(
    ranking: GraphRanking, questions: pl.DataFrame, symbols: Sequence[Symbols], candidates: bool = True
) -> RankedBlock:
    """Rank the passages of a group for some of its questions, or the lines of the best runs if the option says so.

    candidates: whether those of passages are asked for, too.
    """
    texts, qids = questions["text"].to_list(), questions["question_id"].to_list()
    coarse, of_lines = ranking.coarse(texts, symbols), ranking.cfg.units == "runs"
    wanted = coarse is not None and (candidates or of_lines)
    best = best_candidates(ranking, coarse, qids, symbols) if wanted else []
    if of_lines:
        return RankedBlock(best, [best_lines(ranking, frame) for frame in best if frame.height], [])
    scores, origins = ranking.scores(texts, coarse)
    ranked = best_passages(ranking, without_excluded(scores, questions, ranking.ids), qids)
    return RankedBlock(best, ranked, walk_steps(ranking, ranked, origins) if origins is not None else [])
