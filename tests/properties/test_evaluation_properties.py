"""What no evidence block can do to its figures."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from secateur.evaluation.evidence import Block, Gold, block_metrics, prefix_lengths

quick = settings(max_examples=100)
texts = st.lists(
    st.sampled_from(["bear", "salmon", "river", "eat", "the", "of", "sockeye", "1984", "ice"]), min_size=1, max_size=5
).map(" ".join)
golds = st.builds(
    lambda question, passages, more: Gold(question, passages, (*passages.values(), *more)),
    texts,
    st.dictionaries(st.sampled_from(["p1", "p2", "p3"]), texts, max_size=3),
    st.lists(texts, max_size=2),
)
lines = st.lists(st.tuples(texts, st.sampled_from(["p1", "p2", "p3", "p4"]), st.booleans()), max_size=6)


def block(rows) -> Block:
    return Block(*([row[n] for row in rows] for n in range(3)))


@quick
@given(golds, lines, st.floats(0, 1))
def test_figures_are_shares_and_a_pointer_bounds_exact(gold, rows, least):
    found = block_metrics(gold, block(rows), least)
    assert all(0 <= value <= 1 for value in found.values())
    assert found.get("exact", 0) <= found.get("exact_pointer", 0)
    assert found.get("held", 0) <= found.get("exact_pointer", 0)


@quick
@given(golds, lines, lines, st.floats(0, 1))
def test_a_longer_block_never_scores_lower(gold, rows, more, least):
    short, long = block_metrics(gold, block(rows), least), block_metrics(gold, block(rows + more), least)
    assert all(long[name] >= value for name, value in short.items())


@quick
@given(golds, lines)
def test_a_stricter_share_never_finds_more(gold, rows):
    strict, lenient = (block_metrics(gold, block(rows), least).get("exact", 0) for least in (1.0, 0.5))
    assert strict <= lenient


@quick
@given(st.lists(st.integers(1, 50), max_size=12), st.integers(0, 300))
def test_a_prefix_fits_and_the_next_unit_would_not(tokens, budget):
    (length,) = prefix_lengths(np.array(tokens, np.int64), [budget])
    assert sum(tokens[:length]) <= budget
    assert length == len(tokens) or sum(tokens[: length + 1]) > budget
