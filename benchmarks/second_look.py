"""Fit the model of the second look on the choosing sets of a mirror (SECATEUR_MIRROR), and say what it finds there by folds.

Each question stands in four views: its passages are paragraphs or sentences, with titles or without. Without views that
hide titles the model leans on them, and finds less where a question does not name its article. Writes
workflow/secateur/ranking/second_look.npz. Proving sets are not read.
"""

import os
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
from harness import ROOT, Figure, mirrored, publish

from secateur.config import compose, plugins
from secateur.models.embedder import Embedder
from secateur.ranking.look import Look
from secateur.ranking.rank import group_of
from secateur.ranking.second_look import FOLDS, Example, Model, fit, gold_places, looked

SETS = ("hotpotqa_train100", "2wikimultihopqa_train500")  # data/lock.yaml
VIEWS = tuple(product(("paragraph", "sentence"), (True, False)))  # unit of a passage, with titles
PASSES, SEED, BEST = 2, 7, 5
WEIGHTS = ROOT / "workflow" / "secateur" / "ranking" / "second_look.npz"


def examples(settings, embedder: Embedder) -> Iterator[tuple[str, Example]]:
    """The choosing sets in each view, by name."""
    for (unit, titles), name in product(VIEWS, SETS):
        passages, asked = mirrored(compose.option(ROOT / "conf", "dataset", name), name, unit)
        if not titles:
            passages = passages.with_columns(title=pl.lit(None, pl.String))
        gold = gold_places(passages, asked.evidence)
        look = Look(settings, group_of(passages, embedder.embed), SEED)
        ids = asked.questions["question_id"]
        example = Example(look, asked.questions["text"].to_list(), [gold.get(one, frozenset()) for one in ids])
        yield f"{name}, {unit}s{'' if titles else ' without titles'}", example


def recall(model: Model, example: Example, fold: int) -> list[float]:
    """Share of the gold passages of each question of a fold among the first five."""
    rows, shares = example.look.rankings(example.questions), []
    for n, question in enumerate(example.questions):
        if n % FOLDS == fold and example.gold[n]:
            seen, p = looked(model, example.look, question, {name: part[n] for name, part in rows.items()})
            first = seen.places[np.argsort(-p, kind="stable")[:BEST]].tolist()
            shares.append(len(example.gold[n] & set(first)) / len(example.gold[n]))
    return shares


def main() -> None:
    """The model, and its figures by folds."""
    if "SECATEUR_MIRROR" not in os.environ:
        print("Nothing is fitted: set SECATEUR_MIRROR to a folder with the choosing sets.")
        return
    spec = compose.option(ROOT / "conf", "rankers", "multihop").scorers["second_look"]
    settings = plugins.settings("ranker", spec, "conf/rankers", "second_look")
    cache = Path(os.environ.get("SECATEUR_CACHE", ROOT / ".cache"))
    named = dict(examples(settings, Embedder(compose.option(ROOT / "conf", "embedder", "minilm"), cache)))
    fit(list(named.values()), PASSES).save(WEIGHTS)
    rows = []
    if os.environ.get("FOLDS"):
        found: dict[str, list[float]] = {name: [] for name in named}
        for fold in range(FOLDS):
            model = fit([_without(example, fold) for example in named.values()], PASSES)
            for name, example in named.items():
                found[name] += recall(model, example, fold)
        rows = [
            Figure(f"{name} (n {len(of)})", float(np.mean(of)), f"passage recall@{BEST}", None, None, None, None)
            for name, of in found.items()
        ]
    publish("second_look", rows)


def _without(example: Example, fold: int) -> Example:
    """The questions of the other folds."""
    kept = [n for n in range(len(example.questions)) if n % FOLDS != fold]
    return Example(example.look, [example.questions[n] for n in kept], [example.gold[n] for n in kept])


if __name__ == "__main__":
    main()
