"""Bounds that hold for any figures."""

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from secateur.evaluation.resampling import holm, jackknife, paired, units

figures = st.lists(st.tuples(st.floats(-5, 5), st.sampled_from("abcde")), min_size=1, max_size=20)
thirds = st.integers(-3, 3).map(lambda n: n / 3)  # many ties and zeros, and sums that rounding would part
alike = st.floats(-5, 5).flatmap(lambda v: st.lists(st.just(v), min_size=1, max_size=20))
rows = st.one_of(st.lists(thirds, min_size=1, max_size=20), st.lists(st.floats(-5, 5), min_size=1, max_size=20), alike)
levels = st.sampled_from([0.5, 0.75, 0.9, 0.95, 0.99])


@given(figures)
def test_intervals_stay_inside_the_range_of_the_values(rows):
    values, clusters = np.array([[v] for v, _ in rows]), units([c for _, c in rows])
    (low,), (high,) = jackknife(values, clusters, 0.95)
    if clusters.max():
        assert values.min() - 1e-9 <= low <= values.mean() + 1e-9
        assert values.mean() - 1e-9 <= high <= values.max() + 1e-9
    else:
        assert (low, high) == (-np.inf, np.inf)


@given(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=20))
def test_questions_share_a_unit_iff_they_share_a_cluster(clusters):
    unit = units(clusters)
    assert len(set(zip(unit.tolist(), clusters, strict=True))) == len(set(clusters)) == len(set(unit.tolist()))


@settings(max_examples=300)
@given(rows, st.data(), levels, st.sampled_from([1, 19, 60, 3000]), st.sampled_from([0, 5000]))
def test_zero_lies_outside_the_interval_iff_p_is_small(values, data, confidence, permutations, at_floor):
    clusters = data.draw(st.lists(st.integers(0, 19), min_size=len(values), max_size=len(values)))
    unit = np.unique(clusters, return_inverse=True)[1]
    found = paired(np.array(values)[:, None], unit, permutations, confidence, 7, at_floor)
    (mean,), (low,), (high,), (p,) = found.mean, found.low, found.high, found.p
    assert (low > 0 or high < 0) == (p <= 1 - confidence)
    assert low <= mean <= high
    assert 0 < p <= 1
    assert found.units == len(set(clusters))


@given(st.lists(st.tuples(thirds, st.integers(0, 5)), min_size=1, max_size=20), levels)
def test_ties_count_as_they_do_in_exact_arithmetic(rows, confidence):
    """Figures in thirds against every assignment of signs to whole numbers of thirds."""
    values, unit = np.array([v for v, _ in rows]), np.unique([c for _, c in rows], return_inverse=True)[1]
    sums = np.bincount(unit, np.rint(3 * values)).astype(int)
    flips = np.abs(np.array(list(product([-1, 1], repeat=len(sums)))) @ sums)
    assert paired(values[:, None], unit, 1000, confidence, 7).p[0] == np.mean(flips >= abs(sums.sum()))


@given(st.lists(thirds, min_size=1, max_size=20), st.integers(-3, 3), levels)
def test_a_shift_of_the_figures_shifts_the_interval_and_a_change_of_sign_mirrors_it(values, shift, confidence):
    values, unit = np.array(values)[:, None], np.arange(len(values)) // 2
    here, there, mirrored = (paired(v, unit, 200, confidence, 7) for v in (values, values + shift, -values))
    np.testing.assert_allclose([there.low, there.high], [here.low + shift, here.high + shift], atol=1e-9)
    np.testing.assert_allclose([mirrored.low, mirrored.high], [-here.high, -here.low], atol=1e-9)
    assert mirrored.p == here.p


@given(st.lists(st.one_of(st.floats(0, 1), st.just(np.nan)), max_size=12))
def test_holm_never_lowers_a_p_nor_changes_their_order_and_counts_no_nan(p):
    p = np.array(p, dtype=float)
    adjusted, made = holm(p), ~np.isnan(p)
    assert (np.isnan(adjusted) == ~made).all()
    np.testing.assert_array_equal(adjusted[made], holm(p[made]))
    assert ((p <= adjusted) & (adjusted <= np.minimum(1, made.sum() * p)))[made].all()
    assert (np.diff(adjusted[np.argsort(p)][: made.sum()]) >= 0).all()
