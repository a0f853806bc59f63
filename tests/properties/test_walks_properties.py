"""What a beam's step is worth hangs on where its path began, not on what else was walked in the same step."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from secateur.graph.walks.beam import Settings, walk
from secateur.ranking.passage_graph import NO_PLACE, PassageGraph

NAMES = ["ann", "bob", "cy", "dan", "eve"]


@st.composite
def graphs(draw):
    """(a graph of one-passage articles, the names that a question says, a ranking)."""
    mentioned = draw(st.lists(st.sets(st.sampled_from(range(5)), min_size=1), min_size=2, max_size=8))
    n = len(mentioned)
    pairs = np.array([(p, e) for p, own in enumerate(mentioned) for e in sorted(own)], np.int64).T
    about = np.array([min(own) if draw(st.booleans()) else NO_PLACE for own in mentioned], np.int64)
    names = {name: k for k, name in enumerate(NAMES)}
    graph = PassageGraph(np.arange(n), ["text"] * n, names, pairs, about, 1.2, 0.75)
    asked = draw(st.sets(st.sampled_from(NAMES), max_size=3))
    return graph, " and ".join(sorted(asked)), np.array(draw(st.permutations(range(n))), float)


def gained(graph, question, scores, width, depth, anchor):
    fixed = {"step": 100, "mention": 0.5, "rest": 0, "decay": 0, "fade": 0.5, "named": 0, "longest": 1}
    chosen = Settings(width=width, depth=depth, anchor=anchor, **fixed)
    found, came = walk(chosen, graph, [question], scores[None])
    return (found[0] - scores) / 100, came[0]


@settings(deadline=None)
@given(drawn=graphs(), anchor=st.sampled_from([0.0, 0.3]))
def test_the_best_of_several_states_is_the_best_of_each_alone(drawn, anchor):
    graph, question, scores = drawn
    together, _ = gained(graph, question, scores, len(scores), 1, anchor)
    alone = [gained(graph, question, state, 1, 1, anchor)[0] for state in 99.0 * np.eye(len(scores))]
    np.testing.assert_allclose(together, np.max(alone, axis=0), atol=1e-6)


@settings(deadline=None)
@given(drawn=graphs(), anchor=st.sampled_from([0.0, 0.3]))
def test_a_second_step_is_worth_what_its_first_passage_allows(drawn, anchor):
    """No second step gains more than `fade` of what the best first passage counts."""
    graph, question, scores = drawn
    first, _ = gained(graph, question, scores, len(scores), 1, anchor)
    both, came = gained(graph, question, scores, len(scores), 2, anchor)
    known = graph.occurring_entities(question, 1)
    rarest = max(graph.idf[np.intersect1d(own, known)].max(initial=0.0) for own in graph.passage_entities)
    assert (both >= first - 1e-6).all()
    later = both > first + 1e-6
    assert (both[later] <= 0.5 * max(0.0, (rarest - anchor) / (1 - anchor)) + 1e-6).all()
    assert (came[later] != NO_PLACE).all()
