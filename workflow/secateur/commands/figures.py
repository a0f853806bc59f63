"""Commands on results: tables, comparisons, questions, plots, figures of the papers."""

import json
import os
from dataclasses import replace
from enum import Enum
from itertools import chain
from pathlib import Path
from typing import Annotated

import polars as pl
from typer import Argument, Option

from secateur.commands.shared import EXPERIMENTS, FORMATS, aligned, at_root, current, table_of, written
from secateur.core.errors import SecateurError, one_of
from secateur.report.finding import small_print
from secateur.report.table import plain

__all__ = ["compare", "figures", "score", "show", "summary", "table", "verify"]

SHOWN = 12  # rows of a leaderboard that a summary prints
Format = Enum("Format", {name: name for name in FORMATS}, type=str)
Drawn = Enum("Drawn", {name: name for name in ("md", "csv", "latex", "svg", "pdf", "png")}, type=str)
Order = Enum("Order", {"blind": "blind", "aware": "aware"}, type=str)
Experiment = Annotated[str, Argument(help="Name of an experiment that has been run.")]


def table(
    experiment: Experiment,
    form: Annotated[Format, Option("--format", help="Output format.")] = Format.text,
    as_json: Annotated[bool, Option("--json", help="Same as --format json.")] = False,
    published: Annotated[bool, Option(help="Include published figures.")] = False,
    dataset: Annotated[str | None, Option(help="Only rows of this data set.")] = None,
    system: Annotated[str | None, Option(help="Only rows of this system.")] = None,
    metric: Annotated[
        str | None, Option(help="Only rows of this metric, at all budgets or at one, e.g. evidence_recall@256.")
    ] = None,
    subset: Annotated[str | None, Option(help="Only rows of this subset of the questions.")] = None,
    sort: Annotated[str | None, Option(help="Column to sort by; numbers in descending order.")] = None,
    limit: Annotated[int | None, Option(min=1, help="Maximum number of rows.")] = None,
    pivot: Annotated[
        bool,
        Option("--pivot", help="A table for a paper: a row a system, a column a budget, or of several metrics a,b@64."),
    ] = False,
    order: Annotated[Order | None, Option(help="With --pivot: order of the rows; default: blind.")] = None,
    baseline: Annotated[
        str | None, Option(help="With --pivot: row that is compared with; default: the best baseline.")
    ] = None,
) -> None:
    """Print the figures of an experiment, one per row, or as a table for a paper."""
    current(experiment)
    if pivot:
        form = Format.json if as_json else form
        print(_pivoted(experiment, form.value, dataset, metric, order.value if order else None, baseline))
        return
    frame = table_of(experiment, "metrics")
    frame = frame if published else frame.filter(~pl.col("published"))
    for column, wanted in (("dataset", dataset), ("system", system), ("metric", metric), ("subset", subset)):
        if wanted is not None:
            frame = frame.filter(_matching(frame, column, wanted))
    if sort is not None:
        frame = frame.sort(
            one_of("--sort", sort, frame.columns),
            descending=frame.schema[sort].is_numeric(),
            nulls_last=True,
            maintain_order=True,
        )
    rows = frame.head(limit or frame.height).to_dicts()
    print(written(rows, "json" if as_json else form.value))


def _pivoted(
    experiment: str, form: str, dataset: str | None, metric: str | None, order: str | None, baseline: str | None
) -> str:
    """The table of an experiment for a paper, in a format."""
    from secateur.report import table as tables
    from secateur.report.compare import settings
    from secateur.report.pivot import pivot

    metrics, comparisons = (table_of(experiment, name) for name in ("metrics", "comparisons"))
    config = settings(Path(), experiment)
    families, about = config["extra.plan"]["families"], (config["eval.min_units"], config["eval.claim"])
    grid = pivot(metrics, comparisons, families, *about, dataset=dataset, metric=metric, order=order, baseline=baseline)
    if form == "json":
        return json.dumps([dict(zip(grid.heads, line, strict=True)) for line in grid.texts()], ensure_ascii=False)
    written = {"text": tables.plain, "csv": tables.csv, "md": tables.markdown, "latex": tables.floated}[form](grid)
    return f"{grid.caption}\n\n{written}" if form in ("text", "md") else written


