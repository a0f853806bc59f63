"""Surface forms and the filter of worthless triples."""

from collections import Counter

import pytest

from secateur.graph.triples.surface import Triple, filter_triples, normalise, normalised_triples


def triple(head: str, relation: str, tail: str) -> Triple:
    return Triple(head, relation, tail, head, relation, tail)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the  brown\tbear ", "brown bear"), ('"The Brown Bear",', "Brown Bear"), ("(a bear)", "bear"),
        ("U.S.", "U.S."), ("\u201318 \u00b0C", "\u201318 \u00b0C"), ("-$2 million", "-$2 million"),
        ("\u2013 item", "item"), ("50 %.", "50 %"), ("5\u2030", "5\u2030"), ("10\u2075 cells", "10^5 cells"),
        ("1\u00bd pounds", "1 1\u20442 pounds"), ("C++", "C++"), ("the U.S.A.", "U.S.A."), ("Acme Inc.", "Acme Inc"),
        ("C#", "C#"), ("f(x)", "f(x)"), ("(R)-lactate", "(R)-lactate"), ("12.5%", "12.5%"),
        ("$5 million.", "$5 million"), ("-5 °C", "-5 °C"), ("vitamin A", "vitamin A"), ("A", "A"),
        ("narrow\u2011skulled", "narrow-skulled"), ("M\u00fcller\u2019s caf\u00e9", "M\u00fcller's caf\u00e9"),
        ("\ufb01sh", "fish"), ("no bears", "no bears"), ("those of a black bear", "those of a black bear"),
        ("the", ""), ("...", ""), ("", ""),
    ],
)  # fmt: skip
def test_normalise(text, expected):
    assert normalise(text) == expected


@pytest.mark.parametrize(
    ("reason", "triples"),
    [
        ("empty", [("", "eats", "fish")]),
        ("empty", [("bear", " ", "fish")]),
        ("self", [("Bear", "is", "bear")]),
        ("pronoun", [("it", "eats", "fish")]),
        ("pronoun", [("bear", "eats", "them")]),
        ("generic", [("hot", "opposite of", "cold")]),
        ("generic", [("bear", "is", "example")]),
        ("duplicate", [("bear", "eats", "fish"), ("Bear", "eats", "fish")]),
        ("inverse", [("Paris", "capital of", "France"), ("France", "capital", "Paris")]),
        (None, [("polar bear", "is different from", "brown bear")]),
        (None, [("US", "signed", "treaty")]),
        (None, [("person", "founded", "Google")]),
    ],
)
def test_worthless_triples_are_dropped_and_counted_and_real_content_is_kept(reason, triples):
    facts = [triple(*parts) for parts in triples]
    kept, dropped = filter_triples(facts)
    assert kept == (facts[:-1] if reason else facts)
    assert dropped == (Counter({reason: 1}) if reason else Counter())


def test_of_several_sentences_both_directions_of_a_pair_stay():
    stated = [("Smith", "defeated", "Jones"), ("Jones", "defeated", "Smith")]
    texts = ["Smith defeated Jones in 2001. Jones defeated Smith in 2005.", "Smith beat Jones, and Jones Smith."]
    (two, one), dropped = normalised_triples([stated, stated], texts)
    assert ([fact.head for fact in two], [fact.head for fact in one]) == (["Smith", "Jones"], ["Smith"])
    assert dropped == {"dropped_inverse": 1}
