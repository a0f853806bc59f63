"""Rank the passages of each question's group with every scorer of a list, with its suffixes."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from secateur.models.embedder import Embedder
from secateur.pipeline.errors import SecateurError
from secateur.pipeline.tables.catalog import TABLES
from secateur.ranking.baselines import Group, neighbour_smoothed, score

__all__ = ["expanded", "rank"]

SUFFIXES = ("+neighbour", "+answer")


def expanded(
    scorers: dict[str, dict[str, Any]], suffixes: tuple[str, ...]
) -> Iterator[tuple[str, dict[str, Any], bool, bool]]:
    """(full name, specification, neighbour, answer) of each scorer and each suffixed form asked for."""
    wrong = [s for s in suffixes if s.replace("+neighbour", "").replace("+answer", "")]
    if wrong:
        raise SecateurError(
            f"scorer.suffixes: {', '.join(wrong)} not known; allowed: {', '.join(SUFFIXES)} and both joined."
        )
    for name, spec in scorers.items():
        free = spec.get("kind") in ("random", "recency")  # neither looks at the question
        for suffix in ("", *(() if free else suffixes)):
            yield name + suffix, spec, "+neighbour" in suffix, "+answer" in suffix


def _group(passages: pl.DataFrame, embedder: Embedder) -> Group:
    speaker = passages["speaker"]
    texts = [f"{s}: {t}" if s else t for s, t in zip(speaker, passages["text"], strict=True)]
    _, docs = np.unique(passages["doc_id"].to_numpy(), return_inverse=True)
    return Group(texts, [t or "" for t in passages["title"]], docs, embedder.embed)


class _Bases:
    """Scores of a scorer without smoothing, made once a group and shared by its forms."""

    def __init__(self, seed: int) -> None:
        self.seed, self.known = seed, {}

    def __call__(self, group: Group, asked: pl.DataFrame, spec: dict[str, Any], answer: bool) -> np.ndarray:
        key = (repr(spec), answer)
        if key not in self.known:
            queries = [f"{q} {a}" if answer else q for q, a in asked.select("text", "answer").iter_rows()]
            self.known[key] = score(group, queries, spec, seed=self.seed)
        return self.known[key]

    def forget(self) -> None:
        self.known.clear()


def _answerable(asked: pl.DataFrame, unanswerable: tuple[str, ...]) -> np.ndarray:
    """(questions,) whether the gold answer may be shown to a scorer."""
    refused = pl.col("type").is_in(list(unanswerable)).fill_null(False)
    return asked.select(pl.col("answer").is_not_null() & ~refused).to_series().to_numpy()


def _best(scores: np.ndarray, keep: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns and values of the best `keep` of each row, ties to the earlier passage."""
    order = np.argsort(-scores, axis=1, kind="stable")[:, :keep]
    return order, np.take_along_axis(scores, order, axis=1)


def rank(cfg, passages: pl.DataFrame, questions: pl.DataFrame, ctx) -> pl.DataFrame:
    """The `utilities` table: the best passages of each question under each scorer.

    +answer forms are made only for questions with an answer whose type is answerable.
    """
    embedder, found, bases = Embedder(cfg.embedder, ctx.cache, ctx.log), [], _Bases(cfg.eval.seed)
    work = list(expanded(cfg.scorer.scorers, cfg.scorer.suffixes))
    groups = questions.sort("position").partition_by("group_id", maintain_order=True)
    cut = embedder.truncated(passages["text"].to_list())
    if cut:
        ctx.warn(
            f"{cut} passages are longer than the embedder's window of {cfg.embedder.max_tokens} tokens and were cut"
        )
    ctx.counts["truncated"] = cut
    for asked in ctx.progress(groups, len(groups), "groups"):
        own = passages.filter(pl.col("group_id") == asked["group_id"][0]).sort("doc_id", "position")
        group, ids = _group(own, embedder), own["passage_id"].to_numpy()
        may_see = _answerable(asked, cfg.dataset.unanswerable)
        for name, spec, neighbour, answer in work:
            these = may_see if answer else np.ones(asked.height, bool)
            if not these.any():
                continue
            scores = bases(group, asked.filter(these), spec, answer)
            if neighbour:
                scores = neighbour_smoothed(scores, group.docs, cfg.scorer.neighbour)
            order, values = _best(scores, cfg.scorer.keep)
            found.append(_frame(asked["question_id"].to_numpy()[these], name, answer, ids[order], values))
        bases.forget()
    return pl.concat(found) if found else TABLES["utilities"].empty()


def _frame(question_ids: np.ndarray, scorer: str, answer: bool, chosen: np.ndarray, values: np.ndarray) -> pl.DataFrame:
    width = chosen.shape[1]
    frame = pl.DataFrame(
        {
            "question_id": np.repeat(question_ids, width),
            "rank": np.tile(np.arange(width, dtype=np.int32), len(question_ids)),
            "passage_id": chosen.ravel(),
            "value": values.ravel().astype(np.float32),
        }
    )
    return frame.filter(pl.col("value").is_finite()).with_columns(scorer=pl.lit(scorer), answer_aware=pl.lit(answer))
