"""Lemma 13: a price on tokens controls them; and what holds of lattice, preferences and baselines on every input."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.support.policy_problem import FACTS, SECONDS
from tests.support.policy_problem import settings as settings_of_policy

from secateur.policy.actions import LATTICE, distinct
from secateur.policy.baselines import best
from secateur.policy.preferences import preference_pairs
from secateur.policy.price import choose, price
from secateur.policy.utility import Terms, Utilities, weigh


@st.composite
def problems(draw):
    """log pi and whole tokens of some questions; sometimes with ties in both."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = draw(st.integers(1, 12)), draw(st.sampled_from([3, 27]))
    log_pi = rng.normal(size=shape) * draw(st.sampled_from([0.0, 0.1, 1.0, 30.0]))
    tokens = rng.integers(50, draw(st.sampled_from([51, 60, 900])), shape).astype(float)
    return np.round(log_pi, draw(st.sampled_from([1, 12]))), tokens


def spent(log_pi, tokens, eta):
    return np.take_along_axis(tokens, choose(log_pi, tokens, eta)[:, None], 1)[:, 0]


@given(problems(), st.lists(st.floats(0, 50), min_size=2, max_size=6))
def test_lemma_13_no_questions_tokens_rise_with_eta(problem, etas):
    costs = np.array([spent(*problem, eta) for eta in sorted(etas)])
    assert (np.diff(costs, axis=0) <= 0).all()


@given(problems())
def test_lemma_13_a_high_price_leaves_the_cheapest(problem):
    np.testing.assert_array_equal(spent(*problem, 1e6), problem[1].min(1))


@given(problems(), st.lists(st.floats(0, 1.2), min_size=2, max_size=5))
def test_lemma_13_every_feasible_budget_is_kept_and_a_tighter_one_costs_no_more(problem, shares):
    cheapest, dearest = problem[1].min(1).mean(), problem[1].max(1).mean()
    budgets = sorted(cheapest + share * (dearest - cheapest) for share in shares)
    etas = [price(*problem, budget) for budget in budgets]
    means = [spent(*problem, eta).mean() for eta in etas]
    assert all(mean <= budget for mean, budget in zip(means, budgets, strict=True))
    assert (np.diff(etas) <= 0).all()
    assert (np.diff(means) >= 0).all()


@given(problems(), st.floats(0, 1))
def test_a_budget_is_missed_by_at_most_the_step_of_the_questions_that_change_last(problem, share):
    log_pi, tokens = problem
    budget = tokens.min(1).mean() + share * np.ptp(tokens, axis=1).mean()
    eta = price(log_pi, tokens, budget)
    if eta > 0:
        assert spent(log_pi, tokens, eta * (1 - 1e-9)).mean() > budget >= spent(log_pi, tokens, eta).mean()


@given(st.lists(st.lists(st.sampled_from("ab"), min_size=27, max_size=27), min_size=1, max_size=4))
def test_no_two_configurations_left_have_the_same_prompts_and_none_is_lost(prompts):
    columns = dict(zip(LATTICE, zip(*prompts, strict=True), strict=True))
    kept = [columns[configuration] for configuration in distinct(prompts)]
    assert len(set(kept)) == len(kept) and set(kept) == set(columns.values())


@given(problems(), st.floats(0, 2))
def test_pairs_are_the_ordered_comparisons_above_the_margin_each_once(problem, margin):
    value = problem[0]
    pairs = preference_pairs(value, margin)
    assert (value[pairs.question, pairs.chosen] - value[pairs.question, pairs.rejected] > margin).all()
    found = set(zip(pairs.question.tolist(), pairs.chosen.tolist(), pairs.rejected.tolist(), strict=True))
    assert len(found) == len(pairs) == sum((row[:, None] - row[None] > margin).sum() for row in value)
    assert not {(q, r, c) for q, c, r in found} & found


@given(problems())
def test_nothing_beats_the_oracle_and_no_equal_choice_is_cheaper(problem):
    value, tokens = problem
    configurations = LATTICE if value.shape[1] == 27 else FACTS
    chosen = best(Utilities(tuple("q" * len(value)), configurations, value, value, value, tokens))[:, None]
    top = np.take_along_axis(value, chosen, 1)
    assert (top == value.max(1, keepdims=True)).all()
    cheapest = np.where(value == top, tokens, np.inf).min(1, keepdims=True)
    assert (np.take_along_axis(tokens, chosen, 1) <= cheapest).all()


SHARES = st.lists(st.floats(0, 1), min_size=3, max_size=3)
COUNTS = st.lists(st.integers(1, 900), min_size=3, max_size=3)
MEASURED = st.fixed_dictionaries({"token_f1": SHARES, "faithfulness": SHARES, "tokens": COUNTS, "written": COUNTS})


@given(MEASURED, st.integers(0, 2), st.sampled_from(["token_f1", "faithfulness", "tokens", "written"]))
def test_utility_rises_with_accuracy_and_faithfulness_and_falls_with_tokens_read_and_written(values, place, term):
    """Of one configuration, the others unchanged; a configuration that becomes the slowest costs the others nothing."""
    policy = settings_of_policy(accuracy="token_f1")
    assert min(policy.alpha, policy.beta, policy.gamma, policy.delta) > 0
    more = {**values, term: [value + (n == place) for n, value in enumerate(values[term])]}
    more["token_f1"] = [min(value, 1) for value in more["token_f1"]]

    def utility(measured) -> np.ndarray:
        arrays = {name: np.array([column], float) for name, column in measured.items()}
        measured = Terms(("q",), FACTS, answer_gain=np.zeros((1, 3)), budget=np.full((1, 3), 512.0), **arrays)
        return weigh(measured, policy, (0.0, 1.0), SECONDS).value[0]

    before, after = utility(values), utility(more)
    rises = term in ("token_f1", "faithfulness")
    assert (after[place] >= before[place] - 1e-9) if rises else (after[place] <= before[place] + 1e-9)
    others = np.arange(3) != place
    assert (after[others] >= before[others] - 1e-9).all()
    np.testing.assert_array_equal(before, utility(values))  # a function of its inputs
