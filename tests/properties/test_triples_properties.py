"""Surface forms, the filter of triples, and what models write: read back where it is well formed, and never an obstacle."""

from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from secateur.graph.triples.extractors import llm, rebel
from secateur.graph.triples.surface import Triple, filter_triples, normalise

names = st.sampled_from(["", " ", "it", "IT", "bear", "Bear", "fish", "opposite of", "is", "thing", "the", "eats"])
triples = st.lists(st.builds(Triple, *[names] * 6, st.booleans()), max_size=12)
noisy = st.text() | st.text(alphabet="aA. ()[]'\"-–#%+$the,\u2011\u00a8\ufb01\u200b\u0301", max_size=20)
words = st.text(st.characters(codec="utf-8", exclude_characters="<>|"), max_size=12).map(lambda t: " ".join(t.split()))
part = words.filter(bool)
facts = st.lists(st.tuples(part, part, part), max_size=6)
soup = st.lists(st.sampled_from(["<triplet>", "<subj>", "<obj>", " ", "a", "<s>", "|", "1", "\n", "NONE"]) | st.text())


@given(noisy)
def test_normalise_is_idempotent_and_leaves_single_spaces_only(text):
    once = normalise(text)
    assert normalise(once) == once == " ".join(once.split())


@given(triples)
def test_the_filter_keeps_order_invents_nothing_counts_what_it_drops_and_is_idempotent(given_triples):
    kept, dropped = filter_triples(given_triples)
    rest = iter(given_triples)
    assert all(any(triple is candidate for candidate in rest) for triple in kept)
    assert len(kept) + dropped.total() == len(given_triples)
    again, dropped = filter_triples(kept)
    assert again == kept
    assert not dropped


def linearised(found) -> str:
    """REBEL's form: groups of one subject after each other stand under one mark."""
    triplets = [
        f"<triplet> {head}" + "".join(f" <subj> {tail} <obj> {relation}" for _, relation, tail in group)
        for head, group in groupby(found, key=lambda fact: fact[0])
    ]
    return " ".join(triplets)


@given(facts)
def test_well_formed_output_of_rebel_is_read_back(found):
    assert rebel.parse(linearised(found)) == (found, 0)


@given(soup)
def test_any_output_of_rebel_gives_whole_facts_and_a_count(pieces):
    found, malformed = rebel.parse("".join(pieces))
    assert malformed >= 0
    for fact in found:
        assert len(fact) == 3 and all(fact)
        assert not {"<triplet>", "<subj>"} & set(" ".join(fact).split())


@given(st.lists(facts, min_size=1, max_size=4))
def test_a_well_formed_reply_is_read_back(texts):
    lines = [f"{n} | {' | '.join(fact)}" for n, found in enumerate(texts, 1) for fact in found]
    assert llm.parse("\n".join(lines), len(texts)) == ((texts, 0) if lines else None)


@given(soup, st.integers(1, 5))
def test_any_reply_is_read_or_refused(pieces, count):
    read = llm.parse("".join(pieces), count)
    if read is not None:
        found, malformed = read
        assert len(found) == count
        assert malformed >= 0
        assert all(all(fact) for facts in found for fact in facts)
