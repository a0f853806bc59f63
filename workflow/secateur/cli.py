"""`secateur`: figures, summaries and generated pages from a shell."""

import argparse
import json
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from secateur.pipeline import layout
from secateur.pipeline.artifacts import atomic
from secateur.pipeline.config.limits import command, unlimited
from secateur.pipeline.errors import SecateurError, nearest
from secateur.pipeline.tables.catalog import TABLES
from secateur.pipeline.tables.table import read_table
from secateur.report import reference
from secateur.report.finding import Line
from secateur.report.format import bounds

__all__ = ["main"]

EXPERIMENTS = Path("results/experiments")
SHOWN = 5  # lines of a data set that a summary prints


def _table(experiment: str, name: str) -> pl.DataFrame:
    """A table of an experiment; SecateurError names the command to run where it has not run."""
    known = sorted(path.stem for path in Path("conf/experiment").glob("*.yaml"))
    whole, _ = unlimited(experiment)
    if known and whole not in known:
        raise SecateurError(
            f"{experiment}: no such experiment; there are {', '.join(known)}{nearest(experiment, known)}"
        )
    path = EXPERIMENTS / experiment / f"{name}.parquet"
    if not path.exists():
        raise SecateurError(f"{experiment} has not been run here. Fix: {command(experiment)}")
    return read_table(TABLES[name], path)


def _aligned(rows: list[dict]) -> str:
    """Rows as a plain table."""
    if not rows:
        return "no rows"
    heads = list(rows[0])
    cells = [heads, *([_text(row[h]) for h in heads] for row in rows)]
    widths = [max(len(line[n]) for line in cells) for n in range(len(heads))]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in cells)


def _text(value: object) -> str:
    return "-" if value is None else f"{value:.4f}" if isinstance(value, float) else str(value)


def table(args: argparse.Namespace) -> None:
    """Print the rows of an experiment."""
    frame = _table(args.experiment, "metrics")
    rows = (frame if args.published else frame.filter(~pl.col("published"))).to_dicts()
    if args.json:
        print("[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]")
    else:
        print(_aligned(rows))


def summary(args: argparse.Namespace) -> None:
    """Print what was found; the last line is the report's path."""
    from secateur.report.compare import settings
    from secateur.report.page import About, found

    metrics, comparisons = (_table(args.experiment, name) for name in ("metrics", "comparisons"))
    known = settings(Path(), args.experiment)
    about = About(args.experiment, "", known["eval.min_units"], known["eval.claim"], known["extra.variants"])
    made = found(metrics, comparisons, known["extra.families"], about)
    print("\nWhat was found")
    for _, lines, sentence in made:
        print(f"  {sentence}")
        print(*(f"    {line}" for line in _aligned(_beside(lines)).splitlines()), sep="\n")
    if not made:
        print("  No system here stands beside a plain ranking of its kind.")
    print("\nNext")
    print(f"  secateur table {args.experiment}        all rows (--json)")
    print(f"  secateur compare {args.experiment} A B   any two of them, paired by question")
    print("  make ui                       runs side by side")
    print("\nReport:")
    print(EXPERIMENTS / args.experiment / "report.html")


def _beside(lines: Sequence[Line]) -> list[dict]:
    """The best lines of a data set for a terminal."""
    return [
        {
            "system": line.name,
            "less": line.baseline,
            "difference": f"{line.difference:+.3f}" if line.told else "",
            "interval": bounds({"low": line.low, "high": line.high}) if line.told else "",
            "p": f"{line.p:.4f}" if line.told else "",
            "n": line.n,
            "units": line.units,
            "verdict": line.verdict,
        }
        for line in lines[:SHOWN]
    ]


def _graphs(experiment: str) -> dict[Path, Path]:
    """The folders of an experiment's consolidated graphs, each with that of its codebook."""
    from secateur.pipeline.plan import variants

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


