"""Budgeted cover on sources that can be followed by hand."""

from dataclasses import replace

from secateur.contexts.forms._cover import Line, Source, cover, word_values


def line(edge_id: int, head: str, rest: str) -> Line:
    """Priced at one token a word and one for what joins it."""
    return Line(edge_id, head, rest, len(head.split()) + 1, len(rest.split()) + 1)


def source(name: str, p: float, text: str, *lines: Line) -> Source:
    return Source(name, p, text, len(text.split()) + 1, lines)


BEARS = source(
    "s1", 0.5, "Large Katmai bears mostly eat sockeye salmon while roaming Alaska",
    line(0, "Katmai bears", "eat salmon"), line(1, "Katmai bears", "roaming Alaska"), line(2, "salmon", "sockeye"),
)  # fmt: skip
PLANTS = source("s2", 0.25, "Plants grow", line(3, "Plants", "grow"))


def test_no_sources_make_an_empty_block():
    assert cover([], "why", 100) == []


def test_nothing_fits_a_budget_below_every_price():
    assert cover([BEARS, PLANTS], "", 1) == []


def test_word_values_sum_the_probabilities_of_the_sentences_that_hold_a_word():
    values = word_values([BEARS, source("s3", 0.25, "A bear sleeps")], "")
    assert values["bear"] == 0.75
    assert values["salmon"] == 0.5


def test_words_of_the_question_have_no_value():
    assert word_values([BEARS], "Which bears eat?")["bear"] == 0


def test_a_head_is_said_once_for_its_lines():
    two = source("s1", 0.5, BEARS.text, *BEARS.lines[:2])
    pieces = cover([two], "", 9, grounding="triples")
    assert [piece.text for piece in pieces] == ["Katmai bears: eat salmon; roaming Alaska"]
    assert pieces[0].edge_ids == (0, 1)
    assert pieces[0].tokens == 9  # 2 and ":", twice 2 and ";"


def test_lines_stand_in_text_order_however_they_were_chosen():
    weak, strong = line(0, "a", "dull"), line(1, "a", "bright glow")
    one = source("s", 0.5, "bright glow", weak, strong)
    pieces = cover([one, source("t", 0.001, "dull")], "", 100, grounding="triples")
    assert pieces[0].text == "a: dull; bright glow"


def test_each_piece_names_its_own_source_and_sources_keep_their_order():
    assert [p.passage_id for p in cover([BEARS, PLANTS], "", 100)] == sorted(["s1", "s2"])


def test_triples_show_no_sentence():
    assert not any(p.whole for p in cover([BEARS, PLANTS], "", 100, grounding="triples"))


def test_sentences_show_no_line():
    pieces = cover([BEARS, PLANTS], "", 100, grounding="sentences")
    assert [(p.whole, p.edge_ids, p.text) for p in pieces] == [(True, (), BEARS.text), (True, (), PLANTS.text)]


def test_a_whole_sentence_replaces_its_lines_and_is_charged_the_difference():
    one = source("s", 0.5, "Brown bears fish daily", line(0, "bears", "fish"))
    pieces = cover([one], "", 5)
    assert [(p.text, p.tokens, p.whole) for p in pieces] == [(one.text, 5, True)]


def test_a_source_without_probability_is_never_shown():
    assert cover([source("s", 0.0, "Plants grow", line(0, "Plants", "grow"))], "", 100) == []


def test_words_already_shown_are_not_paid_for_again():
    twin = source("s2", 0.5, BEARS.text)
    assert len(cover([BEARS, twin], "", 1000, grounding="sentences", mix=0.0)) == 1


def test_a_new_source_counts_by_itself():
    twin = source("s2", 0.5, BEARS.text)
    assert len(cover([BEARS, twin], "", 1000, grounding="sentences", mix=0.2)) == 2


def test_gain_is_weighed_against_its_price():
    dear = source("s1", 0.5, "salmon of the sea and of the land and of the air")
    cheap = source("s2", 0.5, "trout")
    assert [p.passage_id for p in cover([dear, cheap], "", 5, grounding="sentences")] == ["s2"]


def test_a_line_becomes_cheaper_once_its_head_is_said():
    dear = Source(
        "s1",
        0.5,
        "alpha beta gamma delta",
        99,
        (Line(0, "is", "alpha beta gamma", 10, 1), Line(1, "is", "delta", 10, 1)),
    )
    other = Source("s2", 0.1, "omega", 99, (Line(2, "is", "omega", 2, 1),))
    pieces = cover([dear, other], "", 14, grounding="triples")  # 11 and 1; 3 more would not fit
    assert [(p.edge_ids, p.tokens) for p in pieces] == [((0, 1), 12)]


def test_ties_go_to_the_earlier_source():
    twins = [source(f"s{n}", 0.5, text) for n, text in enumerate(["one alpha", "two gamma"])]
    assert [p.passage_id for p in cover(twins, "one two", 3, grounding="sentences")] == ["s0"]


def test_of_two_alike_the_one_that_is_linked_to_what_was_chosen_is_taken():
    first = replace(source("s1", 1.0, "salmon swim upstream"), names=frozenset({"salmon"}))
    other = replace(source("s2", 0.5, "trout rest quietly"), names=frozenset({"trout"}))
    linked = replace(source("s3", 0.5, "roe hatch late"), names=frozenset({"salmon"}))
    room = {"grounding": "sentences", "mix": 0.5}
    assert [p.passage_id for p in cover([first, other, linked], "", 8, **room)] == ["s1", "s2"]
    assert [p.passage_id for p in cover([first, other, linked], "", 8, link=0.5, **room)] == ["s1", "s3"]


def test_an_entity_of_every_source_links_little():
    names = frozenset({"salmon"})
    first = replace(source("s1", 1.0, "salmon swim upstream"), names=names)
    hub = replace(source("s2", 0.5, "roe hatch late"), names=names)
    likelier = source("s3", 0.6, "trout rest quietly")
    sources = [first, hub, *(replace(hub, passage_id=f"h{n}", p=0.0) for n in range(9)), likelier]
    assert [p.passage_id for p in cover(sources, "", 8, grounding="sentences", link=1.0)] == ["s1", "s3"]
