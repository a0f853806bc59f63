"""Contexts keep their budgets, whatever the text, the form, the packing and the placement, under real tokenizers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from secateur.config import compose, plugins
from secateur.contexts.assemble import Assembly
from secateur.contexts.encodings import ENCODINGS, RULES, decode
from secateur.contexts.piece import Context, Edge, Material, Piece, Query, Ranked, Row, text_of
from secateur.contexts.table import context_rows, reads, texts
from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import problems
from secateur.models.word_pieces import Counter, lm_counter, word_piece_counter

CONF = Path(__file__).parents[2] / "conf"
FORMS = ("whole", "dense", "lines", "words", "ids", "matrix", "cheapest")
SYMBOLS = (*ENCODINGS, "cheapest")
PACKINGS, PLACEMENTS = ("refill", "stop"), ("best_first", "best_last", "as_written")
quick = settings(max_examples=40)


@pytest.fixture(scope="module", params=["smollm2", "minilm", "gemma3_270m"])
def count(request, tmp_path_factory) -> Counter:
    """A counter of tokens; Gemma's only where its package is installed."""
    if request.param == "minilm":
        return word_piece_counter(compose.option(CONF, "embedder", "minilm").model)
    try:
        return lm_counter(compose.option(CONF, "lm", request.param).model, tmp_path_factory.mktemp("cache"))
    except SecateurError as error:
        pytest.skip(str(error))


# --- random texts, graphs and rankings ------------------------------------------------------------

words = st.sampled_from(
    ["bear", "bears", "The", "the", "not", "river's", "salmon", "1994", "3.5%", "e-mail", "naïve", "東京", "Ωmega", "🐻",
     "a", "I", "x", "incomprehensibilities", "can\u2019t", "\u00bd", "e\u0301", "->", "\u2028"]
)  # fmt: skip
blanks = st.sampled_from([" ", " ", " ", "\n", "  ", "\t", " \n", "\u00a0"])
edges_of_text = st.sampled_from(["", "", "", " ", "\n", "\n\n", "  "])
spoken = st.lists(st.tuples(words, blanks), min_size=1, max_size=25).map(lambda p: "".join(w + b for w, b in p).strip())
marks = st.text(alphabet="ab1 \n\\r:;|?<[]\"',.-é\u2028", min_size=1, max_size=8)
said = st.one_of(spoken, spoken, marks, st.text(min_size=1, max_size=10), st.sampled_from("a1.é東"))
passages = st.tuples(edges_of_text, said, edges_of_text).map("".join).filter(str.strip)
surfaces = st.one_of(words, spoken, marks, st.text(min_size=1, max_size=5)).map(lambda s: " ".join(s.split()))
surfaces = surfaces.filter(bool)


@dataclass(frozen=True)
class Drawn:
    asked: Query
    texts: Mapping[str, str]
    edges: Mapping[str, Sequence[Edge]]
    ranked: Sequence[Ranked]
    order: Mapping[str, int]

    @property
    def known(self) -> set[tuple[str, str, str]]:
        return {edge.triple for own in self.edges.values() for edge in own}

    def material(self, count: Counter) -> Material:
        said = [(h, f"{r} {t}") for h, r, t in self.known]
        return Material(self.texts, count, self.edges, frozenset(one for one in said if said.count(one) > 1))


@st.composite
def drawn(draw) -> Drawn:
    """A few passages, equal ones among them, ranked, or their edges; an edge may stand in several passages or in none."""
    pool = draw(st.lists(passages, min_size=1, max_size=12))
    chosen = draw(st.lists(st.sampled_from(pool), min_size=1, max_size=12))
    triples = draw(st.lists(st.tuples(surfaces, surfaces, surfaces), min_size=1, max_size=10, unique=True))
    every = [Edge(n, triple) for n, triple in enumerate(triples)]
    names = [f"p{n}" for n in range(len(chosen))]
    own = {name: draw(st.lists(st.sampled_from(every), max_size=4)) for name in names}
    ranking = draw(st.permutations(names))
    units = [Ranked(name) for name in ranking]
    if draw(st.booleans()):
        units = draw(st.permutations([Ranked(name, edge.edge_id) for name in ranking for edge in own[name]]))
    asked = Query(draw(spoken), tuple(draw(st.lists(st.sampled_from(triples), max_size=2))))
    return Drawn(asked, dict(zip(names, chosen, strict=True)), own, units, {p: n for n, p in enumerate(names)})


