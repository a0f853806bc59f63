"""The consolidated graph as a networkx graph whose texts GraphML can carry."""

import json
import re

import networkx as nx
import polars as pl

__all__ = ["to_networkx"]

FORBIDDEN = re.compile(
    r"[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)  # characters that XML 1.0 does not preserve


def _text(value: str) -> str:
    """Text for XML: control characters and unpaired surrogates become U+FFFD."""
    return FORBIDDEN.sub("\ufffd", value)


def to_networkx(
    entities: pl.DataFrame,
    relations: pl.DataFrame,
    aliases: pl.DataFrame,
    edges: pl.DataFrame,
    edge_sources: pl.DataFrame,
) -> nx.MultiDiGraph:
    """The consolidated graph.

    Nodes: entity ids with text and count (mentions of aliases included). Edges: edge ids with relation, count and
    passages, a JSON list of ids in text order. An alias is a node only if an edge that states the alias keeps it.
    """
    shown = pl.coalesce("representative_id", "entity_id")
    mentions = (
        entities.select("entity_id", "count")
        .join(aliases.select("entity_id", "representative_id"), on="entity_id", how="left")
        .group_by(shown.alias("entity_id"))
        .agg(mentions=pl.col("count").sum())
    )
    in_edges = pl.concat([edges["h"], edges["t"]]).unique()
    nodes = (
        entities.select("entity_id", "text", "count")
        .join(mentions, on="entity_id", how="left")
        .filter(pl.col("mentions").is_not_null() | pl.col("entity_id").is_in(in_edges.implode()))
        .with_columns(count=pl.coalesce("mentions", "count"))
        .sort("entity_id")
    )
    sources = edge_sources.sort("doc_id", "position", "n").group_by("edge_id", maintain_order=True).agg("passage_id")
    rows = (
        edges.select("edge_id", "h", "r", "t")
        .join(relations.select(r="relation_id", relation="text"), on="r")
        .join(sources, on="edge_id", how="left")
        .sort("edge_id")
    )
    graph = nx.MultiDiGraph()
    for entity, count, text in nodes.select("entity_id", "count", "text").iter_rows():
        graph.add_node(entity, text=_text(text), count=count)
    for edge, h, t, relation, passages in rows.select("edge_id", "h", "t", "relation", "passage_id").iter_rows():
        ids = json.dumps(list(dict.fromkeys(passages or ())))
        graph.add_edge(h, t, key=edge, relation=_text(relation), count=len(passages or ()), passages=ids)
    return graph
