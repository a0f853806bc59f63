"""Greedy selection: lazy scoring selects what eager scoring does, and nothing if no utility exceeds tau."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from secateur.ecs.selection.grow import greedy

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


FACTS = st.lists(st.sets(st.integers(0, 9), max_size=5), min_size=1, max_size=8)


@given(FACTS, st.lists(st.integers(1, 9), min_size=10, max_size=10), st.integers(0, 6), st.integers(0, 12), st.data())
def test_lazy_and_eager_agree_where_utilities_fall(facts, weights, tau, most, data):
    tokens = data.draw(st.lists(st.integers(0, 5), min_size=len(facts), max_size=len(facts)))
    broken = data.draw(st.sets(st.integers(0, len(facts) - 1), max_size=2))
    asked = []

    def utility(context, candidates):
        """New weight: submodular, so it falls as the context grows."""
        asked.append(len(candidates))
        held = set().union(*(facts[n] for n in context)) if context else set()
        return [NAN if n in broken else float(sum(weights[f] for f in facts[n] - held)) for n in candidates]

    lazily = greedy(utility, tokens, tau, most)
    scored = sum(asked)
    asked.clear()
    assert lazily == eager(utility, tokens, tau, most)
    assert scored <= sum(asked) + 1  # it never asks more, but for what led and then fell


def test_greedy_selects_nothing_where_nothing_is_above_the_threshold():
    assert greedy(lambda c, n: [0.0] * len(n), [1, 1], 0.0, 9) == []
    assert greedy(lambda c, n: [NAN] * len(n), [1, 1], 0.0, 9) == []
    assert greedy(lambda c, n: [], [], 0.0, 9) == []
