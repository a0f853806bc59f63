"""Vectorised rankers and retrieval against loops written straight from the formulas, on random small groups."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from secateur.graph.retrieval.scores import Membership, coarse_scores, edge_scores, fine_scores, symbol_idf
from secateur.models.units import content_words, word_list
from secateur.ranking.bm25 import bm25_matrix
from secateur.ranking.group import neighbour_smoothed, top, z_scores

seeds = st.integers(0, 2**32 - 1)
TERMS = ("rel_top", "coverage", "pairs", "distinct", "whole", "fine")


def unit(rng: np.random.Generator, count: int, dim: int) -> np.ndarray:
    vectors = rng.normal(size=(count, dim))
    return (vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)).astype(np.float32)


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return sum(float(x) * float(y) for x, y in zip(a, b, strict=True))


words = st.sampled_from(["bear", "bears", "the", "salmon", "of", "rivers", "1984", "it", "ice"])
texts = st.lists(words, max_size=8).map(" ".join)
groups, queries = st.lists(texts, min_size=1, max_size=6), st.lists(texts, min_size=1, max_size=3)


@given(groups, queries, st.floats(0, 3), st.floats(0, 1))
def test_bm25_equals_a_plain_loop(passages, queries, k1, b):
    words = [word_list(t) for t in passages]
    mean = max(sum(map(len, words)) / len(words), 1e-9)
    expected = np.zeros((len(queries), len(passages)))
    for q, query in enumerate(queries):
        for n, own in enumerate(words):
            for term in content_words(query) & set(own):
                df, tf = sum(term in other for other in words), own.count(term)
                idf = math.log(1 + (len(words) - df + 0.5) / (df + 0.5))
                expected[q, n] += idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * len(own) / mean))
    np.testing.assert_allclose(bm25_matrix(passages, queries, k1, b), expected, atol=1e-12)


@given(st.lists(st.tuples(st.integers(-4, 4), st.integers(0, 3)), min_size=1, max_size=10), st.floats(0, 2))
def test_smoothing_equals_a_plain_loop(rows, share):
    scores, docs = np.array([[float(v) for v, _ in rows]]), np.sort([d for _, d in rows])
    z = z_scores(scores)[0]
    expected = []
    for n in range(len(z)):
        near = [z[m] if 0 <= m < len(z) and docs[m] == docs[n] else z.min() for m in (n - 1, n + 1)]
        expected.append(z[n] + share * max(near))
    np.testing.assert_allclose(neighbour_smoothed(scores, docs, share)[0], expected, atol=1e-9)


def random_runs(rng: np.random.Generator, count: int, symbols: int) -> list[list[int]]:
    return [rng.integers(0, symbols, rng.integers(1, 6)).tolist() for _ in range(count)]


def membership(runs: list[list[int]]) -> Membership:
    pairs = np.array([(n, s) for n, run in enumerate(runs) for s in run], np.int64)
    np.random.default_rng(0).shuffle(pairs)
    return Membership.of(pairs[:, 0], pairs[:, 1], len(runs))


def naive_side(asked, symbols, run, scale) -> float:
    return max(cosine(q, symbols[s]) * scale[s] for q in asked for s in run) if len(asked) else 0.0


@given(seeds, st.integers(1, 8), st.integers(1, 9), st.integers(0, 3), st.integers(0, 3), st.booleans())
def test_coarse_equals_the_double_maximum_over_each_run(seed, count, symbols, asked_e, asked_r, weighted):
    rng = np.random.default_rng(seed)
    e, r, qe, qr = (unit(rng, n, 5) for n in (symbols, symbols, asked_e, asked_r))
    runs_e, runs_r = random_runs(rng, count, symbols), random_runs(rng, count, symbols)
    members, weights = (membership(runs_e), membership(runs_r)), (1.0, 0.3)
    idf = tuple(symbol_idf(m, symbols) for m in members) if weighted else (None, None)
    scales = [np.ones(symbols) if i is None else i for i in idf]
    found = coarse_scores(qe, qr, e, r, members, weights, idf)
    expected = [
        1.0 * naive_side(qe, e, one, scales[0]) + 0.3 * naive_side(qr, r, other, scales[1])
        for one, other in zip(runs_e, runs_r, strict=True)
    ]
    np.testing.assert_allclose(found, expected, atol=1e-6)


@given(seeds, st.integers(1, 9), st.integers(1, 6), st.integers(0, 3), st.integers(0, 3))
def test_an_edge_scores_by_the_nearest_query_symbol_in_each_place(seed, symbols, count, asked_e, asked_r):
    rng = np.random.default_rng(seed)
    e, r, qe, qr = (unit(rng, n, 5) for n in (symbols, symbols, asked_e, asked_r))
    h, x, t = rng.integers(0, symbols, (3, count))
    found = edge_scores(qe, qr, e, r, (h, x, t), (1.0, 0.3))
    ones = np.ones(symbols)
    for n in range(count):
        ends = naive_side(qe, e, [h[n]], ones) + naive_side(qe, e, [t[n]], ones)
        assert found[n] == pytest.approx(0.5 * ends + 0.3 * naive_side(qr, r, [x[n]], ones), abs=1e-6)


@given(seeds, st.integers(1, 8), st.integers(1, 6))
def test_idf_follows_its_formula(seed, count, symbols):
    runs = random_runs(np.random.default_rng(seed), count, symbols)
    frequency = [sum(s in run for run in runs) for s in range(symbols)]
    raw = [math.log(1 + count / f) if f else 0.0 for f in frequency]
    np.testing.assert_allclose(symbol_idf(membership(runs), symbols), np.array(raw) / max(raw), atol=1e-6)


@given(st.lists(st.sampled_from([-math.inf, *range(-3, 4)]), min_size=1, max_size=20), st.integers(0, 25))
def test_top_is_a_stable_sort(scores, k):
    expected = sorted(range(len(scores)), key=lambda n: (-scores[n], n))[:k]
    assert top(np.array(scores, np.float32), k).tolist() == expected


@st.composite
def fine_cases(draw):
    """(query lines, runs of lines, whole cosines, configuration)."""
    rng = np.random.default_rng(draw(seeds))
    dim, nq = draw(st.integers(2, 4)), draw(st.integers(1, 4))
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=5))
    cfg = SimpleNamespace(w_coverage=0.1, w_pairs=0.2, t_pairs=0.1, w_distinct=0.1, tau_whole=0.55, t_whole=0.15)
    cfg.top_t = draw(st.integers(1, 5))
    cfg.coverage = draw(st.sampled_from(["share", "count"]))
    cfg.tau_coverage = draw(st.sampled_from([-0.3, 0.45]))
    cfg.tau_pairs = draw(st.sampled_from([0.0, 0.55]))
    cfg.tau_distinct = draw(st.sampled_from([-0.9, 0.0, 0.5]))
    cfg.w_whole = draw(st.sampled_from([0.0, 0.1]))
    runs = [unit(rng, n, dim) for n in sizes]
    return unit(rng, nq, dim), runs, rng.uniform(-1, 1, len(sizes)).astype(np.float32), cfg


def terms_of(query, runs, whole, cfg):
    starts = np.concatenate([[0], np.cumsum([len(r) for r in runs])])
    return fine_scores(query, np.concatenate(runs), starts, cfg, lambda: whole)


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def naive_fine(query, lines, whole, cfg) -> dict[str, float]:
    """Section 6 and A.3, entry by entry."""
    s = [[cosine(q, line) for line in lines] for q in query]
    nq, nc = len(query), len(lines)
    entries = sorted((x for row in s for x in row), reverse=True)
    best = entries[: cfg.top_t]
    covered = sum(max(row) >= cfg.tau_coverage for row in s)
    soft = sum(sigmoid((x - cfg.tau_pairs) / cfg.t_pairs) for row in s for x in row)
    matched, rows, columns = [], set(), set()
    for value, i, j in sorted(((s[i][j], i, j) for i in range(nq) for j in range(nc)), reverse=True):
        if value >= cfg.tau_distinct and i not in rows and j not in columns:
            matched.append(value)
            rows.add(i)
            columns.add(j)
    found = {
        "rel_top": sum(best) / len(best),
        "coverage": covered / nq if cfg.coverage == "share" else covered,
        "pairs": math.log(1 + soft / math.sqrt(nq * nc)),
        "distinct": sum(matched) / math.sqrt(len(matched)) if matched else 0.0,
        "whole": sigmoid((whole - cfg.tau_whole) / cfg.t_whole) * whole / math.sqrt(nc) if cfg.w_whole else 0.0,
    }
    weights = (1.0, cfg.w_coverage, cfg.w_pairs, cfg.w_distinct, cfg.w_whole)
    return found | {"fine": sum(w * x for w, x in zip(weights, found.values(), strict=True))}


def clear_cut(query, runs, cfg) -> bool:
    """No entry so near a threshold or another entry that rounding decides."""
    for lines in runs:
        entries = np.sort((query.astype(float) @ lines.T.astype(float)).ravel())
        near = np.abs(entries[:, None] - [cfg.tau_coverage, cfg.tau_distinct]).min()
        if near < 1e-5 or (len(entries) > 1 and np.diff(entries).min() < 1e-6):
            return False
    return True


@given(fine_cases())
def test_fine_terms_equal_the_formulas_entry_by_entry(case):
    query, runs, whole, cfg = case
    assume(clear_cut(query, runs, cfg))
    found = terms_of(query, runs, whole, cfg)
    for n, lines in enumerate(runs):
        expected = naive_fine(query, lines, float(whole[n]), cfg)
        np.testing.assert_allclose([found[t][n] for t in TERMS], [expected[t] for t in TERMS], atol=1e-5)


@given(fine_cases())
def test_every_term_is_finite(case):
    assert all(np.isfinite(term).all() for term in terms_of(*case).values())


@given(seeds)
def test_a_fact_moves_only_edges_that_share_its_names(seed):
    """Proposition 16 (3): interference between facts arises through shared vectors alone."""
    rng = np.random.default_rng(seed)
    entities, relations = unit(rng, 9, 5), unit(rng, 4, 5)
    edges = rng.integers(0, 6, 12).astype(np.int32), rng.integers(0, 3, 12).astype(np.int32), rng.integers(0, 6, 12)
    query, weights = (unit(rng, 2, 5), unit(rng, 2, 5)), (1.0, 0.3)
    before = edge_scores(*query, entities[:6], relations[:3], edges, weights)
    after = edge_scores(*query, entities, relations, edges, weights)  # three more entities, and a relation
    np.testing.assert_allclose(after, before, atol=1e-6)
    changed = entities.copy()
    changed[0] = unit(rng, 1, 5)[0]
    apart = (edges[0] != 0) & (edges[2] != 0)
    moved = edge_scores(*query, changed, relations, edges, weights)
    np.testing.assert_allclose(moved[apart], before[apart], atol=1e-6)
