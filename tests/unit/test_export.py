"""The exported graph is read back as it was, whatever its texts hold."""

import json

import networkx as nx
import polars as pl
import pytest

from secateur.graph.export import to_networkx

HOSTILE = ["\"<tag>\" & 'entity' &amp; ]]>", "bell\x07 nul\x00 esc\x1b[31m", "\U0001f9e0 d\u00e9j\u00e0 vu"]
HOSTILE += ["\ufffe\uffff", "carriage\rreturn", "</data></node>", "a\x85b\u2028c"]


def tables(texts=("Alder", "mill", "Alder Ltd"), relation="bought", passages=("d:0", "d:1")):
    """Three entities, the third an alias of the first; one edge that two passages state."""
    return (
        pl.DataFrame({"entity_id": [0, 1, 2], "text": texts, "count": 2}),
        pl.DataFrame({"relation_id": [0], "text": [relation]}),
        pl.DataFrame({"entity_id": [2], "representative_id": [0]}),
        pl.DataFrame({"edge_id": [0, 1], "h": [0, 1], "r": [0, 0], "t": [1, 1]}),
        pl.DataFrame(
            {"doc_id": "d", "position": [1, 0, 2], "n": 0, "passage_id": [*passages[::-1], "d:2"], "edge_id": [0, 0, 1]}
        ),
    )


def again(tmp_path, *args, **kwargs) -> nx.MultiDiGraph:
    path = tmp_path / "g.graphml"
    nx.write_graphml_xml(to_networkx(*tables(*args, **kwargs)), path)
    return nx.read_graphml(path, node_type=int, edge_key_type=int, force_multigraph=True)


def test_networkx_reads_back_what_was_written(tmp_path):
    graph = again(tmp_path)
    assert graph.is_directed()
    assert dict(graph.nodes(data=True)) == {0: {"text": "Alder", "count": 4}, 1: {"text": "mill", "count": 2}}
    one, other = graph.edges(keys=True, data=True)
    assert (one[:3], other[:3]) == ((0, 1, 0), (1, 1, 1))
    assert (one[3]["relation"], one[3]["count"]) == ("bought", 2)
    assert json.loads(one[3]["passages"]) == ["d:0", "d:1"]


def test_an_alias_is_a_node_where_an_edge_states_it():
    entities, relations, aliases, _, sources = tables()
    edges = pl.DataFrame({"edge_id": [0], "h": [0], "r": [0], "t": [2]})
    graph = to_networkx(entities, relations, aliases, edges, sources)
    assert {node: data["count"] for node, data in graph.nodes(data=True)} == {0: 4, 1: 2, 2: 2}
    assert graph.nodes[2]["text"] == "Alder Ltd"
    bare = to_networkx(entities, relations, aliases.clear(), edges.clear(), sources.clear())
    assert (bare.number_of_nodes(), bare.number_of_edges()) == (3, 0)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_is_read_back(tmp_path, text):
    graph = again(tmp_path, texts=(text, "mill", "x"), relation=text, passages=(text, "d:1"))
    kept = "".join("\ufffd" if c in "\x00\x07\x1b\r\ufffe\uffff" else c for c in text)
    assert graph.nodes[0]["text"] == kept
    data = graph.get_edge_data(0, 1)[0]
    assert data["relation"] == kept
    assert json.loads(data["passages"]) == [text, "d:1"]
