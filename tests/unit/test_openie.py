"""Dependency rules: one row for each construction, then pronouns, fragments, odd texts, determinism."""

import pytest

from secateur.core.errors import SecateurError
from secateur.graph.triples.extractors.openie import FrontEnd, Settings, extract, load_parser
from secateur.graph.triples.openie.parsing import LABELS, identity_of
from secateur.graph.triples.surface import is_pronoun
from secateur.models.words import PARSER

CONSTRUCTIONS = r"""
passive with agent: YouTube was acquired by Google. => YouTube | was acquired by | Google
copula: Paris is the capital of France. => Paris | is | capital of France
adjective with preposition: The mayor is proud of the bridge. => mayor | is proud of | bridge
apposition: Angela Merkel, the German chancellor, visited Tokyo.
    => Angela Merkel | is | German chancellor; Angela Merkel | visited | Tokyo
possessive: Microsoft's founder bought a yacht. => Microsoft | has | founder; Microsoft's founder | bought | yacht
conjoined subjects: Alice and Bob founded a small company.
    => Alice | founded | small company; Bob | founded | small company
conjoined verbs: Wolves hunt deer and eat carrion. => Wolves | hunt | deer; Wolves | eat | carrion
conjuncts under of: The board approved the sale of ships and aircraft.
    => board | approved | sale of ships; board | approved | sale of aircraft
numbers and dates: Seven hundred soldiers crossed the river on 4 May 1812.
    => Seven hundred soldiers | crossed | river; Seven hundred soldiers | crossed on | 4 May 1812
relative clause: The scientist who discovered radium won two prizes.
    => scientist | discovered | radium; scientist | won | two prizes
object relative: The car that the mayor bought is red. => mayor | bought | car; car | is | red
whose: The writer whose novel won the prize lives in Rome. => writer | has | novel
adverbial clause: Because the dam broke the wall, the river flooded the town.
    => dam | broke | wall; river | flooded | town
condition: Bears attack hikers if hikers surprise cubs. => hikers | if surprise | cubs
complement clause: Experts believe that the glacier lost 40 percent of its mass.
    => Experts | believe that | glacier lost 40 percent; glacier | lost | 40 percent of mass
open complement: The museum plans to open a new gallery. => museum | plans to open | new gallery
participle: Tourists visiting the castle admired the tapestries. => Tourists | visiting | castle
passive participle: The bridge built by the Romans survived the war. => bridge | built by | Romans
never: The drug never cures the disease. => drug | never cures | disease
a shared negation: Ann did not buy, sell or rent the mill.
    => Ann | did not | buy; Ann | did not | sell; Ann | did not rent | mill
a shared negation with a typographic apostrophe: Ann didn’t buy or sell the mill.
    => Ann | did not | buy; Ann | did not sell | mill
a shared never: Ann never smoked cigars or drank whisky. => Ann | never smoked | cigars; Ann | never drank | whisky
a negation that and does not share: Ann did not buy the mill and sold the farm.
    => Ann | did not buy | mill; Ann | sold | farm
a negation that a finite verb does not share: If the cancer does not respond or gets worse, the drug is changed.
    => cancer | if does not | respond; cancer | gets | worse; drug | is | changed
nor with a subject: Ann did not come, nor did Bob sell the mill. => Ann | did not | come; Bob | nor did sell | mill
neither and nor of predicates: Ann is neither a doctor nor a lawyer.
    => Ann | is | neither a doctor; Ann | is | nor a lawyer
neither and nor under a preposition: The mill was owned by neither Ann nor Bob.
    => mill | was owned by | neither Ann; mill | was owned by | nor Bob
no of coordinated subjects: No doctor or nurse owns the mill. => No doctor | owns | mill; No nurse | owns | mill
no of coordinated objects: Ann has no brother or sister. => Ann | has | no brother; Ann | has | no sister
rarely: Bears rarely attack humans. => Bears | rarely attack | humans
often: Owls often sleep. => Owls | often | sleep
existence: There are wolves in Spain. => wolves | are in | Spain
dative: The king gave the knight a castle. => king | gave | castle; king | gave to | knight
pronoun object: Rain causes them to leave the valley. => Rain | causes them to leave | valley
time before: The species entered Alaska 100,000 years ago. => species | entered | 100,000 years ago
fragment: The old bridge in Prague => old bridge | in | Prague
who: Who founded Google? => person | founded | Google
what: What is the capital of Peru? => thing | is | capital of Peru
which: Which subsidiaries did Siemens sell in 2015? => Siemens | sell | subsidiaries; Siemens | sell in | 2015
unicode: Müller’s café serves crème brûlée. => Müller's café | serves | crème brûlée
symbols: The author wrote a book about C++. => author | wrote book about | C++
"""
CONTRASTS = r"""
apposition, denied: Paris, not London, is the capital. => Paris | is | capital
apposition, denied by two words: Smith, not yet a minister, met Churchill. => Smith | met | Churchill
contrast of places: Bob was not born in Paris but in London. => Bob | was not born in | Paris
contrast of objects: The firm did not buy Intel but Nvidia. => firm | did not buy | Intel
contrast without denial: The engine is slow but reliable. => engine | is | reliable; engine | is | slow
"""


