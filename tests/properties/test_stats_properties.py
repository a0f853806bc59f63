"""Bounds that hold for any figures."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from secateur.evaluation.resampling import bootstrap, paired_test, units

quick = settings(max_examples=60)
figures = st.lists(st.tuples(st.floats(-5, 5), st.sampled_from("abcde")), min_size=1, max_size=20)


@quick
@given(figures)
def test_p_lies_above_zero_and_at_most_at_one(rows):
    values, clusters = np.array([[v] for v, _ in rows]), units([c for _, c in rows], 1)
    (p,) = paired_test(values, clusters, 100, 7)
    assert 0 < p <= 1


@quick
@given(figures)
def test_intervals_stay_inside_the_range_of_the_values(rows):
    values, clusters = np.array([[v] for v, _ in rows]), units([c for _, c in rows], 1)
    (low,), (high,) = bootstrap(values, clusters, 100, 0.95, 7)
    assert values.min() - 1e-9 <= low <= high <= values.max() + 1e-9


@quick
@given(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=20), st.integers(1, 7))
def test_questions_share_a_unit_iff_they_share_a_cluster_or_stand_alone(clusters, minimum):
    unit = units(clusters, minimum)
    if len(set(clusters)) >= minimum:
        assert len(set(zip(unit.tolist(), clusters, strict=True))) == len(set(clusters)) == len(set(unit.tolist()))
    else:
        assert unit.tolist() == list(range(len(clusters)))
