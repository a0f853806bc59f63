"""From rankings to contexts that can be followed by hand: packing, placement, the table, the stage."""

import json
import logging
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from scripts import assemble_contexts

from secateur.config import compose
from secateur.contexts.assemble import Assembly
from secateur.contexts.pack import pack, pack_shared
from secateur.contexts.piece import Context, Piece, Query, Ranked, Row, passage_text, rows_of
from secateur.contexts.placement import placed
from secateur.contexts.session import Textual, Unit
from secateur.contexts.table import context_rows, recalled_rows, sizes_of, texts
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import problems
from secateur.graph import assembling
from secateur.stage.contract import Context as StageContext

CONF = Path(__file__).parents[2] / "conf"


def count(said) -> np.ndarray:
    return np.array([len(text.split()) for text in said], np.int64)


@pytest.mark.parametrize(
    ("budget", "stops", "refills"),
    [(64, [0], [0, 2]), (70, [0, 1], [0, 1]), (79, [0, 1], [0, 1]), (80, [0, 1, 2], [0, 1, 2]), (9, [], []), (10, [], [2])],
)  # fmt: skip
def test_a_ranking_stops_at_the_first_that_overflows_or_is_refilled_past_it(budget, stops, refills):
    costs = [30, 40, 10]
    for packing, expected in (("stop", stops), ("refill", refills)):
        assert pack(costs, budget, packing, lambda chosen: sum(costs[n] for n in chosen)) == expected
        assert pack([], budget, packing, len) == []
        assert pack_shared([], budget, packing, lambda chosen: 5 * bool(chosen), 3) == []


@pytest.mark.parametrize(
    ("packing", "joint", "budget", "expected"),
    [("refill", 1, 32, [0, 1, 2]), ("refill", 1, 31, [0, 1]), ("refill", 30, 40, [0]), ("stop", 30, 40, [0])],
)
def test_what_joins_pieces_decides_where_their_sum_would_not(packing, joint, budget, expected):
    """Tokens of separators that no piece has by itself; joins of thirty where each is taken to change a few."""

    def size(chosen: list[int]) -> int:
        return 10 * len(chosen) + joint * max(len(chosen) - 1, 0)

    assert pack([10, 10, 10], budget, packing, size) == expected


def test_few_contexts_are_counted_where_there_is_room():
    counted = []
    size = lambda chosen: counted.append(chosen) or 10 * len(chosen)  # noqa: E731
    assert pack([10] * 50, 10_000, "refill", size) == list(range(50))
    assert len(counted) <= 1  # the whole, at most


@pytest.mark.parametrize(
    ("budget", "packing", "expected"),
    [(7, "stop", [0]), (7, "refill", [0, 2, 3]), (11, "stop", [0, 1, 2, 3]), (2, "refill", [])],
)
def test_pieces_that_share_text_cost_what_they_add(budget, packing, expected):
    """A frame of two tokens; each piece brings a token of its own, and words of which each is said once."""
    facts = [{"a", "b"}, {"a", "c", "d", "e"}, {"a"}, {"b"}]

    def size(chosen: list[int]) -> int:
        return 2 * bool(chosen) + len(chosen) + len(set().union(*(facts[n] for n in chosen)))

    assert pack_shared([1] * len(facts), budget, packing, size, 2) == expected


@pytest.mark.parametrize("packing", ["refill", "stop"])
@pytest.mark.parametrize("budget", range(1, 24))
def test_a_looser_bound_on_what_pieces_add_packs_the_same(packing, budget):
    costs = [3, 1, 6, 1, 2, 9, 1, 1]
    size = lambda chosen: sum(costs[n] for n in chosen)  # noqa: E731
    exact = pack_shared(costs, budget, packing, size, 0)
    for loose in ([0] * len(costs), [1, -1, 4, -1, 0, 7, -1, -1], [-5] * len(costs)):
        assert pack_shared(loose, budget, packing, size, 0) == exact


PIECES = [Piece("p2", "b"), Piece("p1", "a1"), Piece("p3", "c"), Piece("p1", "a2")]
ORDER = {"p1": 0, "p2": 1, "p3": 2}


@pytest.mark.parametrize(
    ("placement", "stand"),
    [
        ("best_first", ["b", "a1", "x", "c", "a2"]),
        ("best_last", ["a2", "c", "x", "a1", "b"]),
        ("as_written", ["a1", "a2", "b", "c", "x"]),  # what stands nowhere in the text stands last
    ],
)
def test_pieces_stand_where_the_placement_puts_them(placement, stand):
    pieces = [*PIECES[:2], Piece(None, "x"), *PIECES[2:]]
    assert [piece.text for piece in placed(pieces, placement, ORDER)] == stand


@pytest.mark.parametrize(
    ("speaker", "date", "text"),
    [(None, None, "Hi."), ("Ann", None, "Ann: Hi."), (None, "May 4", "(May 4): Hi."), ("Ann", "May 4", "Ann (May 4): Hi.")],
)  # fmt: skip
def test_a_passage_says_who_and_when_where_that_is_known(speaker, date, text):
    assert passage_text("Hi.", speaker, date) == text


