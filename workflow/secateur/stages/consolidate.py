"""Alias groups among the entities, and the codebook, provenance and runs remapped to representatives."""

import numpy as np
import polars as pl

from secateur.alias_file import read_aliases
from secateur.consolidate import acronyms, groups, medoids, range_pairs
from secateur.remap import remap_edges, remap_mentions
from secateur.tables import TABLES


def _aliases(cfg, inputs, ctx) -> pl.DataFrame:
    entities = inputs["entities"].sort("entity_id")
    texts, vectors = entities["text"].to_list(), entities["embedding"].to_numpy().astype(np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    place = {text: n for n, text in enumerate(texts)}
    given = inputs.paths("forced")
    forced, forbidden = read_aliases(given[0], place) if given else ([], frozenset())
    short = acronyms(inputs["passages"]["text"]) if cfg.consolidation.guarded else {}
    pairs = [(place[a], place[b]) for a, b in sorted(short.items()) if a in place and b in place]
    near = range_pairs(vectors, cfg.consolidation.tau)
    made, rule = groups(
        texts,
        vectors,
        near,
        link=cfg.consolidation.tau - cfg.consolidation.slack,
        guarded=cfg.consolidation.guarded,
        forced=forced,
        forbidden=lambda a, b: frozenset((a, b)) in forbidden,
        short_forms=pairs,
    )
    ctx.counts |= {"pairs": len(near[0]), "groups": len(made), "acronyms": len(pairs)}
    rows = [
        (entity, keep, texts[entity], texts[keep], float(vectors[entity] @ vectors[keep]), rule[entity])
        for group, keep in zip(made, medoids(vectors, made), strict=True)
        for entity in group
        if entity != keep
    ]
    return pl.DataFrame(rows, schema=TABLES["aliases"].empty().schema, orient="row")


def run(cfg, inputs, outputs, ctx):
    aliases = _aliases(cfg, inputs, ctx) if cfg.consolidation.merge else TABLES["aliases"].empty()
    edges, kept = remap_edges(inputs["edges"], aliases)
    outputs["aliases"], outputs["edges"] = aliases, edges
    outputs["edge_sources"] = remap_mentions(inputs["edge_sources"], kept, ["passage_id"])
    outputs["run_edges"] = remap_mentions(inputs["run_edges"], kept, ["run_id", "passage_id"])
    return {"aliases": aliases.height, "edges": edges.height, "edges_before": inputs["edges"].height}
