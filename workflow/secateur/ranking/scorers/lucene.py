"""BM25 over content words with Lucene's idf; each query word counts once."""

from dataclasses import dataclass

from secateur.core.fields import key
from secateur.ranking.bm25 import Bm25
from secateur.ranking.group import Group, Questions, Scores


@dataclass(frozen=True)
class Settings:
    """Parameters of BM25, and whether titles are read."""

    k1: float = key("term saturation", low=0)
    b: float = key("length normalisation", low=0, high=1)
    title: bool = key("put the document's title before each passage")


def score(settings: Settings, group: Group, questions: Questions, seed: int) -> Scores:
    """(questions, passages) BM25."""

    def index() -> Bm25:
        titled = [f"{t} {s}" for t, s in zip(group.titles, group.texts, strict=True)]
        return Bm25(titled if settings.title else group.texts, settings.k1, settings.b)

    return group.once(("bm25", settings), index).scores(questions.queries)
