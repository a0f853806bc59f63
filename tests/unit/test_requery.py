"""The walk that asks again, on articles small enough to walk by hand."""

from dataclasses import replace

import numpy as np
import pytest

from secateur.config import plugins
from secateur.ranking.group import Group, Questions
from secateur.ranking.scorers import two_step

TEXTS = [  # article, title, sentence
    (0, "Free Guy", "Free Guy is a comedy film."),
    (0, "Free Guy", "It was directed by Shawn Levy."),
    (1, "Shawn Levy", "He was born in Montreal."),
    (1, "Shawn Levy", "He likes tea."),
    (2, "Montreal", "Montreal has a port."),
    (3, "Rain", "Somebody was born in the rain."),
]
LEXICAL = {"kind": "lucene", "k1": 1.2, "b": 0.75, "title": True}
BASE = {
    "lexical": LEXICAL, "lines": 1, "adds": "names", "weight": 0, "decay": 0, "dense": 0.0,
    "joins": ["of"], "skipped": ["he", "it"], "named": 0, "longest": 6,
}  # fmt: skip
WALK = {"kind": "requery", "width": 2, "step": 10, "mention": 0.5, "entities": 4, "fade": 0.5}
QUESTION = "Where was the director of the comedy film Free Guy born?"


def embed(texts) -> np.ndarray:
    return np.ones((len(texts), 2), np.float32)


def scores(texts=TEXTS, question=QUESTION, **settings) -> np.ndarray:
    docs, titles, lines = zip(*texts, strict=True)
    group = Group(lines, titles, np.array(docs), embed, [str(n) for n in range(len(lines))])
    spec = BASE | WALK | settings
    if spec["kind"] == "two_step":
        spec = {name: spec[name] for name in (*BASE, "kind")}
    own = plugins.settings("ranker", spec, "conf/rankers/mine")
    return plugins.load("ranker", spec["kind"]).score(own, group, Questions([question]), 0)[0]


def gains(texts=TEXTS, question=QUESTION, **settings) -> np.ndarray:
    return scores(texts, question, **settings) - scores(texts, question, **settings | {"step": 0})


@pytest.mark.parametrize("weight", [0, 6])
def test_without_a_step_it_is_two_step(weight):
    two_step = scores(kind="two_step", weight=weight, named=3)
    np.testing.assert_array_equal(scores(step=0, weight=weight, named=3), two_step)


def test_a_step_leads_to_what_is_left_of_the_question_in_the_article_about_a_bridge():
    gained = gains()
    assert np.argmax(gained) == 2  # born, of two sentences about Levy
    assert gained[5] == 0  # born too, but it shares no name
    assert not gains(question="Where was Shawn Levy, director of Free Guy, born?").any()  # no bridge
    texts = [(n, "", f"Kent: {name} was born in Kent.") for n, name in enumerate(["ash", "bow", "cob"])]
    assert gains(texts, question="Where was ash born?") == pytest.approx(0)  # an entity of all articles leads nowhere


def test_a_mention_is_worth_a_share_of_an_article_about_the_entity():
    texts = [*TEXTS, (4, "Tea", "Shawn Levy was born in a tea house.")]
    half, whole = gains(texts, mention=0.5), gains(texts, mention=1.0)
    assert half[6] > 0
    assert whole[6] == pytest.approx(2 * half[6])
    assert whole[2] == pytest.approx(half[2])


def test_no_step_stays_in_its_article_and_a_worse_article_steps_for_less():
    assert gains()[:2] == pytest.approx(0)
    near, far = gains(width=6, fade=0.0), gains(width=6, fade=2.0)
    assert (far <= near + 1e-12).all()


def test_without_edges_the_same_questions_reach_every_other_article_whatever_it_shares():
    texts = [*TEXTS, *((n, "Hail", "Hail fell.") for n in range(4, 9))]
    edges, anywhere = gains(texts, mention=1.0), gains(texts, anywhere=True)
    assert edges[5] == 0
    assert anywhere[5] > 0  # born too, though it shares no name
    assert anywhere[2] > edges[2] > 0  # an idf is 1 at most
    assert not gains(TEXTS[:2], anywhere=True).any()  # no other article


def test_the_remaining_question_asks_with_the_names_of_a_line():
    settings = plugins.settings("ranker", BASE | {"kind": "two_step", "rest": True}, "conf/rankers/mine")
    _, title, line = TEXTS[1]
    rest, whole = (two_step._expanded(replace(settings, rest=own), QUESTION, line, title) for own in (True, False))
    assert rest == "Where was the director of the comedy film born? shawn levy"
    assert whole == f"{QUESTION} shawn levy"
    assert two_step.lacking("谁创办茶厂？", frozenset({"free"})) == "谁创办茶厂？"


def test_the_best_after_the_first_round_ask_in_the_second():
    """Free Guy names Shawn Levy, whose article names Montreal: only a second round asks for the city."""
    question = "How large is the port of the city where the director of Free Guy was born?"
    once, twice = (gains(width=2, anywhere=True, question=question, rounds=rounds) for rounds in (1, 2))
    assert (twice >= once - 1e-12).all()
    assert twice[4] > once[4] > 0  # Montreal has a port
