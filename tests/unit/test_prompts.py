"""The four views of a payload as they are written."""

import json

import pytest

from secateur.contexts.encodings import ENCODINGS, RULES, Payload, decode, encode, escape, render, rest_of

BEAR = ("Katmai bears", "eat", "salmon")
FISH = ("Katmai bears", "live in", "Alaska")
ASKED = ("bears", "eat", "what")
PAYLOAD = Payload((ASKED,), (BEAR, FISH), (1, 1))
KNOWN = {ASKED, BEAR, FISH}


def ambiguous_of(edges) -> set[tuple[str, str]]:
    """(head, "relation tail") that more than one edge reads as."""
    reads = [(h, f"{r} {t}") for h, r, t in set(edges)]
    return {one for one in reads if reads.count(one) > 1}


def test_word_triples_are_json_lists_of_words():
    view = json.loads(encode("words", PAYLOAD))
    assert view == {"questions(words)": [list(ASKED)], "facts(words)": [list(BEAR), list(FISH)]}


def test_id_triples_index_the_symbols_they_list():
    view = json.loads(encode("ids", PAYLOAD))
    assert view["e"] == ["bears", "what", "Katmai bears", "salmon", "Alaska"]
    assert view["r"] == ["eat", "live in"]
    assert view["facts([e,r,e], ...)"] == [[2, 0, 3], [2, 1, 4]]


def test_edge_matrix_holds_a_repeated_edge_once():
    view = json.loads(encode("matrix", Payload((BEAR,), (BEAR, FISH, BEAR), (1, 1, 2))))
    assert len(view["edge_matrix"]) == 2
    assert view["questions(edges[i])"] == [0]
    assert view["facts(edges[i])"] == [0, 1, 0]


def test_cited_lines_say_a_head_once_per_source():
    assert encode("lines", PAYLOAD) == "? bears: eat what\nKatmai bears: eat salmon; live in Alaska [1]"
    two = Payload((), (BEAR, FISH), (1, 2))
    assert encode("lines", two) == "Katmai bears: eat salmon [1]\nKatmai bears: live in Alaska [2]"


def test_whole_sentences_follow_the_lines():
    text = encode("lines", Payload((), (BEAR,), (1,), ("Bears eat salmon: a lot.",)))
    assert text.split("\n")[1] == "> Bears eat salmon\\: a lot."


@pytest.mark.parametrize("encoding", ["words", "ids", "matrix"])
def test_whole_sentences_are_a_key_of_their_own(encoding):
    assert json.loads(encode(encoding, Payload((), (BEAR,), (1,), ("A.",))))["sentences"] == ["A."]
    assert "sentences" not in json.loads(encode(encoding, PAYLOAD))


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_an_empty_payload_decodes_to_nothing(encoding):
    assert decode(encoding, encode(encoding, Payload((), (), ())), ()) == ((), ())


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_sentences_alone_decode_to_no_edges(encoding):
    view = encode(encoding, Payload((), (), (), ("? Bears: eat; fish [1]", "> a\nb: c [2]", "")))
    assert decode(encoding, view, ()) == ((), ())


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_two_edges_that_read_the_same_are_told_apart(encoding):
    one, other = ("bear", "swims", "in the river"), ("bear", "swims in", "the river")
    ambiguous = ambiguous_of([one, other])
    payload = Payload((other,), (one, other, one), (1, 1, 2))
    assert decode(encoding, encode(encoding, payload, ambiguous), {one, other}) == ((other,), (one, other, one))


def test_only_an_ambiguous_edge_pays_for_a_bar():
    edge = ("bear", "swims in", "the river")
    assert rest_of(edge, ()) == "swims in the river"
    assert rest_of(edge, {("bear", "swims in the river")}) == "swims in | the river"
    assert rest_of(edge, {("fish", "swims in the river")}) == "swims in the river"


def test_marks_of_the_format_are_escaped_in_surfaces():
    assert escape("a: b; c [1] | ? > \\") == "a\\: b\\; c \\[1] \\| \\? \\> \\\\"


def test_a_prompt_is_rules_view_and_question():
    assert render("lines", "a: b c [1]", "Why?") == f"{RULES['lines']}\na: b c [1]\n\nQuestion: Why?\nAnswer:"


def test_every_encoding_has_rules():
    assert set(RULES) == set(ENCODINGS)
