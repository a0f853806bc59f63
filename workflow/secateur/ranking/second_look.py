"""The model of a second look: p(evidence | question, passage, chain), fitted on questions with gold passages.

The first pass reads the chain of the plain rankings, each later pass the chain that the pass before it found most probable.
A question never sees a model that was fitted on it: passes after the first are fitted to probabilities by folds.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
import polars as pl
from numpy.typing import NDArray

from secateur.core.artifacts import atomic
from secateur.core.errors import SecateurError
from secateur.ranking.group import EPS
from secateur.ranking.look import Look, Seen
from secateur.ranking.trees import Trees, fitted

__all__ = ["FOLDS", "Example", "Model", "fit", "gold_places", "levelled", "looked"]

FOLDS = 5
SETTINGS = {  # small trees and few of them: choosing sets have some hundred questions
    "max_iter": 200,
    "learning_rate": 0.06,
    "max_leaf_nodes": 12,
    "min_samples_leaf": 40,
    "l2_regularization": 10.0,
    "max_features": 0.5,
    "early_stopping": False,  # else it stops by a random tenth wherever there are over 10,000 candidates
}
SEEDS = (0, 1, 2)


@dataclass(frozen=True)
class Model:
    """Trees of each pass.

    share: mean of 1 / gold passages over the questions that it was fitted on; level: intercept and slope of the last pass's
    log odds (Platt 1999), fitted on questions of a set of one's own.
    """

    passes: tuple[Trees, ...]
    share: float
    level: tuple[float, float] = (0.0, 1.0)

    def at_level(self, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probabilities of the last pass at the model's level; their order stays."""
        intercept, slope = self.level
        return 1 / (1 + np.exp(-intercept - slope * _log_odds(probabilities)))

    def save(self, path: Path) -> None:
        """Writes the model as a compressed NumPy file."""
        arrays = {name: part for n, trees in enumerate(self.passes) for name, part in trees.arrays(str(n)).items()}
        with atomic(path) as temporary, temporary.open("wb") as file:
            np.savez_compressed(file, share=np.array(self.share), level=np.array(self.level), **arrays)

    @classmethod
    @lru_cache(maxsize=4)
    def load(cls, path: Path) -> "Model":
        """Reads a model. Raises SecateurError for a file that holds none."""
        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = dict(file)
            count = len({name.partition(".")[0] for name in arrays if "." in name})
            intercept, slope = arrays["level"].tolist()
            passes = tuple(Trees.of_arrays(arrays, str(n)) for n in range(count))
            return cls(passes, float(arrays["share"]), (intercept, slope))
        except (OSError, EOFError, ValueError, KeyError, BadZipFile) as error:
            raise SecateurError(
                f"{path}: holds no model of a second look ({error}). Fix: name a file that `secateur fit` wrote."
            ) from error


@dataclass(frozen=True)
class Example:
    """Questions over one group of passages, with the places of their gold passages, to fit a model on."""

    look: Look
    questions: Sequence[str]
    gold: Sequence[frozenset[int]]


def gold_places(passages: pl.DataFrame, evidence: pl.DataFrame) -> dict[str, frozenset[int]]:
    """Question -> the places of its gold passages among some passages, for questions that have any there."""
    places = passages.select("passage_id").with_row_index("place")
    gold = evidence.select("question_id", "passage_id").join(places, on="passage_id")
    return {question: frozenset(of) for question, of in gold.group_by("question_id").agg("place").iter_rows()}


def looked(model: Model, look: Look, question: str, scores: dict[str, NDArray[np.float64]]) -> tuple[Seen, NDArray]:
    """The candidates of a question and p(evidence) of each. scores: of its rankings, as `Look.rankings` has them."""
    chain = look.first_chain(scores)
    for trees in model.passes:
        seen = look.seen(question, scores, chain)
        probabilities = trees.probabilities(seen.features)
        chain = look.next_chain(seen, probabilities)
    return seen, model.at_level(probabilities)


