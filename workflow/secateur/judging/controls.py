"""What a judge's figures are worth: gold and wrong answers, padded ones, statements in the opposite order.

A judge that is of use gives the gold answer 1 and another question's gold answer 0, does not care for words that say
nothing, nor for the order in which it reads statements.
"""

from collections.abc import Sequence
from dataclasses import replace

from secateur.judging.protocol import Ask, Item, Judgement, judged

__all__ = ["controls"]


def controls(items: Sequence[Item], own: Sequence[Judgement], ask: Ask, padding: str) -> list[dict[str, float]]:
    """For each item, what could be read of: `of_gold`, `of_wrong`: the facts of the gold answer, and of the next item's,
    read as the answer; `padded`: what padding adds to the facts; `backwards`: share of verdicts on statements that stay
    when these are shown in the opposite order. own: the items' judgements."""
    bare = [replace(item, context="", evidence=()) for item in items]
    others = [*bare[1:], *bare[:1]]
    variants = {
        "of_gold": [replace(item, answer=item.gold, refused=False) for item in bare],
        "of_wrong": [replace(item, answer=other.gold, refused=False) for item, other in zip(bare, others, strict=True)],
        "padded": [replace(item, answer=f"{item.answer} {padding.format(question=item.question)}") for item in bare],
    }
    if len({item.gold for item in items}) < 2:
        del variants["of_wrong"]  # nobody else's answer is a wrong one
    made = {name: judged(one, ask) for name, one in variants.items()}
    turned = judged(items, ask, backwards=True)
    return [_of(n, own[n], {name: one[n] for name, one in made.items()}, turned[n], items) for n in range(len(items))]


def _of(
    n: int, own: Judgement, made: dict[str, Judgement], turned: Judgement, items: Sequence[Item]
) -> dict[str, float]:
    found = {name: one.facts for name, one in made.items() if one.facts is not None}
    if "padded" in found and own.facts is not None and not items[n].refused:
        found["padded"] -= own.facts
    else:
        found.pop("padded", None)
    pairs = [(own.right, turned.right), (own.covered, turned.covered), (own.grounded, turned.grounded)]
    same = [
        a == b
        for one, other in [*pairs, (own.held, turned.held)]
        if one and other and len(one) > 1
        for a, b in zip(one, other, strict=True)
    ]
    return found | ({"backwards": sum(same) / len(same)} if same else {})
