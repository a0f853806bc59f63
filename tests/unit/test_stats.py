"""Intervals and paired tests against plain loops and full enumeration."""

from itertools import product

import numpy as np
import polars as pl
import pytest
from scipy import special, stats

from secateur.evaluation.resampling import holm, jackknife, paired, units
from secateur.evaluation.subsets import units_of
from secateur.evaluation.verdict import enough_data

RNG = np.random.default_rng(11)
VALUES = RNG.normal(0.3, 1.0, (40, 3))
UNIT = np.sort(RNG.integers(0, 9, 40))


def asked(documents: int, of_each: int = 1, texts: int = 10**6) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Questions about documents, and their evidence; of `texts` texts."""
    rows = [(f"q{n:03}", n, f"Question {n % texts}?", f"d{n // of_each:03}") for n in range(documents * of_each)]
    questions = pl.DataFrame(rows, ["question_id", "position", "text", "cluster_id"], orient="row")
    questions = questions.with_columns(type=pl.lit(None, pl.String), group_id=pl.lit("g"))
    return questions, questions.select("question_id", passage_id="cluster_id")


def test_units_are_the_documents_with_evidence_and_below_the_minimum_questions():
    assert units(["a", "b", "a", "c"]).tolist() == [0, 1, 0, 2]
    enough, few = units_of(*asked(10, 3), 10), units_of(*asked(9, 3), 10)
    assert (enough.table["cluster_id"].n_unique(), enough.documents, enough.missing) == (10, 10, 0)
    assert (few.table["cluster_id"].n_unique(), few.documents, few.missing) == (27, 9, 1)
    questions, evidence = asked(10, 3)
    unknown = evidence.with_columns(passage_id=pl.when(pl.col("question_id") > "q002").then("passage_id"))
    assert units_of(questions, unknown, 10).documents == 9  # a question without known evidence is about no document


@pytest.mark.parametrize("of_each", [1, 3, 7])
def test_more_documents_never_turn_enough_into_too_few(of_each):
    verdicts = []
    for documents in range(1, 40):
        table = units_of(*asked(documents, of_each), 10).table
        verdicts.append(bool(enough_data(table["first"].n_unique(), table["cluster_id"].n_unique(), 10)))
    assert verdicts == sorted(verdicts)
    assert verdicts[-1]


def test_equal_questions_are_one_unit_and_their_values_averaged():
    questions, evidence = asked(80, texts=8)
    table = units_of(questions, evidence, 10**6)
    figures = questions.select("question_id", metric=pl.lit("m"), value=pl.int_range(80).cast(pl.Float64))
    averaged = table.of(figures)
    assert averaged.height == averaged["cluster_id"].n_unique() == 8
    assert averaged["value"].to_list() == [sum(range(n, 80, 8)) / 10 for n in range(8)]
    subset = table.of(figures.filter(pl.col("question_id").is_in(["q009", "q011"])))
    assert sorted(subset["value"].to_list()) == [9.0, 11.0]  # the values of its own questions
    other_groups = questions.with_columns(group_id="question_id")  # another haystack is another question
    assert units_of(other_groups, evidence, 10**6).table["first"].n_unique() == 80
    assert units_of(questions.with_columns(text=pl.lit(" WHO\nis it?")), evidence, 81).table["first"].n_unique() == 1
    assert units_of(questions, evidence, 80).table["first"].n_unique() == 80  # whole documents are drawn anyway


def test_an_interval_is_wider_with_more_confidence_and_the_same_for_a_column_alone():
    narrow, wide = (np.array(jackknife(VALUES, UNIT, level)) for level in (0.5, 0.99))
    assert (wide[0] < narrow[0]).all() and (narrow[1] < wide[1]).all()
    alone = np.array(jackknife(VALUES[:, 1:2], UNIT, 0.99))
    np.testing.assert_allclose(wide[:, 1:2], alone)
    assert jackknife(np.full((6, 1), 0.25), np.array([0, 0, 1, 2, 3, 4]), 0.95) == (0.25, 0.25)
    np.testing.assert_array_equal(jackknife(VALUES, np.zeros(40, int), 0.95), [[-np.inf] * 3, [np.inf] * 3])


def test_the_jackknife_leaves_whole_units_out_and_weights_them_by_their_questions():
    """A plain loop finds the same error, a plain matrix the same degrees of freedom."""
    count = UNIT.max() + 1
    left_out = np.array([VALUES[u != UNIT].mean(0) for u in range(count)])
    error = np.sqrt((count - 1) / count * ((left_out - VALUES.mean(0)) ** 2).sum(0))
    sizes = np.bincount(UNIT).astype(float)
    minus_mean = np.eye(count) - np.outer(sizes, np.ones(count)) / 40
    alike = minus_mean * sizes**2 @ minus_mean.T / (40 - sizes)[:, None] ** 2
    freedom = np.trace(alike) ** 2 / np.trace(alike @ alike)
    half = stats.t.ppf(0.975, freedom) * error
    np.testing.assert_allclose(jackknife(VALUES, UNIT, 0.95), [VALUES.mean(0) - half, VALUES.mean(0) + half])
    np.testing.assert_allclose(jackknife(VALUES, 3 * UNIT, 0.95), jackknife(VALUES, UNIT, 0.95))


@pytest.mark.parametrize("resemblance", [0.1, 0.5])
@pytest.mark.parametrize("units", [5, 10, 20])
def test_skewed_shares_in_few_units_of_unlike_sizes_are_covered(units, resemblance):
    """95 % intervals of 1,000 samples; the percentile bootstrap covers .77 to .91 of them, so it would fail."""
    rng, covered = np.random.default_rng((units, int(10 * resemblance))), 0
    draws = stats.norm.cdf(rng.normal(1.2, 1.0, 10**6))
    truth = np.rint(3 * draws).mean() / 3
    for _ in range(1000):
        sizes = np.maximum(1, np.rint(np.exp(rng.normal(np.log(8), 1.0, units)))).astype(int)
        unit = np.repeat(np.arange(units), sizes)
        about, each = rng.normal(size=units)[unit], rng.normal(size=len(unit))
        level = 1.2 + np.sqrt(resemblance) * about + np.sqrt(1 - resemblance) * each
        (low,), (high,) = jackknife(np.rint(3 * special.ndtr(level))[:, None] / 3, unit, 0.95)
        covered += low <= truth <= high
    assert covered >= 930


def grid_of_accepted(values, unit, signs, confidence, grid):
    """Which shifts of the grid a plain sign-flip test with these signs, the observed ones among them, accepts."""
    sums = np.array([(values[unit == u, None] - grid).sum(0) for u in np.unique(unit)])
    return (np.abs(signs @ sums) >= np.abs(sums.sum(0)) - 1e-12).mean(0) > 1 - confidence


@pytest.mark.parametrize("confidence", [0.6, 0.8, 0.95])
@pytest.mark.parametrize("permutations", [300, 255, 20])
def test_the_interval_is_the_shifts_that_brute_force_accepts(permutations, confidence):
    """Nine units of unequal size have 256 assignments up to a common sign: all of them, or as many drawn."""
    count = len(np.unique(UNIT))
    signs = np.array(list(product([-1.0, 1.0], repeat=count)))
    if permutations < 2 ** (count - 1):
        drawn = np.random.default_rng(7).choice([-1.0, 1.0], size=(permutations, count))
        signs = np.vstack([np.ones(count), drawn])
    found, grid = paired(VALUES, UNIT, permutations, confidence, 7), np.linspace(-3, 3, 2001)
    for j, (low, high) in enumerate(zip(found.low, found.high, strict=True)):
        accepted = grid_of_accepted(VALUES[:, j], UNIT, signs, confidence, grid)
        np.testing.assert_array_equal(accepted, (low <= grid) & (grid <= high))
        assert found.p[j] == np.mean(np.abs(signs @ np.bincount(UNIT, VALUES[:, j])) >= abs(VALUES[:, j].sum()) - 1e-12)


def test_a_p_at_the_floor_is_found_by_more_draws_and_the_interval_stays(monkeypatch):
    """Twenty units of one sign have an exact p of 2 / 2 ** 20; other series keep theirs."""
    values = np.column_stack([np.linspace(1, 2, 20), np.resize([1.0, -1.0], 20), np.linspace(-0.2, 1, 20)])
    few, more = (paired(values, np.arange(20), 200, 0.95, 7, draws) for draws in (0, 100_000))
    assert few.p[0] == 1 / 201
    assert more.p[0] == pytest.approx(2 / 2**20, abs=1.5e-5)
    np.testing.assert_array_equal(more.p[1:2], few.p[1:2])
    np.testing.assert_array_equal([more.low, more.high], [few.low, few.high])
    assert more.p[2] <= few.p[2]
    monkeypatch.setattr("secateur.evaluation.resampling._CELLS", 400)  # blocks of one series, and of 16 assignments
    blocks = paired(values, np.arange(20), 200, 0.95, 7, 100_000)
    np.testing.assert_array_equal(blocks.p, more.p)
    np.testing.assert_allclose([blocks.low, blocks.high], [more.low, more.high])
    alone = paired(values[:, 2:], np.arange(20), 200, 0.95, 7, 100_000)
    assert alone.p[0] == more.p[2]  # whatever is tested beside it


def test_more_draws_agree_with_every_assignment_and_change_no_exact_p():
    values = VALUES[:14] + 1.2  # 2 ** 13 assignments up to a common sign
    exact = paired(values, np.arange(14), 10_000, 0.95, 7)
    drawn = paired(values, np.arange(14), 100, 0.95, 7, 200_000)
    floored = paired(values, np.arange(14), 100, 0.95, 7).p == 1 / 101
    assert floored.any()
    np.testing.assert_allclose(drawn.p[floored], exact.p[floored], atol=6e-4)
    np.testing.assert_array_equal(paired(values, np.arange(14), 10_000, 0.95, 7, 200_000).p, exact.p)
    unbounded = paired(np.full((30, 1), 0.1), np.arange(30), 18, 0.95, 7, 200_000)
    assert unbounded.p[0] == pytest.approx(1 / 19)  # no interval: a smaller p would contradict it


@pytest.mark.parametrize(
    ("count", "draws", "p", "bounded"),
    [
        (1, 10000, 1, False),
        (5, 10000, 1 / 16, False),
        (6, 10000, 1 / 32, True),
        (30, 18, 1 / 19, False),
        (30, 5000, 1 / 5001, True),
    ],
)
def test_the_interval_is_unbounded_where_no_p_could_be_small_enough(count, draws, p, bounded):
    """Five units have a smallest p of 1/16, six of 1/32; 18 draws one of 1/19."""
    found = paired(np.full((count, 1), 0.1), np.arange(count), draws, 0.95, 7)
    assert found.p[0] == pytest.approx(p)
    np.testing.assert_allclose([found.low[0], found.high[0]], [0.1, 0.1] if bounded else [-np.inf, np.inf])


def test_units_without_a_question_do_not_count_and_no_difference_or_no_series_is_nothing():
    gaps, dense = (paired(VALUES, unit, 100, 0.8, 7) for unit in (3 * UNIT, UNIT))
    assert gaps.units == dense.units
    np.testing.assert_array_equal(gaps.p, dense.p)
    same = paired(np.zeros((40, 1)), UNIT, 10000, 0.95, 7)
    assert (same.mean[0], same.low[0], same.high[0], same.p[0]) == (0, 0, 0, 1)
    assert paired(np.zeros((4, 0)), np.arange(4), 100, 0.95, 7).p.shape == (0,)


def test_a_series_with_nan_is_nan_and_leaves_the_others_alone():
    values = np.column_stack([VALUES, np.where(np.arange(40) == 3, np.nan, 0.1)])
    found, without = (paired(v, UNIT, 10000, 0.95, 7) for v in (values, VALUES))
    assert np.isnan([found.mean[3], found.low[3], found.high[3], found.p[3]]).all()
    np.testing.assert_allclose(found.low[:3], without.low)
    np.testing.assert_allclose(found.p[:3], without.p)


def test_holm_on_its_textbook_steps_is_clipped_at_one_and_ties_stay_ties():
    np.testing.assert_allclose(holm(np.array([0.01, 0.04, 0.03, 0.005])), [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_allclose(holm(np.array([0.4, 0.4, 0.9])), [1, 1, 1])
    np.testing.assert_allclose(holm(np.array([0.1, 0.1, 0.9])), [0.3, 0.3, 0.9])
    assert holm(np.array([])).shape == (0,)
