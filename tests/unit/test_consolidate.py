"""Alias groups: what must never merge, what must, and what the text itself gives."""

from itertools import product

import numpy as np
import pytest

from secateur.core.errors import SecateurError
from secateur.graph.consolidation import screen
from secateur.graph.consolidation.alias_file import read_aliases
from secateur.graph.consolidation.groups import alias_groups, medoids, range_pairs
from secateur.graph.consolidation.guards import blocked_by, normal_form
from secateur.ranking.acronyms import acronyms

NEVER = {
    "number": [
        ("report of 2023", "report of 2024"), ("three bears", "four bears"), ("Type 1 diabetes", "Type 2 diabetes"),
        ("first quarter", "second quarter"), ("14 March 2024", "15 March 2024"),
    ],
    "single letter": [("J. Smith", "K. Smith"), ("vitamin A", "vitamin D")],
    "marker": [("Type II error", "Type III error"), ("LX Legislature", "LXI Legislature")],
    "direction": [
        ("North division", "South division"), ("northern Siberia", "southern Siberia"), ("left lung", "right lung"),
        ("southwestern coast", "southeastern coast"),
    ],
    "polarity": [
        ("not approved", "approved"), ("benign tumour", "malignant tumour"), ("boys", "girls"), ("Henry Sr", "Henry Jr"),
        ("non-smoker", "smoker"), ("nonsmokers", "smokers"), ("symptomatic", "asymptomatic"), ("legal", "illegal"),
        ("receptor agonist", "receptor antagonist"), ("preoperative care", "postoperative care"), ("bilateral", "unilateral"),
    ],
    "date": [("5 May 2021", "5 June 2021"), ("12 Jan 2019", "12 Feb 2019")],
    "sign": [
        ("-7 °C", "7 °C"), ("C++", "C"), ("C#", "C++"), ("Cl−", "Cl"), ("p < .05", "p > .05"),
        ("fine of €5 million", "fine of $5 million"), ("5%", "5"), ("1-2 km", "1.2 km"), ("3:1", "3-1"), ("10.3", "10^3"),
    ],
}  # fmt: skip
ALWAYS = [
    ("brown bear", "brown bears"), ("brown bear", "The brown bear"), ("Brown Bear", "brown bear"), ("brown-bear", "brown bear"),
    ("Marrowfield Holdings, plc", "Marrowfield Holdings plc"), ("companies", "company"), ("+5", "5"), ("COVID-19", "Covid 19"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "left", "right"), [(rule, *pair) for rule, pairs in NEVER.items() for pair in pairs])
def test_forms_that_differ_in_a_distinctive_token_never_merge(rule, left, right):
    assert blocked_by(left, right) == blocked_by(right, left) == rule
    same = np.ones((2, 1), np.float32)
    made, _ = alias_groups([left, right], same, range_pairs(same, 0.93), link=0.91, guarded=True)
    assert made == []


@pytest.mark.parametrize(("left", "right"), ALWAYS)
def test_forms_that_differ_in_case_punctuation_determiner_or_plural_merge(left, right):
    assert normal_form(left) == normal_form(right)
    apart = np.eye(2, dtype=np.float32)
    made, rule = alias_groups([left, right], apart, range_pairs(apart, 0.93), link=0.91, guarded=True)
    assert made == [[0, 1]]
    assert rule == {0: "form", 1: "form"}


DSA, GDPR = "It falls under the Digital Services Act (DSA).", "The GDPR (General Data Protection Regulation)."


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([DSA, GDPR], {"DSA": "Digital Services Act", "GDPR": "General Data Protection Regulation"}),
        (["The Alpha Beta Group (ABG).", "The Arctic Bear Group (ABG)."], {}),  # two expansions
        # Letters that are not the initials.
        (["He said so (AB)."], {}),
        (["Two things (see above)."], {}),
        (["Big red cats (BRD) live here."], {}),
    ],
)
def test_an_acronym_joins_the_one_expansion_that_texts_give(texts, expected):
    assert acronyms(texts) == expected


def test_the_pairs_are_the_same_whichever_screen_this_cpu_takes(monkeypatch):
    rng = np.random.default_rng(5)
    vectors = np.repeat(rng.normal(size=(300, 24)), 5, axis=0) + rng.normal(scale=0.12, size=(1500, 24))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    monkeypatch.setattr(screen, "SKETCH", 8)
    found = []
    for codes, many in product((True, False), (0, 10**9)):
        monkeypatch.setattr(screen, "_multiplies_codes", lambda codes=codes: codes)
        monkeypatch.setattr(screen, "MANY", many)
        found.append(range_pairs(vectors, 0.93))
    assert len(found[0][0]) > 1000
    assert all((a == b).all() for other in found[1:] for a, b in zip(found[0], other, strict=True))


