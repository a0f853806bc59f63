"""LinearRAG on five passages small enough to walk by hand, and what must hold of it on any."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secateur.config import compose, plugins
from secateur.core.errors import SecateurError
from secateur.ranking.group import Group, Questions
from secateur.ranking.scorers import dense, linear_rag

SCORERS = compose.option(Path(__file__).parents[2] / "conf", "rankers", "multihop_linear").scorers
TEXTS = ["Ann hired Bob.", "Bob lives in Kent.", "Kent has rain.", "Cob of Gent likes Gent.", "It rained."]
COSINES = dict(zip(TEXTS, (0.8, 0.6, 0.5, 0.4, 0.2), strict=True))  # with the question
QUESTION = "Where does the man of Anne live?"
QUESTIONS = [QUESTION, "Who lives in Kent?", "why?", "Did Bob or Cob meet Ann in Gent?"]
CASES = [  # an entity of score 1 in three sentences, of cosines .5, .9 and .8: weights, and its last score and tier
    ({"top_k_sentence": 1}, {0: 1 + 0.9, 1: 0.9}, (0.9, 2)),
    ({"top_k_sentence": 2}, {0: 1 + 0.9 + 0.8, 1: 0.9, 2: 0.8}, (0.8, 2)),
    ({"iteration_threshold": 1.1}, {0: 1.0}, (1.0, 1)),
]


def settings(entities="names", **changed) -> linear_rag.Settings:
    spec = {"entities": entities, "iteration_threshold": 0.3, "skipped": ["where", "it", "who", "did"]} | changed
    return plugins.settings("ranker", SCORERS["linear_rag+window"] | spec, "conf/rankers/mine")


def by_hand(texts) -> np.ndarray:  # an axis for each text; passages have cosines with the question, and Anne with Ann
    axes = [QUESTION, *TEXTS, "ann", "bob", "kent", "cob", "gent", "anne"]
    vectors = np.eye(len(axes), dtype=np.float32)
    for text, axis, near in [*((text, 0, near) for text, near in COSINES.items()), ("anne", axes.index("ann"), 0.9)]:
        vectors[axes.index(text)] *= np.sqrt(1 - near**2)
        vectors[axes.index(text), axis] = near
    return vectors[[axes.index(text) for text in texts]]


def drawn(texts) -> np.ndarray:
    vectors = np.array([np.random.default_rng(list(t.encode())).random(8) for t in texts], np.float32).reshape(-1, 8)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def group_of(embed=drawn, texts=TEXTS, title="") -> Group:  # the fourth document has two passages
    return Group(texts, [title] * len(texts), np.minimum(np.arange(len(texts)), 3), embed)


def score(group: Group, questions=(QUESTION,), **changed) -> np.ndarray:
    return linear_rag.score(settings(**changed), group, Questions(list(questions)), 0)


def test_scores_are_those_worked_out_by_hand():
    # Seed ann .9. Round 2: ann through sentence 0, .9 x .8 = .72, reaches ann and bob. Round 3: sentence 0 is used, bob
    # reaches bob and kent through sentence 1, .72 x .6 = .432. Round 4 would give kent .216, below the threshold.
    ann, bob, kent = 0.72 / 2, 0.432 / 3, 0.432 / 3  # last score over tier, each once in a passage, so times ln 2
    bonus = np.log(2) * np.array([ann + bob, bob + kent, kent, 0, 0])
    passages = 0.05 * (1.5 * np.array([1, 2 / 3, 1 / 2, 1 / 3, 0]) + np.log(1 + bonus))
    restart = np.array([0.9 + 0.72, 0.72 + 0.432, 0.432, 0, 0, *passages])  # ann, bob, kent, cob, gent, then passages
    edges = np.zeros((10, 10))
    edges[5:8, :3] = [[1 / 2, 1 / 2, 0], [0, 1 / 2, 1 / 2], [0, 0, 1]]
    edges[[8, 8, 9], [3, 4, 3]], edges[8, 9] = [1 / 3, 2 / 3, 1], 1  # the last two are about cob, and neighbours
    edges += edges.T
    mass = np.linalg.solve(np.eye(10) - 0.5 * (edges / edges.sum(1)[:, None]).T, 0.5 * restart / restart.sum())
    for rounds in (3, 4):
        np.testing.assert_allclose(score(group_of(by_hand), max_iterations=rounds)[0], mass[5:], rtol=1e-5)


@pytest.mark.parametrize(("changed", "weights", "last"), CASES)
def test_an_entity_from_the_threshold_on_goes_through_its_closest_sentences(changed, weights, last):
    own = settings(max_iterations=2, **changed)
    found, active = linear_rag.activated(own, {0: 1.0}, np.array([0.5, 0.9, 0.8]), [[0, 1, 2]], [[0], [0, 1], [0, 2]])
    assert (found, active[0]) == (pytest.approx(weights), pytest.approx(last))


@pytest.fixture(scope="module", params=["spacy", "names"])
def asked(request):  # a source, a group, and each question's scores alone in a group of its own
    return request.param, group_of(), {q: score(group_of(), [q], entities=request.param)[0] for q in QUESTIONS}


@given(st.lists(st.sampled_from(QUESTIONS), min_size=1, max_size=12))
def test_a_question_has_the_same_scores_alone_and_in_company_whatever_was_asked_before(asked, questions):
    entities, group, alone = asked
    np.testing.assert_array_equal(score(group, questions, entities=entities), [alone[q] for q in questions])


def test_without_seeds_the_ranking_is_dense(asked):
    entities, group, alone = asked
    np.testing.assert_array_equal(alone["why?"], dense.score(None, group, Questions(["why?"]), 0)[0])
    assert not np.array_equal(alone[QUESTIONS[3]], dense.score(None, group, Questions([QUESTIONS[3]]), 0)[0])
    bare = group_of(texts=["it rained.", "then it did not."])
    np.testing.assert_array_equal(score(bare, entities=entities), dense.score(None, bare, Questions([QUESTION]), 0))


def test_spacys_entities_are_surface_forms_under_the_title_without_ordinals_and_cardinals():
    group = group_of(texts=["The second of three men met Barack Obama."], title="Angela Merkel")
    index = linear_rag._Index(settings("spacy"), group)
    assert index.entities == ["Angela Merkel", "Barack Obama"]
    assert index.named("Who was the first to meet Barack Obama in Paris?") == ["barack obama", "paris"]


@pytest.mark.parametrize("text", ["der Hund und die Katze liefen davon " * 20, "Собака и кошка убежали."])
def test_entities_of_spacy_are_refused_for_another_language_than_english(text):
    with pytest.raises(SecateurError, match=r"entities=spacy reads English .*(outside Latin|not to be English).*Fix: "):
        linear_rag.check(settings("spacy"), None, pl.DataFrame({"text": [text]}), False)
    linear_rag.check(settings("names"), None, pl.DataFrame({"text": [text]}), False)
    linear_rag.check(settings("spacy"), None, pl.DataFrame({"text": TEXTS}), False)