def fit(examples: Sequence[Example], passes: int, progress=iter) -> Model:
    """A model fitted on examples, whose questions fall into folds by their number. progress: wraps a list of questions."""
    places = [(example, n) for example in examples for n in range(len(example.questions))]
    ranked = [example.look.rankings(example.questions) for example in examples]
    scores = [
        {name: part[n] for name, part in rows.items()}
        for e, rows in zip(examples, ranked, strict=True)
        for n in range(len(e.questions))
    ]
    chains = [example.look.first_chain(of) for (example, _), of in zip(places, scores, strict=True)]
    trees: list[Trees] = []
    for _ in range(passes):
        seen = [
            example.look.seen(example.questions[n], of, chain)
            for (example, n), of, chain in progress(list(zip(places, scores, chains, strict=True)))
        ]
        labels = [np.isin(view.places, list(example.gold[n])) for (example, n), view in zip(places, seen, strict=True)]
        trees.append(_fitted(seen, labels))
        held_out = _by_folds(seen, labels, [n % FOLDS for _, n in places])
        chains = [e.look.next_chain(view, p) for (e, _), view, p in zip(places, seen, held_out, strict=True)]
    shares = [1 / len(gold) for example in examples for gold in example.gold if gold]
    return Model(tuple(trees), float(np.mean(shares)))


def _fitted(seen: Sequence[Seen], labels: Sequence[NDArray[np.bool_]]) -> Trees:
    return fitted(np.vstack([view.features for view in seen]), np.concatenate(labels), SEEDS, **SETTINGS)


def _by_folds(
    seen: Sequence[Seen], labels: Sequence[NDArray[np.bool_]], folds: Sequence[int]
) -> list[NDArray[np.float64]]:
    """Probabilities of the candidates of each question, by a model fitted on the other folds.

    Views of one question (its sentences, its paragraphs, without titles) have one number, and so one fold.
    """
    held_out: dict[int, NDArray[np.float64]] = {}
    for fold in sorted(set(folds)):
        others = [n for n, of in enumerate(folds) if of != fold]
        trees = _fitted([seen[n] for n in others], [labels[n] for n in others])
        held_out |= {n: trees.probabilities(seen[n].features) for n, of in enumerate(folds) if of == fold}
    return [held_out[n] for n in range(len(seen))]


def levelled(model: Model, examples: Sequence[Example]) -> tuple[Model, tuple[float, float]]:
    """The model at the level of a set's own questions, and its log loss a candidate before and after, the latter by folds.

    Two numbers are fitted, so that some forty questions are enough; the order of passages stays as it was.
    """
    pairs = []
    for example in examples:
        rows = example.look.rankings(example.questions)
        for n, question in enumerate(example.questions):
            pairs.append(looked(model, example.look, question, {name: part[n] for name, part in rows.items()}))
    golds = [gold for example in examples for gold in example.gold]
    labels = [np.isin(seen.places, list(gold)) for (seen, _), gold in zip(pairs, golds, strict=True)]
    odds = [_log_odds(probabilities) for _, probabilities in pairs]
    folds = [n % FOLDS for n in range(len(odds))]
    before, after = [], []
    for fold in sorted(set(folds)):
        level = _level([n for n, of in enumerate(folds) if of != fold], odds, labels)
        held_out = [n for n, of in enumerate(folds) if of == fold]
        before += [_losses(odds[n], labels[n]) for n in held_out]
        after += [_losses(level[0] + level[1] * odds[n], labels[n]) for n in held_out]
    intercept, slope = _level(range(len(odds)), odds, labels)
    if slope <= 0:
        raise SecateurError(
            f"the second look's probabilities fall where evidence is more frequent (slope {slope:.2f}): a level cannot mend an "
            "order. Fix: another ranker for these texts."
        )
    share = float(np.mean([1 / len(gold) for gold in golds]))
    releveled = replace(model, share=share, level=(intercept + slope * model.level[0], slope * model.level[1]))
    return releveled, (float(np.concatenate(before).mean()), float(np.concatenate(after).mean()))


def _log_odds(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    inside = np.clip(probabilities, EPS, 1 - EPS)
    return np.log(inside) - np.log1p(-inside)


def _level(
    chosen: Iterable[int], odds: Sequence[NDArray[np.float64]], labels: Sequence[NDArray[np.bool_]]
) -> tuple[float, float]:
    """Intercept and slope of log odds, by logistic regression on some questions."""
    from sklearn.linear_model import LogisticRegression

    chosen = list(chosen)
    values = np.concatenate([odds[n] for n in chosen])[:, None]
    fitted_to = LogisticRegression(C=np.inf).fit(values, np.concatenate([labels[n] for n in chosen]))
    return float(fitted_to.intercept_[0]), float(fitted_to.coef_[0, 0])


def _losses(odds: NDArray[np.float64], labels: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Log loss of each candidate."""
    return np.logaddexp(0.0, np.where(labels, -odds, odds))
