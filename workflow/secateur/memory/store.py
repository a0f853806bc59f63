"""The memory of a session (paper 1.1, P3): runs of its questions and answers, and their supporting evidence."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from secateur.contexts.session import Unit
from secateur.core.tables.catalog import TABLES
from secateur.graph.codebook import Named, as_shown, indexify_onto
from secateur.graph.retrieval.candidates import Symbols
from secateur.graph.retrieval.scores import Membership, coarse_scores, fine_scores
from secateur.graph.triples.surface import Triple
from secateur.ranking.group import top

__all__ = ["GOLD", "Remembered", "Store", "Support", "exchange", "memories", "support", "symbols_of"]

Book = tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]  # entities, relations, edges
GOLD = "gold"  # the source of gold answers, which training questions alone may store


@dataclass(frozen=True)
class Remembered:
    """A run of a session: a question, or its answer.

    source: GOLD or the model that gave the answer, None for a question; triples: as the codebook writes them.
    """

    question_id: str
    channel: str
    text: str
    symbols: Symbols
    source: str | None = None
    triples: tuple[Named, ...] = ()

    def said(self) -> Unit:
        """The run as a unit of its channel."""
        return Unit(self.channel, self.text, f"{self.question_id} {self.channel}", self.triples)


@dataclass(frozen=True)
class Support:
    """A unit of evidence that was shown for a stored answer.

    utility: answer gain of this unit alone, in nats per token; None for an empty answer. edge_ids: its edges, where the
    form writes symbols.
    """

    question_id: str
    passage_id: str
    text: str
    utility: float | None
    edge_ids: tuple[int, ...] = ()


def symbols_of(text: str, triples: Sequence[Named]) -> Symbols:
    """Entities, relations and lines of a run. A text without triples is one symbol of each."""
    if not triples:
        return [text], [text], [text]
    entities = list(dict.fromkeys(x for head, _, tail in triples for x in (head, tail)))
    relations = list(dict.fromkeys(relation for _, relation, _ in triples))
    return entities, relations, list(dict.fromkeys(" ".join(triple) for triple in triples))


def support(question_id: str, fact: Unit, utility: float | None) -> Support:
    """A shown fact as support of a question's answer."""
    return Support(question_id, fact.source, fact.text, utility, tuple(edge.edge_id for edge in fact.edges))


def exchange(
    question_id: str,
    text: str,
    asked: tuple[Symbols, Sequence[Named]],
    said: str,
    source: str,
    read: Callable[[str], Sequence[Triple]],
    shown: Mapping[str, str],
) -> tuple[Remembered, Remembered]:
    """The runs of a question and of its answer.

    asked: the question's symbols and triples; read: the corpus's extractor, on a single text.
    """
    triples = [(t.head, t.relation, t.tail) for t in read(said)] if said.strip() else []
    answer = Remembered(question_id, "answer", said, symbols_of(said, triples), source, as_shown(triples, shown))
    return Remembered(question_id, "question", text, asked[0], None, as_shown(asked[1], shown)), answer


def memories(
    runs: Iterable[Remembered], supports: Iterable[Support], placed: pl.DataFrame, book: Book
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The tables `memories` (runs and their support) and `session_edges` (edges that they add to the codebook).

    placed: question_id, session_id, n; book: entities, relations and edges. A gold answer is verified. A unit shown twice
    for one question counts once.
    """
    runs = list(runs)
    ids, added = _edges_of(runs, book)
    rows = [(r.question_id, r.channel, r.text, r.source, None, edge_ids) for r, edge_ids in zip(runs, ids, strict=True)]
    rows += [
        (s.question_id, "facts", s.text, s.passage_id, s.utility, list(s.edge_ids)) for s in dict.fromkeys(supports)
    ]
    names = dict.fromkeys(("question_id", "channel", "text", "source"), pl.String) | {"utility": pl.Float64}
    names |= {"edge_ids": pl.List(pl.Int32)}
    frame = pl.DataFrame(rows, schema=names, orient="row").join(placed, on="question_id", maintain_order="left")
    verified = pl.when(pl.col("channel") == "answer").then(pl.col("source") == GOLD)
    place = pl.int_range(pl.len(), dtype=pl.Int32).over("question_id", "channel")
    return frame.with_columns(verified=verified, place=place).select(TABLES["memories"].empty().columns), added


def _edges_of(runs: Sequence[Remembered], book: Book) -> tuple[list[list[int]], pl.DataFrame]:
    """The edges of each run, and the new edges."""
    rows = [(n, *triple) for n, run in enumerate(runs) for triple in run.triples]
    names = {"run": pl.Int32} | dict.fromkeys(("head", "relation", "tail"), pl.String)
    triples = pl.DataFrame(rows, schema=names, orient="row")
    edges, added = indexify_onto(triples, *book)
    ids: list[list[int]] = [[] for _ in runs]
    for run, edge in zip(triples["run"], edges, strict=True):
        ids[run].append(edge)
    return ids, added


def _places(runs: Sequence[Sequence[str]]) -> tuple[list[str], Membership]:
    """The distinct symbols of runs, and which run contains which."""
    place = {symbol: n for n, symbol in enumerate(dict.fromkeys(s for run in runs for s in run))}
    owner = np.repeat(np.arange(len(runs)), [len(run) for run in runs])
    return list(place), Membership.of(owner, np.array([place[s] for run in runs for s in run], np.int64), len(runs))


class Store:
    """The question and answer runs of one session, recalled coarse to fine like facts. cfg: the retriever."""

    def __init__(self, cfg, embedder) -> None:
        self.cfg, self.embedder, self._runs = cfg, embedder, {"question": [], "answer": []}

    def add(self, run: Remembered) -> None:
        """Store a run, unless its text is empty."""
        if run.text.strip():
            self._runs[run.channel].append(run)

    def recall(self, channel: str, asked: Symbols, most: int) -> list[Remembered]:
        """The best runs of a channel for a question, best first."""
        runs = self._runs[channel]
        if not runs or not most:
            return []
        kept = top(self._coarse(runs, asked), self.cfg.top_k)
        runs = [runs[n] for n in kept]
        return [runs[n] for n in top(self._fine(runs, asked), most)]

    def _coarse(self, runs: Sequence[Remembered], asked: Symbols) -> NDArray[np.float32]:
        """Coarse scores (paper 2.4) over the session's codebook."""
        (entities, holds_entity), (relations, holds_relation) = (_places([r.symbols[k] for r in runs]) for k in (0, 1))
        embed, weights = self.embedder.embed, (self.cfg.w_ent, self.cfg.w_rel)
        query = (embed(asked[0]), embed(asked[1]))
        return coarse_scores(*query, embed(entities), embed(relations), (holds_entity, holds_relation), weights)

    def _fine(self, runs: Sequence[Remembered], asked: Symbols) -> NDArray[np.float64]:
        """Fine scores (paper A.3)."""
        lines = [line for run in runs for line in run.symbols[2]]
        starts = np.concatenate([[0], np.cumsum([len(run.symbols[2]) for run in runs])])

        def whole():
            joined = self.embedder.embed([" ; ".join(run.symbols[2]) for run in runs])
            return joined @ self.embedder.embed([" ; ".join(asked[2])])[0]

        return fine_scores(self.embedder.embed(asked[2]), self.embedder.embed(lines), starts, self.cfg, whole)["fine"]
