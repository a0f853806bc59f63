"""Do drafted questions order systems as people's questions do? Kendall's tau-b of the differences between rows, by set.

    make bench NAME=drafted ARGS="--sets hotpotqa_dev200 2wikimultihopqa musique"

Rows are rankers over the sentences of a set, by the mean evidence recall within 64 to 512 tokens. Two rows whose paired
difference has an interval with 0 are tied. As many questions are drafted as are asked; the interval of tau resamples both.
On the sets that `second_look` was fitted on (data/lock.yaml) people's questions would favour it.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
from harness import ROOT, Figure, mirrored, publish
from scipy.stats import kendalltau

from secateur.config import compose, plugins
from secateur.contexts.pack import pack
from secateur.contexts.piece import LineTokens, Piece
from secateur.evaluation.resampling import CONFIDENCE, paired
from secateur.models.embedder import Embedder
from secateur.models.word_pieces import lm_counter
from secateur.ranking.drafting import drafts
from secateur.ranking.group import Group, Questions, top
from secateur.ranking.rank import group_of
from secateur.ranking.second_look import gold_places

ROWS = {
    "multihop": ("title_zsum", "two_step", "named_two_step", "requery", "requery_twice", "second_look"),
    "sentences": ("bm25_k1.2_b0.75", "minilm", "zsum"),
    "chunks": ("zsum_256", "zsum_512"),
}
BUDGETS, KEPT, DRAWS, SEED = (64, 128, 256, 512), 60, 1000, 7


class Texts:
    """The passages of a set, ranked and cut to budgets."""

    def __init__(self, group: Group, passages: pl.DataFrame, count) -> None:
        self.group, pieces = group, [Piece(p, t) for p, t in passages.select("passage_id", "text").iter_rows()]
        self.tokens = LineTokens(count)(pieces)

    def recall(self, questions: Sequence[str], gold: Sequence[frozenset[int]]) -> dict[str, np.ndarray]:
        """Row -> (questions,) mean evidence recall over the budgets."""
        found = {}
        for name, rankers in ROWS.items():
            scorers = compose.option(ROOT / "conf", "rankers", name).scorers
            for ranker in rankers:
                settings = plugins.settings("ranker", scorers[ranker], "conf/rankers", ranker)
                module = plugins.load("ranker", scorers[ranker]["kind"])
                scores = module.score(settings, self.group, Questions(questions), SEED)
                found[ranker] = np.array([self._held(row, own) for row, own in zip(scores, gold, strict=True)])
        return found

    def _held(self, scores: np.ndarray, gold: frozenset[int]) -> float:
        ranked = top(scores, KEPT).tolist()
        sizes = [self.tokens[n] for n in ranked]
        held = [pack(sizes, most, "refill", lambda some: sum(sizes[n] for n in some)) for most in BUDGETS]
        return float(np.mean([len(gold & {ranked[n] for n in some}) / len(gold) for some in held]))


def order(found: dict[str, np.ndarray], questions: np.ndarray) -> list[int]:
    """The sign of each pair of rows' difference over some questions; 0 where its interval has 0."""
    signs = []
    for one, other in combinations(found, 2):
        apart = (found[one] - found[other])[questions]
        margin = 1.96 * apart.std(ddof=1) / np.sqrt(len(apart))
        signs.append(int(np.sign(apart.mean())) if abs(apart.mean()) > margin else 0)
    return signs


def agreement(people: Sequence[int], drafted: Sequence[int]) -> float:
    """Kendall's tau-b of the pairs' signs; nan where one has ties alone."""
    same = float(np.dot(people, drafted))
    return same / np.sqrt(np.count_nonzero(people) * np.count_nonzero(drafted) or np.nan)


def figures(name: str, count, embedder: Embedder) -> list[Figure]:
    """Tau, and both means of each row, of one data set."""
    conf = ROOT / "conf"
    passages, asked = mirrored(compose.option(conf, "dataset", name), name, "sentence")
    texts = Texts(group_of(passages, embedder.embed), passages, count)
    places = {passage: n for n, passage in enumerate(passages["passage_id"])}
    named = gold_places(passages, asked.evidence)
    pairs = [
        (text, named[one]) for one, text in asked.questions.select("question_id", "text").iter_rows() if one in named
    ]
    names = compose.option(conf, "consolidation", "default")
    made = drafts(passages, len(pairs), frozenset(names.joins), frozenset(names.skipped))
    people = texts.recall([text for text, _ in pairs], [gold for _, gold in pairs])
    drafted = texts.recall([one.text for one in made], [frozenset(places[p] for p in one.evidence) for one in made])
    whole = [np.arange(len(part)) for part in (pairs, made)]
    rng, taus = np.random.default_rng(SEED), []
    for _ in range(DRAWS):
        some = [rng.choice(part, len(part)) for part in whole]
        taus.append(agreement(order(people, some[0]), order(drafted, some[1])))
    low, high = np.nanquantile(taus, ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2))
    said = f"{name} (n {len(pairs)}, {len(made)} drafted, {sum(len(one.evidence) > 1 for one in made)} of two passages)"
    tau = agreement(order(people, whole[0]), order(drafted, whole[1]))
    means = kendalltau(*([found[row].mean() for row in people] for found in (people, drafted))).statistic
    rows = [
        (f"{said}: tau-b ({low:+.2f} to {high:+.2f})", tau, "tau"),
        (f"{name}: of means, without ties", means, "tau"),
    ]
    rows += [(f"{name}, {row}, people's", people[row].mean(), "evidence recall") for row in people]
    rows += [(f"{name}, {row}, drafted", drafted[row].mean(), "evidence recall") for row in people]
    look, twin = "second_look", "requery_twice"
    for whose, found in (("people's", people), ("drafted", drafted)):
        apart = found[look] - found[twin]
        test = paired(apart[:, None], np.arange(len(apart)), 10_000, CONFIDENCE, SEED)
        lead = f"{name}, {look} minus {twin}, {whose} ({test.low[0]:+.3f} to {test.high[0]:+.3f})"
        rows.append((lead, test.mean[0], "evidence recall"))
    return [Figure(said, value, unit, None, None, None, None) for said, value, unit in rows]


def main() -> None:
    """All sets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", required=True)
    given = parser.parse_args()
    if "SECATEUR_MIRROR" not in os.environ:
        sys.exit("set SECATEUR_MIRROR to a folder with the data sets")
    cache = Path(os.environ.get("SECATEUR_CACHE", ROOT / ".cache"))
    count = lm_counter(compose.option(ROOT / "conf", "lm", "smollm2").model, cache)
    embedder = Embedder(compose.option(ROOT / "conf", "embedder", "minilm"), cache)
    publish("drafted", [each for name in given.sets for each in figures(name, count, embedder)])


if __name__ == "__main__":
    main()
