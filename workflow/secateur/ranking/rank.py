"""Rank the passages of each question's group with every ranker of a list and its suffixed forms.

NAME+neighbour adds a share of the better neighbour's z-score. NAME+answer reads the question with its gold answer; it is
answer-aware, and comparable with answer-aware scorers only.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl

from secateur.config import plugins
from secateur.core.errors import SecateurError
from secateur.core.shards import questions_of
from secateur.core.tables.catalog import TABLES
from secateur.models.embedder import Embedder
from secateur.ranking.group import (
    Group,
    Questions,
    articles_of,
    blocks,
    neighbour_smoothed,
    texts_read,
    top,
    without_excluded,
)

__all__ = ["expanded", "group_of", "not_fitted_to", "rank"]

Embed = Callable[[Sequence[str]], np.ndarray]  # texts to unit vectors
LARGEST = float(np.finfo(np.float32).max)  # a larger score, of a run made elsewhere, counts as this one
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
        """Whether it sees the gold answer."""
        return self.answer or self.module.ANSWER_AWARE


def expanded(scorers: dict[str, dict[str, Any]], suffixes: tuple[str, ...]) -> Iterator[Ranker]:
    """Yield each ranker, plain and with each suffix; a ranker that does not read the question, or is order-aware, has no suffixed form."""
    unknown = [s for s in suffixes if s.replace("+neighbour", "").replace("+answer", "")]
    if unknown:
        raise SecateurError(
            f"rankers.suffixes: {', '.join(unknown)} not known; allowed: {', '.join(SUFFIXES)} and both joined."
        )
    for name, spec in scorers.items():
        module = plugins.load("ranker", spec["kind"])
        settings = plugins.settings("ranker", spec, "conf/rankers", f"rankers.scorers.{name}")
        for suffix in ("", *(suffixes if plugins.takes_suffixes(module) else ())):
            yield Ranker(name + suffix, module, settings, "+neighbour" in suffix, "+answer" in suffix)


def group_of(passages: pl.DataFrame, embed: Embed, embed_tokens=None) -> Group:
    """The passages of a group as rankers read them. passages: in reading order; embed_tokens: texts to `TokenVectors`."""
    _, docs = np.unique(passages["doc_id"].to_numpy(), return_inverse=True)
    return Group(
        texts_read(passages),
        [t or "" for t in passages["title"]],
        docs,
        embed,
        passages["passage_id"].to_list(),
        {},
        embed_tokens,
        articles_of(passages),
    )


class _UnsmoothedScores:
    """Scores of rankers without smoothing, computed once and shared by their forms."""

    def __init__(self, gold: dict[str, list[str]], seed: int) -> None:
        self.gold, self.seed, self.cache = gold, seed, {}

    def __call__(self, group: Group, questions: pl.DataFrame, ranker: Ranker) -> np.ndarray:
        key = (ranker.module.__name__, repr(ranker.settings), ranker.answer)
        if key not in self.cache:
            batch = self._batch(questions, ranker.answer)
            with plugins.calling("ranker", ranker.module):
                scores = np.asarray(ranker.module.score(ranker.settings, group, batch, self.seed), float)
            self._check(ranker, scores, batch.ids, group.ids)
            self.cache[key] = scores
        return self.cache[key]

    def _batch(self, questions: pl.DataFrame, answer: bool) -> Questions:
        queries = [f"{q} {a}" if answer else q for q, a in questions.select("text", "answer").iter_rows()]
        ids = questions["question_id"].to_list()
        return Questions(queries, ids, [frozenset(self.gold.get(q, ())) for q in ids])

    @staticmethod
    def _check(ranker: Ranker, scores: np.ndarray, questions: list[str], passages: list[str]) -> None:
        """Raise SecateurError for scores of another shape, NaN or +inf."""
        shape, problem = (len(questions), len(passages)), ""
        if scores.shape != shape:
            problem = f"shape {scores.shape}, {shape} (questions, passages) is needed"
        elif len(wrong := np.argwhere(np.isnan(scores) | np.isposinf(scores))):
            row, column = wrong[0]
            problem = f"NaN or +inf, first for question {questions[row]} and passage {passages[column]}"
        if problem:
            raise SecateurError(
                f"ranker {ranker.name} ({ranker.module.__name__}) gave scores with {problem}. "
                "Fix: score() in that file; minus infinity leaves a passage out."
            )


def _answerable(questions: pl.DataFrame, unanswerable: tuple[str, ...]) -> np.ndarray:
    """(questions,) whether a question has an answer that +answer forms may read."""
    refused = pl.col("type").is_in(list(unanswerable)).fill_null(False)
    return questions.select(pl.col("answer").is_not_null() & ~refused).to_series().to_numpy()


def not_fitted_to(ranker: Ranker, embedder: Any) -> str:
    """That a ranker's weights were fitted with vectors of another embedder; empty where they were not."""
    of = ranker.module.FITTED_WITH
    if of is None or of == embedder.model:
        return ""
    return (
        f"{ranker.name}: its weights were fitted with vectors of {of}, these are of {embedder.model}: its probabilities are not "
        "calibrated"
    )


