"""Fit the model of the second look on the choosing sets of a mirror (SECATEUR_MIRROR), and say what it finds there by folds.

Each multi-hop question stands in four views: its passages are paragraphs or sentences, with titles or without. Without
views that hide titles the model leans on them, and finds less where a question does not name its article. Two kinds of
questions need no second article: steps of 2WikiMultiHopQA's reasoning, written as questions, and those of `stem_old`, over
excerpts of its articles. Without these the model looks for a second article wherever it is asked. Writes
workflow/secateur/ranking/second_look.npz. Proving sets are not read.
"""

import gzip
import json
import os
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
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
ONE_ARTICLE = "stem_old"  # splits train and dev
EXCERPTS = (2, 5, 20)  # sentences about each gold sentence
STEPS = 30  # questions of one relation
WORDED = {  # relations of 2WikiMultiHopQA
    "director": "Who directed {}?",
    "country of citizenship": "What is the nationality of {}?",
    "date of birth": "When was {} born?",
    "country": "In which country is {}?",
    "date of death": "When did {} die?",
    "place of birth": "Where was {} born?",
    "father": "Who is the father of {}?",
    "publication date": "When was {} released?",
    "country of origin": "Which country is {} from?",
    "place of death": "Where did {} die?",
    "performer": "Who performed {}?",
    "composer": "Who composed {}?",
    "spouse": "Who is {} married to?",
    "mother": "Who is the mother of {}?",
    "cause of death": "What did {} die of?",
    "award received": "What award did {} receive?",
    "educated at": "Where did {} study?",
    "child": "Who is a child of {}?",
    "sibling": "Who is a sibling of {}?",
    "founded by": "Who founded {}?",
    "publisher": "Who published {}?",
    "inception": "When was {} founded?",
    "employer": "Who employed {}?",
}
PASSES, SEED, BEST = 2, 7, 5
WEIGHTS = ROOT / "workflow" / "secateur" / "ranking" / "second_look.npz"


def examples(settings, embedder: Embedder) -> Iterator[tuple[str, Example]]:
    """The choosing sets in each view, by name."""

    def example(passages: pl.DataFrame, asked: Sequence[tuple[str, frozenset[int]]]) -> Example:
        return Example(Look(settings, group_of(passages, embedder.embed), SEED), *zip(*asked, strict=True))

    for (unit, titles), name in product(VIEWS, SETS):
        passages, questions = mirrored(compose.option(ROOT / "conf", "dataset", name), name, unit)
        view, label = _view(passages, titles), f"{unit}s{'' if titles else ' without titles'}"
        yield f"{name}, {label}", example(view, _with_gold(passages, questions))
        if name == SETS[1]:
            yield f"steps of {name}, {label}", example(view, _steps(name, passages, unit))
    passages, questions = mirrored(compose.option(ROOT / "conf", "dataset", ONE_ARTICLE), ONE_ARTICLE)
    asked = _with_gold(passages, replace(questions, questions=questions.questions.filter(pl.col("split") != "test")))
    for size, titles in product(EXCERPTS, (True, False)):
        part, of_part = _excerpts(passages, asked, size)
        label = f"{ONE_ARTICLE}, {size} sentences about each gold one{'' if titles else ', without titles'}"
        yield label, example(_view(part, titles), of_part)


def _view(passages: pl.DataFrame, titles: bool) -> pl.DataFrame:
    return passages if titles else passages.with_columns(title=pl.lit(None, pl.String))


def _with_gold(passages: pl.DataFrame, questions) -> list[tuple[str, frozenset[int]]]:
    """Questions that have gold passages, and their places."""
    gold = gold_places(passages, questions.evidence)
    return [
        (text, gold[one]) for one, text in questions.questions.select("question_id", "text").iter_rows() if one in gold
    ]


def _steps(name: str, passages: pl.DataFrame, unit: str) -> list[tuple[str, frozenset[int]]]:
    """Single steps of the reasoning behind questions, as questions of one article: at most `STEPS` of each relation."""
    file = compose.option(ROOT / "conf", "dataset", name).files[0]
    path, steps = Path(os.environ["SECATEUR_MIRROR"]) / f"{file}.gz", {}
    for question in json.loads(gzip.decompress(path.read_bytes())):
        articles = {re.sub(r" \(.*\)$", "", title).lower(): title for title, _ in question["supporting_facts"]}
        for subject, relation, answer in question["evidences"]:
            if relation in WORDED and (title := articles.get(subject.lower())):
                sentences = {n for of, n in question["supporting_facts"] if of == title}
                steps.setdefault((relation, subject), (title, answer.lower(), sentences))
    places = defaultdict(list)
    for place, (doc, text) in enumerate(passages.select("doc_id", "text").iter_rows()):
        places[doc].append((place, text.lower()))
    chosen, asked = Counter(), []
    for relation, subject in random.Random(SEED).sample(sorted(steps), len(steps)):
        title, answer, sentences = steps[relation, subject]
        of_title = places[title]
        if unit == "sentence":
            of_title = [of_title[n] for n in sorted(sentences) if n < len(of_title)]
            of_title = [row for row in of_title if answer in row[1]] or of_title
        if of_title and chosen[relation] < STEPS:
            chosen[relation] += 1
            asked.append((WORDED[relation].format(subject), frozenset(place for place, _ in of_title)))
    return asked


def _excerpts(
    passages: pl.DataFrame, asked: Sequence[tuple[str, frozenset[int]]], size: int
) -> tuple[pl.DataFrame, list[tuple[str, frozenset[int]]]]:
    """The articles, cut to `size` sentences about each gold sentence, which stands anywhere among them."""
    docs, rng, kept = passages["doc_id"].to_list(), random.Random(SEED), set()
    for place in (place for _, gold in asked for place in sorted(gold)):
        start = place - rng.randrange(size)
        kept |= {n for n in range(max(0, start), min(len(docs), start + size)) if docs[n] == docs[place]}
    places = {old: new for new, old in enumerate(sorted(kept))}
    return passages[sorted(kept)], [(text, frozenset(places[place] for place in gold)) for text, gold in asked]


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
    model = fit(list(named.values()), PASSES)
    shares = [1 / len(gold) for name, example in named.items() if name.startswith(SETS) for gold in example.gold]
    replace(model, share=float(np.mean(shares))).save(WEIGHTS)  # of multi-hop questions, on which prices were measured
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