def export(args: argparse.Namespace) -> None:
    """Write the consolidated graphs of an experiment as GraphML; a graph does not depend on the order."""
    from secateur.graph.export import graph_of, write_graphml

    graphs = {}
    for folder, book in _graphs(args.experiment).items():
        options = dict(zip(layout.GRAPH, folder.name.split("."), strict=True))
        del options["order"]
        name = "-".join([folder.parts[1], *options.values()]) + ".graphml"
        graphs.setdefault(EXPERIMENTS / args.experiment / name, (folder, book))
    if args.out and len(graphs) > 1:
        raise SecateurError(
            f"{args.experiment} has {len(graphs)} graphs ({', '.join(p.stem for p in graphs)}), --out names one file. "
            "Fix: leave out --out, each gets a file of its own."
        )
    for path, (folder, book) in graphs.items():
        tables = dict.fromkeys(("entities", "relations"), book) | dict.fromkeys(
            ("aliases", "edges", "edge_sources"), folder
        )
        graph = graph_of(*(read_table(TABLES[name], home / f"{name}.parquet") for name, home in tables.items()))
        target = args.out or path
        with atomic(target) as temporary:
            write_graphml(graph, temporary)
        print(f"{target} ({graph.number_of_nodes()} entities, {graph.number_of_edges()} edges)")


def aliases(args: argparse.Namespace) -> None:
    """Print the alias decisions of an experiment's graph variants, each with its cosine and its rule."""
    for path in (folder / "aliases.parquet" for folder in _graphs(args.experiment)):
        rows = read_table(TABLES["aliases"], path).sort("representative", "text")
        print(f"{path} ({rows.height})")
        print(_aligned(rows.select("text", "representative", "cosine", "rule").to_dicts()))


def compare(args: argparse.Namespace) -> None:
    """Print the difference of two rows, paired by question."""
    from secateur.report import compare as between

    found = between.compare(Path(), args.experiment, args.a, args.b, args.metric, args.dataset, args.order)
    print(json.dumps(found, ensure_ascii=False) if args.json else "\n".join(between.lines(found)))


def question(args: argparse.Namespace) -> None:
    """Print one question's way to its context."""
    from secateur.report.question import show

    chosen = {"system": args.system, "order": args.order, "dataset": args.dataset, "full": args.full}
    print(show(Path(), args.experiment, args.question, **chosen))


def score(args: argparse.Namespace) -> None:
    """Print candidates of a file by how far each moves the answer."""
    from secateur.ecs.adhoc import candidates, rank
    from secateur.ecs.reading.template import Question
    from secateur.models.reader import load
    from secateur.pipeline.config.compose import option

    conf = Path("conf")
    ecs = option(conf, "ecs", "default", tuple(args.set))
    lm = option(conf, "lm", args.lm, tuple(args.set))
    device = "cuda" if shutil.which("nvidia-smi") else "cpu"
    model = load(lm, Path(os.environ.get("SECATEUR_CACHE", ".cache")), device)
    ranked = rank(model, ecs, Question("asked", args.question, args.answer), candidates(args.candidates))
    print(_aligned(ranked.head(args.top or ranked.height).to_dicts()))


def track(args: argparse.Namespace) -> None:
    """Tell MLflow what has been run."""
    from secateur.report import tracking

    written, of, where = tracking.track(Path("results"), args.rebuild)
    print(f"MLflow at {where}: {written} of {of} runs written")


def keep(args: argparse.Namespace) -> None:
    """Keep the figures of a finished experiment in docs/results, from which docs/results.md is made."""
    from secateur.report.results import keep

    print(keep(Path("results"), Path("docs"), args.experiment))


def figures(args: argparse.Namespace) -> None:
    """Write a table or figure of a paper, or the list of them."""
    from secateur.report import paper

    if args.paper is None:
        print("\n".join(f"{name:16} {title}" for name, title in paper.names(Path()).items()))
        return
    made = paper.artefact(Path(), args.paper)
    if args.format in ("md", "csv", "latex"):
        print(paper.written(made, args.format))
        return
    path = args.out or Path(f"{args.paper.replace(':', '-')}.{args.format}")
    paper.drawn(made, path)
    print(path)


def serve(args: argparse.Namespace) -> None:
    """Answer what another system asks a language model, from the triples of a corpus, until interrupted."""
    from secateur.peers.serve import serve

    serve(Path(), args.corpus, args.adapter, args.extractor, args.port)