def rank(
    cfg,
    passages: pl.DataFrame,
    questions: pl.DataFrame,
    evidence: pl.DataFrame | None,
    ctx,
    is_limited: bool = False,
    shard: str = "",
) -> pl.DataFrame:
    """The table `rankings`: the best passages of each question under each ranker of `cfg.rankers`.

    +answer forms rank only questions with an answer and an answerable type. The passage that a question excludes is left
    out once all are scored. evidence: for the ranker `gold`; is_limited: whether the questions are the first of a larger set;
    shard: whose questions are ranked.
    """
    embedder, tables = Embedder(cfg.embedder, ctx.cache, ctx.log), []
    gold: dict[str, list[str]] = {}
    if evidence is not None:
        gold = dict(evidence.drop_nulls("passage_id").group_by("question_id").agg("passage_id").iter_rows())
    rankers = list(expanded(cfg.rankers.scorers, cfg.rankers.suffixes))
    for ranker in rankers:
        if ranker.module.check:
            for warning in ranker.module.check(ranker.settings, questions, passages, is_limited) or ():
                ctx.warn(f"{ranker.name}: {warning}")
        if unfitted := not_fitted_to(ranker, cfg.embedder):
            ctx.counts[f"vectors_not_fitted_{ranker.name}"] = 1
            ctx.warn(unfitted)
    questions = questions_of(questions, shard)
    if any(ranker.module.READS_GOLD for ranker in rankers):
        without = sum(question not in gold for question in questions["question_id"])
        if without:
            ctx.warn(
                f"{without} of {questions.height} questions have no gold passage: the ranker gold ranks none for them"
            )
    groups = questions.partition_by("group_id", maintain_order=True)
    undecided: Counter[str] = Counter()
    embedder.tell_split(texts_read(passages), "passages", ctx)
    for in_group in ctx.progress(groups, len(groups), "groups"):
        choices = passages.filter(pl.col("group_id") == in_group["group_id"][0]).sort("doc_id", "position")
        group = group_of(choices, embedder.embed, embedder.embed_tokens)
        ids = choices["passage_id"].to_numpy()
        for block in blocks(in_group, choices.height):
            answerable = _answerable(block, cfg.dataset.unanswerable)
            unsmoothed = _UnsmoothedScores(gold, cfg.eval.seed)
            for ranker in rankers:
                ranked = answerable if ranker.answer else np.ones(block.height, bool)
                if not ranked.any():
                    continue
                scores = unsmoothed(group, block.filter(ranked), ranker)
                undecided[ranker.name] += _undecided(scores) if ranker.module.READS_QUESTION else 0
                if ranker.neighbour:
                    scores = neighbour_smoothed(scores, group.docs, cfg.rankers.neighbour)
                scores = without_excluded(scores, block.filter(ranked), group.ids)
                order = np.stack([top(row, cfg.rankers.keep) for row in scores])
                values = np.take_along_axis(scores, order, axis=1)
                tables.append(_rankings(block["question_id"].to_numpy()[ranked], ranker, ids[order], values))
    ctx.counts |= {f"questions_in_reading_order_{name}": count for name, count in (+undecided).items()}
    if blind := [name for name, count in undecided.items() if count == questions.height]:
        ctx.warn(f"{', '.join(blind)}: no question tells one passage from another, all are ranked in reading order")
    rankings = pl.concat(tables) if tables else TABLES["rankings"].empty()
    expected = {r.name for r in rankers if not r.answer and (r.module.READS_QUESTION or r.module.FILES)}
    ranked_questions = dict(rankings.group_by("scorer").agg(pl.col("question_id").n_unique()).iter_rows())
    for name in (ranker.name for ranker in rankers):
        if name in expected and (missing := questions.height - ranked_questions.get(name, 0)):
            ctx.counts[f"questions_not_ranked_{name}"] = missing
            ctx.warn(f"{name} ranks nothing for {missing} of {questions.height} questions: they score 0")
    return rankings


def _undecided(scores: np.ndarray) -> int:
    """Number of questions whose passages, two or more, all have the same score, as without a shared word."""
    return int((np.ptp(scores, axis=1) == 0).sum()) if scores.shape[1] > 1 and np.isfinite(scores).all() else 0


def _rankings(question_ids: np.ndarray, ranker: Ranker, passage_ids: np.ndarray, values: np.ndarray) -> pl.DataFrame:
    """The table `rankings` from (questions, passages) ids and values, best first, without infinite values."""
    width = passage_ids.shape[1]
    frame = pl.DataFrame(
        {
            "question_id": np.repeat(question_ids, width),
            "rank": np.tile(np.arange(width, dtype=np.int32), len(question_ids)),
            "passage_id": passage_ids.ravel(),
            "value": np.where(np.isfinite(values), np.clip(values, -LARGEST, LARGEST), values)
            .ravel()
            .astype(np.float32),
        }
    )
    labels = {"scorer": pl.lit(ranker.name), "answer_aware": pl.lit(ranker.aware), "edge_id": pl.lit(None, pl.Int32)}
    return frame.filter(pl.col("value").is_finite()).with_columns(**labels)
