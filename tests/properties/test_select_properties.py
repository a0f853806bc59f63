"""Lemma 8: a dropped run stays near the run that represents it."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from secateur.contexts.channels import representatives

quick = settings(max_examples=100)


@st.composite
def runs(draw):
    """Unit vectors around a few centres, some of them equal."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    count, dim, centres = draw(st.integers(1, 14)), draw(st.integers(2, 8)), draw(st.integers(1, 4))
    spread = draw(st.sampled_from([0.0, 0.1, 0.3, 1.0]))
    vectors = rng.normal(size=(centres, dim))[rng.integers(0, centres, count)] + spread * rng.normal(size=(count, dim))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


thetas = st.floats(0.0, 0.999)


@quick
@given(runs(), thetas)
def test_every_dropped_run_is_within_theta_of_a_representative(vectors, theta):
    kept = representatives(vectors, theta)
    assert (vectors @ vectors[kept].T).max(1).min() >= theta - 1e-5


@quick
@given(runs(), thetas)
def test_representatives_are_members_each_once_in_order(vectors, theta):
    kept = representatives(vectors, theta)
    assert kept == sorted(set(kept))
    assert kept
    assert set(kept) <= set(range(len(vectors)))


@quick
@given(runs(), thetas, st.integers(1, 5))
def test_repeating_runs_adds_no_representative(vectors, theta, copies):
    again = np.concatenate([vectors] * copies)
    assert len(representatives(again, theta)) == len(representatives(vectors, theta))


@quick
@given(runs())
def test_runs_farther_apart_than_theta_are_all_kept(vectors):
    cosine = vectors.astype(float) @ vectors.T.astype(float)
    np.fill_diagonal(cosine, -1)
    theta = float(cosine.max()) + 1e-6
    if theta <= 1:
        assert representatives(vectors, theta) == list(range(len(vectors)))