def cases_of(table: str) -> list:
    """(text, facts) of each `name: text => head | relation | tail; ...`, on one line or on two."""
    cases = []
    for line in table.strip().replace("\n    =>", " =>").splitlines():
        name, _, rest = line.partition(": ")
        text, _, facts = rest.partition(" => ")
        expected = [tuple(fact.split(" | ")) for fact in facts.split("; ")]
        cases.append(pytest.param(text, expected, id=name))
    return cases


TEXTS = [case.values[0] for case in cases_of(CONSTRUCTIONS)]


@pytest.fixture(scope="module")
def parser():
    return load_parser()


@pytest.fixture(scope="module")
def facts(parser):
    def read(text):
        return [(t.head, t.relation, t.tail) for t in extract(parser, [text])[0][0]]

    return read


@pytest.mark.parametrize(("text", "expected"), cases_of(CONTRASTS))
def test_what_is_denied_of_one_is_not_said_of_the_other(facts, text, expected):
    assert sorted(facts(text)) == sorted(expected)


@pytest.mark.parametrize(("text", "expected"), cases_of(CONSTRUCTIONS))
def test_constructions(facts, text, expected):
    found = facts(text)
    assert [fact for fact in expected if fact not in found] == [], found


def test_triples_come_in_text_order_with_originals_as_written(parser, facts):
    tails = [tail for _, _, tail in facts("In 1998, Larry Page founded Google in Menlo Park.")]
    assert tails == ["1998", "Google", "Menlo Park"]
    [[fact]], _ = extract(parser, ["The old wolves never hunt the deer."])
    expected = ("The old wolves", "never hunt", "the deer", False)
    assert (fact.head_original, fact.relation_original, fact.tail_original, fact.resolved) == expected


@pytest.mark.parametrize(
    ("texts", "title", "head", "original"),
    [
        (["Marie Curie was born in Warsaw.", "She won two Nobel Prizes."], None, "Marie Curie", "She"),
        (["The wolves left the valley.", "They returned in spring."], None, "wolves", "They"),
        (["The castle burned in 1420.", "It was rebuilt in 1500."], None, "castle", "It"),
        (["The castle fell in 1420.", "It was rebuilt.", "It became a museum in 1900."], None, "castle", "It"),
        (["She was born in London."], "Ada Lovelace", "Ada Lovelace", "She"),
        (["The Brown bear is large.", "They live in Europe."], "Brown bear", "Brown bear", "They"),
        (["Although they are heavy, the bears climb trees."], None, "bears", "they"),
    ],
)
def test_a_leading_pronoun_takes_its_antecedent(parser, texts, title, head, original):
    found = [fact for facts in extract(parser, texts, title)[0] for fact in facts if fact.resolved]
    assert found
    assert {(fact.head, fact.head_original) for fact in found} == {(head, original)}