def _matching(frame: pl.DataFrame, column: str, wanted: str) -> pl.Expr:
    """Rows with the value; a metric without a budget matches all its budgets. Raises SecateurError for no row."""
    matches = pl.col(column) == wanted
    if column == "metric" and "@" not in wanted:
        matches = matches | pl.col(column).str.starts_with(f"{wanted}@")
    if frame.filter(matches).is_empty():
        one_of(f"--{column}", wanted, frame[column].drop_nulls().str.split("@").list.first())
    return matches


def summary(experiment: Experiment) -> None:
    """Print the main results, and the report's path as the last line."""
    from secateur.report.compare import settings
    from secateur.report.leaderboard import board_table, boards, primary_table
    from secateur.report.page import About, ordered_findings
    from secateur.stage.ledger import records
    from secateur.stage.lineage import warned

    current(experiment)
    metrics, comparisons, leaders = (table_of(experiment, name) for name in ("metrics", "comparisons", "leaders"))
    config = settings(Path(), experiment)
    about = About(experiment, "", config["eval.min_units"], config["eval.claim"], config["extra.variants"])
    findings = ordered_findings(metrics, comparisons, config["extra.plan"]["families"], about)
    if primary := primary_table(comparisons, about.min_units, about.claimed):
        print(f"\n{primary.caption}", *(f"  {line}" for line in plain(primary).splitlines()), sep="\n")
    print("\nWhat was found")
    for _, lines, sentence in findings:
        print(f"  {sentence}")
        if small := small_print(lines, about.claimed):
            print(f"  ({small})")
    if not findings:
        print("  No system here has a baseline to compare it with.")
    families, shown = config["extra.plan"]["families"], set()
    for board in boards(
        metrics, comparisons, leaders, families, about.min_units, [dataset for dataset, *_ in findings]
    ):
        if board.dataset not in shown:
            shown.add(board.dataset)
            drawn = board_table(board, tuple(about.claimed))
            print(f"\n{drawn.caption}")
            rows = replace(drawn, rows=drawn.rows[:SHOWN])
            print(*(f"  {line}" for line in plain(rows).splitlines()), sep="\n")
            if len(drawn.rows) > SHOWN:
                print(f"  and {len(drawn.rows) - SHOWN} more")
    compared = {"files": [str(EXPERIMENTS / experiment / "metrics.parquet")]}
    texts = warned([*config["extra.plan"]["variants"], compared], records(Path("results")))
    if texts:
        print(f"\nWarnings of stages{'' if len(texts) <= SHOWN else f', {SHOWN} of {len(texts)}; the report has all'}")
        print(*(f"  {text}" for text in texts[:SHOWN]), sep="\n")
    print("\nNext")
    print(f"  secateur table {experiment}         all rows")
    print(f"  secateur compare {experiment} A B   compares two of them, paired by question")
    print("  secateur ui                    runs side by side")
    print("\nReport:")
    print(EXPERIMENTS / experiment / "report.html")


def compare(
    experiment: Experiment,
    a: Annotated[str, Argument(help="First row: SYSTEM or SYSTEM/RANKER, after EXPERIMENT: if it is another's.")],
    b: Annotated[str, Argument(help="Second row, in the same form, or a published row.")],
    metric: Annotated[
        str | None, Option(help="Metric to compare; default: the first claimed metric of both rows.")
    ] = None,
    dataset: Annotated[str | None, Option(help="Data set to compare on, if the rows share several.")] = None,
    order: Annotated[Order | None, Option(help="Order of the rows; default: blind, if both have it.")] = None,
    as_json: Annotated[bool, Option("--json", help="Print a JSON object.")] = False,
) -> None:
    """Compare two rows by their paired difference over questions, A minus B."""
    from secateur.report.compare import compare, lines

    for name in dict.fromkeys([experiment, *(row.partition(":")[0] for row in (a, b) if ":" in row)]):
        if name == experiment or (EXPERIMENTS / name / "metrics.parquet").exists():  # else an option of a row
            current(name)
    comparison = compare(Path(), experiment, a, b, metric, dataset, order.value if order else None)
    print(json.dumps(comparison, ensure_ascii=False) if as_json else "\n".join(lines(comparison)))


