"""Rankers against the libraries and formulas they stand for."""

import numpy as np
import polars as pl
import pytest

from secateur.config import plugins
from secateur.config.ranking import Rankers, rankers_problems
from secateur.ranking.bm25 import bm25_matrix
from secateur.ranking.group import Group, Questions, articles_of, neighbour_smoothed, z_scores
from secateur.ranking.scorers import mmr, rrf

TEXTS = [
    "Ann: The bears ate the salmon, and the bears slept.",
    "Bob: Salmon swim up the river in autumn.",
    "Ann: Rivers freeze; bears sleep.",
    "Bob: I was there, of course.",
    "Ann: Autumn, autumn, autumn! The forest is red.",
    "Bob: The bears ate the salmon, and the bears slept.",
]
QUERIES = ["What do the bears eat?", "When do salmon swim in rivers?", "zebra", "Where was it?", "autumn autumn forest"]


def embed(texts) -> np.ndarray:
    """Four fixed directions by length of text; stands for an embedder."""
    angles = np.array([len(t) % 7 for t in texts], float)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


LEXICAL = {"kind": "bm25", "k1": 0.9, "b": 0}
IDS = [f"p{n}" for n in range(len(TEXTS))]
GROUP = Group(TEXTS, ["Bears", "", "Ice", "", "Trees", ""], np.array([0, 0, 0, 1, 1, 1]), embed, IDS)


def score(spec: dict, queries=QUERIES, seed: int = 0, gold=()) -> np.ndarray:
    """(questions, passages) scores of a ranker with its settings."""
    own = plugins.settings("ranker", spec, "conf/rankers/mine")
    return plugins.load("ranker", spec["kind"]).score(own, GROUP, Questions(queries, gold=gold), seed)


def test_a_passage_that_a_ranker_leaves_out_stays_out_and_is_no_neighbour():
    scores = np.array([[2.0, -np.inf, 0.0, 4.0], [-np.inf] * 4])
    found = neighbour_smoothed(scores, np.zeros(4, int), 0.5)
    z = (np.array([2.0, 0.0, 4.0]) - 2.0) / np.sqrt(8 / 3)  # of the three that stay
    expected = [z[0] + 0.5 * z[1], -np.inf, z[1] + 0.5 * z[2], z[2] + 0.5 * z[1]]
    np.testing.assert_allclose(found[0], expected, atol=1e-6)
    assert np.isneginf(found[1]).all()
    assert z_scores(np.full((1, 4), 3.0)).tolist() == [[0, 0, 0, 0]]


def test_lucene_reads_titles_where_asked():
    titled = [f"{t} {s}" for t, s in zip(GROUP.titles, TEXTS, strict=True)]
    spec = {"kind": "lucene", "k1": 1.2, "b": 0.75}
    np.testing.assert_array_equal(score(spec | {"title": True}), bm25_matrix(titled, QUERIES, 1.2, 0.75))
    np.testing.assert_array_equal(score(spec | {"title": False}), bm25_matrix(TEXTS, QUERIES, 1.2, 0.75))


@pytest.mark.parametrize(("k1", "b"), [(1.5, 0.75), (0.9, 0.4), (0.9, 0)])
def test_okapi_equals_rank_bm25(k1, b):
    from nltk.stem.snowball import SnowballStemmer
    from rank_bm25 import BM25Okapi
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    stemmer = SnowballStemmer("english")

    def tokens(text: str) -> list[str]:
        cleaned = "".join(c if c.isascii() and c.isalnum() else " " for c in text.lower())
        return [stemmer.stem(w) for w in cleaned.split() if w not in ENGLISH_STOP_WORDS]

    index = BM25Okapi([tokens(t) for t in TEXTS], k1=k1, b=b)
    expected = [index.get_scores(tokens(q)) for q in QUERIES]
    np.testing.assert_allclose(score({"kind": "bm25", "k1": k1, "b": b}), expected)


def test_tfidf_is_fitted_on_the_passages_alone_and_tfidf_question_anew_for_each_question():
    from sklearn.feature_extraction.text import TfidfVectorizer

    fitted = TfidfVectorizer().fit(TEXTS)
    expected = (fitted.transform(QUERIES) @ fitted.transform(TEXTS).T).toarray()
    np.testing.assert_allclose(score({"kind": "tfidf"}), expected, atol=1e-12)
    for query, found in zip(QUERIES, score({"kind": "tfidf_question"}), strict=True):
        both = TfidfVectorizer(stop_words="english").fit_transform([*TEXTS, query])
        np.testing.assert_allclose(found, (both[:-1] @ both[-1].T).toarray().ravel(), atol=1e-12)


