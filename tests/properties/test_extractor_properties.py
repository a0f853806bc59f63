"""What models write is read back whole where it is well formed, and never stops anything where it is not."""

from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from secateur.graph.triples.extractors import llm, rebel

words = st.text(st.characters(codec="utf-8", exclude_characters="<>|"), max_size=12).map(lambda t: " ".join(t.split()))
part = words.filter(bool)
facts = st.lists(st.tuples(part, part, part), max_size=6)
soup = st.lists(st.sampled_from(["<triplet>", "<subj>", "<obj>", " ", "a", "<s>", "|", "1", "\n", "NONE"]) | st.text())


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
