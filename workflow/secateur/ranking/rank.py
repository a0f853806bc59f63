"""Rank the passages of each question's group with every ranker of a list, with its suffixes.

NAME+neighbour adds a share of the better neighbour's z-score; NAME+answer reads the question with its gold answer
(answer-aware, for comparison with answer-aware scorers only).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl

from secateur.config import plugins
from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.models.embedder import Embedder
from secateur.ranking.group import Asked, Group, blocks, neighbour_smoothed, top

__all__ = ["expanded", "group_of", "rank"]

Embed = Callable[[Sequence[str]], np.ndarray]  # texts to unit vectors
SUFFIXES = ("+neighbour", "+answer")


@dataclass(frozen=True)
class Ranker:
    """A ranker of the list, in one of its forms."""

    name: str
    module: ModuleType
    settings: Any
    neighbour: bool
    answer: bool

    @property
    def aware(self) -> bool:
        """Whether the gold answer is seen."""
        return self.answer or self.module.ANSWER_AWARE


def expanded(scorers: dict[str, dict[str, Any]], suffixes: tuple[str, ...]) -> Iterator[Ranker]:
    """Each ranker and each suffixed form asked for; those that do not read the question have no other form."""
    wrong = [s for s in suffixes if s.replace("+neighbour", "").replace("+answer", "")]
    if wrong:
        raise SecateurError(
            f"rankers.suffixes: {', '.join(wrong)} not known; allowed: {', '.join(SUFFIXES)} and both joined."
        )
    for name, spec in scorers.items():
        module = plugins.load("ranker", spec["kind"])
        settings = plugins.settings("ranker", spec, "conf/rankers", f"rankers.scorers.{name}")
        for suffix in ("", *(suffixes if module.READS_QUESTION else ())):
            yield Ranker(name + suffix, module, settings, "+neighbour" in suffix, "+answer" in suffix)


def group_of(passages: pl.DataFrame, embed: Embed) -> Group:
    """The passages of a group as rankers read them; passages: in the order of their text."""
    speaker = passages["speaker"]
    texts = [f"{s}: {t}" if s else t for s, t in zip(speaker, passages["text"], strict=True)]
    _, docs = np.unique(passages["doc_id"].to_numpy(), return_inverse=True)
    return Group(texts, [t or "" for t in passages["title"]], docs, embed, passages["passage_id"].to_list())


def _asked(questions: pl.DataFrame, gold: dict[str, list[str]], answer: bool) -> Asked:
    queries = [f"{q} {a}" if answer else q for q, a in questions.select("text", "answer").iter_rows()]
    ids = questions["question_id"].to_list()
    return Asked(queries, ids, [frozenset(gold.get(q, ())) for q in ids])


class _Bases:
    """Scores of a ranker without smoothing, made once a group and shared by its forms."""

    def __init__(self, gold: dict[str, list[str]], seed: int) -> None:
        self.gold, self.seed, self.known = gold, seed, {}

    def __call__(self, group: Group, questions: pl.DataFrame, ranker: Ranker) -> np.ndarray:
        key = (ranker.module.__name__, repr(ranker.settings), ranker.answer)
        if key not in self.known:
            asked = _asked(questions, self.gold, ranker.answer)
            with plugins.calling("ranker", ranker.module):
                scores = np.asarray(ranker.module.score(ranker.settings, group, asked, self.seed), float)
            self._check(ranker, scores, (len(asked.queries), len(group.texts)))
            self.known[key] = scores
        return self.known[key]

    @staticmethod
    def _check(ranker: Ranker, scores: np.ndarray, shape: tuple[int, int]) -> None:
        """Raise SecateurError for scores that no ranking can be made of."""
        wrong = [] if scores.shape == shape else [f"shape {scores.shape}, {shape} (questions, passages) is needed"]
        wrong += ["NaN or +inf"] if np.isnan(scores).any() or np.isposinf(scores).any() else []
        if wrong:
            raise SecateurError(
                f"ranker {ranker.name} ({ranker.module.__name__}) gave scores with {' and '.join(wrong)}. "
                "Fix: score() in that file; minus infinity leaves a passage out."
            )

    def forget(self) -> None:
        self.known.clear()


def _answerable(asked: pl.DataFrame, unanswerable: tuple[str, ...]) -> np.ndarray:
    """(questions,) whether the gold answer may be shown to a scorer."""
    refused = pl.col("type").is_in(list(unanswerable)).fill_null(False)
    return asked.select(pl.col("answer").is_not_null() & ~refused).to_series().to_numpy()


def _best(scores: np.ndarray, keep: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns and values of the best `keep` of each row, ties to the earlier passage."""
    order = np.stack([top(row, keep) for row in scores])
    return order, np.take_along_axis(scores, order, axis=1)


