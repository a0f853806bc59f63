"""Input and output of rankers: the passages of a group, a batch of questions, and a (questions, passages) score matrix.

A ranker is a file in `scorers/` with `Settings` and `score(settings, group, questions, seed)`. A score of minus infinity
leaves a passage out of the ranking. Only imported rankings and `gold` may read ids.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from secateur.config import plugins
from secateur.core.products import by_component
from secateur.models.token_vectors import TokenVectors
from secateur.models.words import MOSTLY, share_outside_latin

__all__ = ["EPS", "Group", "Questions", "Scores", "blocks", "neighbour_smoothed", "scores_of"]
__all__ += ["articles_of", "texts_read", "top", "without_excluded", "z_scores"]

T = TypeVar("T")
Scores = NDArray[np.float64]  # (questions, passages)
EPS = 1e-9  # keeps a constant row's z-scores finite
CELLS = 1 << 24  # cells of a score matrix: 128 MB


@dataclass(frozen=True)
class Group:
    """The passages that questions are ranked against, in reading order.

    texts: scored texts ("Speaker: text" in dialogues). titles: of each passage, may be empty. docs: (n,) document numbers;
    neighbours share one. embed: texts to unit vectors. cache: what rankers compute from the passages alone. embed_tokens:
    texts to the vectors of their tokens. articles: as docs, with all paragraphs under one title of a pool as one.
    """

    texts: Sequence[str]
    titles: Sequence[str]
    docs: NDArray[np.int64]
    embed: Callable[[Sequence[str]], NDArray[np.float32]]
    ids: Sequence[str] = ()
    cache: dict[Hashable, Any] = field(default_factory=dict, repr=False, compare=False)
    embed_tokens: Callable[[Sequence[str]], TokenVectors] | None = None
    articles: NDArray[np.int64] | None = None

    def once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Compute a value from the passages alone, such as an index, once for all questions."""
        if key not in self.cache:
            self.cache[key] = compute()
        return self.cache[key]

    @property
    def vectors(self) -> NDArray[np.float32]:
        """(n, d) embeddings of the passages, laid out for products with few queries."""
        return self.once("vectors", lambda: by_component(self.embed(self.texts)))

    @property
    def is_outside_latin(self) -> bool:
        """Whether most letters of the passages are of other scripts, which words like [a-z0-9]+ leave out."""
        return self.once("outside_latin", lambda: share_outside_latin(self.texts) > MOSTLY)


@dataclass(frozen=True)
class Questions:
    """A batch of questions: query texts, ids, and ids of their gold passages."""

    queries: Sequence[str]
    ids: Sequence[str] = ()
    gold: Sequence[frozenset[str]] = field(default_factory=tuple)


def articles_of(passages: pl.DataFrame) -> NDArray[np.int64]:
    """(n,) numbers of the articles of passages: their documents, where `TITLE#2` is one with `TITLE`."""
    document, title = pl.col("doc_id"), pl.col("title").fill_null("")
    is_paragraph = document.str.starts_with(title) & document.str.slice(title.str.len_chars()).str.contains(r"^#\d+$")
    article = passages.select(pl.when((title != "") & is_paragraph).then(title).otherwise(document)).to_series()
    return np.unique(article.to_numpy(), return_inverse=True)[1]


def blocks(questions: pl.DataFrame, passages: int) -> Iterator[pl.DataFrame]:
    """Yield slices of a group's questions whose score matrices have at most CELLS cells, or one row."""
    yield from questions.iter_slices(max(1, CELLS // max(1, passages)))


def top(scores: NDArray[np.floating], k: int) -> NDArray[np.int64]:
    """Indices of the k highest scores, best first; ties to the lower index."""
    if not 0 < k < len(scores):
        return np.argsort(-scores, kind="stable")[:k]
    lowest = np.partition(scores, len(scores) - k)[-k]
    candidates = np.flatnonzero(scores >= lowest)  # ten times as fast as sorting all scores
    return candidates[np.argsort(-scores[candidates], kind="stable")][:k]


def without_excluded(scores: Scores, questions: pl.DataFrame, ids: Sequence[str]) -> Scores:
    """The scores with minus infinity for the passage that each question excludes. ids: of the passages."""
    excluded = questions.get_column("excluded", default=None)
    if excluded is None or excluded.null_count() == len(excluded):
        return scores
    places = {passage: n for n, passage in enumerate(ids)}
    left = scores.astype(np.float64)
    for row, passage in enumerate(excluded):
        if passage in places:
            left[row, places[passage]] = -np.inf
    return left


def texts_read(passages: pl.DataFrame) -> list[str]:
    """The texts of passages as rankers read them, with the speaker before the words.

    >>> texts_read(pl.DataFrame({"speaker": ["Ann", None], "text": ["I did.", "She left."]}))
    ['Ann: I did.', 'She left.']
    """
    return [f"{s}: {t}" if s else t for s, t in passages.select("speaker", "text").iter_rows()]


def scores_of(spec: dict[str, Any], key: str, group: Group, questions: Questions, seed: int) -> Scores:
    """Scores of the ranker that another one builds on. key: where its spec stands in the other's, for messages."""
    settings = plugins.settings("ranker", spec, "conf/rankers", key)
    return plugins.load("ranker", spec["kind"]).score(settings, group, questions, seed)


def z_scores(scores: Scores) -> Scores:
    """Each row minus its mean, divided by its population standard deviation.

    A score of minus infinity leaves its passage out of both, and has the lowest z-score of the others; 0 in a row without.
    """
    left_out = np.isneginf(scores)
    if not left_out.any():
        return (scores - scores.mean(1, keepdims=True)) / (scores.std(1, keepdims=True) + EPS)
    seen = np.ma.masked_array(scores, left_out)
    z = (seen - seen.mean(1, keepdims=True)) / (seen.std(1, keepdims=True) + EPS)
    return np.asarray(z.filled(z.min(1, keepdims=True).filled(0.0)), float)


def neighbour_smoothed(scores: Scores, docs: NDArray[np.int64], share: float) -> Scores:
    """z-scores plus `share` times the higher z-score of the two neighbours in the document.

    A missing neighbour has the row's minimum. A score of minus infinity leaves its passage out: it stays, and is no neighbour.
    """
    z = z_scores(scores)
    lowest = z.min(1, keepdims=True)
    same = docs[1:] == docs[:-1]
    before, after = np.tile(lowest, z.shape[1]), np.tile(lowest, z.shape[1])
    before[:, 1:] = np.where(same, z[:, :-1], lowest)
    after[:, :-1] = np.where(same, z[:, 1:], lowest)
    return np.where(np.isneginf(scores), -np.inf, z + share * np.maximum(before, after))
