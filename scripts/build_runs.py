"""Cut the edge sequence of each document into runs."""

from secateur.graph.segmenting import document_runs
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    runs, run_edges = document_runs(inputs["edges"], inputs.vectors("lines"), inputs["edge_sources"], cfg)
    outputs["runs"], outputs["run_edges"] = runs, run_edges
    return {"runs": runs.height, "edges_per_run": round(run_edges.height / max(runs.height, 1), 3)}


main(run, globals().get("snakemake"))