def _tell_without_gold(gold: dict[str, list[str]], questions: pl.DataFrame, ctx) -> None:
    """Say on screen for how many questions a ranking of gold has nothing: their evidence names no passage."""
    without = sum(question not in gold for question in questions["question_id"])
    if without:
        ctx.warn(
            f"{without} of {questions.height} questions have no evidence that names a passage: gold gives them nothing"
        )


def rank(cfg, passages: pl.DataFrame, questions: pl.DataFrame, evidence: pl.DataFrame | None, ctx) -> pl.DataFrame:
    """The table `rankings`: the best passages of each question under each ranker of `cfg.rankers`.

    +answer forms are made only for questions with an answer whose type is answerable. evidence: for the ranker `gold`.
    """
    embedder, found = Embedder(cfg.embedder, ctx.cache, ctx.log), []
    resolved = (
        evidence.drop_nulls("passage_id").group_by("question_id").agg("passage_id") if evidence is not None else None
    )
    bases = _Bases(dict(resolved.iter_rows()) if resolved is not None else {}, cfg.eval.seed)
    work = list(expanded(cfg.rankers.scorers, cfg.rankers.suffixes))
    for ranker in work:
        if ranker.module.check:
            ranker.module.check(ranker.settings, questions, passages)
    if any(ranker.module.READS_GOLD for ranker in work):
        _tell_without_gold(bases.gold, questions, ctx)
    groups = questions.sort("position").partition_by("group_id", maintain_order=True)
    embedder.tell_split(passages["text"].to_list(), "passages", ctx)
    for asked in ctx.progress(groups, len(groups), "groups"):
        own = passages.filter(pl.col("group_id") == asked["group_id"][0]).sort("doc_id", "position")
        group, ids = group_of(own, embedder.embed), own["passage_id"].to_numpy()
        for block in blocks(asked, own.height):
            may_see = _answerable(block, cfg.dataset.unanswerable)
            for ranker in work:
                these = may_see if ranker.answer else np.ones(block.height, bool)
                if not these.any():
                    continue
                scores = bases(group, block.filter(these), ranker)
                if ranker.neighbour:
                    scores = neighbour_smoothed(scores, group.docs, cfg.rankers.neighbour)
                order, values = _best(scores, cfg.rankers.keep)
                found.append(_frame(block["question_id"].to_numpy()[these], ranker, ids[order], values))
            bases.forget()
    return pl.concat(found) if found else TABLES["rankings"].empty()


def _frame(question_ids: np.ndarray, ranker: Ranker, chosen: np.ndarray, values: np.ndarray) -> pl.DataFrame:
    width = chosen.shape[1]
    frame = pl.DataFrame(
        {
            "question_id": np.repeat(question_ids, width),
            "rank": np.tile(np.arange(width, dtype=np.int32), len(question_ids)),
            "passage_id": chosen.ravel(),
            "value": values.ravel().astype(np.float32),
        }
    )
    labels = {"scorer": pl.lit(ranker.name), "answer_aware": pl.lit(ranker.aware), "edge_id": pl.lit(None, pl.Int32)}
    return frame.filter(pl.col("value").is_finite()).with_columns(**labels)