@pytest.mark.parametrize(("guarded", "expected"), [(True, [[0, 1]]), (False, [[0, 1, 2]])])
def test_complete_link_keeps_a_chain_apart(guarded, expected):
    angles = np.array([0.0, 0.35, 0.70])  # neighbours at cosine .94, the ends at .76
    vectors = np.stack([np.cos(angles), np.sin(angles)], 1).astype(np.float32)
    pairs = range_pairs(vectors, 0.93)
    made, _ = alias_groups(["alpha", "beta", "gamma"], vectors, pairs, link=0.91, guarded=guarded)
    assert made == expected


def test_forced_pairs_join_and_forbidden_ones_stay_apart():
    vectors = np.ones((4, 1), np.float32)
    texts = ["IBM", "International Business Machines", "Mercury", "Mercury Records"]
    asked = {"forced": [(0, 1)], "forbidden": [frozenset({2, 3})]}
    made, rule = alias_groups(texts, vectors, range_pairs(vectors, 0.93), link=0.91, guarded=True, **asked)
    assert rule[0] == rule[1] == "forced"
    assert not any({2, 3} <= set(group) for group in made)


def test_a_name_whose_ending_differs_is_joined_by_its_vector_alone():
    texts = ["William", "Williams"]
    for cosine, expected in ((0.58, []), (0.92, [[0, 1]])):
        vectors = np.array([[1, 0], [cosine, np.sqrt(1 - cosine**2)]], np.float32)
        made, _ = alias_groups(texts, vectors, range_pairs(vectors, 0.93), link=0.91, guarded=True)
        assert made == expected


@pytest.mark.parametrize("width", [1, 2, 3])
def test_vectors_of_few_dimensions_lose_no_pair(width):
    vectors = np.eye(width, dtype=np.float32)[np.zeros(40, int)]
    for count in range(2, 40):
        assert len(range_pairs(vectors[:count], 0.93)[0]) == count * (count - 1) // 2


@pytest.mark.parametrize("guarded", [True, False])
def test_no_rule_and_no_third_form_joins_a_forbidden_pair(guarded):
    vectors = np.ones((3, 1), np.float32)
    texts = ["DSA", "Digital Services Act", "digital services act"]
    settings = {"link": 0.91, "guarded": guarded, "short_forms": [(0, 1)], "forbidden": [frozenset({0, 2})]}
    made, _ = alias_groups(texts, vectors, range_pairs(vectors, 0.93), **settings)
    assert made == [[0, 1]]


def test_the_medoid_is_the_member_closest_to_all_and_ties_go_to_the_earlier():
    vectors = np.array([[1, 0], [0.8, 0.6], [0.6, 0.8], [1, 0], [1, 0]], np.float32)
    assert medoids(vectors, [[0, 1, 2], [3, 4]]) == [1, 3]


PLACE = {"IBM": 0, "Big Blue": 1, "Apple": 2}


def test_an_alias_file_gives_pairs_of_ids_and_the_forms_of_other_corpora(tmp_path):
    path = tmp_path / "aliases.yaml"
    path.write_text("force: [[IBM, the Big  Blue], [Nowhere, IBM]]\nforbid: [[IBM, Apple]]\n")
    assert read_aliases(path, PLACE) == ([(0, 1)], frozenset({frozenset({0, 2})}), ["Nowhere"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("forc: []", "unknown key forc; did you mean 'force'?"),
        ("force: [[IBM]]", r"force\[0\] is \['IBM'\], allowed: two different surface forms"),
        ("force: [[IBM, IBM]]", "two different surface forms"),
        ("forbid: [[IBM, the IBM]]", "two different surface forms"),
        ("force: [[IBM, Big Blue]]\nforbid: [[Big Blue, IBM]]", "contradicts itself: 'Big Blue' and 'IBM'"),
        ("force: [[IBM, Big Blue], [Big Blue, Apple]]\nforbid: [[IBM, Apple]]", "itself: 'IBM' and 'Apple'"),
        ("force: [", "not valid YAML"),
    ],
)
def test_a_wrong_alias_file_is_refused_with_its_fault(tmp_path, text, said):
    path = tmp_path / "aliases.yaml"
    path.write_text(text)
    with pytest.raises(SecateurError, match=said):
        read_aliases(path, PLACE)


@pytest.mark.parametrize(
    "texts", [["5 °C", "-5 °C", "−5 °C"], ["-5 °C", "5 °C", "−5 °C"], ["C", "C++", "c++"], ["C++", "C", "c++"]]
)
def test_equal_forms_join_whichever_entity_comes_first(texts):
    none = (np.zeros(0, int), np.zeros(0, int), np.zeros(0, np.float32))
    made, _ = alias_groups(texts, np.eye(3, dtype=np.float32), none, link=0.91, guarded=True)
    assert [{texts[n].replace("−", "-").casefold() for n in group} for group in made] in ([{"-5 °c"}], [{"c++"}])


def test_words_of_the_option_keep_names_apart():
    assert blocked_by("port side", "starboard side") is None
    assert blocked_by("port side", "starboard side", ("port", "starboard")) == "listed word"