def assembled(
    one: Drawn, count: Counter, name: str, packing: str = "refill", placement: str = "best_first"
) -> Assembly:
    """By a form with the settings of its option in conf/assembly."""
    spec = compose.option(CONF, "assembly", f"default+form={name}").form
    own, material = plugins.settings("form", spec, f"conf/assembly/{name}"), one.material(count)
    return Assembly(plugins.load("form", name).form(own, material), packing, placement, material, one.order)


def context_of(assembly: Assembly, one: Drawn, budget: int) -> Context:
    return assembly.contexts(one.asked, one.ranked, [budget])[budget]


def sent(assembly: Assembly, one: Drawn, pieces: Sequence[Piece]) -> list[Row]:
    """The rows that these pieces make, best first as given."""
    return assembly._rows(one.asked, list(pieces))


def size(assembly: Assembly, one: Drawn, pieces: Sequence[Piece]) -> int:
    """Tokens of the text that they make, written out."""
    return int(assembly.material.count([text_of(sent(assembly, one, pieces))])[0]) if pieces else 0


def chosen_of(offered: Sequence[Piece], context: Context) -> list[Piece]:
    """The offered pieces that stand in a context, best first."""
    stated = {(row.passage_id, edge) for row in context.rows for edge in row.edge_ids}
    last = len(context.rows)
    shown = [(row.passage_id, row.text[:-1] if n < last else row.text) for n, row in enumerate(context.rows, 1)]
    return [
        piece
        for piece in offered
        if (piece.text and (piece.passage_id, piece.text) in shown)
        or (piece.edges and not piece.text and {(piece.passage_id, e.edge_id) for e in piece.edges} <= stated)
    ]


def budget_of(assembly: Assembly, one: Drawn, prefix: int, beside: int) -> int:
    """A budget that some of the best pieces fill exactly, or one token beside it."""
    pieces = assembly.form.pieces(one.asked, one.ranked)
    return max(1, size(assembly, one, pieces[: prefix % (len(pieces) + 1)]) + beside)


ways = st.tuples(st.sampled_from(FORMS), st.sampled_from(PACKINGS), st.sampled_from(PLACEMENTS))
near = st.tuples(st.integers(0, 12), st.sampled_from([-1, 0, 1, 7]))


@quick
@given(one=drawn(), way=ways, near=near)
def test_no_context_is_longer_than_its_budget_as_it_is_sent(count, one, way, near):
    assembly = assembled(one, count, *way)
    budgets = sorted({budget_of(assembly, one, *near), 1, 40, 300})
    made = assembly.contexts(one.asked, one.ranked, budgets)
    assert sorted(made) == budgets
    for budget, context in made.items():
        assert context.tokens == (int(count([text_of(context.rows)])[0]) if context.rows else 0)
        assert context.tokens <= budget


@quick
@given(one=drawn(), way=ways, near=near)
def test_a_context_that_is_given_back_is_packed_to_itself(count, one, way, near):
    """So that a row compared with itself, at its own numbers of tokens, differs by exactly nothing."""
    assembly = assembled(one, count, *way)
    budget = budget_of(assembly, one, *near)
    context = context_of(assembly, one, budget)
    assert context_of(assembly, one, context.tokens) == context


def asked_twice() -> Drawn:
    """A question whose triples are the facts of the last passage, which cost their numbers alone in `matrix`."""
    old, brown = Edge(2, ("bear", "is", "old")), Edge(3, ("bear", "is", "brown"))
    fed, lived = Edge(0, ("bear", "eats", "herbs")), Edge(1, ("it", "lived", "in a wood of tall and very old trees"))
    own = {"p1": [fed], "p2": [lived], "p3": [old, brown]}
    asked = Query("Is a bear old and brown?", (old.triple, brown.triple))
    return Drawn(asked, dict.fromkeys(own, "A bear."), own, [Ranked(p) for p in own], dict.fromkeys(own, 0))


