"""Decoding any view gives the edges that were encoded."""

from hypothesis import given, settings
from hypothesis import strategies as st

from secateur.contexts.encodings import ENCODINGS, Payload, decode, encode

quick = settings(max_examples=150)
marks = st.text(alphabet="ab n\\r:;|?>[]1\"'(),é\u2028\u0085\t\r\n", min_size=1, max_size=10)
awkward = st.sampled_from(
    [
        "a",
        "b",
        "a b",
        "b a",
        "?",
        "> a",
        "? a",
        "a:",
        ": a",
        "a; b",
        "[1]",
        "a [1]",
        "|",
        "a | b",
        "\\",
        "a\\",
        "\\n",
        "null",
    ]
)
surfaces = st.one_of(awkward, marks, st.text(min_size=1, max_size=6)).map(lambda s: " ".join(s.split())).filter(bool)
raw = st.one_of(awkward, marks, st.text(max_size=6))  # not normalised: line breaks, blanks, nothing


def payloads(surface):
    """(payload, all edges): few edges, repeated in questions and facts, and known ones that are not shown."""

    @st.composite
    def draw_payload(draw):
        known = draw(st.lists(st.tuples(surface, surface, surface), min_size=1, max_size=6))
        pick = st.lists(st.sampled_from(known), max_size=6)
        asked, facts = draw(pick), draw(pick)
        sources = draw(st.lists(st.integers(1, 12), min_size=len(facts), max_size=len(facts)))
        sentences = draw(st.lists(raw, max_size=2))
        return Payload(tuple(asked), tuple(facts), tuple(sources), tuple(sentences)), set(known)

    return draw_payload()


def ambiguous_of(edges) -> set[tuple[str, str]]:
    reads = [(h, f"{r} {t}") for h, r, t in edges]
    return {one for one in reads if reads.count(one) > 1}


def round_trip(encoding: str, payload: Payload, known):
    return decode(encoding, encode(encoding, payload, ambiguous_of(known)), known)


@quick
@given(payloads(surfaces), st.sampled_from(ENCODINGS))
def test_decoding_gives_the_edges_that_were_encoded(drawn, encoding):
    payload, known = drawn
    assert round_trip(encoding, payload, known) == (payload.questions, payload.facts)


@quick
@given(payloads(surfaces))
def test_every_view_holds_the_same_edges(drawn):
    payload, known = drawn
    assert len({round_trip(encoding, payload, known) for encoding in ENCODINGS}) == 1


@quick
@given(payloads(raw), st.sampled_from(ENCODINGS))
def test_even_surfaces_that_were_never_normalised_survive(drawn, encoding):
    payload, known = drawn
    assert round_trip(encoding, payload, known) == (payload.questions, payload.facts)


@quick
@given(payloads(surfaces))
def test_cited_lines_never_break_a_line(drawn):
    payload, known = drawn
    lines = encode("lines", payload, ambiguous_of(known)).split("\n")
    heads = sum(1 for n, (edge, source) in enumerate(zip(payload.facts, payload.sources, strict=True))
                if n == 0 or (payload.facts[n - 1][0], payload.sources[n - 1]) != (edge[0], source))  # fmt: skip
    written = len(payload.questions) + heads + len(payload.sentences)
    assert len(lines) == max(1, written)