def show(
    experiment: Experiment,
    question_id: Annotated[str, Argument(help="Id of the question.")],
    system: Annotated[
        str | None, Option(help="SYSTEM, or SYSTEM/RANKER for a list of rankers; default: the first graph system.")
    ] = None,
    order: Annotated[
        Order | None, Option(help="Whether the system sees document order; default: its first row.")
    ] = None,
    dataset: Annotated[str | None, Option(help="Data set of the question, if several have its id.")] = None,
    full: Annotated[bool, Option(help="Print the whole ranking, and the context at every budget.")] = False,
) -> None:
    """Print the evidence, candidates, ranking, figures and context of a question."""
    from secateur.commands.question import show

    if (EXPERIMENTS / experiment / "run.json").exists():  # else the message is about its questions
        current(experiment)
    order = order.value if order else None
    print(show(Path(), experiment, question_id, system=system, order=order, dataset=dataset, full=full))


def score(
    question: Annotated[str, Option(help="Text of the question.")],
    candidates: Annotated[
        Path,
        Option(metavar="FILE.jsonl", help="Candidates: an object per line with text, and speaker, date, id if known."),
    ],
    answer: Annotated[
        str | None, Option(help="Gold answer; without it, candidates are ranked by query likelihood (pmi_q).")
    ] = None,
    lm: Annotated[str, Option(help="Option of conf/lm.")] = "smollm2",
    settings: Annotated[
        list[str] | None,
        Option("--set", metavar="GROUP.KEY=VALUE", help="Override a configuration value of ecs or lm."),
    ] = None,
    top: Annotated[int | None, Option(min=1, help="Number of candidates to print; default: all.")] = None,
) -> None:
    """Rank the candidates of a file by how much each changes the answer's probability."""
    from secateur.config.compose import option
    from secateur.ecs.adhoc import rank, read_candidates
    from secateur.ecs.reading.template import Question
    from secateur.models.kernels import gpu_expected
    from secateur.models.reader import load

    conf, changed = Path("conf"), tuple(settings or ())
    ecs, model = option(conf, "ecs", "default", changed), option(conf, "lm", lm, changed)
    device = "cuda" if gpu_expected() else "cpu"
    loaded = load(model, Path(os.environ.get("SECATEUR_CACHE", ".cache")), device)
    ranked = rank(loaded, ecs, Question("asked", question, answer), read_candidates(candidates))
    print(aligned(ranked.head(top or ranked.height).to_dicts()))


def verify() -> None:
    """Derive the kept figures again from their values by question. Exit code 1 at the first list of differences."""
    from secateur.verification.verify import drifted, verified

    at_root()
    if not Path("docs/results").is_dir():
        raise SecateurError("docs/results: no kept figures here. Fix: call it in a clone of the project")
    for line, wrong in chain(verified(Path("docs")), drifted(Path())):
        print(line, flush=True)
        if wrong:
            raise SystemExit("\n".join(wrong))


def figures(
    experiment: Annotated[str | None, Argument(help="Experiment to plot.")] = None,
    paper: Annotated[
        str | None, Option(metavar="ecs:1", help="Table or figure of a paper instead; list: print their names.")
    ] = None,
    form: Annotated[
        Drawn | None, Option("--format", help="Experiments: svg, pdf (default) or png. Papers: any; default: md.")
    ] = None,
    out: Annotated[Path | None, Option(help="Folder for an experiment's plots; file for a paper's figure.")] = None,
) -> None:
    """Write the plots of an experiment, or a table or figure of the papers from your results."""
    if experiment is not None:
        from secateur.report.figures import drawings

        current(experiment)
        chosen = form.value if form else "pdf"
        if chosen not in ("svg", "pdf", "png"):
            raise SecateurError(
                f"--format {chosen}: plots are svg, pdf or png. Fix: secateur table {experiment} --format {chosen}"
            )
        tables = [table_of(experiment, name) for name in ("metrics", "comparisons", "equal_quality")]
        for path in drawings(Path(), experiment, *tables, out or EXPERIMENTS / experiment / "figures", chosen):
            print(path)
        return
    from secateur.report import paper as papers

    if paper in (None, "list"):
        print("\n".join(f"{name:16} {title}" for name, title in papers.names(Path()).items()))
        return
    artefact = papers.artefact(Path(), paper)
    chosen = form.value if form else "md"
    if chosen in ("md", "csv", "latex"):
        print(papers.written(artefact, chosen))
        return
    path = out or Path(f"{paper.replace(':', '-')}.{chosen}")
    papers.drawn(artefact, path)
    print(path)
