"""R@5 of the multi-hop rankers, and how many questions they ask, as distractors of other data sets are added to the passages.

    make bench NAME=haystack ARGS="--set musique --rankers second_look requery_twice --sizes 1000 10000"

Passages are paragraphs. The smallest pool has the gold paragraphs and some of the set's own; then come the rest of these and
the paragraphs of the other sets whose title no passage of the set has. Questions asked are those that a ranker embeds.
"""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl
from harness import ROOT, Figure, mirrored, publish

from secateur.config import compose, plugins
from secateur.evaluation.resampling import CONFIDENCE, paired
from secateur.models.embedder import Embedder
from secateur.models.prompts import Asked
from secateur.ranking.group import Questions, top
from secateur.ranking.rank import group_of
from secateur.ranking.second_look import gold_places

SETS = ("hotpotqa_dev200", "2wikimultihopqa", "musique", "2wikimultihopqa_train500", "hotpotqa_train100")
BEST, PERMUTATIONS, SEED = 5, 10_000, 7


def haystack(own: pl.DataFrame, gold: Sequence[int], others: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """All passages in the order in which they join: gold ones, others of the set, then those of other sets.

    own: passages of the set; gold: places in it; others: passages of other sets, of which the first of a document counts.
    """
    order = np.random.default_rng(SEED).permutation(len(own))
    first = own[[*gold, *(n for n in order.tolist() if n not in set(gold))]]
    rest = pl.concat(table.select(own.columns) for table in others)
    rest = rest.join(own, on="title", how="anti").unique("doc_id", keep="first", maintain_order=True)
    return pl.concat([first, rest.sample(fraction=1, shuffle=True, seed=SEED)])


def recall(scores: np.ndarray, gold: Sequence[frozenset[int]]) -> np.ndarray:
    """(questions,) shares of the gold passages among the first five."""
    return np.array([len(own & set(top(row, BEST).tolist())) / len(own) for row, own in zip(scores, gold, strict=True)])


def rows(given, conf: Path) -> Iterator[Figure]:
    """A row a ranker and size, then its difference to the last ranker."""
    own, asked = mirrored(compose.option(conf, "dataset", given.set), given.set, "paragraph")
    others = [
        mirrored(compose.option(conf, "dataset", name), name, "paragraph")[0] for name in SETS if name != given.set
    ]
    named = gold_places(own, asked.evidence)
    texts = [
        (text, named[one]) for one, text in asked.questions.select("question_id", "text").iter_rows() if one in named
    ]
    questions, before = Questions([text for text, _ in texts]), [gold for _, gold in texts]
    needed = sorted(set().union(*before))
    hay = haystack(own, needed, others)
    embedder = Embedder(
        compose.option(conf, "embedder", "minilm"), Path(os.environ.get("SECATEUR_CACHE", ROOT / ".cache"))
    )
    count = [0]

    def embed(batch: Sequence[str]) -> np.ndarray:
        count[0] += sum(isinstance(text, Asked) for text in batch)
        return embedder.embed(batch)

    scorers = compose.option(conf, "rankers", "multihop").scorers
    for size in (n for n in given.sizes if len(needed) <= n <= len(hay)):
        passages = hay.head(size).sample(fraction=1, shuffle=True, seed=SEED)  # so that no tie tells what is gold
        places = {passage: n for n, passage in enumerate(passages["passage_id"])}
        gold = [frozenset(places[own["passage_id"][n]] for n in one) for one in before]
        found, group = {}, group_of(passages, embed)
        for name in given.rankers:
            settings = plugins.settings("ranker", scorers[name], "conf/rankers", name)
            count[0] = 0
            scores = plugins.load("ranker", scorers[name]["kind"]).score(settings, group, questions, SEED)
            found[name] = recall(scores, gold)
            said = f"{given.set}, {size} passages, {name} (n {len(gold)})"
            yield Figure(said, found[name].mean(), f"R@{BEST}", None, None, None, None)
            yield Figure(f"{said}: questions asked", count[0] / len(gold), "a question", None, None, None, None)
        for name in given.rankers[:-1]:
            apart = found[name] - found[given.rankers[-1]]
            test = paired(apart[:, None], np.arange(len(apart)), PERMUTATIONS, CONFIDENCE, SEED)
            said = f"({test.low[0]:+.3f} to {test.high[0]:+.3f}), p {test.p[0]:.4f}"
            said = f"{given.set}, {size} passages, {name} minus {given.rankers[-1]} {said}"
            yield Figure(said, test.mean[0], f"R@{BEST}", None, None, None, None)


def main() -> None:
    """All rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", required=True, choices=SETS)
    parser.add_argument("--rankers", nargs="+", required=True, help="of list multihop; all are compared with the last")
    parser.add_argument("--sizes", nargs="+", type=int, required=True)
    given = parser.parse_args()
    if "SECATEUR_MIRROR" not in os.environ:
        sys.exit("set SECATEUR_MIRROR to a folder with the data sets")
    publish("haystack", list(rows(given, ROOT / "conf")))


if __name__ == "__main__":
    main()
