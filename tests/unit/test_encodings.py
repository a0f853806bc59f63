"""The four views of a payload as they are written."""

import json

import pytest

from secateur.contexts.encodings import RULES, Fact, Payload, encode, escape, relation_tail

BEAR = ("Katmai bears", "eat", "salmon")
FISH = ("Katmai bears", "live in", "Zoë's 東京")
ASKED = ("bears", "eat", "what")
TOLD = ("Katmai bears", "eat", "fish")


def facts(*triples, sources=()) -> tuple[Fact, ...]:
    return tuple(Fact(t, s) for t, s in zip(triples, sources or [1] * len(triples), strict=True))


PAYLOAD = Payload((ASKED,), (TOLD,), facts(BEAR, FISH))


def written(encoding: str, payload: Payload) -> str:
    """The rows of a view, one behind the other."""
    return "".join(text for text, _ in encode(encoding, payload, ()))


VIEWS = {
    "words": '{"questions(words)":[["bears","eat","what"]],"given knowledge(words)":[["Katmai bears","eat","fish"]],'
    '"facts(words)":[["Katmai bears","eat","salmon"],["Katmai bears","live in","Zoë\'s 東京"]]}',
    "ids": '{"e":["bears","what","Katmai bears","fish","salmon","Zoë\'s 東京"],"r":["eat","live in"],'
    '"questions([e,r,e], ...)":[[0,0,1]],"given knowledge([e,r,e], ...)":[[2,0,3]],'
    '"facts([e,r,e], ...)":[[2,0,4],[2,1,5]]}',
}


@pytest.mark.parametrize("encoding", VIEWS)
def test_a_view_is_compact_json_of_words_or_of_the_symbols_that_it_lists(encoding):
    assert written(encoding, PAYLOAD) == VIEWS[encoding]


def test_edge_matrix_holds_a_repeated_edge_once():
    view = json.loads(written("matrix", Payload((BEAR,), (), facts(BEAR, FISH, BEAR, sources=[1, 1, 2]))))
    assert len(view["edge_matrix"]) == 2
    assert (view["questions(edges[i])"], view["facts(edges[i])"]) == ([0], [0, 1, 0])


def test_cited_lines_say_a_head_once_per_source():
    expected = "? bears: eat what\n< Katmai bears: eat fish\nKatmai bears: eat salmon; live in Zoë's 東京 [1]"
    assert written("lines", PAYLOAD) == expected
    two = Payload((), (), facts(BEAR, FISH, sources=[1, 2]))
    assert written("lines", two) == "Katmai bears: eat salmon [1]\nKatmai bears: live in Zoë's 東京 [2]"
    assert escape("a: b; c [1] | ? < \\") == "a\\: b\\; c \\[1] \\| \\? \\< \\\\"  # the marks of the format


@pytest.mark.parametrize("encoding", RULES)
def test_the_rules_explain_every_key_of_the_view(encoding):
    explained = [line.removeprefix("- ").split(":")[0].split("(")[0] for line in RULES[encoding].split("\n")]
    assert {name.split("(")[0] for name in json.loads(written(encoding, PAYLOAD))} <= set(explained)


def test_only_an_ambiguous_edge_pays_for_a_bar():
    edge = ("bear", "swims in", "the river")
    assert relation_tail(edge, ()) == "swims in the river"
    assert relation_tail(edge, {("bear", "swims in the river")}) == "swims in | the river"
    assert relation_tail(edge, {("fish", "swims in the river")}) == "swims in the river"
