"""The runs of a group as arrays, and their coarse and fine scores for questions (paper 2.4, A.3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import polars as pl
from numpy.typing import NDArray

from secateur.core.distinct import distinct_pairs
from secateur.core.tables.vectors import Packed
from secateur.graph.codebook import edge_lines, line_vectors, triples_of
from secateur.graph.retrieval.scores import Membership, coarse_scores, edge_scores, fine_scores, symbol_idf
from secateur.ranking.bm25 import bm25_matrix
from secateur.ranking.group import z_scores

__all__ = [
    "CodebookArrays",
    "GroupRuns",
    "Symbols",
    "coarse_run_scores",
    "fine_run_terms",
    "question_symbols",
    "symbols_of",
]

Symbols = tuple[list[str], list[str], list[str]]  # a question's entities, relations and lines


@dataclass(frozen=True)
class CodebookArrays:
    """Codebook and edges as arrays; ids are places.

    entities, relations: (n, d) unit rows; lines: packed unit rows, since lines are the most numerous; texts: "h r t".
    """

    entities: NDArray[np.float32]
    relations: NDArray[np.float32]
    lines: Packed
    texts: pl.Series
    h: NDArray[np.int32]
    r: NDArray[np.int32]
    t: NDArray[np.int32]

    @classmethod
    def of(
        cls, entities: pl.DataFrame, relations: pl.DataFrame, edges: pl.DataFrame, lines: Packed
    ) -> "CodebookArrays":
        """From the tables of the same names."""
        vectors = (*(f["embedding"].to_numpy() for f in (entities, relations)), line_vectors(edges, lines))
        texts = edge_lines(edges, entities, relations)["line"]
        return cls(*vectors, texts, *(edges[name].to_numpy() for name in ("h", "r", "t")))


class GroupRuns:
    """The runs of one group's documents, with their symbols, edges and passages."""

    def __init__(
        self, book: CodebookArrays, run_edges: pl.DataFrame, places: Mapping[str, int], weighted: bool
    ) -> None:
        ids, local = np.unique(run_edges["run_id"].to_numpy(), return_inverse=True)
        edge = run_edges["edge_id"].to_numpy()
        self.ids, self.edges = ids, edge
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(local, minlength=len(ids)))])
        ends = np.concatenate([local, local]), np.concatenate([book.h[edge], book.t[edge]]).astype(np.int64)
        self.members = (Membership.of(*ends, len(ids)), Membership.of(local, book.r[edge].astype(np.int64), len(ids)))
        sizes = (len(book.entities), len(book.relations))
        self.idf = (
            tuple(symbol_idf(m, n) for m, n in zip(self.members, sizes, strict=True)) if weighted else (None, None)
        )
        place = np.array([places[p] for p in run_edges["passage_id"].to_list()], np.int64)
        self.passages = distinct_pairs(local, place)  # (2, pairs): run, passage
        self.edge_passages = distinct_pairs(edge, place)  # (2, pairs): edge, passage

    def spans(self, chosen: Sequence[int]) -> list[NDArray[np.int32]]:
        """Edges of each chosen run, in run order."""
        return [self.edges[self.starts[c] : self.starts[c + 1]] for c in chosen]

    def texts(self, book: CodebookArrays, chosen: Sequence[int]) -> list[str]:
        """Text of each chosen run: its lines joined by " ; "."""
        spans = self.spans(chosen)
        lines = iter(book.texts.gather(np.concatenate(spans)).to_list() if spans else ())
        return [" ; ".join(islice(lines, len(span))) for span in spans]


def symbols_of(text: str, triples: Sequence[tuple[str, str, str]]) -> Symbols:
    """Entities, relations and lines of a question; without triples, its text is the only line."""
    if not triples:
        return [], [], [text]
    heads, relations, tails = zip(*triples, strict=True)
    lines = [" ".join(triple) for triple in triples]
    return list(dict.fromkeys([*heads, *tails])), list(dict.fromkeys(relations)), lines


def question_symbols(triples: pl.DataFrame, questions: pl.DataFrame) -> dict[str, Symbols]:
    """Symbols by question id."""
    of_question = triples_of(triples)
    return {
        q: symbols_of(text, of_question.get(q, [])) for q, text in questions.select("question_id", "text").iter_rows()
    }


def coarse_run_scores(
    cfg, book: CodebookArrays, group: GroupRuns, symbols: Sequence[Symbols], texts: Sequence[str], embedder
) -> NDArray[np.float64]:
    """(questions, runs) coarse scores; the hybrid adds z-scores of BM25 over the runs' texts.

    cfg: the option `retriever`. symbols, texts: of the questions.
    """
    scores, weights = np.zeros((len(symbols), len(group.ids))), (cfg.w_ent, cfg.w_rel)
    for row, (query_entities, query_relations, _) in enumerate(symbols):
        query = [embedder.embed(query_entities), embedder.embed(query_relations)]
        if cfg.coarse == "ere":
            edges = edge_scores(*query, book.entities, book.relations, (book.h, book.r, book.t), weights)
            scores[row] = np.maximum.reduceat(edges[group.edges], group.starts[:-1])
        else:
            scores[row] = coarse_scores(*query, book.entities, book.relations, group.members, weights, group.idf)
    if not cfg.w_text:
        return scores
    lexical = bm25_matrix(group.texts(book, range(len(group.ids))), texts, cfg.k1, cfg.b)
    return z_scores(scores) + cfg.w_text * z_scores(lexical)


def fine_run_terms(
    cfg, book: CodebookArrays, group: GroupRuns, chosen: Sequence[int], symbols: Symbols, embedder
) -> dict[str, NDArray[np.float64]]:
    """Terms of the fine score of the chosen runs, in their order. cfg: the option `retriever`."""
    spans = group.spans(chosen)
    starts = np.concatenate([[0], np.cumsum([len(s) for s in spans])])

    def whole():
        return embedder.embed(group.texts(book, chosen)) @ embedder.embed([" ; ".join(symbols[2])])[0]

    return fine_scores(embedder.embed(symbols[2]), book.lines[np.concatenate(spans)], starts, cfg, whole)