def table(*rows: tuple) -> pl.DataFrame:
    found = TABLES["contexts"].frame(rows)
    assert problems(TABLES["contexts"], found) == []
    return found


def test_a_table_gives_back_the_texts_whatever_the_order_of_its_rows():
    found = table(*context_rows("q", "graph", False, "whole", {64: Context(rows_of(PIECES), 4)}))
    assert texts(found.reverse()) == {("q", "graph", 64): "b\na1\nc\na2"}


def test_what_a_session_holds_is_a_context_of_its_own():
    units = [Unit("facts", "One two", "p1", whole=True), Unit("question", "Who?", "x question")]
    found = table(*recalled_rows("q", Textual()(Query("Why?"), units), 64, count))
    assert texts(found) == {("q", "recalled", 64): "One two\nAsked before: Who?"}
    assert found["tokens"].to_list() == [5, 5]
    assert found["whole"].to_list() == [True, False]
    assert list(recalled_rows("q", [], 64, count)) == []


def test_the_contexts_of_a_question_are_sized_from_the_largest_down_unit_by_unit():
    made = {
        64: Context(rows_of([Piece("p1", "one two"), Piece("p2", "three")]), 3),
        2: Context(rows_of([Piece("p1", "one two")]), 2),
        128: Context([Row("too large", "p3")], 2),
    }
    sized = sizes_of(table(*context_rows("q", "graph", False, "whole", made)), 64, count)
    units = [[(row["passage_id"], row["text"], row["size"]) for row in one] for one in sized["q"]]
    assert units == [[("p1", "one two", 2), ("p2", "three", 1)], [("p1", "one two", 2)]]
    assert sizes_of(table(), 64, count) == {}


def rankings(*scorers: tuple[str, list[str]], edges=()) -> pl.DataFrame:
    """Passages best first under each scorer."""
    lines, ranked = dict(edges), [(scorer, n, p) for scorer, best in scorers for n, p in enumerate(best)]
    return TABLES["rankings"].frame([("q1", scorer, n, p, lines.get(p), 3.0 - n, False) for scorer, n, p in ranked])


PASSAGES = [("p3", 2, "Rivers freeze.", "Ann", None), ("p1", 0, "Bears eat salmon.", None, "Brown bears")]
PASSAGES += [("p2", 1, "They sleep in winter.", None, None)]
NAMES = ["bears", "salmon", "they", "winter", "brown bears"]


def rows(columns: list[str], *values: tuple) -> pl.DataFrame:
    return pl.DataFrame(values, columns, orient="row")


INPUTS = {
    "passages": rows(["passage_id", "position", "text", "speaker", "title"], *PASSAGES).with_columns(
        doc_id=pl.lit("d"), date=pl.lit(None, pl.String)
    ),
    "questions": rows(["question_id", "cluster_id", "text"], ("q1", "c", "What do bears eat?")),
    "rankings": rankings(("zsum", ["p2", "p1", "p3"]), ("zsum+neighbour", ["p3", "p1", "p2"])),
    "entities": rows(["entity_id", "text"], *enumerate(NAMES)),
    "aliases": rows(["entity_id", "representative_id"], (4, 0)),
    "relations": rows(["relation_id", "text"], (0, "eat"), (1, "sleep in")),
    "edges": rows(["edge_id", "h", "r", "t"], (0, 0, 0, 1), (1, 2, 1, 3)),
    "edge_sources": rows(
        ["doc_id", "position", "n", "passage_id", "edge_id"], ("d", 1, 0, "p2", 1), ("d", 0, 0, "p1", 0)
    ),
    "triples": rows(["doc_id", "n", "head", "relation", "tail"], ("q1", 0, "brown bears", "eat", "what")),
}


@pytest.fixture
def assembled(tmp_path, monkeypatch):
    """The contexts that the stage makes under an option of conf/assembly."""
    monkeypatch.setattr(assembling, "lm_counter", lambda model, cache: count)

    def run(name: str, pick: str = "all", **changed) -> dict[tuple[str, int], str]:
        cfg = SimpleNamespace(
            assembly=replace(compose.option(CONF, "assembly", name), budget=20),
            eval=SimpleNamespace(budgets=(3, 10)),
            lm=SimpleNamespace(model="reader"),
            embedder=compose.option(CONF, "embedder", "minilm"),
        )
        ctx = StageContext(logging.getLogger("test"), tmp_path, {}, "code")
        ctx.axes = {"pick": pick, "assembly": name, "dataset": "d"}
        outputs, run.counts = {}, ctx.counts
        assemble_contexts.run(cfg, INPUTS | changed, outputs, ctx)
        assert problems(TABLES["contexts"], outputs["contexts"]) == []
        return {(scorer, budget): text for (_, scorer, budget), text in texts(outputs["contexts"]).items()}

    return run


