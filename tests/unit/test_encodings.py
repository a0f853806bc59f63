"""The four views of a payload as they are written."""

import json

import pytest

from secateur.contexts.encodings import ENCODINGS, RULES, Fact, Payload, decode, encode, escape, relation_tail

BEAR = ("Katmai bears", "eat", "salmon")
FISH = ("Katmai bears", "live in", "Alaska")
ASKED = ("bears", "eat", "what")
TOLD = ("Katmai bears", "eat", "fish")
KNOWN = {ASKED, BEAR, FISH, TOLD}
CHANNELS = {"words": "(words)", "ids": "([e,r,e], ...)", "matrix": "(edges[i])"}


def facts(*triples, sources=()) -> tuple[Fact, ...]:
    return tuple(Fact(t, s) for t, s in zip(triples, sources or [1] * len(triples), strict=True))


PAYLOAD = Payload((ASKED,), (TOLD,), facts(BEAR, FISH))


def written(encoding: str, payload: Payload, ambiguous=()) -> str:
    """The rows of a view, one behind the other."""
    return "".join(text for text, _ in encode(encoding, payload, ambiguous))


def ambiguous_of(edges) -> set[tuple[str, str]]:
    """(head, "relation tail") that more than one edge reads as."""
    reads = [(h, f"{r} {t}") for h, r, t in set(edges)]
    return {one for one in reads if reads.count(one) > 1}


def test_word_triples_are_json_lists_of_words():
    view = json.loads(written("words", PAYLOAD))
    assert view == {
        "questions(words)": [list(ASKED)],
        "given knowledge(words)": [list(TOLD)],
        "facts(words)": [list(BEAR), list(FISH)],
    }


def test_id_triples_index_the_symbols_they_list():
    view = json.loads(written("ids", PAYLOAD))
    assert view["e"] == ["bears", "what", "Katmai bears", "fish", "salmon", "Alaska"]
    assert view["r"] == ["eat", "live in"]
    assert view["questions([e,r,e], ...)"] == [[0, 0, 1]]
    assert view["given knowledge([e,r,e], ...)"] == [[2, 0, 3]]
    assert view["facts([e,r,e], ...)"] == [[2, 0, 4], [2, 1, 5]]


def test_edge_matrix_holds_a_repeated_edge_once():
    view = json.loads(written("matrix", Payload((BEAR,), (), facts(BEAR, FISH, BEAR, sources=[1, 1, 2]))))
    assert len(view["edge_matrix"]) == 2
    assert view["questions(edges[i])"] == [0]
    assert view["facts(edges[i])"] == [0, 1, 0]


def test_json_is_compact_and_keeps_every_letter():
    text = written("words", Payload((), (), facts(("Zoë", "is", "東京"))))
    assert text == '{"questions(words)":[],"given knowledge(words)":[],"facts(words)":[["Zoë","is","東京"]]}'


def test_cited_lines_say_a_head_once_per_source():
    expected = "? bears: eat what\n< Katmai bears: eat fish\nKatmai bears: eat salmon; live in Alaska [1]"
    assert written("lines", PAYLOAD) == expected
    two = Payload((), (), facts(BEAR, FISH, sources=[1, 2]))
    assert written("lines", two) == "Katmai bears: eat salmon [1]\nKatmai bears: live in Alaska [2]"


@pytest.mark.parametrize("encoding", CHANNELS)
def test_the_channel_of_given_knowledge_is_there_though_nothing_is_remembered(encoding):
    view = json.loads(written(encoding, Payload((ASKED,), (), facts(BEAR))))
    assert view[f"given knowledge{CHANNELS[encoding]}"] == []
    names = [channel + CHANNELS[encoding] for channel in ("questions", "given knowledge", "facts")]
    assert list(view)[-3:] == names


@pytest.mark.parametrize("encoding", CHANNELS)
def test_the_rules_explain_every_key_of_the_view(encoding):
    explained = [line.removeprefix("- ").split(":")[0].split("(")[0] for line in RULES[encoding].split("\n")]
    assert {name.split("(")[0] for name in json.loads(written(encoding, PAYLOAD))} <= set(explained)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_an_empty_payload_decodes_to_nothing(encoding):
    assert decode(encoding, written(encoding, Payload()), ()) == ((), (), ())


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_two_edges_that_read_the_same_are_told_apart(encoding):
    one, other = ("bear", "swims", "in the river"), ("bear", "swims in", "the river")
    payload = Payload((other,), (one,), facts(one, other, one, sources=[1, 1, 2]))
    text = written(encoding, payload, ambiguous_of([one, other]))
    assert decode(encoding, text, {one, other}) == ((other,), (one,), (one, other, one))


def test_only_an_ambiguous_edge_pays_for_a_bar():
    edge = ("bear", "swims in", "the river")
    assert relation_tail(edge, ()) == "swims in the river"
    assert relation_tail(edge, {("bear", "swims in the river")}) == "swims in | the river"
    assert relation_tail(edge, {("fish", "swims in the river")}) == "swims in the river"


def test_marks_of_the_format_are_escaped_in_surfaces():
    assert escape("a: b; c [1] | ? < \\") == "a\\: b\\; c \\[1] \\| \\? \\< \\\\"


def test_the_papers_encodings_have_rules_and_cited_lines_need_none():
    assert set(RULES) == {"words", "ids", "matrix"}
    assert set(ENCODINGS) == {*RULES, "lines"}
    assert all(rules.startswith("---Knowledge Base---\n[JSON format]\n") for rules in RULES.values())
