"""The figures of docs/results.md: small tables of finished experiments, and the page's own tables made from them.

`keep` writes docs/results/EXPERIMENT.json from an experiment's tables, with the command, the commit and the digests that
stand behind it. `filled` writes each table of a page between its marks anew, so that page and tables cannot differ:

    <!-- figures: stem_old blind -->
    ...
    <!-- end -->
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from secateur.config.compose import option
from secateur.config.limits import command
from secateur.core.artifacts import file_digest, read_json, write_text
from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table
from secateur.evaluation.metric import figure_of
from secateur.report.finding import Line, findings
from secateur.report.forest import Dot, forest, standalone
from secateur.report.format import MEMORY, number

__all__ = ["filled", "keep", "kept_metrics", "kept_picture"]

CLAIMED = (
    "evidence_recall",
    "evidence_coverage",
    "token_recall",
    "qualified_kept",
    "semantic",
    "answer_gain",
    "tokens",
)
TESTED = ("evidence_recall", "evidence_coverage", "token_recall", "semantic", "answer_gain")
SELECTED = ("f1_at_gold",)
ANSWERED = ("rouge_l", "token_f1", "read_gain", "read_evidence_recall", "read_tokens")
CHOSEN = ("policy_utility", "policy_accuracy", "policy_tokens")
FOUND = ("passage_recall@2", "passage_recall@5", "passage_recall@10", "all_gold@5")
WIDE = (*FOUND, *CLAIMED, *SELECTED, *ANSWERED, *CHOSEN)  # columns of figures
PAIRED = (
    *TESTED,
    *SELECTED,
    "rouge_l",
    "token_f1",
    "read_gain",
    "policy_utility",
    "passage_recall@5",
)  # of differences
WHOLE = ("all", "cat1-4")  # subsets that a table speaks of where its mark names none
SIGHT = {True: "with_answer", False: "without_answer"}
HOPS = ("named", "bridge", "first", "later")  # of evidence, by the step at which it is found
MARKS = re.compile(r"(<!-- figures: (\S+) (\S+)(?: ([^\n]+?))? -->\n).*?(<!-- end -->)", re.S)
DIGITS = 4


def keep(results: Path, docs: Path, name: str) -> Path:
    """docs/results/NAME.json from the tables of a finished experiment. Raises SecateurError where it has none."""
    home = results / "experiments" / name
    if not (home / "run.json").exists():
        raise SecateurError(f"{home}: not there. Fix: {command(name)}")
    record = read_json(home / "run.json")
    metrics = read_table(TABLES["metrics"], home / "metrics.parquet")
    comparisons = read_table(TABLES["comparisons"], home / "comparisons.parquet")
    base = pl.col("metric").str.strip_suffix("@claim")
    claimed = base.is_in(CLAIMED) & pl.col("metric").str.ends_with("@claim") | base.is_in(
        [*FOUND, *SELECTED, *ANSWERED, *CHOSEN]
    )
    own = metrics.filter((claimed | base.is_in(list(MEMORY))) & ~pl.col("published"))
    tested = pl.col("metric").is_in([*(f"{m}@claim" for m in TESTED), *PAIRED[len(TESTED) :]])
    pairs = comparisons.filter(tested & pl.col("subset").is_in([*WHOLE, *HOPS]) & (pl.col("axis") != "named"))
    kept = {
        "experiment": name,
        "command": command(name),
        "commit": record["commit"],
        "finished": record["finished"],
        "record": file_digest(home / "run.json"),
        "digests": {table: file_digest(home / f"{table}.parquet") for table in ("metrics", "comparisons")},
        "metrics": _rows(own),
        "comparisons": _rows(pairs),
    }
    path = docs / "results" / f"{name}.json"
    write_text(path, _written(kept))
    return path


def _written(kept: Mapping[str, Any]) -> str:
    """JSON with a line a key, and a line a row of a table under one of its columns: a change of figures is read as such."""

    def value(one: Any) -> str:
        if not isinstance(one, list):
            return json.dumps(one, ensure_ascii=False)
        lines = [list(one[0]), *(list(row.values()) for row in one)] if one else []
        return "[\n" + ",\n".join(json.dumps(line, ensure_ascii=False) for line in lines) + "\n]"

    return "{\n" + ",\n".join(f"{json.dumps(key)}: {value(one)}" for key, one in kept.items()) + "\n}\n"


def _read(path: Path) -> dict[str, Any]:
    """What `_written` wrote, its tables as rows again."""

    def rows(table: list[list]) -> list[dict[str, Any]]:
        return [dict(zip(table[0], line, strict=True)) for line in table[1:]]

    return {key: rows(one) if isinstance(one, list) else one for key, one in read_json(path).items()}


def kept_metrics(docs: Path, name: str) -> pl.DataFrame:
    """The rows of `metrics` that were kept of an experiment; none where it was not kept."""
    path, empty = docs / "results" / f"{name}.json", TABLES["metrics"].empty()
    rows = _read(path)["metrics"] if path.exists() else []
    return pl.DataFrame(rows, schema_overrides=dict(empty.schema)).select(empty.columns) if rows else empty


def kept_picture(conf: Path, docs: Path, name: str, shown: Sequence[str]) -> str:
    """A drawing of what was kept of an experiment: some systems' differences to the best plain ranking, by data set."""
    kept = _read(docs / "results" / f"{name}.json")
    tables = [
        pl.DataFrame(kept[t], schema_overrides=dict(TABLES[t].empty().schema), infer_schema_length=None)
        for t in ("metrics", "comparisons")
    ]
    systems = {row["system"] for row in kept["metrics"]}
    families = {system: option(conf, "system", system.partition(":")[0]).family for system in systems}
    found = findings(
        *tables, families, option(conf, "eval", "default").min_units, option(conf, "eval", "default").claim
    )
    dots = [
        _dot(_head(dataset, own[0]), line) for dataset, lines, _ in found if (own := _of(lines, shown)) for line in own
    ]
    label = f"{name}: what systems hold more of the gold evidence than the best plain ranking"
    xlabel = "share of the gold evidence, less or more than that ranking holds; hollow: not sure"
    return standalone(forest(dots, label, xlabel, zero="the best plain ranking"))


