"""Baselines of the trained policy on the same utilities: fixed, best constant, hindsight, random, oracle, classifier.

A policy is a matrix of probabilities (questions, configurations), so `random` is an exact expectation.
"""

from collections.abc import Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from secateur.config.policy import Policy
from secateur.policy.actions import name
from secateur.policy.utility import Utilities

__all__ = ["KNOWING", "baselines", "best", "classified", "deterministic", "gap_share", "outcomes"]

KNOWING = ("oracle", "hindsight")  # baselines that see the utilities of the test questions


def deterministic(choice: NDArray[np.int64], configurations: int) -> NDArray[np.float64]:
    """The policy that takes the chosen configuration of each question."""
    return np.eye(configurations)[choice]


def best(utilities: Utilities) -> NDArray[np.int64]:
    """Each question's best configuration, the cheaper of equal ones (the oracle)."""
    top = utilities.value == utilities.value.max(1, keepdims=True)
    return np.where(top, utilities.tokens, np.inf).argmin(1)


def classified(
    train: Utilities, x_train: NDArray[np.float32], x_test: NDArray[np.float32], policy: Policy
) -> NDArray[np.int64]:
    """Configurations predicted by a logistic regression, fitted to the best configurations of the training questions."""
    from sklearn.linear_model import LogisticRegression

    label = best(train)
    if len(np.unique(label)) == 1:  # scikit-learn refuses a single class
        return np.repeat(label[:1], len(x_test))
    return LogisticRegression(max_iter=policy.classifier_steps).fit(x_train, label).predict(x_test)


def baselines(
    train: Utilities, x_train: NDArray[np.float32], test: Utilities, x_test: NDArray[np.float32], policy: Policy
) -> dict[str, NDArray[np.float64]]:
    """The policies on the test questions, by name. All but KNOWING are chosen on the training questions.

    hindsight: the constant that is best on the test questions.
    """
    n, k = test.value.shape
    constant = {f"fixed:{name(c)}": np.full(n, place) for place, c in enumerate(test.configurations)}
    chosen = constant | {
        "best_constant": np.full(n, train.value.mean(0).argmax()),
        "hindsight": np.full(n, test.value.mean(0).argmax()),
        "oracle": best(test),
        "classifier": classified(train, x_train, x_test, policy),
    }
    return {policy: deterministic(choice, k) for policy, choice in chosen.items()} | {"random": np.full((n, k), 1 / k)}


def gap_share(policies: Mapping[str, NDArray[np.float64]], utilities: Utilities) -> float | None:
    """Share of the mean utility between best constant and oracle that the policy gains; None where they are equal."""
    ours, constant, oracle = (
        float((policies[name] * utilities.value).sum(1).mean()) for name in ("policy", "best_constant", "oracle")
    )
    return (ours - constant) / (oracle - constant) if oracle > constant else None


def outcomes(policies: Mapping[str, NDArray[np.float64]], utilities: Utilities) -> pl.DataFrame:
    """The expectation of each policy on each question: policy, question_id, and a column for each of the terms."""
    names = ("accuracy", "faithfulness", "tokens", "seconds")
    terms = {"utility": utilities.value} | {term: getattr(utilities, term) for term in names}
    return pl.concat(
        pl.DataFrame(
            {"policy": policy, "question_id": utilities.questions}
            | {term: (weights * values).sum(1) for term, values in terms.items() if values is not None}
        )
        for policy, weights in policies.items()
    )
