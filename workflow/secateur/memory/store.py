"""What a session remembers (paper 1.1, P3): the runs of its questions and answers, and what supported them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from secateur.graph.retrieval.candidates import Symbols
from secateur.graph.retrieval.scores import Membership, coarse_scores, fine_scores
from secateur.graph.triples.surface import Triple
from secateur.pipeline.tables.catalog import TABLES
from secateur.ranking.group import top

__all__ = ["GOLD", "Remembered", "Store", "Support", "exchange", "memories", "symbols_of"]

GOLD = "gold"  # the source of answers that are no model's; of training questions alone


@dataclass(frozen=True)
class Remembered:
    """A run of a session: a question that was asked, or the answer it got.

    source: of an answer, GOLD or the model that gave it; null for a question.
    """

    question_id: str
    channel: str
    text: str
    symbols: Symbols
    source: str | None = None


@dataclass(frozen=True)
class Support:
    """A unit of evidence that was shown for a stored answer.

    utility: the answer gain that it alone gives the answer, in nats per token; null for an answer that says nothing.
    """

    question_id: str
    passage_id: str
    text: str
    utility: float | None


def symbols_of(text: str, triples: Sequence[tuple[str, str, str]]) -> Symbols:
    """Entities, relations and lines of a run; a text without triples is its own one symbol of each kind."""
    if not triples:
        return [text], [text], [text]
    entities = list(dict.fromkeys(x for head, _, tail in triples for x in (head, tail)))
    relations = list(dict.fromkeys(relation for _, relation, _ in triples))
    return entities, relations, list(dict.fromkeys(" ".join(triple) for triple in triples))


def exchange(
    question_id: str, text: str, asked: Symbols, said: str, source: str, read: Callable[[str], Sequence[Triple]]
) -> tuple[Remembered, Remembered]:
    """The runs of a question and of its answer. read: the corpus's front end on a single text."""
    triples = [(t.head, t.relation, t.tail) for t in read(said)] if said.strip() else []
    answer = Remembered(question_id, "answer", said, symbols_of(said, triples), source)
    return Remembered(question_id, "question", text, asked), answer


def memories(runs: Iterable[Remembered], supports: Iterable[Support], placed: pl.DataFrame) -> pl.DataFrame:
    """Runs and what supports them as the table `memories`. placed: question_id, session_id, n.

    An answer is verified if it is gold. A unit that is shown twice for one question counts once.
    """
    rows = [(r.question_id, r.channel, r.text, r.source, None) for r in runs]
    rows += [(s.question_id, "facts", s.text, s.passage_id, s.utility) for s in dict.fromkeys(supports)]
    names = dict.fromkeys(("question_id", "channel", "text", "source"), pl.String) | {"utility": pl.Float64}
    frame = pl.DataFrame(rows, schema=names, orient="row").join(placed, on="question_id", maintain_order="left")
    verified = pl.when(pl.col("channel") == "answer").then(pl.col("source") == GOLD)
    place = pl.int_range(pl.len(), dtype=pl.Int32).over("question_id", "channel")
    return frame.with_columns(verified=verified, place=place).select(TABLES["memories"].empty().columns)


def _places(runs: Sequence[Sequence[str]]) -> tuple[list[str], Membership]:
    """The distinct symbols of some runs, and which run holds which."""
    place = {symbol: n for n, symbol in enumerate(dict.fromkeys(s for run in runs for s in run))}
    owner = np.repeat(np.arange(len(runs)), [len(run) for run in runs])
    return list(place), Membership.of(owner, np.array([place[s] for run in runs for s in run], np.int64), len(runs))


class Store:
    """The question and answer runs of one session, recalled coarse to fine as facts are. cfg: the retriever."""

    def __init__(self, cfg, embedder) -> None:
        self.cfg, self.embedder, self._runs = cfg, embedder, {"question": [], "answer": []}

    def add(self, run: Remembered) -> None:
        """Remember a run; an empty text (a model that said nothing) is not worth one."""
        if run.text.strip():
            self._runs[run.channel].append(run)

    def recall(self, channel: str, asked: Symbols, most: int) -> list[Remembered]:
        """The channel's best runs for a question, best first."""
        runs = self._runs[channel]
        if not runs or not most:
            return []
        kept = top(self._coarse(runs, asked), self.cfg.top_k)
        runs = [runs[n] for n in kept]
        return [runs[n] for n in top(self._fine(runs, asked), most)]

    def _coarse(self, runs: Sequence[Remembered], asked: Symbols) -> NDArray[np.float32]:
        """Equation of 2.4 over the session's own small codebook."""
        (entities, holds_entity), (relations, holds_relation) = (_places([r.symbols[k] for r in runs]) for k in (0, 1))
        embed, weights = self.embedder.embed, (self.cfg.w_ent, self.cfg.w_rel)
        query = (embed(asked[0]), embed(asked[1]))
        return coarse_scores(*query, embed(entities), embed(relations), (holds_entity, holds_relation), weights)

    def _fine(self, runs: Sequence[Remembered], asked: Symbols) -> NDArray[np.float64]:
        """The terms of A.3."""
        lines = [line for run in runs for line in run.symbols[2]]
        starts = np.concatenate([[0], np.cumsum([len(run.symbols[2]) for run in runs])])

        def whole():
            joined = self.embedder.embed([" ; ".join(run.symbols[2]) for run in runs])
            return joined @ self.embedder.embed([" ; ".join(asked[2])])[0]

        return fine_scores(self.embedder.embed(asked[2]), self.embedder.embed(lines), starts, self.cfg, whole)["fine"]
