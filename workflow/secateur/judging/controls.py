"""Controls of a judge: gold and wrong answers, padded answers, statements in the opposite order.

A useful judge gives the gold answer 1 and another question's gold answer 0. Neither empty phrases nor the order of
statements change its verdicts.
"""

from collections.abc import Sequence
from dataclasses import replace

from secateur.judging.protocol import Ask, Item, Judgement, judged

__all__ = ["controls"]


def controls(
    items: Sequence[Item], judgements: Sequence[Judgement], golds: Sequence[Sequence[str]], ask: Ask, padding: str
) -> list[dict[str, float]]:
    """The controls of each item, as far as replies could be read.

    of_gold, of_wrong: `facts` of the item's gold answer, and of the next item's that is none of its own; padded: `facts` of
    the padded answer minus `facts` of the answer; backwards: share of verdicts that stay when statements are shown in the
    opposite order. judgements: those of the items; golds: all gold answers of each.
    """
    bare = [replace(item, context="", evidence=()) for item in items]
    shown = [item.gold for item in bare]
    plain = [[_plain(gold) for gold in every] for every in golds]
    wrong = [next((g for g in [*shown[n:], *shown[:n]] if _plain(g) not in plain[n]), "") for n in range(len(bare))]
    variants = {
        "of_gold": [replace(item, answer=item.gold, refused=False) for item in bare],
        "of_wrong": [replace(item, answer=gold, refused=False) for item, gold in zip(bare, wrong, strict=True)],
        "padded": [replace(item, answer=f"{item.answer} {padding.format(question=item.question)}") for item in bare],
    }
    if "" in wrong:
        del variants["of_wrong"]  # there is no other gold answer
    varied = {name: judged(variant, ask) for name, variant in variants.items()}
    reversed_ = judged(items, ask, backwards=True)
    return [
        _controls(item, judgement, {name: variant[n] for name, variant in varied.items()}, reversed_[n])
        for n, (item, judgement) in enumerate(zip(items, judgements, strict=True))
    ]


def _plain(text: str) -> list[str]:
    return text.casefold().split()


def _controls(item: Item, judgement: Judgement, varied: dict[str, Judgement], reverse: Judgement) -> dict[str, float]:
    values = {name: variant.facts for name, variant in varied.items() if variant.facts is not None}
    if "padded" in values and judgement.facts is not None and not item.refused:
        values["padded"] -= judgement.facts
    else:
        values.pop("padded", None)
    pairs = [
        (judgement.right, reverse.right),
        (judgement.covered, reverse.covered),
        (judgement.grounded, reverse.grounded),
        (judgement.supported, reverse.supported),
    ]
    same = [
        a == b
        for verdicts, reverse_verdicts in pairs
        if verdicts and reverse_verdicts and len(verdicts) > 1
        for a, b in zip(verdicts, reverse_verdicts, strict=True)
    ]
    return values | ({"backwards": sum(same) / len(same)} if same else {})
