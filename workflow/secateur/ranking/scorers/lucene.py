"""BM25 over content words, with Lucene's idf; each query word counts once (docs/methods.md)."""

from dataclasses import dataclass

from secateur.core.fields import key
from secateur.ranking.bm25 import Bm25
from secateur.ranking.group import Asked, Group, Scores


@dataclass(frozen=True)
class Settings:
    """BM25's parameters, and whether the title is read."""

    k1: float = key("term saturation", low=0)
    b: float = key("length normalisation", low=0, high=1)
    title: bool = key("the document's title stands before each passage")


def score(settings: Settings, group: Group, asked: Asked, seed: int) -> Scores:
    """BM25 of the passages, with their titles where asked for."""

    def index() -> Bm25:
        titled = [f"{t} {s}" for t, s in zip(group.titles, group.texts, strict=True)]
        return Bm25(titled if settings.title else group.texts, settings.k1, settings.b)

    return group.once(("bm25", settings), index).scores(asked.queries)
