"""The runs of a group as arrays, and a question's scores of them (paper 2.4, A.3)."""

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

__all__ = ["Book", "GroupRuns", "Symbols", "coarse_of", "fine_of", "question_symbols", "symbols_of"]

Symbols = tuple[list[str], list[str], list[str]]  # a question's entities, relations and lines


@dataclass(frozen=True)
class Book:
    """Codebook and edges as arrays; ids are places. entities, relations, lines: unit rows, those of the lines packed, which
    are most by far; texts: "h r t"."""

    entities: NDArray[np.float32]
    relations: NDArray[np.float32]
    lines: Packed
    texts: pl.Series
    h: NDArray[np.int32]
    r: NDArray[np.int32]
    t: NDArray[np.int32]

    @classmethod
    def of(cls, entities: pl.DataFrame, relations: pl.DataFrame, edges: pl.DataFrame, lines: Packed) -> "Book":
        """From the tables of the same names."""
        vectors = (*(f["embedding"].to_numpy() for f in (entities, relations)), line_vectors(edges, lines))
        texts = edge_lines(edges, entities, relations)["line"]
        return cls(*vectors, texts, *(edges[name].to_numpy() for name in ("h", "r", "t")))


class GroupRuns:
    """The runs of one group's documents: memberships of symbols, of edges and of passages."""

    def __init__(self, book: Book, run_edges: pl.DataFrame, places: Mapping[str, int], weighted: bool) -> None:
        ids, local = np.unique(run_edges["run_id"].to_numpy(), return_inverse=True)
        edge = run_edges["edge_id"].to_numpy()
        self.ids, self.edges = ids, edge
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(local, minlength=len(ids)))])
        both = np.concatenate([local, local]), np.concatenate([book.h[edge], book.t[edge]]).astype(np.int64)
        self.members = (Membership.of(*both, len(ids)), Membership.of(local, book.r[edge].astype(np.int64), len(ids)))
        sizes = (len(book.entities), len(book.relations))
        self.idf = (
            tuple(symbol_idf(m, n) for m, n in zip(self.members, sizes, strict=True)) if weighted else (None, None)
        )
        place = np.array([places[p] for p in run_edges["passage_id"].to_list()], np.int64)
        self.passages = distinct_pairs(local, place)  # (2, pairs): run, passage
        self.edge_passages = distinct_pairs(edge, place)  # (2, pairs): edge, passage

    def spans(self, chosen: Sequence[int]) -> list[NDArray[np.int32]]:
        """The edges of each of some runs, in run order."""
        return [self.edges[self.starts[c] : self.starts[c + 1]] for c in chosen]

    def texts(self, book: Book, chosen: Sequence[int]) -> list[str]:
        """Some runs, each as its lines joined."""
        spans = self.spans(chosen)
        lines = iter(book.texts.gather(np.concatenate(spans)).to_list() if spans else ())
        return [" ; ".join(islice(lines, len(span))) for span in spans]


def symbols_of(text: str, triples: Sequence[tuple[str, str, str]]) -> Symbols:
    """Entities, relations and lines of a question; one without triples is its own one line."""
    if not triples:
        return [], [], [text]
    heads, relations, tails = zip(*triples, strict=True)
    lines = [" ".join(triple) for triple in triples]
    return list(dict.fromkeys([*heads, *tails])), list(dict.fromkeys(relations)), lines


def question_symbols(triples: pl.DataFrame, questions: pl.DataFrame) -> dict[str, Symbols]:
    """The symbols of each question."""
    found = triples_of(triples)
    return {q: symbols_of(text, found.get(q, [])) for q, text in questions.select("question_id", "text").iter_rows()}


def coarse_of(
    cfg, book: Book, group: GroupRuns, asked: Sequence[Symbols], texts: Sequence[str], embedder
) -> NDArray[np.float64]:
    """(questions, runs) coarse scores; as a hybrid, z-scores with those of BM25 over the runs' texts.

    cfg: the retriever. asked, texts: the questions' symbols and the questions themselves.
    """
    found, weights = np.zeros((len(asked), len(group.ids))), (cfg.w_ent, cfg.w_rel)
    for row, symbols in enumerate(asked):
        query = [embedder.embed(part) for part in symbols[:2]]
        if cfg.coarse == "ere":
            edges = edge_scores(*query, book.entities, book.relations, (book.h, book.r, book.t), weights)
            found[row] = np.maximum.reduceat(edges[group.edges], group.starts[:-1])
        else:
            found[row] = coarse_scores(*query, book.entities, book.relations, group.members, weights, group.idf)
    if not cfg.w_text:
        return found
    lexical = bm25_matrix(group.texts(book, range(len(group.ids))), texts, cfg.k1, cfg.b)
    return z_scores(found) + cfg.w_text * z_scores(lexical)


def fine_of(
    cfg, book: Book, group: GroupRuns, chosen: Sequence[int], symbols: Symbols, embedder
) -> dict[str, NDArray[np.float64]]:
    """The fine terms of some of a group's runs, in the order given. cfg: the retriever."""
    spans = group.spans(chosen)
    starts = np.concatenate([[0], np.cumsum([len(s) for s in spans])])

    def whole():
        return embedder.embed(group.texts(book, chosen)) @ embedder.embed([" ; ".join(symbols[2])])[0]

    return fine_scores(embedder.embed(symbols[2]), book.lines[np.concatenate(spans)], starts, cfg, whole)
