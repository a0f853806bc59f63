"""Utility of each configuration of each question (paper 2.8): U = alpha Acc + delta Faithfulness - beta Tokens - gamma Latency.

Measurements (`Terms`) and weights (`weigh`) are separate: other weights need no new scores.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from secateur.config.policy import Policy
from secateur.core.errors import SecateurError, nearest
from secateur.models.words import content_words
from secateur.policy.actions import Configuration, name

__all__ = ["Terms", "Utilities", "faithfulness", "gain_range", "terms", "weigh"]

MEASURED = ("answer_gain", "faithfulness", "tokens")


@dataclass(frozen=True)
class Terms:
    """Measured terms of each question under each configuration; arrays (questions, configurations).

    answer_gain: answer gain, nats for each answer token; faithfulness: a share; tokens: of the whole prompt.
    """

    questions: tuple[str, ...]
    configurations: tuple[Configuration, ...]
    answer_gain: NDArray[np.float64]
    faithfulness: NDArray[np.float64]
    tokens: NDArray[np.float64]


@dataclass(frozen=True)
class Utilities:
    """Weighed terms; value, accuracy and tokens are (questions, configurations)."""

    questions: tuple[str, ...]
    configurations: tuple[Configuration, ...]
    value: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    tokens: NDArray[np.float64]


def faithfulness(answer: str, evidence: str) -> float:
    """Share of the answer's content words that the prompt's evidence contains; 1 for an answer without any.

    >>> faithfulness("The brown bears hibernate", "Brown bear: sleeps in winter")
    0.6666666666666666
    """
    words = content_words(answer)
    return len(words & content_words(evidence)) / len(words) if words else 1.0


def terms(frame: pl.DataFrame, configurations: Sequence[Configuration]) -> Terms:
    """Terms from rows (question_id, configuration, gain, faithfulness, tokens), questions sorted by id.

    Raises SecateurError, with question and configuration, for one that is unknown, scored twice, or not finite.
    """
    known = [name(one) for one in configurations]
    _refuse_strangers(frame, known)
    questions = frame.select(pl.col("question_id").unique().sort())
    grid = questions.join(pl.DataFrame({"configuration": known}), how="cross", maintain_order="left_right")
    full = grid.join(frame, on=["question_id", "configuration"], how="left", maintain_order="left")
    full = full.with_columns(pl.col(MEASURED).cast(pl.Float64).fill_null(float("nan")))
    unknown = full.filter(~pl.all_horizontal(pl.col(MEASURED).is_finite()))
    if len(unknown):
        row = unknown.row(0, named=True)
        term = next(term for term in MEASURED if not np.isfinite(row[term]))
        raise SecateurError(
            f"utility of question {row['question_id']} under {row['configuration']}: {term} is {row[term]}; allowed: a "
            f"finite {', '.join(MEASURED)} under each of the {len(known)} configurations. Fix: score that prompt again."
        )
    arrays = {term: full[term].to_numpy().reshape(-1, len(known)) for term in MEASURED}
    return Terms(tuple(questions["question_id"]), tuple(configurations), **arrays)


def _refuse_strangers(frame: pl.DataFrame, known: Sequence[str]) -> None:
    """Raise SecateurError for a configuration outside the lattice, and for a duplicated row."""
    keys = ["question_id", "configuration"]
    strange = frame.filter(~pl.col("configuration").is_in(known))
    if len(strange):
        question, given = strange.select(keys).row(0)
        raise SecateurError(
            f"utility of question {question}: unknown configuration {given!r}; allowed: {', '.join(known)}"
            f"{nearest(given, known)}. Fix: score the configurations of this lattice (memory on: 27, off: 3)."
        )
    twice = frame.filter(pl.struct(keys).is_duplicated())
    if len(twice):
        question, given = twice.select(keys).row(0)
        raise SecateurError(
            f"utility of question {question} under {given} has more than one row; allowed: one row each. "
            "Fix: score each prompt once."
        )


def gain_range(train: Terms, policy: Policy) -> tuple[float, float]:
    """The percentiles of the training questions' gains between which accuracy grows from 0 to 1.

    Raises SecateurError where they are equal.
    """
    low, high = np.quantile(train.answer_gain, policy.clip)
    if not low < high:
        raise SecateurError(
            f"answer gain of {len(train.questions)} training questions: quantiles {list(policy.clip)} are {low:.4g} and "
            f"{high:.4g}; allowed: two strictly increasing quantiles. Fix: score more questions, or widen policy.clip."
        )
    return float(low), float(high)


def weigh(measured: Terms, policy: Policy, gains: tuple[float, float]) -> Utilities:
    """Utilities under the policy's weights.

    Tokens count in units of the question's full prompt. Latency is modelled from tokens, in seconds: a measured one would
    teach the policy the load of the machine. Raises SecateurError where latency has a weight but no coefficients.
    """
    low, high = gains
    accuracy = np.clip((measured.answer_gain - low) / (high - low), 0, 1)
    value = policy.alpha * accuracy + policy.delta * measured.faithfulness
    value = value - policy.beta * measured.tokens / measured.tokens[:, :1]  # configuration 0 is include_all everywhere
    if policy.gamma:
        value = value - policy.gamma * _latency(measured.tokens, policy)
    return Utilities(measured.questions, measured.configurations, value, accuracy, measured.tokens)


def _latency(tokens: NDArray[np.float64], policy: Policy) -> NDArray[np.float64]:
    """Seconds of a request, from its prompt's tokens."""
    if policy.latency is None or len(policy.latency) != 2:
        raise SecateurError(
            f"policy.gamma is {policy.gamma} and policy.latency is {policy.latency}; allowed: two coefficients, seconds of "
            "a request and seconds of a prompt token. Fix: measure them for this language model, or set policy.gamma=0."
        )
    fixed, per_token = policy.latency
    return fixed + per_token * tokens
