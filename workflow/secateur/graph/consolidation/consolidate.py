"""Consolidation (paper 2.7): alias groups of entities, then codebook, provenance and runs remapped to them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.graph.consolidation.alias_file import read_aliases
from secateur.graph.consolidation.compress import Budget, Members, compress, same_tokens
from secateur.graph.consolidation.groups import alias_groups, medoids, range_pairs
from secateur.graph.consolidation.guards import blocked_by
from secateur.graph.consolidation.neighbours import approximate_pairs
from secateur.graph.consolidation.prune import prune_edges
from secateur.graph.consolidation.remap import remap_edges, remap_mentions
from secateur.graph.consolidation.screen import Pairs
from secateur.ranking.acronyms import acronyms

__all__ = ["Graph", "aliases_of", "consolidate", "consolidated"]


@dataclass(frozen=True)
class Graph:
    """Tables of a consolidated graph."""

    aliases: pl.DataFrame
    edges: pl.DataFrame
    tombstones: pl.DataFrame
    edge_sources: pl.DataFrame
    run_edges: pl.DataFrame


def consolidate(
    cfg,
    passages: pl.DataFrame,
    entities: pl.DataFrame,
    edges: pl.DataFrame,
    sources: pl.DataFrame,
    runs: pl.DataFrame,
    ctx,
) -> Graph:
    """The graph without aliases. cfg: the option `consolidation`; runs: the table `run_edges`."""
    forced = Path(cfg.aliases) if cfg.aliases else None
    if forced and not forced.is_file():
        raise SecateurError(f"consolidation.aliases: no file {forced}. Fix: correct the path, or leave it out.")
    return consolidated(cfg, aliases_of(cfg, entities, passages, forced, ctx), edges, sources, runs)


def consolidated(
    cfg, aliases: pl.DataFrame, edges: pl.DataFrame, edge_sources: pl.DataFrame, run_edges: pl.DataFrame
) -> Graph:
    """The graph with aliases replaced by representatives, and edges pruned if configured.

    cfg: the option `consolidation`.
    """
    remapped, kept = remap_edges(edges, aliases)
    sources = remap_mentions(edge_sources, kept, ["passage_id"])
    runs = remap_mentions(run_edges, kept, ["run_id", "passage_id"])
    tombstones = TABLES["tombstones"].empty()
    if cfg.prune != "none":
        remapped, kept, tombstones = prune_edges(remapped, sources, cfg)
        sources = remap_mentions(sources, kept, ["passage_id"])
        runs = remap_mentions(runs, kept, ["run_id", "passage_id"])
    return Graph(aliases, remapped, tombstones, sources, runs)


def aliases_of(cfg, entities: pl.DataFrame, passages: pl.DataFrame, alias_file: Path | None, ctx) -> pl.DataFrame:
    """The table `aliases`: layer 1 (cosine, normal forms, acronyms), then layer 2 above the budget.

    cfg: the option `consolidation`; alias_file: forced and forbidden pairs.
    """
    if not cfg.merge:
        return TABLES["aliases"].empty()
    entities = entities.sort("entity_id")
    texts, vectors = entities["text"].to_list(), entities["embedding"].to_numpy().astype(np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    place = {text: n for n, text in enumerate(texts)}
    forced, listed, unknown = read_aliases(alias_file, place) if alias_file else ([], frozenset(), [])
    if unknown:
        ctx.warn(f"{alias_file}: forms that are no entity of this corpus: {len(unknown)}, such as {unknown[0]!r}")

    def forbidden(a: int, b: int) -> bool:
        return frozenset((a, b)) in listed

    short = acronyms(passages["text"]) if cfg.guarded else {}
    short_forms = [(place[a], place[b]) for a, b in sorted(short.items()) if a in place and b in place]
    budget = _budget(cfg, len(texts))
    pairs = _near(cfg, vectors, budget)
    near = _at_least(pairs, cfg.tau)
    settings = {
        "link": cfg.tau - cfg.slack,
        "guarded": cfg.guarded,
        "forced": forced,
        "forbidden": listed,
        "apart": cfg.apart,
    }
    merged, rules = alias_groups(texts, vectors, near, short_forms=short_forms, **settings)
    ctx.counts |= {"pairs": len(near[0]), "groups": len(merged), "acronyms": len(short_forms)}
    medoid_of = {n: medoid for group, medoid in zip(merged, medoids(vectors, merged), strict=True) for n in group}
    members: Members = {n: [n] for n in range(len(texts)) if n not in medoid_of}
    members |= {medoid_of[group[0]]: group for group in merged}
    rows = []
    for representative, group in _within_budget(cfg, budget, texts, vectors, pairs, members, forbidden, ctx).items():
        for n in group:
            if n != representative:
                cosine = float(vectors[n] @ vectors[representative])
                rule = rules[n] if medoid_of.get(n) == representative else "budget"
                rows.append((n, representative, texts[n], texts[representative], cosine, rule))
    return TABLES["aliases"].frame(rows)


def _budget(cfg, entities: int) -> int:
    """Maximum entities; below 1, `budget` is their share."""
    return int(cfg.budget) if cfg.budget >= 1 else max(1, round(cfg.budget * entities))


def _near(cfg, vectors: NDArray[np.float32], budget: int) -> Pairs:
    """Candidate pairs of layer 1, and of layer 2 if the budget may be exceeded."""
    tau = min(cfg.tau, cfg.floor) if len(vectors) > budget else cfg.tau
    exact = len(vectors) <= cfg.exact_limit
    return range_pairs(vectors, tau) if exact else approximate_pairs(vectors, tau, cfg.probes)


def _at_least(pairs: Pairs, tau: float) -> Pairs:
    """Pairs with cosine >= tau."""
    near = pairs[2] >= tau
    return tuple(part[near] for part in pairs)


def _within_budget(
    cfg,
    budget: int,
    texts: list[str],
    vectors: NDArray[np.float32],
    pairs: Pairs,
    members: Members,
    forbidden: Callable[[int, int], bool],
    ctx,
) -> Members:
    """Groups after layer 2, which runs if layer 1 leaves more entities than the budget."""
    if len(members) <= budget:
        return members

    def blocked(a: int, b: int) -> bool:
        return forbidden(a, b) or (cfg.guarded and blocked_by(texts[a], texts[b], cfg.apart) is not None)

    pairs = _at_least(pairs, cfg.floor)
    pairs = same_tokens(texts, pairs) if cfg.guarded else pairs
    remaining = compress(vectors, pairs, members, Budget(budget, cfg.floor, cfg.iterations, cfg.seed), blocked)
    if len(remaining) > budget:
        ctx.warn(
            f"{len(remaining)} entities remain, consolidation.budget is {budget}: further merges are below cosine "
            f"{cfg.floor} or blocked by guards"
        )
    ctx.counts |= {"over_budget": max(0, len(remaining) - budget), "merged_for_budget": len(members) - len(remaining)}
    return remaining
