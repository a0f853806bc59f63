"""A price for tokens against the best constant budget and the best constant number of passages.

    make bench NAME=price ARGS="--ranker second_look --baseline requery --choose DATASET ... --prove DATASET ..."

DATASET is the folder of a finished data set, results/CORPUS/NAME, with :SPLIT for one split. The constant cuts the baseline's
ranking; it is chosen on the choosing sets, and in hindsight on each proving set. Questions are the units.
"""

import argparse
import sys
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np
import polars as pl
from harness import Figure, publish

from secateur.config import compose
from secateur.contexts.pack import pack
from secateur.contexts.piece import LineTokens, Piece
from secateur.contexts.price import UNIT, limit, lowest_price
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table
from secateur.datasets.schema import of_classes
from secateur.evaluation.resampling import CONFIDENCE, paired
from secateur.evaluation.subsets import of_split
from secateur.graph.material import material_of
from secateur.models.word_pieces import lm_counter

ROOT = Path(__file__).resolve().parent.parent
BUDGETS = (24, 48, 64, 96, 128, 160, 192, 224, 256, 320, 384, 448, 512, 640, 768, 1024, 1280, 1536)
MEANS = (175, 370)  # mean tokens at which the evidence of both is compared
WAYS = [("budget", n) for n in BUDGETS] + [("count", n) for n in range(1, 31)]
PERMUTATIONS, SEED = 10_000, 7


@dataclass(frozen=True, eq=False)
class Asked:
    """A question with value, tokens, and 1 if gold of each passage of two rankings. gold: number of gold passages, ranked or not."""

    ranked: np.ndarray
    base: np.ndarray
    gold: int

    @cached_property
    def limits(self) -> np.ndarray:
        return np.array([limit(value, int(tokens)) for value, tokens, _ in self.ranked])

    def priced(self, price: float) -> tuple[float, float]:
        """Evidence recall and tokens at a price."""
        _, tokens, held = self.ranked[self.limits > price].sum(0)
        return held / self.gold, tokens

    @cache  # noqa: B019
    def constant(self, kind: str, most: int) -> tuple[float, float]:
        """Evidence recall and tokens of the baseline's ranking within a budget, or of its first passages."""
        parts, chosen = self.base[:, 1].astype(int).tolist(), list(range(most))[: len(self.base)]
        if kind == "budget":
            chosen = pack(parts, most, "refill", lambda some: sum(parts[n] for n in some))
        _, tokens, held = self.base[chosen].sum(0)
        return held / self.gold, tokens


def load(place: str, ranker: str, baseline: str, assembly, count) -> list[Asked]:
    """The questions of a finished data set whose gold passages are known."""
    folder, _, split = place.partition(":")
    files = [ROOT / folder / at for at in ("../passages/passages", "questions/questions", "questions/evidence")]
    passages, questions, evidence = (read_table(TABLES[at.name], at.with_suffix(".parquet")) for at in files)
    tables = pl.scan_parquet(sorted((ROOT / folder).glob("rankings/**/rankings.parquet")))
    rankings = tables.filter(pl.col("scorer").is_in([ranker, baseline])).collect().unique()
    for name in (ranker, baseline):
        places = rankings.filter(scorer=name).select("question_id", "rank")
        if places.is_empty() or places.is_duplicated().any():
            sys.exit(f"{folder}: ranker {name} has none or several rankings. Fix: finish a run in which it has one")
    rankings = rankings.sort("question_id", "scorer", "rank")
    ranked, evidence = of_classes(passages, rankings, evidence.drop_nulls("passage_id"))
    ids = ranked["passage_id"].unique().sort().to_list()
    texts = material_of(passages, assembly.titles, count).texts
    size = dict(zip(ids, LineTokens(count)([Piece(p, texts[p]) for p in ids]), strict=True))
    gold = {q: set(own) for q, own in evidence.group_by("question_id").agg("passage_id").iter_rows()}
    parts = ranked.group_by("question_id", "scorer", maintain_order=True).agg("passage_id", "value")
    rows = {
        (q, scorer): np.array([(v, size[p], p in gold.get(q, ())) for p, v in zip(own, values, strict=True)], float)
        for q, scorer, own, values in parts.iter_rows()
    }
    asked = of_split(questions, split or "all")["question_id"]
    both = ((q, *(rows.get((q, name), np.zeros((0, 3))) for name in (ranker, baseline))) for q in asked if q in gold)
    return [Asked(own, base, len(gold[q])) for q, own, base in both]


