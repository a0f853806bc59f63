"""Count the distinct symbols, edges and runs of a graph against the passages read (paper, figure 6)."""

import math

import numpy as np

from secateur.core.tables.catalog import TABLES
from secateur.graph.growth import growth
from secateur.stage.contract import main

WORKSPACE = ("passages", "entities", "relations", "edges", "lines", "edge_sources", "run_edges", "aliases")


def _mentions(inputs) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """By kind: (ids, places of their passages in text order) of every mention, after consolidation."""
    order = inputs["passages"].sort("doc_id", "position").select("passage_id").with_row_index("place")
    mentions, runs = (inputs[name].join(order, on="passage_id") for name in ("edge_sources", "run_edges"))
    edge, place = mentions["edge_id"].to_numpy(), mentions["place"].to_numpy()
    h, r, t = (inputs["edges"][name].to_numpy()[edge] for name in ("h", "r", "t"))
    return {
        "entities": (np.concatenate([h, t]), np.concatenate([place, place])),
        "relations": (r, place),
        "edges": (edge, place),
        "runs": (runs["run_id"].to_numpy(), runs["place"].to_numpy()),
    }


def run(cfg, inputs, outputs, ctx):
    shares, total = cfg.eval.read_shares, inputs["passages"].height
    read = [math.ceil(share * total) for share in shares]
    rows = [
        (kind, *row)
        for kind, mentions in _mentions(inputs).items()
        for row in zip(shares, read, growth(*mentions, read), strict=True)
    ]
    size = sum(inputs.paths(name)[0].stat().st_size for name in WORKSPACE)
    rows.append(("bytes", 1.0, total, size))
    outputs["growth"] = TABLES["growth"].frame(rows)
    return {"passages": total, "bytes": size}


main(run, globals().get("snakemake"))