def docs(args: argparse.Namespace) -> None:
    """Write the generated pages."""
    for path, text in reference.pages().items():
        path.write_text(text, encoding="utf-8")
        print(path)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="secateur", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    one = commands.add_parser("keep", help="keep the figures of an experiment for docs/results.md")
    one.add_argument("experiment")
    one.set_defaults(call=keep)
    one = commands.add_parser("table", help="the figures of an experiment")
    one.add_argument("experiment")
    one.add_argument("--json", action="store_true", help="one object a row")
    one.add_argument("--published", action="store_true", help="add published figures, marked")
    one.set_defaults(call=table)
    ten = commands.add_parser("figures", help="the tables and figures of the papers, with what has been run")
    ten.add_argument("--paper", metavar="ecs:1", help="one of them; without it, the list")
    ten.add_argument("--format", choices=("md", "csv", "latex", "svg", "pdf", "png"), default="md")
    ten.add_argument("--out", type=Path, metavar="FILE", help="of a drawing; default: NAME.FORMAT here")
    ten.set_defaults(call=figures)
    eleven = commands.add_parser("serve", help="an endpoint that answers another system from the triples of a corpus")
    eleven.add_argument("corpus", help="one of results, with passages and triples")
    eleven.add_argument("--adapter", required=True, help="whose prompts it understands: a file of peers/adapters")
    eleven.add_argument("--extractor", default="openie", help="option of conf/extractor whose triples answer")
    eleven.add_argument("--port", type=int, default=0, help="on this machine; default: any that is free")
    eleven.set_defaults(call=serve)
    two = commands.add_parser("summary", help="what was found, and where the report is")
    two.add_argument("experiment")
    two.set_defaults(call=summary)
    four = commands.add_parser("aliases", help="which entities were joined, with cosine and rule")
    four.add_argument("experiment")
    four.set_defaults(call=aliases)
    five = commands.add_parser("export", help="write the consolidated graph as GraphML")
    five.add_argument("experiment")
    five.add_argument("--out", type=Path, metavar="FILE.graphml", help="where the experiment has one graph")
    five.set_defaults(call=export)
    six = commands.add_parser("show", help="one question: evidence, candidates, ranking, figures, context")
    six.add_argument("experiment")
    six.add_argument("question", metavar="question_id")
    six.add_argument("--system", help="one of documents, or SYSTEM/RANKER of a list; default: the first by the graph")
    six.add_argument("--order", help="blind or aware of document order; default: the system's first")
    six.add_argument("--dataset", help="where several data sets have a question of that id")
    six.add_argument("--full", action="store_true", help="the whole ranking, and the context at every budget")
    six.set_defaults(call=question)
    nine = commands.add_parser("compare", help="any two rows of figures: their difference, paired by question")
    nine.add_argument("experiment")
    for name in ("a", "b"):
        nine.add_argument(name, metavar=name.upper(), help="SYSTEM, SYSTEM/RANKER, or EXPERIMENT: and these")
    nine.add_argument("--metric", help="default: the first claim that both have")
    nine.add_argument("--dataset", help="where both have several")
    nine.add_argument("--order", choices=("blind", "aware"), help="default: blind, where both have it")
    nine.add_argument("--json", action="store_true", help="one object")
    nine.set_defaults(call=compare)
    seven = commands.add_parser("score", help="candidates of a file by how far each moves a question's answer")
    seven.add_argument("--question", required=True)
    seven.add_argument("--candidates", required=True, type=Path, metavar="FILE.jsonl", help="text, speaker, date, id")
    seven.add_argument("--answer", help="the gold answer; without it candidates are ranked by pmi_q")
    seven.add_argument("--lm", default="smollm2", help="option of conf/lm")
    seven.add_argument("--set", action="append", default=[], metavar="GROUP.KEY=VALUE", help="a setting of ecs or lm")
    seven.add_argument("--top", type=int, help="print the best ones only")
    seven.set_defaults(call=score)
    eight = commands.add_parser("track", help="tell MLflow what has been run, failures included")
    eight.add_argument("--rebuild", action="store_true", help="write every run of results/ledger anew")
    eight.set_defaults(call=track)
    three = commands.add_parser("docs", help="write docs/configuration.md and docs/tables.md")
    three.set_defaults(call=docs)
    return parser


def main() -> None:
    """Entry point. Exit code 2, without a traceback, for what the user can mend."""
    args = _parser().parse_args()
    try:
        args.call(args)
    except SecateurError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        sys.stderr.close()


if __name__ == "__main__":
    main()