def _of(lines: Sequence[Line], shown: Sequence[str]) -> list[Line]:
    """Some of the lines, in an order that is the same everywhere."""
    return [line for name in shown for line in lines if line.name == name]


def _head(dataset: str, line: Line) -> str:
    """What the lines of a data set are measured against."""
    base = number(line.value - line.difference)
    return f"{dataset}, {line.n} questions; the best plain ranking: {line.baseline}, holds {base}"


def _dot(head: str, line: Line) -> Dot:
    said = f"{line.difference:+.3f} ({line.interval}), holds {number(line.value)}"
    ends = (line.low, line.high)
    return Dot(line.name, line.family, line.difference, *ends, said, "", head, unsure=not line.sure)


def _rows(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """Rows as plain data, rounded to what the page can show."""
    return frame.with_columns(pl.col(pl.Float64).round(DIGITS)).to_dicts()


def filled(page: str, docs: Path) -> str:
    """A page with each of its tables made from docs/results. A mark says the experiment; DATASET, DATASET:ORDER or
    DATASET:ORDER:SUBSET; and where there are many rows the one whose pairs are shown. In the place of an order may stand
    with_answer or without_answer: scorers that see the gold answer, and those that do not.

    Raises SecateurError for a mark of an experiment that was not kept.
    """

    def table(found: re.Match) -> str:
        path = docs / "results" / f"{found[2]}.json"
        if not path.exists():
            raise SecateurError(f"{path}: not there. Fix: secateur keep {found[2]}")
        dataset, order, subset = (*(part or None for part in found[3].split(":")), None, None)[:3]
        return f"{found[1]}{_tables(found[2], _read(path), dataset, order, found[4], subset)}\n{found[5]}"

    return MARKS.sub(table, page)


def _tables(
    name: str,
    kept: Mapping[str, Any],
    dataset: str,
    order: str | None,
    among: str | None = None,
    subset: str | None = None,
) -> str:
    """Figures and matched differences of one data set in one order; among: a row, to show it and those it is paired with.

    Raises SecateurError where there are none.
    """

    def here(row: Mapping[str, Any]) -> bool:
        return (
            row["dataset"] == dataset
            and (order is None or order == (SIGHT[row["answer_aware"]] if order in SIGHT.values() else row["order"]))
            and row["subset"] in ([subset] if subset else WHOLE)
        )

    metrics, pairs = [r for r in kept["metrics"] if here(r)], [r for r in kept["comparisons"] if here(r)]
    if among:
        pairs = [r for r in pairs if among in (_row(r), _row(r, "baseline"))]
        shown = {among} | {_row(r) for r in pairs} | {_row(r, "baseline") for r in pairs}
        metrics = [r for r in metrics if _row(r) in shown]
    said = f"`{kept['command']}`, commit {kept['commit'][:10]}, metrics {kept['digests']['metrics'][:10]}."
    if not metrics:
        known = sorted({row["dataset"] for row in kept["metrics"]})
        raise SecateurError(
            f"docs/results/{name}.json has no figures of data set {dataset!r}{f' in order {order}' if order else ''}"
            f"{f' of row {among}' if among else ''}; it has "
            f"{', '.join(known)}. Fix: correct the mark, or keep the experiment again."
        )
    parts = [_figures(metrics), _differences(pairs), _sessions(metrics)]
    return "\n\n".join([*(part for part in parts if part), said])


def _row(row: Mapping[str, Any], side: str = "") -> str:
    """The name of a row, or of what it is paired with (`baseline`)."""
    system, scorer = (row[side], row[f"{side}_scorer"]) if side else (row["system"], row["scorer"])
    return f"{system} · {scorer}" if scorer else system


def _figures(rows: Sequence[Mapping[str, Any]]) -> str:
    """A line a row of the experiment, a column a metric; n and units are those of the metrics in it."""
    bases = _bounded(WIDE, rows)
    if not bases:
        return ""
    lines: dict[str, dict[str, Mapping]] = {}
    for row in rows:
        if _base(row) in bases:
            lines.setdefault(_row(row), {})[_base(row)] = row
    body = [[name, *(_cell(own.get(base), base) for base in bases)] for name, own in lines.items()]
    if set(bases) <= set(CHOSEN):
        body = _once(body)
    counts = {base: sorted({(r["n"], r["units"]) for r in rows if _base(r) == base}) for base in bases}
    said = "; ".join(f"{figure_of(b).title} n {', '.join(f'{n} ({u} units)' for n, u in counts[b])}" for b in bases)
    return _markdown(["row", *(figure_of(base).title for base in bases)], body) + f"\n\n{said}; 95 % intervals."


def _once(body: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """The first of the lines of one scorer that say the same: variants of a policy have the same choices to beat."""
    found: dict[tuple, Sequence[str]] = {}
    for line in body:
        found.setdefault((line[0].partition(" · ")[2], *line[1:]), line)
    return list(found.values())


def _bounded(metrics: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The metrics of some rows, without those of a single unit, which bound nothing."""
    return [m for m in metrics if any(_base(r) == m and r["units"] > 1 for r in rows)]


def _sessions(rows: Sequence[Mapping[str, Any]]) -> str:
    """A line a figure of memory."""
    by = {row["metric"]: row for row in rows}
    body = [
        [said, f"{by[m]['value']:.{n}f} ({by[m]['low']:.{n}f} to {by[m]['high']:.{n}f})", str(by[m]["n"])]
        for m, (said, n) in MEMORY.items()
        if m in by
    ]
    return _markdown(["figure", "mean", "questions"], body) if body else ""


def _base(row: Mapping[str, Any]) -> str:
    return row["metric"].removesuffix("@claim")


def _cell(row: Mapping[str, Any] | None, base: str) -> str:
    if row is None:
        return ""
    digits = figure_of(base).digits
    if base.endswith("tokens"):  # a size, not a measure
        return f"{row['value']:.0f}"
    return f"{row['value']:.{digits}f} ({row['low']:.{digits}f} to {row['high']:.{digits}f})"


def _differences(rows: Sequence[Mapping[str, Any]]) -> str:
    """A line a pair of rows that differ in one axis, a column a metric: difference, interval, Holm's p."""
    bases = _bounded(PAIRED, rows)
    pairs: dict[tuple, dict[str, Mapping]] = {}
    for row in rows:
        if row["difference"] == row["low"] == row["high"] == 0:  # the same texts, in another place
            continue
        key = (row["axis"], _row(row), _row(row, "baseline"))
        pairs.setdefault(key, {})[_base(row)] = row
    if not pairs:
        return ""
    body = [[*key, *(_difference(own.get(base)) for base in bases)] for key, own in sorted(pairs.items())]
    return _markdown(["axis", "row", "less", *(figure_of(base).title for base in bases)], body)


def _difference(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return ""
    ends = [("unbounded" if end is None else f"{end:+.3f}") for end in (row["low"], row["high"])]
    return f"{row['difference']:+.3f} ({ends[0]} to {ends[1]}) p {row['p_holm']:.4f}"


def _markdown(heads: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
