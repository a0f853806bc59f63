"""The codebook C = (E, R, M, ...): integer ids for entities, relations and edges (paper 2.2)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import polars as pl

from secateur.core.distinct import first_places
from secateur.core.tables.vectors import Packed

__all__ = [
    "Codebook",
    "Named",
    "as_shown",
    "edge_lines",
    "indexify",
    "indexify_onto",
    "line_vectors",
    "shown_as",
    "triples_of",
]

Named = tuple[str, str, str]  # head, relation, tail
TRIPLE = ("doc_id", "position", "n", "passage_id", "head", "relation", "tail")


@dataclass(frozen=True)
class Codebook:
    """Tables of the codebook; edge_sources is in text order.

    entities(entity_id, text, count) · relations(relation_id, text, count) · edges(edge_id, h, r, t, line_id) ·
    edge_sources(doc_id, position, n, passage_id, edge_id)
    """

    entities: pl.DataFrame
    relations: pl.DataFrame
    edges: pl.DataFrame
    edge_sources: pl.DataFrame


def _dictionary(mentions: pl.Series, key: str) -> pl.DataFrame:
    """Distinct strings with counts and dense ids by first appearance."""
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
    triples = triples.select(TRIPLE).sort("doc_id", "position", "n")
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


def triples_of(triples: pl.DataFrame) -> dict[str, list[Named]]:
    """Triples by question id; questions without triples are absent."""
    of = triples.sort("doc_id", "n").group_by("doc_id", maintain_order=True).agg(pl.struct("head", "relation", "tail"))
    return {question: [tuple(triple.values()) for triple in rows] for question, rows in of.iter_rows()}


def shown_as(entities: pl.DataFrame, aliases: pl.DataFrame) -> dict[str, str]:
    """Text of the representative, by text of each alias."""
    text = entities.select("entity_id", "text")
    named = aliases.select("entity_id", "representative_id").join(text, on="entity_id")
    named = named.join(text.select(representative_id="entity_id", shown="text"), on="representative_id")
    return dict(named.select("text", "shown").iter_rows())


def as_shown(triples: Iterable[Named], shown: Mapping[str, str]) -> tuple[Named, ...]:
    """Distinct triples with aliases replaced by representatives.

    A triple whose two ends become one entity stays as written, like the graph's edges. shown: representative by alias.
    """
    ends = ((triple, shown.get(triple[0], triple[0]), shown.get(triple[2], triple[2])) for triple in triples)
    return tuple(dict.fromkeys(triple if head == tail else (head, triple[1], tail) for triple, head, tail in ends))


def indexify_onto(
    triples: pl.DataFrame, entities: pl.DataFrame, relations: pl.DataFrame, edges: pl.DataFrame
) -> tuple[pl.Series, pl.DataFrame]:
    """INDEXIFY (paper 2.2) of a session's triples onto a corpus's codebook: (edge of each triple, new edges).

    triples: head, relation, tail, with representatives. New edges: edge_id, h, r, t, head, relation, tail; ids of new
    edges and symbols continue the codebook's.
    """

    def extended(texts: pl.DataFrame, key: str, mentions: pl.Series) -> pl.DataFrame:
        new = (
            mentions.unique(maintain_order=True)
            .to_frame("text")
            .join(texts, on="text", how="anti", maintain_order="left")
        )
        first = int(texts[key].max() or 0) + bool(texts.height)
        added = new.with_columns(pl.int_range(first, first + pl.len(), dtype=pl.Int32).alias(key))
        return pl.concat([texts.select("text", key), added.select("text", key)])

    mentions = triples.select(pl.concat_list("head", "tail").alias("text")).explode("text")["text"]
    entity = extended(entities, "entity_id", mentions)
    relation = extended(relations, "relation_id", triples["relation"])
    named = (
        triples.select("head", "relation", "tail")
        .join(entity.select(h="entity_id", head="text"), on="head", maintain_order="left")
        .join(relation.select(r="relation_id", relation="text"), on="relation", maintain_order="left")
        .join(entity.select(t="entity_id", tail="text"), on="tail", maintain_order="left")
        .join(edges.select("h", "r", "t", "edge_id"), on=["h", "r", "t"], how="left", maintain_order="left")
    )
    fresh = named.filter(pl.col("edge_id").is_null()).unique(["h", "r", "t"], keep="first", maintain_order=True)
    first = int(edges["edge_id"].max() or 0) + bool(edges.height)
    fresh = fresh.with_columns(edge_id=pl.int_range(first, first + pl.len(), dtype=pl.Int32))
    ids = named.join(fresh.select("h", "r", "t", new="edge_id"), on=["h", "r", "t"], how="left", maintain_order="left")
    return ids.select(pl.coalesce("edge_id", "new"))["edge_id"], fresh.select(
        "edge_id", "h", "r", "t", "head", "relation", "tail"
    )


def edge_lines(edges: pl.DataFrame, entities: pl.DataFrame, relations: pl.DataFrame) -> pl.DataFrame:
    """Edges with head, relation, tail and the line "head relation tail", in the order of `edges`."""
    entity, relation = entities.select("entity_id", "text"), relations.select("relation_id", "text")
    return (
        edges.select("edge_id", "h", "r", "t")
        .join(entity.rename({"text": "head"}), left_on="h", right_on="entity_id", maintain_order="left")
        .join(relation.rename({"text": "relation"}), left_on="r", right_on="relation_id", maintain_order="left")
        .join(entity.rename({"text": "tail"}), left_on="t", right_on="entity_id", maintain_order="left")
        .with_columns(line=pl.concat_str("head", "relation", "tail", separator=" "))
    )


def line_vectors(edges: pl.DataFrame, lines: Packed) -> Packed:
    """Vectors of the edges' lines, in the order of `edges`. lines: by line_id."""
    return lines.at(edges["line_id"].to_numpy())