@pytest.mark.parametrize(
    "texts",
    [
        ["They returned in spring."],
        ["The castle burned in 1420.", "They rebuilt the town in 1500."],
        ["The castle burned in 1420.", "She rebuilt the town in 1500."],
        ["The wolves left the valley.", "It is thought that hunters killed the deer."],
        ["We measured the river in 2010."],
    ],
)
def test_an_unsafe_pronoun_stays_unresolved(parser, texts):
    assert not any(fact.resolved for facts in extract(parser, texts)[0] for fact in facts)


@pytest.mark.parametrize("text", ["", " ", "\n", "?", "...", "(", "🙂", "the", "It.", "A"])
def test_texts_that_say_nothing_give_nothing(facts, text):
    assert facts(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "The engineers who built the bridge near the harbour measured the river, and " * 27 + "they left.",
        "part of " * 400,
        "run and " * 400,
        "big red " * 400,
    ],
)
def test_long_texts_keep_short_parts(facts, text):
    longest = max((len(part.split()) for fact in facts(text) for part in fact), default=0)
    assert longest <= 24


def test_no_pronoun_and_nothing_empty_comes_out(parser):
    texts = [*TEXTS, "He saw it.", "They, who knew her, left us.", "This is that."]
    triples = [fact for facts in extract(parser, texts)[0] for fact in facts]
    assert all(fact.head and fact.relation and fact.tail for fact in triples)
    assert not [fact for fact in triples if is_pronoun(fact.head) or is_pronoun(fact.tail)]


def saved(folder, tags, deps):
    import spacy
    from spacy.training import Example

    made = spacy.blank("en")
    for name, labels in (("tagger", tags), ("parser", deps)):
        component = made.add_pipe(name)
        for label in sorted(labels):
            component.add_label(label)
    words = {"tags": ["NN", "NN"], "heads": [0, 0], "deps": ["ROOT", "nsubj"]}
    made.initialize(lambda: [Example.from_dict(made.make_doc("Ann waits"), words)])
    made.to_disk(folder)
    return str(folder)


def test_another_model_with_the_labels_of_the_rules_is_read_and_told_apart_in_the_cache(tmp_path):
    model = saved(tmp_path / "a", LABELS["tagger"], LABELS["parser"] | {"ROOT"})
    front = FrontEnd(Settings(batch=2, model=model), None)
    assert len(front(["Ann bought the mill."], None).triples) == 1
    assert front.identity != FrontEnd(Settings(batch=2), None).identity == ()
    assert identity_of("spacy")[0] == "spacy" != PARSER


@pytest.mark.parametrize(
    ("tags", "deps", "said"),
    [
        (LABELS["tagger"], LABELS["parser"] - {"dobj", "pobj"}, "parser of .* lacks labels .*: dobj, pobj. Fix"),
        ({"NN", "NOUN"}, LABELS["parser"], "tagger of .* lacks labels .*: CD, DT, IN, JJ,"),
    ],
)
def test_a_model_without_the_labels_of_the_rules_is_refused_by_what_it_lacks(tmp_path, tags, deps, said):
    with pytest.raises(SecateurError, match=said):
        load_parser(saved(tmp_path / "a", tags, deps))


@pytest.mark.parametrize("model", ["no_such_package", "/no/such/folder"])
def test_a_model_that_is_not_there_is_refused_before_any_text_is_read(model):
    with pytest.raises(SecateurError, match=r"extractor.settings.model: .*no such package or folder. Fix: "):
        FrontEnd(Settings(batch=2, model=model), None)


def test_the_reverse_of_a_pair_is_dropped_within_a_sentence_alone(parser):
    turn, *apart = extract(parser, ["Ann called Bob. Bob visited Ann.", "Ann called Bob.", "Bob visited Ann."])[0]
    assert turn == [fact for facts in apart for fact in facts]
    assert len(turn) == 2


def test_each_text_has_a_list_whatever_the_batch_and_the_dropped_are_counted(parser):
    assert extract(parser, TEXTS, batch_size=1) == extract(parser, TEXTS, batch_size=16)
    lists, dropped = extract(parser, ["", "Rome is Rome.", "Bears eat fish."])
    assert [len(facts) for facts in lists] == [0, 0, 1]
    assert dropped["self"] == 1
