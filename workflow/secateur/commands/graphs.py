"""Commands on graphs: what was joined, GraphML, an endpoint that answers from triples."""

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

Experiment = Annotated[str, Argument(help="one that has been run, with a graph")]


def _graphs(experiment: str) -> dict[Path, Path]:
    """The folders of an experiment's consolidated graphs, each with that of its codebook."""
    from secateur.planning.plan import variants

    graph = [v for v in variants(Path("conf"), experiment) if v["family"] == "graph"]
    if not graph:
        raise SecateurError(f"{experiment} has no graph variant, so it has no graph and no aliases.")
    tables = ("edges", "entities")
    paths = ([Path(layout.table_of_graph(table)(v.wildcards)).parent for table in tables] for v in graph)
    found = dict(map(tuple, paths))
    for folder in found:
        if not (folder / "run.json").exists():
            raise SecateurError(f"{folder}: not there. Fix: {command(experiment)}")
    return found


def export(
    experiment: Experiment,
    out: Annotated[Path | None, Option(metavar="FILE.graphml", help="where the experiment has one graph")] = None,
) -> None:
    """Write the consolidated graphs as GraphML; a graph does not depend on the order."""
    from secateur.graph.export import graph_of, write_graphml

    graphs = {}
    for folder, book in _graphs(experiment).items():
        options = dict(zip(layout.GRAPH, folder.name.split("."), strict=True))
        del options["order"]
        name = "-".join([folder.parts[1], *options.values()]) + ".graphml"
        graphs.setdefault(EXPERIMENTS / experiment / name, (folder, book))
    if out and len(graphs) > 1:
        raise SecateurError(
            f"{experiment} has {len(graphs)} graphs ({', '.join(p.stem for p in graphs)}), --out names one file. "
            "Fix: leave out --out, each gets a file of its own."
        )
    for path, (folder, book) in graphs.items():
        tables = dict.fromkeys(("entities", "relations"), book) | dict.fromkeys(
            ("aliases", "edges", "edge_sources"), folder
        )
        graph = graph_of(*(read_table(TABLES[name], home / f"{name}.parquet") for name, home in tables.items()))
        target = out or path
        with atomic(target) as temporary:
            write_graphml(graph, temporary)
        print(f"{target} ({graph.number_of_nodes()} entities, {graph.number_of_edges()} edges)")


def aliases(experiment: Experiment) -> None:
    """Which entities were joined, with cosine and rule."""
    for path in (folder / "aliases.parquet" for folder in _graphs(experiment)):
        rows = read_table(TABLES["aliases"], path).sort("representative", "text")
        print(f"{path} ({rows.height})")
        print(aligned(rows.select("text", "representative", "cosine", "rule").to_dicts()))


def serve(
    corpus: Annotated[str, Argument(help="one of results, with passages and triples")],
    adapter: Annotated[str, Option(help="whose prompts it understands: a file of peers/adapters")],
    extractor: Annotated[str, Option(help="option of conf/extractor whose triples answer")] = "openie",
    port: Annotated[int, Option(help="on this machine; default: any that is free")] = 0,
) -> None:
    """An endpoint that answers another system from the triples of a corpus, until it is interrupted."""
    from secateur.peers.serve import serve

    serve(Path(), corpus, adapter, extractor, port)
