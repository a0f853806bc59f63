"""Decoding any view gives the edges that were encoded."""

from hypothesis import given, settings
from hypothesis import strategies as st

from secateur.contexts.encodings import ENCODINGS, Fact, Payload, decode, encode

quick = settings(max_examples=150)
marks = st.text(alphabet="ab n\\r:;|?>[]1\"'(),é\u2028\u0085\t\r\n", min_size=1, max_size=10)
AWKWARD = ["a", "b", "a b", "b a", "?", "> a", "? a", "a:", ": a", "a; b", "[1]"]
AWKWARD += ["a [1]", "|", "a | b", "\\", "a\\", "\\n", "null"]
awkward = st.sampled_from(AWKWARD)
surfaces = st.one_of(awkward, marks, st.text(min_size=1, max_size=6)).map(lambda s: " ".join(s.split())).filter(bool)
raw = st.one_of(awkward, marks, st.text(max_size=6))  # not normalised: line breaks, blanks, nothing


@st.composite
def payloads(draw, surface):
    """(payload, all edges): few edges, repeated in all channels, and known ones that are not shown."""
    known = draw(st.lists(st.tuples(surface, surface, surface), min_size=1, max_size=6))
    pick = st.lists(st.sampled_from(known), max_size=6)
    asked, told, facts = draw(pick), draw(pick), draw(pick)
    sources = draw(st.lists(st.integers(1, 12), min_size=len(facts), max_size=len(facts)))
    stated = tuple(Fact(triple, source) for triple, source in zip(facts, sources, strict=True))
    return Payload(tuple(asked), tuple(told), stated), set(known)


def rows_of(encoding: str, payload: Payload, known) -> list[tuple[str, int | None]]:
    reads = [(h, f"{r} {t}") for h, r, t in known]
    return list(encode(encoding, payload, {one for one in reads if reads.count(one) > 1}))


@settings(max_examples=300)
@given(payloads(surfaces) | payloads(raw), st.sampled_from(ENCODINGS))
def test_decoding_gives_the_edges_that_were_encoded(drawn, encoding):
    payload, known = drawn
    text = "".join(text for text, _ in rows_of(encoding, payload, known))
    stated = tuple(fact.triple for fact in payload.facts)
    assert decode(encoding, text, known) == (payload.questions, payload.knowledge, stated)


@quick
@given(payloads(raw), st.sampled_from(ENCODINGS))
def test_each_row_names_the_first_fact_that_it_states_in_order(drawn, encoding):
    payload, known = drawn
    places = [n for _, n in rows_of(encoding, payload, known) if n is not None]
    heads = [(fact.triple[0], fact.source) for fact in payload.facts]
    first = [n for n in range(len(heads)) if n == 0 or heads[n] != heads[n - 1]]
    assert places == (first if encoding == "lines" else list(range(len(heads))))


@quick
@given(payloads(surfaces))
def test_cited_lines_never_break_a_line(drawn):
    payload, known = drawn
    rows = rows_of("lines", payload, known)
    assert all(row.count("\n") == (n < len(rows)) for n, (row, _) in enumerate(rows, 1))
