"""Alias groups among the entities, and the codebook, provenance and runs remapped to representatives."""

from types import SimpleNamespace

import numpy as np
import polars as pl

from secateur.core.tables.catalog import TABLES
from secateur.graph.consolidation.alias_file import read_aliases
from secateur.graph.consolidation.compress import Budget, compress, same_tokens
from secateur.graph.consolidation.groups import acronyms, groups, medoids, range_pairs
from secateur.graph.consolidation.guards import blocked_by
from secateur.graph.consolidation.neighbours import approximate_pairs
from secateur.graph.consolidation.prune import prune_rare
from secateur.graph.consolidation.remap import remap_edges, remap_mentions
from secateur.graph.consolidation.screen import Pairs
from secateur.stage.contract import main


def _entities(inputs) -> SimpleNamespace:
    """texts; vectors (n, d), unit rows in fp32; place: surface form -> id."""
    entities = inputs["entities"].sort("entity_id")
    texts, vectors = entities["text"].to_list(), entities["embedding"].to_numpy().astype(np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return SimpleNamespace(texts=texts, vectors=vectors, place={text: n for n, text in enumerate(texts)})


def _near(cfg, vectors: np.ndarray) -> Pairs:
    """The pairs that layer 1 may merge, and those of layer 2 where there may be more entities than the budget allows."""
    c = cfg.consolidation
    tau = min(c.tau, c.floor) if len(vectors) > c.budget else c.tau
    return range_pairs(vectors, tau) if len(vectors) <= c.exact_limit else approximate_pairs(vectors, tau, c.probes)


def _from(pairs: Pairs, tau: float) -> Pairs:
    """Those of a cosine of tau and more."""
    near = pairs[2] >= tau
    return tuple(part[near] for part in pairs)


def _within_budget(cfg, e: SimpleNamespace, pairs: Pairs, members: dict, forbidden, ctx) -> dict:
    """Layer 2, where layer 1 leaves more entities than may remain."""
    c = cfg.consolidation
    if len(members) <= c.budget:
        return members

    def blocked(a: int, b: int) -> bool:
        return forbidden(a, b) or (c.guarded and blocked_by(e.texts[a], e.texts[b]) is not None)

    pairs = _from(pairs, c.floor)
    pairs = same_tokens(e.texts, pairs) if c.guarded else pairs
    found = compress(e.vectors, pairs, members, Budget(c.budget, c.floor, c.iterations, c.seed), blocked)
    if len(found) > c.budget:
        ctx.warn(
            f"{len(found)} entities remain, consolidation.budget is {c.budget}: the rest lie below cosine {c.floor} "
            "or are kept apart by guards"
        )
    ctx.counts |= {"over_budget": max(0, len(found) - c.budget), "merged_for_budget": len(members) - len(found)}
    return found


def _aliases(cfg, inputs, ctx) -> pl.DataFrame:
    c, e = cfg.consolidation, _entities(inputs)
    given = inputs.paths("forced")
    forced, listed = read_aliases(given[0], e.place) if given else ([], frozenset())

    def forbidden(a: int, b: int) -> bool:
        return frozenset((a, b)) in listed

    short = acronyms(inputs["passages"]["text"]) if c.guarded else {}
    acronym_pairs = [(e.place[a], e.place[b]) for a, b in sorted(short.items()) if a in e.place and b in e.place]
    pairs = _near(cfg, e.vectors)
    near = _from(pairs, c.tau)
    settings = {"link": c.tau - c.slack, "guarded": c.guarded, "forced": forced, "forbidden": forbidden}
    made, rule = groups(e.texts, e.vectors, near, short_forms=acronym_pairs, **settings)
    ctx.counts |= {"pairs": len(near[0]), "groups": len(made), "acronyms": len(acronym_pairs)}
    first = {entity: keep for group, keep in zip(made, medoids(e.vectors, made), strict=True) for entity in group}
    members = {n: [n] for n in range(len(e.texts)) if n not in first}
    members |= {first[group[0]]: group for group in made}
    rows = [
        (
            n,
            keep,
            e.texts[n],
            e.texts[keep],
            float(e.vectors[n] @ e.vectors[keep]),
            rule[n] if first.get(n) == keep else "budget",
        )
        for keep, group in _within_budget(cfg, e, pairs, members, forbidden, ctx).items()
        for n in group
        if n != keep
    ]
    return pl.DataFrame(rows, schema=TABLES["aliases"].empty().schema, orient="row")


def run(cfg, inputs, outputs, ctx):
    c = cfg.consolidation
    aliases = _aliases(cfg, inputs, ctx) if c.merge else TABLES["aliases"].empty()
    edges, kept = remap_edges(inputs["edges"], aliases)
    sources = remap_mentions(inputs["edge_sources"], kept, ["passage_id"])
    runs = remap_mentions(inputs["run_edges"], kept, ["run_id", "passage_id"])
    gone = TABLES["tombstones"].empty()
    if c.prune == "frequency":
        edges, kept, gone = prune_rare(edges, sources, c.min_mentions)
        sources = remap_mentions(sources, kept, ["passage_id"])
        runs = remap_mentions(runs, kept, ["run_id", "passage_id"])
    outputs["aliases"], outputs["edges"], outputs["tombstones"] = aliases, edges, gone
    outputs["edge_sources"], outputs["run_edges"] = sources, runs
    return {
        "aliases": aliases.height,
        "edges": edges.height,
        "edges_before": inputs["edges"].height,
        "tombstones": gone.height,
    }


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
