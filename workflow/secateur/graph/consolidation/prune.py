"""Pruning (paper 2.7): which edges of triples, and which mentions of names, a graph keeps.

A walk reads names besides triples. A mention joins a passage and a name as an edge joins two entities, so one rule
prunes both. Topics of articles stay: a title belongs to its passages, whatever the graph keeps.
"""

import math

import numpy as np
import polars as pl
from numpy.typing import NDArray

from secateur.core.distinct import distinct_pairs
from secateur.ranking.mentions import NAME, PHRASE

__all__ = ["link_worth", "prune_edges", "prune_names"]


def link_worth(symbols: NDArray[np.integer], articles: NDArray[np.integer], count: int) -> NDArray[np.float64]:
    """(count,) worth of each symbol as a link: its idf over articles, 0 in a single article, where it links nothing.

    symbols, articles: (mentions,) symbol of each mention and the place of its article.

    >>> link_worth(np.array([0, 0, 1, 1, 2]), np.array([0, 1, 0, 0, 2]), 3).round(3).tolist()
    [0.208, 0.0, 0.0]
    """
    frequency = np.bincount(distinct_pairs(symbols, articles)[0], minlength=count)
    total = len(np.unique(articles)) + 1
    return np.where(frequency > 1, np.log(total / (frequency + 1)) / math.log(max(total, 2)), 0.0)


def prune_edges(edges: pl.DataFrame, sources: pl.DataFrame, cfg) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """(kept edges with new dense ids, new ids as columns edge_id, kept, tombstones: the pruned edges).

    sources: one row per mention; cfg: the option `consolidation`. An edge is worth the better of its ends.
    """
    counted = edges.join(sources.group_by("edge_id").len("count"), on="edge_id", how="left", maintain_order="left")
    counted = counted.with_columns(pl.col("count").fill_null(0).cast(pl.Int32))

    def worth() -> NDArray[np.float64]:
        stated = sources.join(edges, on="edge_id")
        _, articles = np.unique(stated["doc_id"].to_numpy(), return_inverse=True)
        count = int(edges.select(pl.max_horizontal("h", "t").max()).item() or 0) + 1
        links = link_worth(pl.concat([stated["h"], stated["t"]]).to_numpy(), np.tile(articles, 2), count)
        return np.maximum(links[edges["h"].to_numpy()], links[edges["t"].to_numpy()])

    keeps = pl.Series(_kept(cfg, counted["count"].to_numpy(), worth))
    remaining = counted.filter(keeps)
    kept = remaining.select("edge_id", kept=pl.int_range(pl.len(), dtype=pl.Int32))
    tombstones = counted.filter(~keeps).select("edge_id", "h", "r", "t", "count", reason=pl.lit(cfg.prune))
    return remaining.select(edges.columns).with_columns(edge_id=kept["kept"]), kept, tombstones


def prune_names(mentions: pl.DataFrame, passages: pl.DataFrame, cfg) -> pl.DataFrame:
    """The table `mentions` with names pruned by the rule of edges. Topics stay, phrases went with their edges.

    A name that is also a phrase of the passage's triples has one row, as a name. cfg: the option `consolidation`.
    """
    is_name = mentions["role"] == NAME
    if cfg.prune == "none" or not is_name.any():
        return mentions
    entity = mentions["entity"].rank("dense").to_numpy().astype(np.int64) - 1
    pruned, walked = is_name.to_numpy(), (mentions["role"] != PHRASE).to_numpy()

    def worth() -> NDArray[np.float64]:
        docs = mentions.join(passages.select("passage_id", "doc_id"), on="passage_id", maintain_order="left")["doc_id"]
        _, articles = np.unique(docs.to_numpy(), return_inverse=True)
        return link_worth(entity[walked], articles[walked], int(entity.max()) + 1)[entity[pruned]]

    keeps = np.ones(len(pruned), bool)
    keeps[pruned] = _kept(cfg, np.bincount(entity[walked])[entity[pruned]], worth)
    return mentions.filter(pl.Series(keeps))


def _kept(cfg, counts: NDArray[np.integer], worth) -> NDArray[np.bool_]:
    """(n,) whether the rule of `cfg.prune` keeps each of n edges. counts: mentions of each; worth: makes that of each.

    What a smaller share keeps, a larger one keeps too. Ties go to more mentions, then to the earlier edge.
    """
    if cfg.prune == "none":
        return np.ones(len(counts), bool)
    if cfg.prune == "frequency":
        return counts >= cfg.min_mentions
    places = np.arange(len(counts))
    random = cfg.prune == "random"
    order = np.random.default_rng(cfg.seed).permutation(places) if random else np.lexsort((places, -counts, -worth()))
    keeps = np.zeros(len(counts), bool)
    keeps[order[: math.ceil(round(cfg.keep * len(counts), 6))]] = True
    return keeps
