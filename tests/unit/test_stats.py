"""Intervals and paired tests against plain loops and full enumeration."""

from itertools import product

import numpy as np
import pytest

from secateur.evaluation.resampling import bootstrap, paired_test, units

RNG = np.random.default_rng(11)
VALUES = RNG.normal(0.3, 1.0, (40, 3))
UNIT = np.sort(RNG.integers(0, 9, 40))


def test_units_are_the_clusters():
    assert units(["a", "b", "a", "c"], 3).tolist() == [0, 1, 0, 2]


def test_below_the_minimum_each_question_is_its_own_unit():
    assert units(["a", "b", "a", "c"], 4).tolist() == [0, 1, 2, 3]


def test_the_interval_contains_the_mean():
    low, high = bootstrap(VALUES, UNIT, 2000, 0.95, 7)
    assert (low < VALUES.mean(0)).all()
    assert (VALUES.mean(0) < high).all()


def test_the_same_seed_gives_the_same_interval():
    one, again, other = (np.array(bootstrap(VALUES, UNIT, 500, 0.95, seed)) for seed in (7, 7, 8))
    np.testing.assert_array_equal(one, again)
    assert (one != other).any()


def test_columns_are_resampled_alike_so_a_column_alone_has_the_same_interval():
    both = np.array(bootstrap(VALUES, UNIT, 500, 0.95, 7))
    np.testing.assert_allclose(both[:, 1:2], np.array(bootstrap(VALUES[:, 1:2], UNIT, 500, 0.95, 7)))


def test_more_confidence_is_a_wider_interval():
    narrow, wide = (np.array(bootstrap(VALUES, UNIT, 2000, level, 7)) for level in (0.5, 0.99))
    assert (wide[0] < narrow[0]).all()
    assert (narrow[1] < wide[1]).all()


def test_equal_values_have_an_interval_without_width():
    low, high = bootstrap(np.full((6, 1), 0.25), np.array([0, 0, 1, 2, 3, 4]), 200, 0.95, 7)
    assert (low, high) == (0.25, 0.25)


def test_whole_units_are_drawn_and_weighted_by_their_questions():
    """A plain loop over drawn clusters finds the same quantiles."""
    rng, count = np.random.default_rng(3), UNIT.max() + 1
    means = []
    for _ in range(4000):
        rows = np.concatenate([np.flatnonzero(u == UNIT) for u in rng.integers(0, count, count)])
        means.append(VALUES[rows, 0].mean())
    low, high = bootstrap(VALUES[:, :1], UNIT, 4000, 0.9, 7)
    np.testing.assert_allclose([low[0], high[0]], np.quantile(means, [0.05, 0.95]), atol=0.03)


def test_p_equals_full_enumeration_on_five_units():
    sums = np.array([0.9, 0.4, -0.2, 0.7, 0.1])
    flips = np.array([np.abs(np.dot(signs, sums)) for signs in product([-1, 1], repeat=5)])
    exact = np.mean(flips >= abs(sums.sum()) - 1e-12)
    assert paired_test(sums[:, None], np.arange(5), 20000, 7)[0] == pytest.approx(exact, abs=0.01)


def test_p_is_small_for_a_constant_shift():
    assert paired_test(np.full((30, 1), 0.1), np.arange(30), 5000, 7)[0] == pytest.approx(1 / 5001)


def test_p_is_never_zero_and_one_for_no_difference():
    assert paired_test(np.zeros((4, 1)), np.arange(4), 100, 7)[0] == 1


def test_p_is_symmetric():
    np.testing.assert_array_equal(paired_test(VALUES, UNIT, 500, 7), paired_test(-VALUES, UNIT, 500, 7))


def test_signs_are_flipped_by_unit_and_not_by_question():
    """Thirty equal questions of one unit are one observation: either sign is as far from zero."""
    assert paired_test(np.full((30, 1), 0.1), np.zeros(30, int), 500, 7)[0] == 1
