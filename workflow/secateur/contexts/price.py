"""A price for tokens: a passage is sent iff the evidence that it is expected to hold is worth more than its tokens.

    value > price x tokens / UNIT

A higher price sends a subset of the passages, so that tokens never rise with it.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable

__all__ = ["UNIT", "limit", "lowest_price"]

UNIT = (
    512  # tokens that a price is for, those of conf/assembly/default's budget; another unit would only rescale prices
)


def limit(value: float, tokens: int) -> float:
    """The price from which on a passage is not sent; a form's lower bound of tokens counts as one at least.

    value: the expected share of the question's evidence that the passage holds.

    >>> limit(0.25, 128), limit(-1.0, 512)
    (1.0, -1.0)
    """
    return value * UNIT / max(tokens, 1)


def lowest_price(limits: Iterable[float], tokens: Callable[[float], float], most: float) -> float:
    """The lowest price at which no more than `most` tokens are sent, by bisection over the prices where any change.

    limits: of all passages, by `limit`; tokens: sent at a price, which fall in it and are 0 from the highest limit on.

    >>> lowest_price([2.0, 0.5, -1.0], lambda price: 100 * (price < 2) + 60 * (price < 0.5), 120)
    0.5
    """
    prices = [0.0, *sorted({price for price in limits if price > 0})]
    return prices[bisect_left(prices, True, key=lambda price: tokens(price) <= most)]
