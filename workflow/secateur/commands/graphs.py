"""Commands on graphs: list joined entities, export GraphML, serve triples as an endpoint."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from secateur.commands.shared import EXPERIMENTS, aligned
from secateur.config.limits import command
from secateur.core import layout
from secateur.core.artifacts import atomic
from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table

__all__ = ["aliases", "export", "serve"]

Experiment = Annotated[str, Argument(help="Experiment with a graph that has been run.")]


def _graphs(experiment: str) -> dict[Path, Path]:
    """The folders of an experiment's consolidated graphs, with their codebooks' folders."""
    from secateur.planning.earlier import run_variants

    graph_of, book_of = layout.table_of_graph("edges"), layout.table_of_graph("entities")
    options = [v.wildcards for v in run_variants(Path(), experiment) if v["family"] == "graph"]
    if not options:
        raise SecateurError(f"{experiment} has no graph. Fix: name an experiment with a system of family graph")
    folders = {Path(graph_of(o)).parent: Path(book_of(o)).parent for o in options}
    for folder in folders:
        if not (folder / "run.json").exists():
            raise SecateurError(f"{folder}: no such folder. Fix: {command(experiment)}")
    return folders


def export(
    experiment: Experiment,
    out: Annotated[
        Path | None, Option(metavar="FILE.graphml", help="File to write, if the experiment has a single graph.")
    ] = None,
) -> None:
    """Export the consolidated graphs as GraphML."""
    import networkx as nx

    from secateur.graph.export import to_networkx

    graphs = {}
    for folder, book in _graphs(experiment).items():
        options = dict(zip(layout.GRAPH, folder.name.split("."), strict=True))
        del options["order"]  # the orders have the same graph
        name = "-".join([folder.parts[1], *options.values()]) + ".graphml"
        graphs.setdefault(EXPERIMENTS / experiment / name, (folder, book))
    if out and len(graphs) > 1:
        raise SecateurError(
            f"--out names one file, but {experiment} has {len(graphs)} graphs: {', '.join(p.stem for p in graphs)}. "
            "Fix: leave out --out to write a file for each."
        )
    for path, (folder, book) in graphs.items():
        tables = dict.fromkeys(("entities", "relations"), book) | dict.fromkeys(
            ("aliases", "edges", "edge_sources"), folder
        )
        graph = to_networkx(*(read_table(TABLES[name], home / f"{name}.parquet") for name, home in tables.items()))
        target = out or path
        with atomic(target) as temporary:
            nx.write_graphml_xml(graph, temporary)
        print(f"{target} ({graph.number_of_nodes()} entities, {graph.number_of_edges()} edges)")


def aliases(experiment: Experiment) -> None:
    """List joined entities, with cosine and rule."""
    for path in (folder / "aliases.parquet" for folder in _graphs(experiment)):
        rows = read_table(TABLES["aliases"], path).sort("representative", "text")
        print(f"{path} ({rows.height})")
        print(aligned(rows.select("text", "representative", "cosine", "rule").to_dicts()))


def serve(
    corpus: Annotated[str, Argument(help="Folder of results/ with passages and triples.")],
    adapter: Annotated[str, Option(help="Plug-in of peers/adapters whose prompts it answers.")],
    extractor: Annotated[str, Option(help="Option of conf/extractor that extracted the triples.")] = "openie",
    port: Annotated[int, Option(help="Port on this machine; 0: any free port.")] = 0,
) -> None:
    """Serve an endpoint that answers another system from a corpus's triples, until interrupted."""
    from secateur.peers.serve import serve

    serve(Path(), corpus, adapter, extractor, port)
