"""Measures of the lemmas on graphs that can be checked by hand or by force."""

import hashlib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secateur.config.compose import option
from secateur.core.tables.vectors import Packed
from secateur.graph.lemmas import concentration, full_top, growth, growth_exponent, segment_all, touched, window_around
from secateur.graph.retrieval.candidates import Book, GroupRuns, fine_of
from secateur.graph.runs import Fit, segment
from secateur.ranking.group import top

CONF = Path(__file__).parents[2] / "conf"
DIM, EDGES, RUNS = 8, 400, 160


class Embedder:
    """Unit vectors that depend on the string alone, near one direction, so that cosines are spread over [0, 1]."""

    def embed(self, texts):
        seeds = [int.from_bytes(hashlib.sha256(t.encode()).digest()[:4], "big") for t in texts]
        rows = np.array([np.random.default_rng(s).normal(size=DIM) + 1 for s in seeds], np.float32).reshape(-1, DIM)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def graph() -> tuple[Book, GroupRuns]:
    rng, embedder = np.random.default_rng(3), Embedder()
    entities, relations = [f"e{n}" for n in range(40)], [f"r{n}" for n in range(9)]
    h, r, t = rng.integers(0, 40, EDGES), rng.integers(0, 9, EDGES), rng.integers(0, 40, EDGES)
    lines = [f"{entities[a]} {relations[b]} {entities[c]}" for a, b, c in zip(h, r, t, strict=True)]
    vectors = [embedder.embed(texts) for texts in (entities, relations, lines)]
    book = Book(*vectors[:2], Packed.of(vectors[2]), pl.Series(lines), h, r, t)
    runs = np.sort(np.concatenate([np.arange(RUNS), rng.integers(0, RUNS, EDGES - RUNS)]))
    table = pl.DataFrame({"run_id": runs, "edge_id": np.arange(EDGES), "passage_id": [f"p{n}" for n in runs]})
    return book, GroupRuns(book, table, {f"p{n}": n for n in range(RUNS)}, weighted=True)


@pytest.mark.parametrize("retriever", ["default", "paper", "released"])
@pytest.mark.parametrize("question", ["e1 r2 e3", "Why?", "another"])
def test_the_bounded_search_finds_the_runs_that_exhaustive_scoring_finds(retriever, question):
    book, group = graph()
    cfg, symbols, embedder = option(CONF, "retriever", retriever), (["e1"], ["r2"], [question, "e4 r1 e2"]), Embedder()
    exhaustive = fine_of(cfg, book, group, range(RUNS), symbols, embedder)["fine"]
    assert full_top(cfg, book, group, symbols, embedder).tolist() == top(exhaustive, cfg.top_m).tolist()


def test_the_bound_of_lemma_5_is_never_exceeded():
    _, group = graph()
    seen, bound = touched(group, range(50))
    assert 0 < seen <= bound == 50 * np.diff(group.starts).max()


def test_runs_built_anew_are_those_of_each_document_by_itself():
    book, _ = graph()
    fit, edges, documents = Fit(0.6, 0.05, 0.03), np.arange(EDGES), np.array([0, 100, 130])
    ids = segment_all(book, edges, documents, fit)
    for left, right in ((0, 100), (100, 130), (130, EDGES)):
        vectors = book.lines[np.arange(left, right)]
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)  # stored in bytes
        starts = segment(vectors, book.h[left:right], book.t[left:right], fit)
        assert (np.flatnonzero(np.diff(ids[left:right])) + 1).tolist() == starts[1:]
    assert (np.diff(ids)[[99, 129]] == 1).all()


MENTIONS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 30)), min_size=1, max_size=60)


@given(MENTIONS)
def test_the_codebook_never_shrinks_and_ends_with_every_symbol(mentions):
    symbols, places = np.array(mentions).T
    counts = growth(symbols, places, range(32))
    assert counts == sorted(counts)
    assert counts[0] == 0
    assert counts[-1] == len(set(symbols.tolist()))
    for read, count in enumerate(counts):
        assert count == len({s for s, p in mentions if p < read})


@given(st.lists(st.integers(1, 50), min_size=1, max_size=40), st.floats(0.01, 1))
def test_the_top_symbols_hold_at_least_their_share_of_the_mentions(counts, share):
    (value,) = concentration(np.array(counts), [share])
    assert share - 1e-9 <= value <= 1 + 1e-9


def test_an_exponent_needs_two_points():
    assert growth_exponent([5, 5], [3, 3]) is None
    assert growth_exponent([1, 10], [0, 4]) is None
    assert growth_exponent([1, 100], [1, 10]) == pytest.approx(0.5)


@given(st.integers(0, 30), st.integers(1, 10), st.integers(1, 30))
def test_a_window_holds_its_sentence_and_stays_in_the_document(place, width, length):
    place = min(place, length - 1)
    window = window_around(place, length, width)
    if width > length:
        assert window is None
    else:
        assert place in window
        assert len(window) == width
        assert 0 <= window.start < window.stop <= length


def test_the_stage_measures_no_more_than_the_sampled_questions():
    from scripts.measure_graph import _sample

    questions = pl.DataFrame({"question_id": [f"q{n}" for n in range(9)], "position": range(9)})
    cfg = SimpleNamespace(eval=SimpleNamespace(seed=7, lemma_questions=4))
    gold = {f"q{n}": ["p"] for n in range(6)}
    chosen = _sample(cfg, questions, gold)["question_id"].to_list()
    assert len(chosen) == 4
    assert set(chosen) <= set(gold)
    assert chosen == sorted(chosen)
    assert _sample(cfg, questions, {}).height == 4
