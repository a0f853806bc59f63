"""Pruning by links: edges and names that lead to other articles stay longest, and topics of articles stay always."""

from types import SimpleNamespace

import polars as pl
import pytest

from secateur.graph.consolidation.prune import prune_edges, prune_names

ROWS = [  # kent is named in two articles, everest in three; dover and rome in one each
    *[("a:0", "ash", "about"), ("a:0", "kent", "name"), ("a:0", "dover", "name"), ("a:0", "a low hill", "phrase")],
    *[("b:0", "bow", "about"), ("b:0", "kent", "name"), ("b:0", "everest", "name")],
    *[("c:0", "cam", "about"), ("c:0", "everest", "name"), ("c:0", "rome", "name")],
    *[("d:0", "dee", "about"), ("d:0", "everest", "name")],
]
MENTIONS = pl.DataFrame(ROWS, schema=["passage_id", "entity", "role"], orient="row")
PASSAGES = pl.DataFrame({"passage_id": ["a:0", "b:0", "c:0", "d:0"], "doc_id": list("abcd")})


def rule(prune: str, keep: float = 1) -> SimpleNamespace:
    return SimpleNamespace(prune=prune, keep=keep, min_mentions=2, seed=7)


@pytest.mark.parametrize(
    ("prune", "keep", "names"),
    [
        ("none", 0, ["kent", "dover", "kent", "everest", "everest", "rome", "everest"]),
        ("links", 0.7, ["kent", "kent", "everest", "everest", "everest"]),  # one article links nothing
        ("links", 0.28, ["kent", "kent"]),  # the rarer link
        ("links", 0, []),
        ("frequency", 1, ["kent", "kent", "everest", "everest", "everest"]),
    ],
)
def test_names_go_by_the_rule_of_edges(prune, keep, names):
    pruned = prune_names(MENTIONS, PASSAGES, rule(prune, keep))
    assert pruned.filter(role="name")["entity"].to_list() == names
    assert pruned.filter(pl.col("role") != "name").equals(MENTIONS.filter(pl.col("role") != "name"))


def test_at_random_a_share_of_the_names_is_kept_and_a_smaller_share_is_part_of_it():
    some, few = (prune_names(MENTIONS, PASSAGES, rule("random", keep)).rows() for keep in (0.7, 0.3))
    assert (len(some), len(few)) == (5 + 5, 3 + 5)
    assert set(few) < set(some)


def test_the_edge_with_the_better_end_is_kept():
    edges = pl.DataFrame({"edge_id": [0, 1, 2], "h": [0, 2, 4], "r": [0, 0, 0], "t": [1, 3, 5]})
    sources = pl.DataFrame({"edge_id": [0, 0, 1, 2], "doc_id": ["a", "a", "b", "c"]})
    shared = pl.DataFrame({"edge_id": [0, 0, 1, 2], "doc_id": ["a", "a", "b", "b"]})
    joined = edges.with_columns(t=pl.Series([1, 5, 5]))  # entity 5 in the articles b and c
    for graph, mentions, first in ((edges, sources, 0), (edges, shared, 0), (joined, sources, 1)):
        kept, renamed, gone = prune_edges(graph, mentions, rule("links", 0.3))
        assert renamed.rows() == [(first, 0)]
        assert kept["h"].item() == graph["h"][first] and gone["reason"].unique().to_list() == ["links"]
