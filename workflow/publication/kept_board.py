"""The leaderboard of all kept figures: one page for a browser, filtered there, without a server."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from secateur import report
from secateur.evaluation.subsets import MAIN
from secateur.report.format import MEMORY, OURS, named
from secateur.report.kept import kept_experiments, kept_source, kept_table
from secateur.report.leaderboard import title_of
from secateur.report.plots.style import COLOURS

__all__ = ["kept_board"]

SHOWN = (
    *("evidence_recall", "token_recall", "qualified_kept", "answer_gain", "passage_recall", "all_gold", "f1_at_gold"),
    *("rouge_l", "token_f1", "tokens"),
)


def kept_board(docs: Path, claimed: tuple[int, ...], readers: Sequence[str]) -> str:
    """The page: every kept mean of a headline. readers: options of `conf/lm`, first that of systems that name none."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    sources = {name: kept_source(docs, name) for name in kept_experiments(docs)}
    rows = [row for name in sources for row in _rows(docs, name, claimed, readers)]
    rows.sort(key=lambda row: row[2] != "blind")  # the page begins with the first
    about = {
        name: [source["command"], source["commit"][:10], source["finished"][:10]] for name, source in sources.items()
    }
    data = json.dumps({"rows": rows, "about": about}, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    folders = [Path(__file__).parent, Path(report.__file__).parent]  # the page's style is the report's
    loader = FileSystemLoader(folders, encoding="utf-8")
    page = Environment(undefined=StrictUndefined, autoescape=True, trim_blocks=True, loader=loader)
    return page.get_template("board.html.j2").render(data=data, colours=COLOURS, count=len(rows), ours=OURS)


def _rows(docs: Path, name: str, claimed: tuple[int, ...], readers: Sequence[str]) -> Iterator[list]:
    """[data set, subset, order, metric, reader, row, value, low, high, n, experiment] of each figure."""
    metrics = named(kept_table(docs, name, "metrics"))
    main = next((subset for subset in MAIN if (metrics["subset"] == subset).any()), "all")
    for row in metrics.filter(pl.col("metric").str.split("@").list.first().is_in(SHOWN)).iter_rows(named=True):
        if row["metric"] in MEMORY or row["value"] is None:
            continue
        title = ", ".join(filter(None, title_of(row["metric"], claimed)))
        subset = "main" if row["subset"] == main else row["subset"]
        reader = next((part for part in re.split(r"[:+]", row["system"]) if part in readers), readers[0])
        sees = ", sees the answer" if row["answer_aware"] else ""
        yield [
            *(row["dataset"], subset, row["order"] or "", title, reader, row["name"] + sees),
            *(row["value"], row["low"], row["high"], row["n"], name),
        ]
