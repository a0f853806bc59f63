"""Standard baselines of a ranking on cases worked out by hand: MMR, sentence windows, late interaction."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secateur.config import plugins
from secateur.config.ranking import Rankers, forms, rankers_problems
from secateur.core.layout import scorer_order
from secateur.models.token_vectors import TokenVectors
from secateur.ranking.group import Group, Questions
from secateur.ranking.scorers.mmr import _reordered
from secateur.ranking.scorers.window import _with_windows

COSINE = {"kind": "dense"}
ANGLES = {"a": 10, "a again": 12, "b": 330, "far": 90, "q": 0}  # degrees
SPOKEN = {"q": [[1, 0, 0], [0, 1, 0]], "a": [[1, 0, 0], [1, 0, 0]], "b": [[0.6, 0.8, 0]], "c": [[0, 0, 1]]}


def embed(texts) -> np.ndarray:
    angles = np.radians([ANGLES.get(text, 180) for text in texts])
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def tokens(texts) -> TokenVectors:
    return TokenVectors.of([np.array(SPOKEN[text], np.float32) for text in texts])


def ranked(spec: dict, texts: list[str], docs=None) -> list[str]:
    group = Group(texts, [""] * len(texts), np.array(docs or range(len(texts))), embed, texts, {}, tokens)
    settings = plugins.settings("ranker", spec, "conf/rankers/mine")
    scores = plugins.load("ranker", spec["kind"]).score(settings, group, Questions(["q"]), 0)[0]
    return [texts[n] for n in np.argsort(-scores, kind="stable")]


@pytest.mark.parametrize(
    ("relevance", "order"), [(1, ["a", "a again", "b", "far"]), (0.5, ["a", "b", "a again", "far"])]
)
def test_mmr_puts_what_is_new_before_what_repeats_the_best(relevance, order):
    # Cosines to q .985, .978, .866, 0, as shares of their range 1, .993, .879, 0. After a at .5: b (.879 - .766) / 2 = .057,
    # a again (.993 - .999) / 2 = -.003, far (0 - .174) / 2 = -.087.
    spec = {"kind": "mmr", "of": COSINE, "relevance": relevance, "pool": 4}
    assert ranked(spec, ["a", "a again", "b", "far"]) == order


@given(st.integers(0, 2**32 - 1), st.floats(0, 1), st.integers(1, 12))
def test_mmr_chooses_by_its_definition(seed, relevance, pool):
    draw = np.random.default_rng(seed)
    vectors = draw.normal(size=(9, 3)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    scores = draw.normal(size=9)
    settings = plugins.settings("ranker", {"kind": "mmr", "of": COSINE, "relevance": relevance, "pool": pool}, "here")
    order = np.argsort(-_reordered(scores, vectors, settings), kind="stable").tolist()
    best = np.argsort(-scores, kind="stable").tolist()
    scaled = (scores - scores[best[:pool]].min()) / (np.ptp(scores[best[:pool]]) + 1e-9)
    for place, chosen in enumerate(order[:pool]):
        similar = {n: max((float(vectors[n] @ vectors[m]) for m in order[:place]), default=0) for n in best[:pool]}
        worth = {n: relevance * scaled[n] - (1 - relevance) * max(similar[n], 0) for n in best[:pool]}
        assert worth[chosen] >= max(worth[n] for n in best[:pool] if n not in order[:place]) - 1e-6
    assert order[pool:] == best[pool:]


def test_a_hit_brings_its_neighbours_of_the_same_document_the_nearest_first():
    scores, docs = np.array([0.1, 0.9, 0.2, 0.3, 0.8, 0.0]), np.array([0, 0, 0, 0, 1, 1])
    one = np.argsort(-_with_windows(scores, docs, 1), kind="stable").tolist()
    assert one == [1, 0, 2, 4, 5, 3]  # the best hit, before it, behind it; the next hit, in a document of two
    two = np.argsort(-_with_windows(scores, docs, 2), kind="stable").tolist()
    assert two == [1, 0, 2, 3, 4, 5]


@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_windows_keep_every_passage_once_and_stay_in_documents(seed, size):
    draw = np.random.default_rng(seed)
    scores, docs = draw.normal(size=8), np.sort(draw.integers(0, 3, 8))
    best, order = np.argsort(-scores, kind="stable").tolist(), []
    for hit in best:
        near = (n for n in range(8) if abs(n - hit) <= size and docs[n] == docs[hit])
        reach = sorted(near, key=lambda n: (abs(n - hit), n))
        order += [n for n in reach if n not in order]
    values = _with_windows(scores, docs, size)
    assert len(set(values)) == len(values)
    # A passage within reach of two hits follows the better one, as when the hits are visited in turn.
    assert np.argsort(-values, kind="stable").tolist() == order


def test_a_ranker_with_windows_is_order_aware_has_no_suffixed_form_and_says_so_in_its_name():
    window = {"kind": "window", "of": COSINE, "size": 1}
    expected = ["dense+window", "dense", "dense+neighbour"]
    assert forms(Rankers({"dense+window": window, "dense": COSINE}, ("+neighbour",), 0.8, 9)) == expected
    assert scorer_order("dense+window") == "aware"
    for name, spec in (("dense", window), ("dense+window", COSINE)):
        (problem,) = rankers_problems(Rankers({name: spec}, (), 0.8, 9), "conf/rankers/mine")
        assert problem.startswith(f"rankers.scorers.{name}: the name of an order-aware ranker ends in +window")


GOLD, RUN = {"kind": "gold"}, {"kind": "import", "run": "mine.run"}


@pytest.mark.parametrize(
    ("inner", "said"),
    [
        ({"kind": "zsum", "lexical": GOLD, "dense": 1.0}, ".of.lexical: gold reads gold evidence"),
        ({"kind": "zsum", "lexical": RUN, "dense": 1.0}, ".of.lexical: import reads gold evidence"),
        ({"kind": "dens"}, ".of: ranker 'dens' is unknown"),
        (COSINE | {"a": 1}, ".of.a"),
    ],
)
def test_a_ranker_inside_another_is_read_as_strictly_and_reads_no_gold_evidence_and_no_file(inner, said):
    outer = {"kind": "window", "of": inner, "size": 1}
    (problem,) = rankers_problems(Rankers({"mine+window": outer}, (), 0.8, 9), "conf/rankers/mine")
    assert f"rankers.scorers.mine+window{said}" in problem


def test_late_interaction_counts_the_best_token_for_each_token_of_the_question():
    # MaxSim of a: (1 + 0) / 2 = .5; of b: (.6 + .8) / 2 = .7; of c: 0.
    found = tokens(["a", "b", "c"]).max_sim(np.array(SPOKEN["q"], np.float32))
    np.testing.assert_allclose(found, [0.5, 0.7, 0], atol=0.01)
    spec = {"kind": "late_interaction", "of": COSINE, "pool": 3}
    assert ranked(spec, ["a", "b", "c"]) == ["b", "a", "c"]
    assert ranked(spec | {"pool": 1}, ["a", "b", "c"]) == ["a", "b", "c"]  # the pool is the cosine's best passage
    # z-scores of the cosine: .77 and .64, of MaxSim: .34 and 1.02
    assert ranked(spec | {"first": 9}, ["a", "b", "c"])[0] == "a"


def test_token_vectors_are_stored_in_a_byte_a_number_and_chosen_without_a_copy(tmp_path):
    held = tokens(["q", "a", "b"])
    held.save(tmp_path / "block.npz")
    both = TokenVectors.joined([TokenVectors.load(tmp_path / "block.npz"), tokens(["c"])])
    assert both.rows.dtype == np.int8
    chosen = both.at(np.array([3, 0]))
    vectors, starts = chosen.unpacked()
    np.testing.assert_allclose(vectors, [*SPOKEN["c"], *SPOKEN["q"]], atol=0.01)
    assert starts.tolist() == [0, 1]
    assert chosen.rows is both.rows
