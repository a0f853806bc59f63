"""The codebook C = (E, R, M, ...): integer ids for entities, relations and edges (paper 2.2)."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from secateur.pipeline.distinct import first_places

__all__ = ["Codebook", "edge_lines", "indexify", "line_vectors"]


@dataclass(frozen=True)
class Codebook:
    """entities(entity_id, text, count) · relations(relation_id, text, count) · edges(edge_id, h, r, t, line_id) ·
    edge_sources(doc_id, position, n, passage_id, edge_id), the last in text order."""

    entities: pl.DataFrame
    relations: pl.DataFrame
    edges: pl.DataFrame
    edge_sources: pl.DataFrame


def _dictionary(mentions: pl.Series, key: str) -> pl.DataFrame:
    """Distinct strings with dense ids by first appearance, and their counts."""
    return (
        mentions.to_frame("text")
        .group_by("text", maintain_order=True)
        .len("count")
        .with_columns(pl.col("count").cast(pl.Int32))
        .with_row_index(key)
        .with_columns(pl.col(key).cast(pl.Int32))
    )


def indexify(triples: pl.DataFrame) -> Codebook:
    """INDEXIFY (paper 2.2) as joins: ids are dense, by first appearance over documents sorted by id."""
    triples = triples.sort("doc_id", "position", "n")
    mentions = triples.select(pl.concat_list("head", "tail").alias("text")).explode("text")["text"]
    entities, relations = _dictionary(mentions, "entity_id"), _dictionary(triples["relation"], "relation_id")
    named = (
        triples.join(entities.select(h="entity_id", head="text"), on="head", maintain_order="left")
        .join(relations.select(r="relation_id", relation="text"), on="relation", maintain_order="left")
        .join(entities.select(t="entity_id", tail="text"), on="tail", maintain_order="left")
    )
    first, edge = first_places(named, ["h", "r", "t"])
    edges = named.select("h", "r", "t")[first].with_row_index("edge_id").with_columns(pl.col("edge_id").cast(pl.Int32))
    edges = edges.with_columns(line_id="edge_id")
    sources = named.select("doc_id", "position", "n", "passage_id").with_columns(
        edge_id=pl.Series(edge, dtype=pl.Int32)
    )
    return Codebook(entities, relations, edges, sources)


def edge_lines(edges: pl.DataFrame, entities: pl.DataFrame, relations: pl.DataFrame) -> pl.DataFrame:
    """edge_id, head, relation, tail and the line "head relation tail", in the order of `edges`."""
    entity, relation = entities.select("entity_id", "text"), relations.select("relation_id", "text")
    return (
        edges.select("edge_id", "h", "r", "t")
        .join(entity.rename({"text": "head"}), left_on="h", right_on="entity_id", maintain_order="left")
        .join(relation.rename({"text": "relation"}), left_on="r", right_on="relation_id", maintain_order="left")
        .join(entity.rename({"text": "tail"}), left_on="t", right_on="entity_id", maintain_order="left")
        .with_columns(line=pl.concat_str("head", "relation", "tail", separator=" "))
    )


def line_vectors(edges: pl.DataFrame, lines: pl.DataFrame) -> NDArray[np.float32]:
    """(n, d) vectors of the edges' lines, in the order of `edges`. lines: dense by line_id."""
    return lines["embedding"].to_numpy()[edges["line_id"].to_numpy()].astype(np.float32)