def figures(asked: Sequence[Asked], way: tuple[str, int] | float) -> np.ndarray:
    """(2, questions) evidence recall and tokens of a constant or at a price."""
    return np.array([one.constant(*way) if isinstance(way, tuple) else one.priced(way) for one in asked]).T


def utility(figures: np.ndarray, price: float) -> np.ndarray:
    """(questions,) evidence recall minus price x tokens / UNIT."""
    return figures[0] - price * figures[1] / UNIT


def row(name: str, differences: np.ndarray, unit: str) -> Figure:
    """A paired difference with its interval and p in its name."""
    test = paired(differences[:, None], np.arange(len(differences)), PERMUTATIONS, CONFIDENCE, SEED)
    said = f"({test.low[0]:+.3f} to {test.high[0]:+.3f}), p {test.p[0]:.4f}, n {len(differences)}"
    return Figure(f"{name} {said}", test.mean[0], unit, None, None, None, None)


def compared(name: str, choosing: Sequence[Asked], proving: Sequence[Asked], prices: Sequence[float]) -> list[Figure]:
    """Utility minus that of both constants at each price, then evidence at equal mean tokens."""
    rows = []
    for price in prices:
        priced = figures(proving, price)
        mine, at = utility(priced, price), f"{name}, price {price:g}"
        rows.append(Figure(f"{at}: {priced[1].mean():.0f} tokens", mine.mean(), "utility", None, None, None, None))
        for when, asked in (("chosen", choosing), ("in hindsight", proving)):
            way = max(WAYS, key=lambda way, asked=asked: utility(figures(asked, way), price).mean())
            constant = utility(figures(proving, way), price)
            rows.append(row(f"{at} minus {way[0]} {way[1]} {when}", mine - constant, "utility"))
    limits = [value for one in proving for value in one.limits]
    for most in MEANS:
        mean = lambda way: figures(proving, way)[1].mean()  # noqa: E731
        budget = bisect_right(range(BUDGETS[-1] + 1), most, key=lambda budget: mean(("budget", budget))) - 1
        cut = figures(proving, ("budget", budget))
        price = lowest_price(limits, mean, cut[1].mean())
        at = f"{name}, price {price:.3g} minus budget {budget}, {mean(price):.0f} and {cut[1].mean():.0f} mean tokens"
        rows.append(row(at, figures(proving, price)[0] - cut[0], "evidence"))
    return rows


def main() -> None:
    """All figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranker", required=True, help="its scores are shares of the evidence")
    parser.add_argument("--baseline", help="the ranking that constants cut; default: the ranker's")
    parser.add_argument("--assembly", default="default", help="option of conf/assembly: with titles or without")
    for name in ("choose", "prove"):
        parser.add_argument(f"--{name}", nargs="+", required=True, metavar="DATASET[:SPLIT]")
    given, conf = parser.parse_args(), ROOT / "conf"
    count = lm_counter(compose.option(conf, "lm", "smollm2").model, ROOT / ".cache")
    more = (given.ranker, given.baseline or given.ranker, compose.option(conf, "assembly", given.assembly), count)
    choosing = [one for place in given.choose for one in load(place, *more)]
    prices = compose.option(conf, "eval", "default").prices
    publish("price", [each for place in given.prove for each in compared(place, choosing, load(place, *more), prices)])


if __name__ == "__main__":
    main()
