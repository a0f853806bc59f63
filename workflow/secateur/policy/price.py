"""Token control: a price on tokens that keeps the mean prompt size within a budget (paper 2.8, lemma 13)."""

import numpy as np
from numpy.typing import NDArray

from secateur.core.errors import SecateurError

__all__ = ["choose", "price", "spent"]

HALVINGS = 100  # beyond the precision of a double


def choose(log_pi: NDArray[np.float64], tokens: NDArray[np.float64], eta: float = 0.0) -> NDArray[np.int64]:
    """(questions,) the configuration with the highest log pi - eta * tokens; of equal ones the cheaper.

    log_pi, tokens: (questions, configurations). The chosen tokens never rise with eta.
    """
    cheap_first = np.argsort(tokens, axis=1, kind="stable")
    scores = np.take_along_axis(log_pi - eta * tokens, cheap_first, 1)
    return np.take_along_axis(cheap_first, scores.argmax(1)[:, None], 1)[:, 0]


def price(log_pi: NDArray[np.float64], tokens: NDArray[np.float64], budget: float) -> float:
    """The smallest eta >= 0 at which mean prompt tokens are within the budget, by bisection.

    Choices change one question at a time as eta grows, except for exact ties. So, unless eta is 0, the mean is below the
    budget by less than one question's step, divided by the number of questions. A tighter budget never gets a smaller
    eta: all searches start from the same bracket. Raises SecateurError for a budget below the cheapest mean.
    """
    cheapest = float(tokens.min(1).mean())
    if budget < cheapest:
        raise SecateurError(
            f"policy.budget is {budget} prompt tokens, the cheapest configurations (header, rules and question) take "
            f"{cheapest:.1f} on average over {len(tokens)} questions; allowed: from {int(np.ceil(cheapest))}. "
            "Fix: raise policy.budget, or shorten the prompt's header."
        )
    if spent(log_pi, tokens, 0.0) <= budget:
        return 0.0
    steps = np.diff(np.sort(tokens, axis=1), axis=1)
    low, high = (
        0.0,
        2 * float(np.ptp(log_pi, axis=1).max() / steps[steps > 0].min()),
    )  # at this price all take their cheapest
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if spent(log_pi, tokens, middle) <= budget else (middle, high)
    return high


def spent(log_pi: NDArray[np.float64], tokens: NDArray[np.float64], eta: float) -> float:
    """Mean tokens of the chosen configurations at a price."""
    return float(np.take_along_axis(tokens, choose(log_pi, tokens, eta)[:, None], 1).mean())
