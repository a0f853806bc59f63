"""Group aliases among the entities, and remap codebook, provenance and runs to representatives."""

from secateur.graph.consolidation.consolidate import aliases_of, consolidated
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    alias_file = next(iter(inputs.paths("forced")), None)
    aliases = aliases_of(cfg.consolidation, inputs["entities"], inputs["passages"], alias_file, ctx)
    edges = inputs["edges"]
    graph = consolidated(cfg.consolidation, aliases, edges, inputs["edge_sources"], inputs["run_edges"])
    for name, table in vars(graph).items():
        outputs[name] = table
    return {
        "aliases": aliases.height,
        "edges": graph.edges.height,
        "edges_before": edges.height,
        "tombstones": graph.tombstones.height,
    }


main(run, globals().get("snakemake"))