SPECS = [
    *({"kind": kind} for kind in ("tfidf", "tfidf_question", "dense")),
    *({"kind": kind, "lexical": LEXICAL} for kind in ("zsum", "rrf")),
    {"kind": "bm25", "k1": 1.5, "b": 0.75},
    {"kind": "lucene", "k1": 1.2, "b": 0.75, "title": False},
]


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec["kind"])
def test_a_question_scores_the_same_alone_and_among_others(spec):
    together = score(spec)
    assert together.shape == (len(QUERIES), len(TEXTS))
    for n, query in enumerate(QUERIES):
        np.testing.assert_allclose(score(spec, [query])[0], together[n], atol=1e-6)


def test_product_codes_find_nearly_all_that_is_near_and_score_it_as_dense_does(monkeypatch):
    rng = np.random.default_rng(3)
    centres = rng.normal(size=(60, 16))
    vectors = (centres[np.arange(3000) % 60] + 0.3 * rng.normal(size=(3000, 16))).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    group = Group(
        [str(n) for n in range(3000)], [], np.zeros(3000, int), lambda texts: vectors[[int(t) for t in texts]]
    )
    asked, own = Questions([str(n) for n in range(0, 3000, 100)]), plugins.load("ranker", "ivf_pq")
    settings, exact = own.Settings(code=8, probes=16, found=100), vectors[::100] @ vectors.T
    np.testing.assert_allclose(own.score(settings, group, asked, 7), exact, atol=1e-6)  # few vectors: all of them
    monkeypatch.setattr(own, "MIN_VECTORS", 1000)
    found = own.score(settings, group, asked, 7)
    assert (np.isfinite(found).sum(1) <= 100).all()
    np.testing.assert_allclose(found[np.isfinite(found)], exact[np.isfinite(found)], atol=1e-6)
    best = np.argsort(-exact, axis=1)[:, :10]
    assert np.isfinite(np.take_along_axis(found, best, axis=1)).mean() > 0.95
    np.testing.assert_array_equal(own.score(settings, group, asked, 7), found)


@pytest.mark.parametrize("weight", [1.0, 3.0])
def test_zsum_adds_weighed_z_scores_and_rrf_reciprocal_ranks_of_words_and_cosine(weight):
    lexical, dense = score(LEXICAL), score({"kind": "dense"})
    np.testing.assert_allclose(dense, embed(QUERIES) @ embed(TEXTS).T)
    expected = z_scores(lexical) + weight * z_scores(dense)
    np.testing.assert_allclose(score({"kind": "zsum", "lexical": LEXICAL, "dense": weight}), expected)
    ranks = [np.argsort(np.argsort(-one, axis=1, kind="stable"), axis=1) for one in (lexical, dense)]
    np.testing.assert_allclose(score({"kind": "rrf", "lexical": LEXICAL}), sum(1 / (60 + 1 + own) for own in ranks))


def test_rankers_that_read_no_word_rank_by_place_by_seed_by_gold_or_nothing():
    assert score({"kind": "recency"}, QUERIES[:1]).argmax() == len(TEXTS) - 1
    one, again, other = (score({"kind": "random"}, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert (one != other).any()
    found = score({"kind": "gold"}, QUERIES[:2], gold=(frozenset({"p3", "p1"}), frozenset()))
    assert [np.flatnonzero(row > -np.inf).tolist() for row in found] == [[1, 3], []]
    assert found[0, 1] == found[0, 3]
    assert (score({"kind": "nothing"}) == -np.inf).all()


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        ({"kind": "bm26"}, "conf/rankers/x.yaml: rankers.scorers.mine: ranker 'bm26' is unknown; did you mean 'bm25'?"),
        ({"kind": "bm25", "k1": -1, "b": 0.5}, "rankers.scorers.mine.k1 is -1"),
    ],
)
def test_unknown_kinds_and_impossible_settings_are_refused(spec, part):
    (problem,) = rankers_problems(Rankers({"mine": spec}, (), 0.8, 64), "conf/rankers/x")
    assert part in problem


def test_a_score_that_leaves_a_passage_out_makes_no_sum_undefined():
    scores = np.array([[2.0, -np.inf, 0.0, 4.0], [-np.inf] * 4])
    z = z_scores(scores)
    assert np.isfinite(z).all() and z[0, 1] == z[0].min()
    assert (rrf._reciprocal_ranks(scores, 60.0)[0] > 0).tolist() == [True, False, True, True]
    some, none = (mmr._reordered(row, np.eye(4, dtype=np.float32), mmr.Settings({}, 0.7, 4)) for row in scores)
    assert not np.isnan(some).any()
    assert np.isneginf(none).all()


def test_paragraphs_under_one_title_of_a_pool_are_one_article():
    rows = [("Ann", "Ann"), ("Ann#2", "Ann"), ("Ann#x", "Ann"), ("a.txt", "Ann"), ("b.txt", None), ("Bob#2", "Bob")]
    first, second, *others = articles_of(pl.DataFrame(rows, ["doc_id", "title"], orient="row")).tolist()
    assert first == second
    assert len({first, *others}) == 5