def test_every_scorer_of_a_list_is_written_at_every_budget_and_at_that_of_answers(assembled):
    first, other, last = "Bears eat salmon.", "They sleep in winter.", "Ann: Rivers freeze."
    expected = {("zsum", 3): first, ("zsum+neighbour", 3): last}
    for budget in (10, 20):
        expected |= {("zsum", budget): f"{other}\n{first}\n{last}"}
        expected |= {("zsum+neighbour", budget): f"{last}\n{first}\n{other}"}
    assert assembled("default+placement=best_first") == expected
    picked = assembled("default+packing=stop", "zsum")  # in which what overflows ends a context
    assert set(picked) == {("zsum", 10), ("zsum", 20)}
    for form in ("default", "lines"):
        assert assembled(form, rankings=rankings()) == {}


def test_a_passage_may_be_sent_under_its_title_which_is_paid_for(assembled):
    alone = rankings(("zsum", ["p3", "p1"]))
    found = assembled("default+titles=true", rankings=alone)
    assert found["zsum", 20] == "Brown bears: Bears eat salmon.\nAnn: Rivers freeze."
    assert ("zsum", 3) not in assembled("default+titles=true", rankings=rankings(("zsum", ["p1"])))


def test_all_of_a_group_and_the_gold_evidence_alone_stand_in_text_order(assembled):
    """What `full_context` reads: the last passage first in the ranking, in text order, until one overflows."""
    ranked = rankings(("full_context", ["p3", "p2", "p1"]), ("oracle", ["p3", "p1"]))
    found = assembled("default+budget=1792+packing=stop+placement=as_written", rankings=ranked)
    assert found["full_context", 10] == "Bears eat salmon.\nThey sleep in winter.\nAnn: Rivers freeze."
    assert found["full_context", 3] == "Ann: Rivers freeze."  # cut at its beginning
    assert found["oracle", 20] == "Bears eat salmon.\nAnn: Rivers freeze."


def test_a_form_of_the_graph_writes_edges_with_the_questions_triples_in_the_same_symbols(assembled):
    lines = "they: sleep in winter [1]\nbears: eat salmon [2]"
    assert assembled("lines", "zsum")["zsum", 20] == lines
    ranked = rankings(("graph", ["p2", "p1"]), edges=[("p2", 1), ("p1", 0)])
    assert assembled("lines", rankings=ranked)["graph", 20] == lines
    view = assembled("default+form=words", "zsum", rankings=rankings(("zsum", ["p1"])))["zsum", 20]
    assert json.loads(view.split("\n")[-1]) == {
        "questions(words)": [["bears", "eat", "what"]],
        "given knowledge(words)": [],
        "facts(words)": [["bears", "eat", "salmon"]],
    }


def test_budgets_of_published_rows_count_the_embedders_word_pieces(assembled):
    published = "default+counter=word_pieces+packing=stop+placement=best_first"
    found = assembled(published, "zsum", rankings=rankings(("zsum", ["p1"])))
    assert ("zsum", 3) not in found  # bears eat salmon .
    assert found["zsum", 10] == "Bears eat salmon."


def test_a_text_that_another_system_sent_is_read_though_it_holds_no_passage(assembled):
    asked = pl.DataFrame({"question_id": ["q1", "q2"], "cluster_id": "c", "text": "What?"})
    parts = [("q1", 0, "A report.", None), ("q1", 1, "Bears eat salmon.", "p1"), ("q2", 0, "A report alone.", None)]
    sent = pl.DataFrame(parts, ["question_id", "place", "text", "passage_id"], orient="row")
    made = rankings(("peer", ["p1"]))
    assert assembled("sent", questions=asked, sent=sent.filter(question_id="q2"), rankings=made.clear()) == {
        ("peer", budget): "A report alone." for budget in (3, 10, 20)
    }
    assert assembled("sent", questions=asked, sent=sent, rankings=made)


# Values 3, 2, 1 of p2, p1, p3: not sent from a price of 3 x 512 / 4 words = 384, of 341.3 and of 170.7 on.
@pytest.mark.parametrize(
    ("price", "mean", "sent", "short"),
    [
        (0, 10, "They sleep in winter.\nBears eat salmon.\nAnn: Rivers freeze.", "Bears eat salmon."),
        (171, 9, "They sleep in winter.\nBears eat salmon.", "Bears eat salmon."),
        (342, 6, "They sleep in winter.", ""),
        (384, 3, "", ""),  # what is worth its price exactly stays out; an empty context is a row without text
    ],
)
def test_a_passage_is_sent_where_its_value_exceeds_the_price_of_its_tokens_and_a_budget_caps(
    assembled, price, mean, sent, short
):
    expected = {("zsum", 3): short, ("zsum", 10): sent, ("zsum", 20): sent}
    assert assembled(f"default+placement=best_first+price={price}", "zsum") == expected
    assert assembled(f"default+mean_tokens={mean}+placement=best_first", "zsum") == expected
    assert assembled.counts["price"] <= price  # the lowest of those that send as many


def test_a_piece_that_no_ranked_passage_stands_behind_has_no_worth():
    form = SimpleNamespace(pieces=lambda query, ranked: [Piece(None, "A header.")], parts=lambda pieces: [2])
    with pytest.raises(ValueError, match="a piece of no ranked passage with a value"):
        Assembly(form, "refill", "best_first", None, {}).contexts(Query("?"), [Ranked("p1", None, 0.5)], [9], 0.5)
