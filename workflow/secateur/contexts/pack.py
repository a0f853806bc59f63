"""The one packer: which pieces fill a token budget, for every ranker and every form alike.

The budget is of the text as it is sent, separators, numbers, headers and rules included. `refill` passes over a piece
that does not fit and tries the next; `stop` ends at the first that overflows, the rule of published rows.
"""

from collections.abc import Callable, Sequence
from typing import Literal

__all__ = ["Packing", "pack"]

Packing = Literal["refill", "stop"]
Size = Callable[[list[int]], int]  # places of the chosen pieces, best first -> tokens of the text that they make
NEAR = 16  # tokens that a sum of parts may miss the whole by; where that could decide, the whole is counted


def pack(parts: Sequence[int] | None, number: int, budget: int, packing: Packing, size: Size) -> list[int]:
    """Places of the pieces that are sent, best first.

    parts: tokens of each of the pieces by itself with its separator, which add up to about the whole; None where pieces
    share text. size: exact; it does not shrink as pieces are added. Parts only save work: where what they leave out,
    a token for each of many joints, comes to more than was spared for it, everything is counted.
    """
    chosen: list[int] = []
    used, exact = 0, False
    for n in range(number):
        cost = 0 if parts is None else parts[n]
        if parts is not None and used + cost <= budget - NEAR:
            chosen, used, exact = [*chosen, n], used + cost, False
            continue
        if not exact:
            used, exact = size(chosen), True
            if used > budget:
                break
        now = size([*chosen, n]) if used + cost <= budget + NEAR else budget + 1
        if now <= budget:
            chosen, used = [*chosen, n], now
        elif packing == "stop":
            break
    over = parts is not None and (used if exact else size(chosen)) > budget
    return pack(None, number, budget, packing, size) if over else chosen
