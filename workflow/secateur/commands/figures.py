"""Commands on what was found: tables, comparisons, questions, figures for a paper."""

import json
import os
import shutil
from enum import Enum
from pathlib import Path
from typing import Annotated

import polars as pl
from typer import Argument, Option

from secateur.commands.shared import EXPERIMENTS, FORMATS, aligned, table_of, written
from secateur.core.errors import SecateurError, nearest
from secateur.report.finding import small_print, stated

__all__ = ["compare", "figures", "keep", "score", "show", "summary", "table"]

SHOWN = 5  # lines of a data set that a summary prints
Format = Enum("Format", {name: name for name in FORMATS}, type=str)
Drawn = Enum("Drawn", {name: name for name in ("md", "csv", "latex", "svg", "pdf", "png")}, type=str)
Order = Enum("Order", {"blind": "blind", "aware": "aware"}, type=str)
Experiment = Annotated[str, Argument(help="one that has been run")]


def table(
    experiment: Experiment,
    form: Annotated[Format, Option("--format", help="how it is written")] = Format.text,
    as_json: Annotated[bool, Option("--json", help="the same as --format json")] = False,
    published: Annotated[bool, Option(help="add published figures, marked")] = False,
    dataset: Annotated[str | None, Option(help="of one data set")] = None,
    system: Annotated[str | None, Option(help="of one system")] = None,
    metric: Annotated[str | None, Option(help="of one metric, with all its budgets or with one (@256)")] = None,
    subset: Annotated[str | None, Option(help="of one subset of the questions")] = None,
    sort: Annotated[str | None, Option(help="by a column; value: the greatest first")] = None,
    limit: Annotated[int | None, Option(min=1, help="so many rows")] = None,
) -> None:
    """The figures of an experiment, a row each."""
    frame = table_of(experiment, "metrics")
    frame = frame if published else frame.filter(~pl.col("published"))
    for column, wanted in (("dataset", dataset), ("system", system), ("metric", metric), ("subset", subset)):
        if wanted is not None:
            frame = frame.filter(_matching(frame, column, wanted))
    if sort is not None:
        if sort not in frame.columns:
            known = ", ".join(frame.columns)
            raise SecateurError(f"--sort {sort}: allowed: {known}{nearest(sort, frame.columns)}")
        frame = frame.sort(sort, descending=frame.schema[sort].is_numeric(), nulls_last=True, maintain_order=True)
    rows = frame.head(limit if limit is not None else frame.height).to_dicts()
    print(written(rows, "json" if as_json else form.value))


def _matching(frame: pl.DataFrame, column: str, wanted: str) -> pl.Expr:
    """Rows that have it; SecateurError names what there is. A metric without a budget stands for all of its budgets."""
    found = pl.col(column) == wanted
    if column == "metric" and "@" not in wanted:
        found = found | pl.col(column).str.starts_with(f"{wanted}@")
    if frame.filter(found).is_empty():
        known = list(dict.fromkeys(frame[column].drop_nulls().str.split("@").list.first().to_list()))
        raise SecateurError(f"--{column} {wanted}: allowed: {', '.join(known)}{nearest(wanted, known)}")
    return found


def summary(experiment: Experiment) -> None:
    """What was found; the last line is the report's path."""
    from secateur.report.compare import settings
    from secateur.report.page import About, found

    metrics, comparisons = (table_of(experiment, name) for name in ("metrics", "comparisons"))
    known = settings(Path(), experiment)
    about = About(experiment, "", known["eval.min_units"], known["eval.claim"], known["extra.variants"])
    made = found(metrics, comparisons, known["extra.plan"]["families"], about)
    print("\nWhat was found")
    for _, lines, sentence in made:
        print(f"  {sentence}")
        if small := small_print(lines, about.claimed):
            print(f"  ({small})")
        best = [stated(line) for line in lines[:SHOWN]]
        print(*(f"    {line}" for line in aligned(best).splitlines()), sep="\n")
    if not made:
        print("  No system here stands beside a plain ranking of its kind.")
    print("\nNext")
    print(f"  secateur table {experiment}         all rows")
    print(f"  secateur compare {experiment} A B   any two of them, paired by question")
    print("  make ui                        runs side by side")
    print("\nReport:")
    print(EXPERIMENTS / experiment / "report.html")