@quick
@given(one=drawn(), name=st.sampled_from(FORMS), placement=st.sampled_from(PLACEMENTS), near=near)
@example(one=asked_twice(), name="matrix", placement="best_first", near=(1, 7))
def test_refilled_contexts_have_no_room_for_any_piece_that_was_left_out(count, one, name, placement, near):
    assembly = assembled(one, count, name, "refill", placement)
    budget = budget_of(assembly, one, *near)
    context = context_of(assembly, one, budget)
    offered = assembly.form.pieces(one.asked, one.ranked)
    chosen = chosen_of(offered, context)
    assert sent(assembly, one, chosen) == context.rows
    for piece in offered:
        if piece not in chosen:
            more = [each for each in offered if each in chosen or each is piece]
            assert size(assembly, one, more) > budget


@settings(max_examples=80)
@given(one=drawn(), way=ways, near=near)
def test_packing_by_parts_chooses_what_writing_out_every_step_chooses(count, one, way, near):
    """Contexts that stop are the longest beginning that fits; others go on behind what does not."""
    assembly = assembled(one, count, *way)
    budget = budget_of(assembly, one, *near)
    offered, chosen = assembly.form.pieces(one.asked, one.ranked), []
    for piece in offered:
        if size(assembly, one, [*chosen, piece]) <= budget:
            chosen.append(piece)
        elif way[1] == "stop":
            break
    assert context_of(assembly, one, budget).rows == sent(assembly, one, chosen)


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("text", ["a ", "a", " a", "a\n", "\na", "東", "1 \n"])
def test_what_joins_many_short_passages_is_counted(count, text, packing):
    """The tokens of parts miss those of the whole by a token a passage where blanks meet."""
    names = [f"p{n}" for n in range(200)]
    one = Drawn(Query("?"), dict.fromkeys(names, text), {}, [Ranked(p) for p in names], dict.fromkeys(names, 0))
    made = assembled(one, count, "whole", packing, "best_first").contexts(one.asked, one.ranked, [64, 128, 512])
    for budget, context in made.items():
        rest = len(names) - len(context.rows)
        assert int(count([text_of(context.rows)])[0]) == context.tokens <= budget
        longer = text_of([*(replace(row, text=text + "\n") for row in context.rows), Row(text)])
        assert not rest or int(count([longer])[0]) > budget


@quick
@given(one=drawn(), way=ways, budget=st.sampled_from([20, 60, 200, 10**4]))
def test_the_table_gives_back_the_text_row_behind_row_and_every_budget_by_itself(count, one, way, budget):
    assembly = assembled(one, count, *way)
    made = assembly.contexts(one.asked, one.ranked, [budget, 2 * budget])
    assert made[budget] == context_of(assembly, one, budget)
    rows = list(context_rows("q", "graph", False, way[0], made))
    table = TABLES["contexts"].frame(rows)
    assert problems(TABLES["contexts"], table) == []
    shown = {b: context for b, context in made.items() if context.rows}
    assert texts(table) == {("q", "graph", b): text_of(context.rows) for b, context in shown.items()}
    read = dict(reads(table))
    for b, context in shown.items():
        assert read["q", "graph", b].tokens == context.tokens
        assert list(read["q", "graph", b].lines) == [row.text if row.says is None else row.says for row in context.rows]


@quick
@given(one=drawn(), name=st.sampled_from(SYMBOLS), placement=st.sampled_from(PLACEMENTS))
def test_every_encoding_decodes_to_the_edges_that_were_chosen(count, one, name, placement):
    context = context_of(assembled(one, count, name, "refill", placement), one, 10**6)
    text, ranked = text_of(context.rows), {e.edge_id for u in one.ranked for e in one.material(count).edges_of(u)}
    assert {edge for row in context.rows for edge in row.edge_ids} == ranked
    if not ranked:
        assert text == ""
        return
    used = next((e for e in RULES if text.startswith(RULES[e])), "lines") if name == "cheapest" else name
    rules = RULES.get(used)
    asked, known, facts = decode(used, text.removeprefix(rules + "\n" if rules else ""), one.known)
    by_id = {edge.edge_id: edge.triple for own in one.edges.values() for edge in own}
    assert list(facts) == [by_id[edge] for row in context.rows for edge in row.edge_ids]
    assert (asked, known) == ((one.asked.triples if rules else ()), ())


