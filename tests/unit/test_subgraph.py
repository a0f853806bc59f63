"""Drawings of sampled questions: every edge and entity has its place, and equal edges give equal bytes."""

import xml.etree.ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from secateur.report.plots.subgraph import Drawn, draw, layout

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
