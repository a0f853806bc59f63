"""Which questions the report draws, with which edges, and that every edge and entity has its place in the drawing."""

import xml.etree.ElementTree as ET
from types import SimpleNamespace

import polars as pl
from hypothesis import given
from hypothesis import strategies as st
from scripts.sample_questions import _chosen, _edges, _kept

from secateur.report.plots.subgraph import Drawn, draw, layout
from secateur.report.trace import Trace


def trace(*gold: str) -> Trace:
    """A question whose context is one whole sentence, then lines of two others. gold: passages of its evidence."""
    rows = [("p1", True, []), ("p2", False, [4, 5]), ("p3", False, [4, 6])]
    context = [{"passage_id": passage, "whole": whole, "edge_ids": edges} for passage, whole, edges in rows]
    evidence = [{"passage_id": passage, "text": ""} for passage in gold]
    return Trace(question={}, evidence=evidence, context=context, figures={}, answer=None, steps={})


def settings(samples: int, seed: int = 7, split: str = "test") -> SimpleNamespace:
    return SimpleNamespace(eval=SimpleNamespace(samples=samples, seed=seed), dataset=SimpleNamespace(split=split))


def questions(count: int) -> pl.DataFrame:
    split = ["test" if n % 2 else "train" for n in range(count)]
    return pl.DataFrame({"question_id": [f"q{n}" for n in range(count)], "position": range(count), "split": split})


def test_hits_and_misses_of_the_reported_split_take_turns_as_the_seed_decides():
    exact = {f"q{n}": float(n % 4 == 1) for n in range(40)}
    drawn = _chosen(settings(6), questions(40), exact)
    assert [exact[q] for q in drawn] == [1, 0, 1, 0, 1, 0]
    assert all(int(q[1:]) % 2 for q in drawn)
    assert drawn == _chosen(settings(6), questions(40), exact) != _chosen(settings(6, seed=8), questions(40), exact)
    for known in ({"q1": 0.0, "q2": 0.5}, {}):  # without hits; without evidence
        assert len(_chosen(settings(3, split="all"), questions(8), known)) == 3


def test_a_whole_sentence_stands_for_its_edges_and_gold_wins_where_an_edge_occurs_twice():
    edges = _edges(trace("p3"), {"p1": [1, 2], "p2": [4, 5, 9]})
    of_p1, of_p2 = [(1, "p1", False, True), (2, "p1", False, True)], (5, "p2", False, False)
    assert edges == [*of_p1, (4, "p3", True, False), of_p2, (6, "p3", True, False)]
    many = [(n, "p", n in (3, 5), False) for n in range(6)]
    assert [edge for edge, *_ in _kept(many, 4)] == [0, 1, 3, 5]  # gold before others, in the order of the context


def test_evidence_is_whole_as_lines_absent_or_unresolved():
    assert [trace().presence(p) for p in ("p1", "p2", "p9", None)] == ["whole", "lines", "absent", "unresolved"]


NAMES = st.sampled_from("abcdefgh")
EDGES = st.lists(
    st.builds(Drawn, NAMES, st.sampled_from(["r", "s"]), NAMES, st.booleans(), st.booleans()),
    max_size=30,
    unique_by=lambda e: (e.head, e.relation, e.tail),
).map(lambda edges: [e for e in edges if e.head != e.tail])


@given(EDGES)
def test_every_edge_is_drawn_once_between_the_boxes_of_its_ends_and_every_entity_has_one_box(edges):
    boxes, rows = layout(edges)
    assert sorted(map(repr, edges)) == sorted(repr(row.edge) for row in rows)
    assert len({(row.column, row.row) for row in rows}) == len(rows)
    own = [box.entity for box in boxes if not box.again]
    assert sorted(own) == sorted({end for e in edges for end in (e.head, e.tail)})
    assert max((box.column for box in boxes), default=0) <= 2  # no wider than the page
    at = {(box.column, box.row): box.entity for box in boxes}
    assert len(at) == len(boxes)
    for row in rows:
        ends = at[row.column, row.above], at[row.column + 1, row.row]
        assert ends == ((row.edge.head, row.edge.tail) if row.forward else (row.edge.tail, row.edge.head))


@given(EDGES)
def test_a_drawing_is_wellformed_and_deterministic(edges):
    svg = draw(edges, frozenset("a"), 'a "question" & its <context>')
    assert ET.fromstring(svg).tag == "svg"
    assert svg == draw(edges, frozenset("a"), 'a "question" & its <context>')


def test_a_long_label_is_cut_and_kept_whole_as_a_tooltip_and_none_breaks_out_of_the_drawing():
    long = "an entity whose surface form is far too long for its box"
    svg = draw([Drawn("bear", "eats", long)], frozenset(), "x")
    (text,) = [node for node in ET.fromstring(svg).iter("text") if node[0].text == long]
    assert text.text.endswith("…")
    assert len(text.text) < len(long)
    svg = draw([Drawn("<script>", 'r"&', "</svg>")], frozenset(), "x")
    assert {node.tag for node in ET.fromstring(svg).iter()} <= {"svg", "path", "polygon", "rect", "text", "title"}
