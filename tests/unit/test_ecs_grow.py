"""Growing a context: utilities given C as one sequence at a time gives them, and the greedy choice."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secateur.core.errors import SecateurError
from secateur.ecs.reading.pairs import base_readings, base_rows, encode, pair_rows
from secateur.ecs.reading.template import Passage, Question, require_pmi_q
from secateur.ecs.selection.grow import Growth, greedy

QUESTION = Question("q1", "What had she swallowed?")
PASSAGES = [
    Passage("p0", "half a tennis ball", "Mira"),
    Passage("p1", "Jonas left ."),
    Passage("p2", "June 1994", None, "May"),
]
FIXED = np.array([0.5, -1.0, 0.25])


@pytest.fixture
def growth(tiny_lm, ecs):
    lm, cfg = tiny_lm(), ecs()
    base = base_readings(lm, cfg, [QUESTION])
    rows = pair_rows(lm, cfg, [QUESTION], PASSAGES, [(0, n) for n in range(3)], base)
    alone = base_rows([QUESTION], base)[0]["question_logprob"]
    pmi_q = np.array([row["question_logprob"] - alone for row in rows])
    return Growth(lm, cfg, QUESTION, PASSAGES, FIXED, pmi_q, 2.0)


def said(growth, naive, shown) -> float:
    """log p of the question under some passages, read by itself."""
    (one,) = encode(growth.lm, growth.cfg, [QUESTION], [shown])
    logs = naive(growth.lm, one.ids)
    return sum(logs[n - 1, one.ids[n]] for n in range(*one.asked))


def test_under_an_empty_context_a_utility_is_the_fixed_part_and_the_weighted_z_score(growth):
    z = (growth.pmi_q - growth.pmi_q.mean()) / growth.pmi_q.std()
    np.testing.assert_allclose(growth.utility((), [2, 0]), (FIXED + 2 * z)[[2, 0]])
    flat = Growth(growth.lm, growth.cfg, QUESTION, PASSAGES, FIXED, np.zeros(3), 2.0)
    assert flat.utility((), range(3)) == FIXED.tolist()  # where candidates say the same of the question


def test_given_c_it_is_the_shift_that_one_sequence_at_a_time_gives_on_the_same_scale(growth, naive):
    under = [PASSAGES[2], PASSAGES[0]]
    shift = np.array([said(growth, naive, [*under, p]) - said(growth, naive, under) for p in PASSAGES])
    expected = FIXED + 2 * (shift - growth.pmi_q.mean()) / growth.pmi_q.std()
    np.testing.assert_allclose(growth.utility((2, 0), [1]), expected[[1]], atol=1e-3)


@dataclass(frozen=True)
class Facts(Growth):
    """Utilities are the facts of a passage that C does not hold."""

    def utility(self, chosen, candidates):
        facts = [{1, 2, 3}, {1, 2}, {4}]
        return [float(len(facts[n].difference(*(facts[c] for c in chosen)))) for n in candidates]


FACTS = Facts(None, None, QUESTION, PASSAGES, FIXED, np.zeros(3), 0.0)


def test_a_passage_that_repeats_another_does_not_join_it():
    assert FACTS.select(2) == [0, 2]
    assert FACTS.select(1) == [0]
    assert FACTS.select(3, 0.0) == [0, 2]
    assert FACTS.select(3, 1.0) == [0]
    assert FACTS.select(3, float("inf")) == []
    assert (FACTS.quantile(0.5), FACTS.quantile(1.0)) == (2.0, 3.0)  # of the utilities under the empty context


def test_what_needs_the_questions_probability_is_refused_where_the_question_stands_first(ecs):
    require_pmi_q(ecs(), "dataset.grown")
    with pytest.raises(SecateurError, match=r"dataset\.grown needs pmi_q, which ecs\.layout question_first leaves"):
        require_pmi_q(ecs(layout="question_first"), "dataset.grown")


def test_a_selection_begins_with_the_best_by_itself_and_reads_each_utility_once(growth, monkeypatch):
    first = growth.utility((), range(3))
    chosen = growth.select(9)
    assert chosen[0] == int(np.argmax(first))
    assert sorted(chosen) == [0, 1, 2]
    monkeypatch.setattr("secateur.ecs.selection.grow.pair_rows", None)  # a second reading would fail
    assert growth.select(3) == chosen
    assert growth.select(2) == chosen[:2]


NAN = float("nan")


def eager(utility, tokens, tau, most):
    """Algorithm 1 with every candidate scored anew at every step."""
    chosen, left, rest = [], most, list(range(len(tokens)))
    while rest:
        values = utility(tuple(chosen), rest)
        known = [(-v, n) for v, n in zip(values, rest, strict=True) if not np.isnan(v)]
        if not known or -min(known)[0] <= tau or tokens[min(known)[1]] > left:
            break
        best = min(known)[1]
        chosen.append(best)
        left -= tokens[best]
        rest.remove(best)
    return chosen


SETS = st.lists(st.sets(st.integers(0, 9), max_size=5), min_size=1, max_size=8)


@given(SETS, st.lists(st.integers(1, 9), min_size=10, max_size=10), st.integers(0, 6), st.integers(0, 12), st.data())
def test_lazy_and_eager_agree_where_utilities_fall(facts, weights, tau, most, data):
    tokens = data.draw(st.lists(st.integers(0, 5), min_size=len(facts), max_size=len(facts)))
    broken = data.draw(st.sets(st.integers(0, len(facts) - 1), max_size=2))
    asked = []

    def utility(context, candidates):
        """New weight: submodular, so it falls as the context grows."""
        asked.append(len(candidates))
        held = set().union(*(facts[n] for n in context))
        return [NAN if n in broken else float(sum(weights[f] for f in facts[n] - held)) for n in candidates]

    lazily = greedy(utility, tokens, tau, most)
    scored = sum(asked)
    asked.clear()
    assert lazily == eager(utility, tokens, tau, most)
    assert scored <= sum(asked) + 1  # it never asks more, but for what led and then fell


def test_greedy_selects_nothing_where_nothing_is_above_the_threshold():
    for value in (0.0, NAN):
        assert greedy(lambda c, n, value=value: [value] * len(n), [1, 1], 0.0, 9) == []
    assert greedy(lambda c, n: [], [], 0.0, 9) == []
