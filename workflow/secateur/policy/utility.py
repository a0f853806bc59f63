"""Utility of each configuration of each question (paper 2.8): U = alpha Acc + delta Faithfulness - beta Tokens - gamma Latency.

Measurements (`Terms`) and weights (`weigh`) are separate: other weights need no new scores.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from secateur.config.models import FIT
from secateur.config.policy import Policy
from secateur.core.errors import SecateurError, nearest
from secateur.policy.actions import Configuration, name

__all__ = ["MEASURED", "Terms", "Utilities", "accuracy_range", "terms", "weigh"]

MEASURED = ("answer_gain", "token_f1", "faithfulness", "tokens", "written", "budget")


@dataclass(frozen=True)
class Terms:
    """Measured terms of each question under each configuration; arrays (questions, configurations).

    answer_gain: nats for each token of the gold answer; token_f1, faithfulness: of the written answer, 0 to 1; tokens: of
    the whole prompt as sent; written: of the answer; budget: of the evidence.
    """

    questions: tuple[str, ...]
    configurations: tuple[Configuration, ...]
    answer_gain: NDArray[np.float64]
    token_f1: NDArray[np.float64]
    faithfulness: NDArray[np.float64]
    tokens: NDArray[np.float64]
    written: NDArray[np.float64]
    budget: NDArray[np.float64]


@dataclass(frozen=True)
class Utilities:
    """Weighed terms; arrays are (questions, configurations).

    seconds: modelled, of an answer; None without coefficients.
    """

    questions: tuple[str, ...]
    configurations: tuple[Configuration, ...]
    value: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    faithfulness: NDArray[np.float64]
    tokens: NDArray[np.float64]
    seconds: NDArray[np.float64] | None = None


def terms(frame: pl.DataFrame, configurations: Sequence[Configuration]) -> Terms:
    """Terms from rows of `preferences`, questions sorted by id.

    Raises SecateurError, with question and configuration, for one that is unknown, scored twice, or not finite.
    """
    names = [name(configuration) for configuration in configurations]
    _refuse_strangers(frame, names)
    questions = frame.select(pl.col("question_id").unique().sort())
    grid = questions.join(pl.DataFrame({"configuration": names}), how="cross", maintain_order="left_right")
    full = grid.join(frame, on=["question_id", "configuration"], how="left", maintain_order="left")
    full = full.with_columns(pl.col(MEASURED).cast(pl.Float64).fill_null(float("nan")))
    unknown = full.filter(~pl.all_horizontal(pl.col(MEASURED).is_finite()))
    if len(unknown):
        row = unknown.row(0, named=True)
        term = next(term for term in MEASURED if not np.isfinite(row[term]))
        raise SecateurError(
            f"utility of question {row['question_id']} under {row['configuration']}: {term} is {row[term]}; allowed: a "
            f"finite {', '.join(MEASURED)} under each of the {len(names)} configurations. Fix: score that prompt again."
        )
    arrays = {term: full[term].to_numpy().reshape(-1, len(names)) for term in MEASURED}
    return Terms(tuple(questions["question_id"]), tuple(configurations), **arrays)


def _refuse_strangers(frame: pl.DataFrame, names: Sequence[str]) -> None:
    """Raise SecateurError for a configuration outside the lattice, and for a duplicated row."""
    keys = ["question_id", "configuration"]
    strange = frame.filter(~pl.col("configuration").is_in(names))
    if len(strange):
        question, configuration = strange.select(keys).row(0)
        raise SecateurError(
            f"utility of question {question}: unknown configuration {configuration!r}; allowed: {', '.join(names)}"
            f"{nearest(configuration, names)}. Fix: score the configurations of one lattice."
        )
    twice = frame.filter(pl.struct(keys).is_duplicated())
    if len(twice):
        question, configuration = twice.select(keys).row(0)
        raise SecateurError(
            f"utility of question {question} under {configuration} has more than one row; allowed: one row each. "
            "Fix: score each prompt once."
        )


def accuracy_range(train: Terms, policy: Policy) -> tuple[float, float]:
    """The values of `policy.accuracy` that become 0 and 1: of answer gain, percentiles of the training questions.

    Raises SecateurError where they are equal.
    """
    if policy.accuracy != "answer_gain":
        return 0.0, 1.0
    low, high = np.quantile(train.answer_gain, policy.clip)
    if not low < high:
        raise SecateurError(
            f"answer gain of {len(train.questions)} training questions: quantiles {list(policy.clip)} are {low:.4g} and "
            f"{high:.4g}; allowed: two strictly increasing quantiles. Fix: score more questions, or widen policy.clip."
        )
    return float(low), float(high)


def weigh(
    measured: Terms, policy: Policy, scale: tuple[float, float], seconds: Mapping[str, float] | None
) -> Utilities:
    """Utilities under the policy's weights; scale: `accuracy_range` of train; seconds: `lm.seconds`.

    Tokens count in units of the evidence budget, latency in units of the question's slowest configuration. Latency is
    modelled: a measured one would teach the policy the load of the machine. Raises SecateurError where it has a weight but
    no coefficients.
    """
    low, high = scale
    accuracy = np.clip((getattr(measured, policy.accuracy) - low) / (high - low), 0, 1)
    value = policy.alpha * accuracy + policy.delta * measured.faithfulness
    value = value - policy.beta * measured.tokens / measured.budget
    if policy.gamma and not seconds:
        raise SecateurError(
            f"policy.gamma is {policy.gamma} and lm.seconds is null; allowed: the seconds of a call, of a token read and of "
            f"a token written. Fix: {FIT}, or policy.gamma=0."
        )
    latency = _latency(measured, seconds) if seconds else None
    if policy.gamma:
        value = value - policy.gamma * latency / latency.max(1, keepdims=True)
    measures = (accuracy, measured.faithfulness, measured.tokens, latency)
    return Utilities(measured.questions, measured.configurations, value, *measures)


def _latency(measured: Terms, seconds: Mapping[str, float]) -> NDArray[np.float64]:
    """Seconds of an answer, from the tokens that are read and written."""
    return seconds["call"] + seconds["read"] * measured.tokens + seconds["write"] * measured.written
