"""The sparse rankers against dense loops, on random small groups."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from secateur.models.units import content_words, word_list
from secateur.ranking.bm25 import bm25_matrix
from secateur.ranking.group import neighbour_smoothed, z_scores

quick = settings(max_examples=80)
texts = st.lists(
    st.sampled_from(["bear", "bears", "the", "salmon", "of", "rivers", "1984", "it", "ice"]), max_size=8
).map(" ".join)


@quick
@given(
    st.lists(texts, min_size=1, max_size=6), st.lists(texts, min_size=1, max_size=3), st.floats(0, 3), st.floats(0, 1)
)
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


@quick
@given(st.lists(st.tuples(st.integers(-4, 4), st.integers(0, 3)), min_size=1, max_size=10), st.floats(0, 2))
def test_smoothing_equals_a_plain_loop(rows, share):
    scores, docs = np.array([[float(v) for v, _ in rows]]), np.sort([d for _, d in rows])
    z = z_scores(scores)[0]
    expected = []
    for n in range(len(z)):
        near = [z[m] if 0 <= m < len(z) and docs[m] == docs[n] else z.min() for m in (n - 1, n + 1)]
        expected.append(z[n] + share * max(near))
    np.testing.assert_allclose(neighbour_smoothed(scores, docs, share)[0], expected, atol=1e-9)
