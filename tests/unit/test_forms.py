"""Each form word for word, and what a dense text must not lose."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from secateur.config import compose, plugins
from secateur.contexts.assemble import Assembly
from secateur.contexts.encodings import RULES, Fact, Payload, encode
from secateur.contexts.forms.dense import FUNCTION_WORDS, without
from secateur.contexts.piece import Edge, Material, Query, Ranked, text_of
from secateur.evaluation.metric import select_metrics
from secateur.evaluation.metrics._qualified import qualifiers_of

CONF = Path(__file__).parents[2] / "conf"
DROP = frozenset(FUNCTION_WORDS.split())
(KEPT,) = select_metrics(compose.option(CONF, "eval", "default").metrics, ["qualified_kept"])
QUALIFIERS = frozenset(KEPT["words"])

TEXTS = {"p1": "The bears of Katmai eat salmon.", "p2": "They never sleep in June."}
TEXTS |= {"p3": "It is cold.", "p4": "Cubs follow their mothers."}
EAT, LIVE, SLEEP = ("Katmai bears", "eat", "salmon"), ("Katmai bears", "live in", "Katmai"), ("bears", "sleep", "June")
EDGES = {"p1": [Edge(0, EAT), Edge(1, LIVE)], "p2": [Edge(2, SLEEP), Edge(0, EAT)]}
ASKED = Query("What do bears eat?", (("bears", "eat", "what"),))
RANKED = [Ranked("p2"), Ranked("p1"), Ranked("p3")]


def count(texts: Sequence[str]) -> np.ndarray:
    """A token a word or mark."""
    return np.array([len(text.replace('"', ' " ').replace(",", " , ").split()) for text in texts], np.int64)


def rows(kind: str, ranked=RANKED, budget: int = 10**6):
    """The rows of a form."""
    spec = compose.option(CONF, "assembly", f"default+form={kind}").form
    material = Material(TEXTS, count, EDGES)
    form = plugins.load("form", kind).form(plugins.settings("form", spec, "conf/assembly/mine"), material)
    assembly = Assembly(form, "refill", "best_first", material, {p: n for n, p in enumerate(TEXTS)})
    return assembly.contexts(ASKED, ranked, [budget])[budget].rows


def said(kind: str, *args, **kwargs) -> str:
    return text_of(rows(kind, *args, **kwargs))


def tags(kind: str, *args, **kwargs) -> list[tuple]:
    return [(row.passage_id, row.edge_ids, row.whole) for row in rows(kind, *args, **kwargs)]


LINES = "bears: sleep June [1]\nKatmai bears: eat salmon [1]\nKatmai bears: live in Katmai [2]"
EACH_WHOLE, EACH_PART = ([(p, (), whole) for p in ("p2", "p1", "p3")] for whole in (True, False))
EDGE_BY_EDGE = [("p2", (2,), False), ("p2", (0,), False), ("p1", (1,), False)]


@pytest.mark.parametrize(
    ("kind", "text", "facts"),
    [
        ("whole", "They never sleep in June.\nThe bears of Katmai eat salmon.\nIt is cold.", EACH_WHOLE),
        ("dense", "never sleep June.\nbears Katmai eat salmon.\ncold.", EACH_PART),
        ("lines", LINES, EDGE_BY_EDGE),  # sources are numbered, and no edge is repeated
        ("cheapest", LINES, EDGE_BY_EDGE),
    ],
)
def test_a_form_word_for_word_and_what_its_rows_state(kind, text, facts):
    assert said(kind) == text
    assert tags(kind)[-3:] == facts


@pytest.mark.parametrize("kind", ["words", "ids", "matrix"])
def test_an_encoded_form_is_its_rules_and_its_view_and_says_the_words_of_symbols(kind):
    payload = Payload(ASKED.triples, (), tuple(Fact(edge, 1) for edge in (SLEEP, EAT, LIVE)))
    assert said(kind) == f"{RULES[kind]}\n" + "".join(text for text, _ in encode(kind, payload, ()))
    assert tags(kind)[-3:] == EDGE_BY_EDGE
    if kind != "words":
        expected = ["bears sleep June", "Katmai bears eat salmon", "Katmai bears live in Katmai"]
        assert [row.says for row in rows(kind)][-3:] == expected


def test_a_head_is_said_once_for_each_source():
    assert said("lines", [Ranked("p1")]) == "Katmai bears: eat salmon; live in Katmai [1]"
    assert tags("lines", [Ranked("p1")]) == [("p1", (0, 1), False)]


@pytest.mark.parametrize("kind", ["words", "ids", "matrix"])
def test_rules_places_and_the_questions_own_triple_are_no_evidence(kind):
    rules, head, *facts = rows(kind)
    assert rules.text.startswith("---Knowledge Base---")
    assert (rules.says, head.says) == ("", "")
    assert all(row.says != "" for row in facts)


def test_the_number_of_a_source_is_no_word_of_a_cited_line():
    assert all(row.text.rstrip("\n").endswith("]") for row in rows("lines"))
    assert not any("[" in row.says or "]" in row.says for row in rows("lines"))
    assert rows("lines")[0].text.startswith(rows("lines")[0].says)


def test_a_ranking_of_lines_writes_those_lines_alone():
    ranked = [Ranked("p1", 1), Ranked("p2", 0)]
    assert said("lines", ranked) == "Katmai bears: live in Katmai [1]\nKatmai bears: eat salmon [2]"
    assert said("whole", ranked) == "The bears of Katmai eat salmon.\nThey never sleep in June."


@pytest.mark.parametrize("kind", plugins.names("form"))
def test_nothing_ranked_is_nothing_sent_rules_included(kind):
    assert rows(kind, []) == []
    assert rows(kind, budget=0) == []


@pytest.mark.parametrize("kind", ["lines", "words", "ids", "matrix", "cheapest"])
def test_passages_without_an_edge_are_no_piece_of_a_graph_context(kind):
    assert rows(kind, [Ranked("p3")]) == []


def test_no_word_that_negates_counts_compares_or_orders_is_dropped_and_all_others_of_the_list_are():
    assert not DROP & QUALIFIERS
    assert {word for word in DROP if qualifiers_of(word, QUALIFIERS)} == set()
    assert all(without(f"Bears {word} salmon", DROP) == "Bears salmon" for word in DROP)


@pytest.mark.parametrize(
    ("text", "dense"),
    [
        ("It is never given without food.", "never given without food."),
        ("He has fewer than 3 of them before noon.", "fewer than 3 before noon."),
        ("It wasn't the first; it couldn\u2019t be.", "wasn't first; couldn\u2019t"),
        ("It's cold, and that\u2019s it!", "cold,"),
        ("She said: \u201cno\u201d.", "said: \u201cno\u201d."),
        ("5 % of the 1990s -> more", "5 % 1990s -> more"),
        ("Is it?", "Is it?"),
        ("The US and the WHO met in May. Will it rain?", "US WHO met May. rain?"),
        ("IT WAS IN THE MILL", "MILL"),
        ("He said: \u201cThe mill is in Who\u2019s Who.\u201d", "said: mill Who\u2019s Who.\u201d"),
        ("", ""),
    ],
)
def test_a_dense_text_word_for_word(text, dense):
    assert without(text, DROP) == dense


def test_every_qualifier_survives_whatever_its_case_and_marks():
    for word in sorted(QUALIFIERS):
        for form in (word, word.capitalize(), word.upper(), f"({word},"):
            assert without(f"It is the {form} of it.", DROP) == form