@quick
@given(one=drawn(), budget=st.sampled_from([60, 10**4]))
def test_the_cheapest_encoding_is_no_longer_than_any_other_of_the_same_facts(count, one, budget):
    assembly = assembled(one, count, "cheapest")
    context = context_of(assembly, one, budget)
    chosen = chosen_of(assembly.form.pieces(one.asked, one.ranked), context)
    assert context.tokens == min(size(assembled(one, count, name), one, chosen) for name in ENCODINGS)


@quick
@given(one=drawn(), name=st.sampled_from(["whole", "dense"]))
def test_best_last_is_best_first_turned_round(count, one, name):
    placed = (assembled(one, count, name, "refill", placement) for placement in ("best_first", "best_last"))
    first, last = (context_of(assembly, one, 10**6) for assembly in placed)
    said = [[(row.passage_id, row.edge_ids, row.whole) for row in context.rows] for context in (first, last)]
    assert said[0] == said[1][::-1]
    assert sorted(text_of(first.rows).split("\n")) == sorted(text_of(last.rows).split("\n"))


@quick
@given(one=drawn(), name=st.sampled_from(FORMS), budget=st.sampled_from([60, 10**4]))
def test_as_written_stands_in_text_order(count, one, name, budget):
    context = context_of(assembled(one, count, name, "refill", "as_written"), one, budget)
    places = [one.order[row.passage_id] for row in context.rows if row.passage_id is not None]
    assert places == sorted(places)


@quick
@given(one=drawn(), budget=st.sampled_from([60, 10**4]), packing=st.sampled_from(PACKINGS))
def test_whole_passages_are_word_for_word_and_each_stands_once(count, one, budget, packing):
    context = context_of(assembled(one, count, "whole", packing), one, budget)
    assert text_of(context.rows) == "\n".join(one.texts[row.passage_id] for row in context.rows)
    assert all(row.whole for row in context.rows)
    assert len({row.passage_id for row in context.rows}) == len(context.rows)


shares = st.floats(-0.5, 1, width=32)


@quick
@given(one=drawn(), way=ways, values=st.lists(shares, min_size=12, max_size=12), steps=st.integers(0, 3))
def test_a_higher_price_sends_a_part_of_the_pieces_and_the_mean_is_kept_at_the_lowest_such_price(
    count, one, way, values, steps
):
    assembly = assembled(one, count, *way)
    names = dict.fromkeys(unit.passage_id for unit in one.ranked)
    ranked = [Ranked(name, None, value) for name, value in zip(names, values, strict=False)]
    pieces = assembly._pieces(one.asked, ranked)
    limits = assembly._limits(pieces, assembly._parts(pieces), ranked)
    whole, before, tokens = {}, set(range(len(pieces))), None
    for price in sorted({0.0, 0.3, 5.0, *(limit for limit in limits if limit > 0)}):
        kept = {n for n in before if limits[n] > price}
        assert kept == {n for n, limit in enumerate(limits) if limit > price}
        context = assembly.contexts(one.asked, ranked, [10**6], price)[10**6]
        assert context.rows == sent(assembly, one, [pieces[n] for n in sorted(kept)])
        assert tokens is None or context.tokens <= tokens
        before, tokens = kept, context.tokens
        whole[price] = context.tokens
        short = assembly.contexts(one.asked, ranked, [30], price)[30]
        assert short.tokens <= min(30, context.tokens)
    assert tokens == 0  # at the highest limit nothing is worth its price
    most = sorted(whole.values())[steps % len(whole)]
    price = assembly.price_for([(one.asked, ranked)], most)
    assert whole[price] <= most
    assert all(size > most for lower, size in whole.items() if lower < price)