def compare(
    experiment: Experiment,
    a: Annotated[str, Argument(help="[EXPERIMENT:]SYSTEM[/RANKER]")],
    b: Annotated[str, Argument(help="the same, or a published row")],
    metric: Annotated[str | None, Option(help="default: the first claim that both have")] = None,
    dataset: Annotated[str | None, Option(help="where both have several")] = None,
    order: Annotated[Order | None, Option(help="default: blind, where both have it")] = None,
    as_json: Annotated[bool, Option("--json", help="one object")] = False,
) -> None:
    """The paired difference of any two rows: A minus B, question by question."""
    from secateur.report import compare as between

    made = between.compare(Path(), experiment, a, b, metric, dataset, order.value if order else None)
    print(json.dumps(made, ensure_ascii=False) if as_json else "\n".join(between.lines(made)))


def show(
    experiment: Experiment,
    question_id: Annotated[str, Argument()],
    system: Annotated[
        str | None, Option(help="SYSTEM, or SYSTEM/RANKER of a list; default: the first by the graph")
    ] = None,
    order: Annotated[Order | None, Option(help="of document order; default: the system's first")] = None,
    dataset: Annotated[str | None, Option(help="where several data sets have a question of that id")] = None,
    full: Annotated[bool, Option(help="the whole ranking, and the context at every budget")] = False,
) -> None:
    """One question: evidence, candidates, ranking, figures, context."""
    from secateur.report.question import show

    chosen = {"system": system, "order": order.value if order else None, "dataset": dataset, "full": full}
    print(show(Path(), experiment, question_id, **chosen))


def score(
    question: Annotated[str, Option(help="the question")],
    candidates: Annotated[Path, Option(metavar="FILE.jsonl", help="text, speaker, date, id")],
    answer: Annotated[str | None, Option(help="the gold answer; without it candidates are ranked by pmi_q")] = None,
    lm: Annotated[str, Option(help="option of conf/lm")] = "smollm2",
    settings: Annotated[list[str] | None, Option("--set", metavar="GROUP.KEY=VALUE", help="of ecs or lm")] = None,
    top: Annotated[int | None, Option(min=1, help="print the best ones only")] = None,
) -> None:
    """Candidates of a file by how far each moves a question's answer."""
    from secateur.config.compose import option
    from secateur.ecs.adhoc import candidates as read
    from secateur.ecs.adhoc import rank
    from secateur.ecs.reading.template import Question
    from secateur.models.reader import load

    conf, changed = Path("conf"), tuple(settings or ())
    ecs, model = option(conf, "ecs", "default", changed), option(conf, "lm", lm, changed)
    device = "cuda" if shutil.which("nvidia-smi") else "cpu"
    loaded = load(model, Path(os.environ.get("SECATEUR_CACHE", ".cache")), device)
    ranked = rank(loaded, ecs, Question("asked", question, answer), read(candidates))
    print(aligned(ranked.head(top or ranked.height).to_dicts()))


def keep(experiment: Experiment) -> None:
    """Keep the figures of an experiment for the pages."""
    from secateur.report.kept import keep

    print(keep(Path("results"), Path("docs"), experiment))


def figures(
    experiment: Annotated[str | None, Argument(help="its plots, as files")] = None,
    paper: Annotated[
        str | None, Option(metavar="ecs:1", help="a table or figure of a paper instead; list: all of them")
    ] = None,
    form: Annotated[
        Drawn | None, Option("--format", help="of an experiment svg, pdf or png; default pdf, of a paper md")
    ] = None,
    out: Annotated[Path | None, Option(help="file of a drawing, or folder of an experiment's")] = None,
) -> None:
    """The plots of an experiment, or the tables and figures of the papers with what has been run."""
    if experiment is not None:
        from secateur.report.figures import drawings

        chosen = form.value if form else "pdf"
        if chosen not in ("svg", "pdf", "png"):
            raise SecateurError(
                f"--format {chosen}: of an experiment svg, pdf or png. Fix: secateur table {experiment}"
            )
        tables = [table_of(experiment, name) for name in ("metrics", "comparisons")]
        for path in drawings(Path(), experiment, *tables, out or EXPERIMENTS / experiment / "figures", chosen):
            print(path)
        return
    from secateur.report import paper as papers

    if paper in (None, "list"):
        print("\n".join(f"{name:16} {title}" for name, title in papers.names(Path()).items()))
        return
    made = papers.artefact(Path(), paper)
    chosen = form.value if form else "md"
    if chosen in ("md", "csv", "latex"):
        print(papers.written(made, chosen))
        return
    path = out or Path(f"{paper.replace(':', '-')}.{chosen}")
    papers.drawn(made, path)
    print(path)
