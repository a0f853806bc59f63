"""The published and the known rows of LoCoMo and of STEM come out of the rankers, on the real data."""

import os
from pathlib import Path

import numpy as np
import pytest
from tests.support.project import ROOT
from tests.support.ranked import ranked, ranking_context

from secateur.config import compose, plugins
from secateur.contexts.assemble import Assembly
from secateur.contexts.piece import Material, Query, Ranked, passage_text
from secateur.contexts.table import Read
from secateur.datasets.fetch import fetch
from secateur.datasets.loaders import load_corpus, load_questions
from secateur.datasets.registry import load_registry
from secateur.evaluation.evidence import Case, gold_of
from secateur.evaluation.metric import measure_all
from secateur.evaluation.subsets import members
from secateur.models.word_pieces import word_piece_counter

CONF = ROOT / "conf"
MIRROR = os.environ.get("SECATEUR_MIRROR")
pytestmark = pytest.mark.skipif(not MIRROR, reason="SECATEUR_MIRROR names no folder with the real data sets")

ROWS = [  # scorer, subset, F1 at gold size
    ("recency", "all", 0.0004),
    ("tfidf", "all", 0.2473),
    ("tfidf", "cat1-4", 0.2397),
    ("tfidf", "F20", 0.1480),
    ("tfidf_question", "F20", 0.1542),
    ("bm25_k1.5_b0.75", "all", 0.3079),
    ("bm25_k1.5_b0.75", "F20", 0.2605),
    ("bm25_k0.9_b0.4", "cat1-4", 0.3585),
    ("bm25_k0.9_b0.4", "F20", 0.3185),
    ("bm25_k0.9_b0", "all", 0.3755),
    ("bm25_k0.9_b0", "cat1-4", 0.3715),
    ("bm25_k0.9_b0", "F20", 0.3442),
    ("tfidf+answer", "cat1-4", 0.5341),
    ("tfidf+answer", "F20", 0.3027),
    ("bm25_k0.9_b0.4+answer", "cat1-4", 0.6350),
    ("bm25_k0.9_b0.4+answer", "F20", 0.4903),
]
TOLERANCE = 0.002


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    folder = tmp_path_factory.mktemp("real")

    def get(name: str) -> Path:
        fetch(load_registry(ROOT / "data/registry")[name], folder / name, Path(MIRROR))
        return folder / name

    return get


def rankings_of(folder, passages, questions, dataset, rankers, scorers, suffixes=()):
    own = {"suffixes": suffixes, "keep": rankers.keep, "unanswerable": dataset.unanswerable}
    ctx = ranking_context(folder)
    ctx.warn = print  # some passages are longer than the embedder's window
    return ranked(ctx, scorers, passages, questions, **own).sort("question_id", "scorer", "rank")


@pytest.fixture(scope="module")
def f1(real, tmp_path_factory):
    """(scorer, subset) -> mean F1, for the rankers that need no model."""
    files = {"conversations": real("locomo10.json")}
    passages = load_corpus("locomo", files).passages
    found = load_questions("locomo", "locomo", files, passages)
    dataset, rankers = compose.option(CONF, "dataset", "locomo"), compose.option(CONF, "rankers", "turns")
    lexical = {name: spec for name, spec in rankers.scorers.items() if spec["kind"] not in ("dense", "zsum")}
    folder = tmp_path_factory.mktemp("locomo")
    rankings = rankings_of(folder, passages, found.questions, dataset, rankers, lexical, ("+answer",))
    gold = found.evidence.drop_nulls("passage_id").group_by("question_id").agg("passage_id")
    wanted = dict(gold.iter_rows())
    spec = {"types": dataset.types, "first": dataset.first}
    subsets = members(found.questions, found.evidence, spec)
    scores: dict[tuple[str, str], list[float]] = {}
    for qid, name, ids in rankings.group_by("question_id", "scorer").agg("passage_id").iter_rows():
        if qid in wanted:
            selected = ids[: len(wanted[qid])]
            value = 2 * len(set(selected) & set(wanted[qid])) / (len(selected) + len(wanted[qid]))
            for subset in (s for s, own in subsets.items() if qid in own):
                scores.setdefault((name, subset), []).append(value)
    return {key: float(np.mean(values)) for key, values in scores.items()}


@pytest.mark.parametrize(("scorer", "subset", "value"), ROWS)
def test_a_known_locomo_row_comes_out(f1, scorer, subset, value):
    assert f1[scorer, subset] == pytest.approx(value, abs=TOLERANCE)


BM25 = {  # budget: evidence_recall (once `exact`), token_recall (once `novel`) of BM25 on stem_old
    64: (0.384, 0.410),
    128: (0.579, 0.635),
    256: (0.660, 0.734),
    512: (0.756, 0.834),
    1024: (0.802, 0.892),
    2048: (0.846, 0.933),
}


METRICS = compose.option(CONF, "eval", "default").metrics


@pytest.fixture(scope="module")
def stem(real, tmp_path_factory):
    """budget -> mean figures of BM25 on stem_old, under the assembly of published rows."""
    corpus = {"corpus": real("stem_corpus_plain.json"), "titles": ROOT / "data/registry/stem_titles.yaml"}
    passages = load_corpus("stem", corpus).passages
    found = load_questions("stem", "stem_old", {"questions": real("old_stem_QnA_modified.json")}, passages)
    rankers, dataset = compose.option(CONF, "rankers", "sentences"), compose.option(CONF, "dataset", "stem_old")
    name = "bm25_k1.2_b0.75"
    folder = tmp_path_factory.mktemp("stem")
    rankings = rankings_of(folder, passages, found.questions, dataset, rankers, {name: rankers.scorers[name]})
    published = "default+counter=word_pieces+packing=stop+placement=best_first"
    option = compose.option(CONF, "assembly", published)
    assert (option.form, option.packing, option.counter) == ({"kind": "whole"}, "stop", "word_pieces")
    count = word_piece_counter(compose.option(CONF, "embedder", "minilm").model)
    texts = {row[0]: passage_text(*row[1:]) for row in passages.select("passage_id", "text", "speaker", "date").rows()}
    material = Material(texts, count)
    form = plugins.load("form", "whole").form(plugins.settings("form", option.form, published), material)
    assembly = Assembly(form, option.packing, option.placement, material, {})
    gold = gold_of(found.questions, found.evidence, passages)
    values: dict[int, list[tuple[float, float]]] = {budget: [] for budget in BM25}
    for qid, ids in rankings.group_by("question_id", maintain_order=True).agg("passage_id").iter_rows():
        for budget, context in assembly.contexts(Query(""), [Ranked(p) for p in ids], list(BM25)).items():
            assert [row.passage_id for row in context.rows] == ids[: len(context.rows)]
            rows = [(row.text, row.passage_id, row.whole) for row in context.rows]
            read = Read(*([row[n] for row in rows] for n in range(3)), context.tokens)
            (figures,) = measure_all([Case(gold[qid], read)], (), METRICS, "conf/eval/default")
            values[budget].append((figures["evidence_recall"], figures["token_recall"]))
    assert {len(rows) for rows in values.values()} == {122}
    return {budget: np.mean(rows, axis=0) for budget, rows in values.items()}


@pytest.mark.parametrize("budget", BM25)
def test_a_known_stem_row_comes_out(stem, budget):
    np.testing.assert_allclose(stem[budget], BM25[budget], atol=TOLERANCE)
