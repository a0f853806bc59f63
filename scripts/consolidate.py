"""Group aliases among the entities, and remap codebook, provenance and runs to representatives."""

from secateur.graph.consolidation.consolidate import consolidate
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    edges, names = inputs["edges"], ("passages", "entities", "edges", "edge_sources", "run_edges")
    graph = consolidate(cfg.consolidation, *(inputs[name] for name in names), ctx)
    for name, table in vars(graph).items():
        outputs[name] = table
    return {
        "aliases": graph.aliases.height,
        "edges": graph.edges.height,
        "edges_before": edges.height,
        "tombstones": graph.tombstones.height,
    }


main(run, globals().get("snakemake"))
