"""The one packer: which pieces fill a token budget, for every ranker and every form alike.

The budget is of the text as it is sent, separators, numbers, headers and rules included. `refill` passes over a piece
that does not fit and tries the next; `stop` ends at the first that overflows, the rule of published rows.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Literal

__all__ = ["Packing", "pack", "pack_shared"]

Packing = Literal["refill", "stop"]
Size = Callable[[list[int]], int]  # places of the chosen pieces, best first -> tokens of the text that they make
JOIN = 2  # tokens by which what a piece adds may differ from its own tokens: those at its ends may join others


def pack(parts: Sequence[int], budget: int, packing: Packing, size: Size) -> list[int]:
    """Places of the pieces that are sent, best first. parts: what each piece adds, to within a join.

    Texts are written out and counted only where the sum of their parts leaves it open whether they fit.
    """
    chosen: list[int] = []
    used, open_joins = 0, 0  # `used` is exact where no join is open
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
    while open_joins and size(chosen) > budget:  # a join that missed by more than JOIN
        chosen.pop()
    return chosen


def pack_shared(least: Sequence[int], budget: int, packing: Packing, size: Size, frame: int) -> list[int]:
    """The same where pieces share text, as facts share a codebook: what one adds hangs on those before it.

    least: what each adds at least; frame: tokens of what stands around them. The longest prefix is found by bisection,
    since no text shrinks as it grows.
    """
    sums = list(accumulate(max(cost, 0) for cost in least))  # a bound below 0 says nothing: no text shrinks
    longest = bisect_right(sums, budget)  # no longer prefix can fit: none of it need be written out
    prefix = bisect_right(range(longest + 1), budget, key=lambda n: size(list(range(n)))) - 1
    chosen = list(range(max(prefix, 0)))
    if packing == "stop":
        return chosen
    used = size(chosen) if chosen else frame
    for n in range(len(chosen) + 1, len(least)):
        if used + least[n] <= budget and (now := size([*chosen, n])) <= budget:
            chosen, used = [*chosen, n], now
    return chosen
