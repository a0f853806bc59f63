"""Lemmas 2, 3, 4 and 8 of the paper, in the form that holds, on random sequences and runs."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from secateur.contexts.channels import representatives
from secateur.graph.runs import Fit, refine, segment

quick = settings(max_examples=150)


@st.composite
def sequences(draw):
    """(vectors, heads, tails): a random walk on the sphere over few nodes, so that runs of every length occur."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    count, dim, nodes = draw(st.integers(1, 16)), draw(st.integers(2, 6)), draw(st.integers(1, 8))
    step = draw(st.sampled_from([0.0, 0.3, 0.8, 2.0]))
    vectors = [rng.normal(size=dim)]
    for _ in range(count - 1):
        vectors.append(vectors[-1] / np.linalg.norm(vectors[-1]) + step * rng.normal(size=dim))
    unit = np.stack([v / np.linalg.norm(v) for v in vectors]).astype(np.float32)
    return unit, rng.integers(0, nodes, count).astype(np.int32), rng.integers(0, nodes, count).astype(np.int32)


fits = st.builds(
    Fit,
    tau=st.floats(-0.5, 1.0),
    bonus_path=st.sampled_from([0.0, 0.05, 0.3]),
    bonus_node=st.sampled_from([0.0, 0.03, 0.2]),
)


def fit_of(sequence, run: range, new: int, fit: Fit) -> float:
    """cos(centroid, v) + bonus of triple `new` against a run, from scratch."""
    vectors, heads, tails = sequence
    centroid = np.mean([vectors[n].astype(float) for n in run], axis=0)
    length = np.linalg.norm(centroid)
    cosine = float(centroid @ vectors[new]) / length if length > 1e-9 else 0.0
    seen = {int(heads[n]) for n in run} | {int(tails[n]) for n in run}
    if heads[new] == tails[new - 1]:
        return cosine + fit.bonus_path
    return cosine + (fit.bonus_node if int(heads[new]) in seen or int(tails[new]) in seen else 0.0)


def runs_of(starts: list[int], count: int) -> list[range]:
    """The parts of a sequence that these starts cut it into."""
    assert starts[0] == 0
    assert starts == sorted(set(starts))
    assert starts[-1] < count
    return [range(a, b) for a, b in zip(starts, [*starts[1:], count], strict=True)]


@quick
@given(sequences(), fits)
def test_the_first_triple_of_each_run_fails_the_fit_test_against_the_run_before_it_and_all_others_passed(sequence, fit):
    """Lemma 2, on one-pass runs."""
    runs = runs_of(segment(*sequence, fit), len(sequence[0]))
    for before, run in zip(runs, runs[1:], strict=False):
        assert fit_of(sequence, before, run[0], fit) < fit.tau + 1e-9
    for run in runs:
        for n in run[1:]:
            assert fit_of(sequence, range(run[0], n), n, fit) >= fit.tau - 1e-9


def test_a_triple_that_just_fits_joins():
    """At right angles the cosine is 0, to the bit."""
    vectors, heads, tails = np.eye(2, dtype=np.float32), np.array([0, 2], np.int32), np.array([1, 3], np.int32)
    assert segment(vectors, heads, tails, Fit(tau=0.0, bonus_path=0.0, bonus_node=0.0)) == [0]


@quick
@given(sequences(), fits)
def test_mean_pairwise_cosine_is_at_least_the_square_of_tau_less_the_bonus(sequence, fit):
    """Lemma 4 as it holds: with s = tau - b >= 0, mean pairwise cosine >= s^2 on one-pass runs."""
    s = fit.tau - max(fit.bonus_path, fit.bonus_node)
    if s < 0:
        return
    for run in runs_of(segment(*sequence, fit), len(sequence[0])):
        if len(run) > 1:
            own = sequence[0][run.start : run.stop].astype(float)
            pairs = (own @ own.T)[np.triu_indices(len(run), 1)]
            assert pairs.mean() >= s**2 - 1e-6


@st.composite
def any_starts(draw):
    """A sequence with arbitrary boundaries, not only those of one pass."""
    sequence = draw(sequences())
    rest = draw(st.sets(st.integers(1, max(1, len(sequence[0]) - 1))))
    return sequence, sorted({0} | {n for n in rest if n < len(sequence[0])})


@quick
@given(any_starts(), fits)
def test_boundary_refinement_is_a_fixed_point(given_runs, fit):
    """Lemma 3."""
    sequence, starts = given_runs
    refined = refine(*sequence, fit, starts)
    assert refine(*sequence, fit, refined) == refined


@quick
@given(any_starts(), fits)
def test_every_surviving_boundary_is_where_the_segmenter_cuts_first(given_runs, fit):
    """Lemma 3: re-segmenting two adjacent runs finds their boundary again."""
    (vectors, heads, tails), starts = given_runs
    runs = runs_of(refine(vectors, heads, tails, fit, starts), len(vectors))
    for left, right in zip(runs, runs[1:], strict=False):
        both = slice(left.start, right.stop)
        again = segment(vectors[both], heads[both], tails[both], fit)
        assert again[1] == right.start - left.start


@quick
@given(any_starts(), fits)
def test_refinement_only_merges(given_runs, fit):
    sequence, starts = given_runs
    refined = refine(*sequence, fit, starts)
    assert runs_of(refined, len(sequence[0]))
    assert set(refined) <= set(starts)


@quick
@given(sequences(), fits)
def test_runs_of_one_pass_are_a_fixed_point_already(sequence, fit):
    """A pass forgets everything at a cut, so refinement matters for runs that were joined or cut by other means."""
    starts = segment(*sequence, fit)
    assert refine(*sequence, fit, starts) == starts


@st.composite
def drawn_runs(draw):
    """Vectors of runs: unit ones around a few centres, some of them equal."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    count, dim, centres = draw(st.integers(1, 14)), draw(st.integers(2, 8)), draw(st.integers(1, 4))
    spread = draw(st.sampled_from([0.0, 0.1, 0.3, 1.0]))
    vectors = rng.normal(size=(centres, dim))[rng.integers(0, centres, count)] + spread * rng.normal(size=(count, dim))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


thetas = st.floats(0.0, 0.999)


@given(drawn_runs(), thetas)
def test_every_dropped_run_is_within_theta_of_a_representative_each_a_member_once_in_order(vectors, theta):
    """Lemma 8."""
    kept = representatives(vectors, theta)
    assert (vectors @ vectors[kept].T).max(1).min() >= theta - 1e-5
    assert kept == sorted(set(kept) & set(range(len(vectors))))


@given(drawn_runs(), thetas, st.integers(1, 5))
def test_repeating_runs_adds_no_representative(vectors, theta, copies):
    again = np.concatenate([vectors] * copies)
    assert len(representatives(again, theta)) == len(representatives(vectors, theta))


@given(drawn_runs())
def test_runs_farther_apart_than_theta_are_all_kept(vectors):
    cosine = vectors.astype(float) @ vectors.T.astype(float)
    np.fill_diagonal(cosine, -1)
    theta = float(cosine.max()) + 1e-6
    if theta <= 1:
        assert representatives(vectors, theta) == list(range(len(vectors)))
