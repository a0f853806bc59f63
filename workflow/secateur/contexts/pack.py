"""Pack pieces into a token budget, the same way for every ranker and form.

The budget counts the text as it is sent, with separators, numbers, headers and rules. `refill` skips a piece that does not
fit and tries the next; `stop` ends at the first that does not fit, the rule of published results.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Literal

__all__ = ["Packing", "pack", "pack_shared"]

Packing = Literal["refill", "stop"]
Size = Callable[[list[int]], int]  # places of the chosen pieces, best first -> tokens of their text
JOIN = 2  # tokens by which a piece may add fewer or more than its own: those at its ends may join its neighbours


def pack(parts: Sequence[int], budget: int, packing: Packing, size: Size) -> list[int]:
    """Places of the packed pieces, best first, where each piece adds a fixed number of tokens.

    Texts are written out and counted only if the sum of their parts does not settle whether they fit.
    parts: tokens that each piece adds, up to JOIN.
    """
    chosen: list[int] = []
    used, open_joins = 0, 0  # `used` is exact if no join is open
    for n, cost in enumerate(parts):
        if open_joins and abs(used + cost - budget) <= JOIN * (open_joins + 1):
            used, open_joins = size(chosen), 0
        over = used + cost - budget
        if over <= -JOIN * (open_joins + 1):
            chosen, used, open_joins = [*chosen, n], used + cost, open_joins + 1
            continue
        now = size([*chosen, n]) if over <= JOIN else budget + 1
        if now <= budget:
            chosen, used, open_joins = [*chosen, n], now, 0
        elif packing == "stop":
            break
    while open_joins and size(chosen) > budget:  # a join that changed more than JOIN tokens
        chosen.pop()
    return chosen


def pack_shared(least: Sequence[int], budget: int, packing: Packing, size: Size, frame: int) -> list[int]:
    """Places of the packed pieces, best first, where pieces share text, as facts share a codebook.

    The longest prefix that fits is found by bisection: adding a piece never shortens the text.
    least: tokens that each piece adds at least. frame: tokens of the text around any pieces.
    """
    sums = list(accumulate(max(cost, 0) for cost in least))  # a bound below 0 is void: no text shrinks
    longest = bisect_right(sums, budget)  # longer prefixes cannot fit and need not be written out
    prefix = bisect_right(range(longest + 1), budget, key=lambda n: size(list(range(n)))) - 1
    chosen = list(range(max(prefix, 0)))
    if packing == "stop":
        return chosen
    used = size(chosen) if chosen else frame
    for n in range(len(chosen) + 1, len(least)):
        if used + least[n] <= budget and (now := size([*chosen, n])) <= budget:
            chosen, used = [*chosen, n], now
    return chosen
