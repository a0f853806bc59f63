"""Surface forms and the filter of worthless triples."""

from collections import Counter

import pytest

from secateur.graph.triples.surface import Triple, filter_triples, is_pronoun, normalise, normalised_triples


def triple(head: str, relation: str, tail: str) -> Triple:
    return Triple(head, relation, tail, head, relation, tail)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the  brown\tbear ", "brown bear"),
        ('"The Brown Bear",', "Brown Bear"),
        ("(a bear)", "bear"),
        ("U.S.", "U.S."),
        ("\u201318 \u00b0C", "\u201318 \u00b0C"),
        ("-$2 million", "-$2 million"),
        ("\u2013 item", "item"),
        ("50 %.", "50 %"),
        ("5\u2030", "5\u2030"),
        ("10\u2075 cells", "10^5 cells"),
        ("1\u00bd pounds", "1 1\u20442 pounds"),
        ("the U.S.A.", "U.S.A."),
        ("Acme Inc.", "Acme Inc"),
        ("C++", "C++"),
        ("C#", "C#"),
        ("f(x)", "f(x)"),
        ("(R)-lactate", "(R)-lactate"),
        ("12.5%", "12.5%"),
        ("$5 million.", "$5 million"),
        ("-5 °C", "-5 °C"),
        ("vitamin A", "vitamin A"),
        ("A", "A"),
        ("narrow\u2011skulled", "narrow-skulled"),
        ("M\u00fcller\u2019s caf\u00e9", "M\u00fcller's caf\u00e9"),
        ("\ufb01sh", "fish"),
        ("no bears", "no bears"),
        ("those of a black bear", "those of a black bear"),
        ("the", ""),
        ("...", ""),
        ("", ""),
    ],
)
def test_normalise(text, expected):
    assert normalise(text) == expected


@pytest.mark.parametrize("word", ["it", "They", "himself", "who", "I", "each other"])
def test_pronouns(word):
    assert is_pronoun(word)


@pytest.mark.parametrize("word", ["IT", "US", "WHO", "bear", "its den", ""])
def test_names_are_no_pronouns(word):
    assert not is_pronoun(word)


@pytest.mark.parametrize(
    ("reason", "triples"),
    [
        ("empty", [triple("", "eats", "fish")]),
        ("empty", [triple("bear", " ", "fish")]),
        ("self", [triple("Bear", "is", "bear")]),
        ("pronoun", [triple("it", "eats", "fish")]),
        ("pronoun", [triple("bear", "eats", "them")]),
        ("generic", [triple("hot", "opposite of", "cold")]),
        ("generic", [triple("bear", "is", "example")]),
        ("duplicate", [triple("bear", "eats", "fish"), triple("Bear", "eats", "fish")]),
        ("inverse", [triple("Paris", "capital of", "France"), triple("France", "capital", "Paris")]),
    ],
)
def test_worthless_triples_are_dropped_and_counted(reason, triples):
    kept, dropped = filter_triples(triples)
    assert kept == triples[:-1]
    assert dropped == Counter({reason: 1})


@pytest.mark.parametrize(
    "fact",
    [
        triple("wing", "part of", "aircraft"),
        triple("polar bear", "is different from", "brown bear"),
        triple("US", "signed", "treaty"),
        triple("person", "founded", "Google"),
    ],
)
def test_real_content_is_kept(fact):
    assert filter_triples([fact]) == ([fact], Counter())


def test_of_several_sentences_both_directions_of_a_pair_stay():
    stated = [("Smith", "defeated", "Jones"), ("Jones", "defeated", "Smith")]
    texts = ["Smith defeated Jones in 2001. Jones defeated Smith in 2005.", "Smith beat Jones, and Jones Smith."]
    (two, one), dropped = normalised_triples([stated, stated], texts)
    assert ([fact.head for fact in two], [fact.head for fact in one]) == (["Smith", "Jones"], ["Smith"])
    assert dropped == {"dropped_inverse": 1}
