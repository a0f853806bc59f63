"""A session's prompt as text and as symbols: all channels in one codebook, whatever is shown of them."""

import numpy as np
import polars as pl
import pytest

from secateur.contexts.encodings import ENCODINGS, RULES, decode
from secateur.contexts.piece import Edge, Query, text_of
from secateur.contexts.session import Textual, Unit, fact_unit
from secateur.graph.codebook import as_shown, indexify, indexify_onto, shown_as
from secateur.graph.material import session_material


def ids(**columns: list) -> pl.DataFrame:
    """A table whose integers are ids."""
    return pl.DataFrame(columns).with_columns(pl.col(pl.Int64).cast(pl.Int32))


ENTITIES = ids(entity_id=[0, 1, 2, 3], text=["Ann", "Leeds", "mill", "A. Lee"])
RELATIONS = ids(relation_id=[0, 1], text=["lives in", "works at"])
EDGES = ids(edge_id=[0, 1], h=[0, 0], r=[0, 1], t=[1, 2])
TRIPLES = {0: ("Ann", "lives in", "Leeds"), 1: ("Ann", "works at", "mill")}
ASKED = Query("Where is the mill?", (("mill", "is in", "what"),))
BEFORE = Unit("question", "Who lives in Leeds?", "q1 question", (("who", "lives in", "Leeds"),))
SAID = Unit("answer", "Ann does.", "q1 answer", (("Ann", "lives in", "Leeds"),))
SILENT = Unit("answer", "Yes.", "q0 answer")
FACTS = [Unit("facts", " ".join(TRIPLES[n]), f"p{n}", (), (Edge(n, TRIPLES[n]),)) for n in (0, 1)]


def count(texts):
    return np.array([len(text.split()) for text in texts])


def symbolic(encoding):
    write, edges = session_material({"kind": encoding}, count, ENTITIES, RELATIONS, EDGES)
    assert {n: edge.triple for n, edge in edges.items()} == TRIPLES
    return write


def channels(encoding, units):
    text = text_of(symbolic(encoding)(ASKED, units)).removeprefix(RULES.get(encoding, "") + "\n")
    return decode(encoding, text, list(TRIPLES.values()) + [*ASKED.triples, *BEFORE.triples])


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_all_channels_are_one_view_of_one_codebook(encoding):
    own = ASKED.triples if encoding in RULES else ()
    asked, known, facts = channels(encoding, [FACTS[0], BEFORE, SAID, SILENT, FACTS[1]])
    assert (asked, known) == ((*own, *BEFORE.triples), SAID.triples)
    assert facts == (TRIPLES[0], TRIPLES[1])
    _, known, facts = channels(encoding, [BEFORE, SAID])  # without a fact
    assert (known, facts) == (SAID.triples, ())


@pytest.mark.parametrize("encoding", [*ENCODINGS, "cheapest"])
def test_nothing_is_written_of_nothing(encoding):
    assert symbolic(encoding)(ASKED, [SILENT]) == []


def test_a_fact_keeps_the_passage_that_it_comes_from_and_other_rows_have_none():
    rows = symbolic("matrix")(ASKED, [*FACTS, BEFORE])
    assert [(row.passage_id, row.edge_ids) for row in rows if row.edge_ids] == [("p0", (0,)), ("p1", (1,))]
    assert {row.passage_id for row in rows if not row.edge_ids} == {None}


def test_forms_of_text_write_a_line_for_each_unit_in_the_order_given():
    write, edges = session_material({"kind": "whole"}, count, ENTITIES, RELATIONS, EDGES)
    assert isinstance(write, Textual)
    assert edges == {}
    expected = "Ann works at mill\nAsked before: Who lives in Leeds?\nAnswered before: Ann does."
    assert text_of(write(ASKED, [FACTS[1], BEFORE, SAID])) == expected


def test_rows_that_only_stand_around_facts_are_none():
    row = {"edge_ids": [1], "text": "[0,1,2]]}", "passage_id": "p1", "whole": False}
    known = {n: Edge(n, triple) for n, triple in TRIPLES.items()}
    assert fact_unit(row, known) == FACTS[1]
    assert fact_unit(row | {"edge_ids": [], "text": '{"e":["Ann"]'}, known) is None
    assert fact_unit(row | {"text": "Ann works at the mill.\n"}, {}).text == "Ann works at the mill."


def frame(*triples):
    return pl.DataFrame(triples, schema=dict.fromkeys(("head", "relation", "tail"), pl.String), orient="row")


def test_known_triples_have_the_graphs_edges_and_new_ones_ids_that_go_on():
    said = frame(*[TRIPLES[1], ("who", "lives in", "Leeds")] * 2, ("Ann", "left", "who"))
    edges, added = indexify_onto(said, ENTITIES, RELATIONS, EDGES)
    assert edges.to_list() == [1, 2, 1, 2, 3]
    assert added.rows() == [(2, 4, 0, 1, "who", "lives in", "Leeds"), (3, 0, 2, 4, "Ann", "left", "who")]


def test_onto_an_empty_codebook_it_is_indexify():
    said = frame(*TRIPLES.values())
    place = {"doc_id": pl.lit("d"), "position": 0, "n": pl.int_range(pl.len()), "passage_id": pl.lit("p")}
    whole = indexify(said.with_columns(**place))
    edges, added = indexify_onto(said, ENTITIES.clear(), RELATIONS.clear(), EDGES.clear())
    assert edges.to_list() == whole.edge_sources["edge_id"].to_list()
    assert added.select("edge_id", "h", "r", "t").rows() == whole.edges.select("edge_id", "h", "r", "t").rows()
    edges, added = indexify_onto(frame(), ENTITIES, RELATIONS, EDGES)
    assert (edges.to_list(), added.rows()) == ([], [])


def test_an_alias_is_shown_as_its_representative():
    assert shown_as(ENTITIES, ids(entity_id=[3], representative_id=[0])) == {"A. Lee": "Ann"}
    written = [("A. Lee", "left", "Leeds"), ("Ann", "left", "Leeds"), ("A. Lee", "is", "Ann")]
    assert as_shown(written, {"A. Lee": "Ann"}) == (("Ann", "left", "Leeds"), ("A. Lee", "is", "Ann"))
