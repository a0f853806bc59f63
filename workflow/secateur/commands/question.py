"""`secateur show`: the trace of one question as lines for a terminal."""

from collections.abc import Iterator, Mapping, Set
from dataclasses import replace
from pathlib import Path
from textwrap import wrap

import polars as pl

from secateur.commands.lookup import QuestionTables, find
from secateur.contexts.table import OWN_LENGTH, at
from secateur.core import layout
from secateur.core.layout import scorer_order
from secateur.core.tables.catalog import TABLES
from secateur.graph.codebook import edge_lines
from secateur.report.format import row_name
from secateur.report.trace import Trace, turns

__all__ = ["show"]

WIDTH = 120  # characters of a line
RANKED = 20  # passages listed besides gold ones and those in the context
SCORERS = 8  # scorers listed of a system that selects turns
GOLD = "*"
TERMS = ("coarse", "rel_top", "coverage", "pairs", "distinct", "whole", "fine")


def show(
    root: Path,
    experiment: str,
    question_id: str,
    *,
    system: str | None = None,
    order: str | None = None,
    dataset: str | None = None,
    full: bool = False,
) -> str:
    """The trace of one question through one system; through all systems, for a question of a dialogue.

    system: `system`, or `system/scorer` where it ranks with several; by default the first that ranks by the graph.
    order: by default the system's first; dataset: needed where several data sets have a question of that id; full: the
    whole ranking, and the context at every budget. Raises SecateurError for unknown names, with the allowed ones.
    """
    systems = find(root, experiment, question_id, system, order, dataset)
    of_dialogue = systems[0].variant.kind == "dialogue"
    sections = _dialogue_sections(systems, full) if of_dialogue else _document_sections(systems[0], full)
    return "\n\n".join("\n".join(section) for section in sections)


def _document_sections(tables: QuestionTables, full: bool) -> Iterator[list[str]]:
    """The sections of a question of documents, from its text to its context."""
    variant, budget, contexts = tables.variant, tables.budget(), tables.rows(tables.contexts)
    trace = tables.trace(at(contexts, budget), tables.figures(), tables.steps())
    order = variant.order or scorer_order(tables.scorer or "")
    yield _question(trace, f"{row_name(variant.system, tables.scorer)}, order-{order}", variant.dataset)
    yield _evidence(trace, True)
    if "candidates" in trace.steps:
        yield _triples(trace)
        yield _candidates(trace, tables)
    if "rankings" in trace.steps and trace.steps["rankings"].height:
        texts = tables.whole(layout.passages(tables.options)).select("passage_id", "text")
        yield _ranking(trace, dict(texts.iter_rows()), full)
    yield _figures(trace.figures)
    budgets = {budget, *contexts["budget"]} if full else {budget}
    for each in [OWN_LENGTH] if OWN_LENGTH in contexts["budget"] else sorted(budgets):
        yield _context(replace(trace, context=at(contexts, each).sort("place").to_dicts()), each)


def _dialogue_sections(systems: list[QuestionTables], full: bool) -> Iterator[list[str]]:
    """The sections of a question of a dialogue, with the turns that each system selected."""
    trace = systems[0].trace(TABLES["contexts"].empty(), TABLES["question_metrics"].empty())
    yield _question(trace, "turns of a dialogue", systems[0].variant.dataset)
    yield _evidence(trace, False)
    yield from (_selections(tables, trace.gold, full) for tables in systems)


# --- text in columns -----------------------------------------------------------------------------


def _cut(text: str, width: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= width else f"{flat[: width - 1]}…"


def _paragraph(label: str, text: str) -> list[str]:
    """A labelled text in lines of WIDTH; later lines are indented by the width of the label."""
    lines = wrap(text, WIDTH, initial_indent=label, subsequent_indent=" " * len(label), break_on_hyphens=False)
    return lines or [label]


def _beside(head: str, text: str) -> str:
    """A head and as much of a text as fits beside it."""
    return f"{head} {_cut(text, max(WIDTH - len(head) - 1, 20))}"


def _mark(passage: str | None, gold: Set[str]) -> str:
    return GOLD if passage in gold else " "


# --- sections ------------------------------------------------------------------------------------


def _question(trace: Trace, title: str, dataset: str) -> list[str]:
    row = trace.question
    labels = [f"data set {dataset}", f"group {row['group_id']}", f"split {row['split']}"]
    labels += [f"type {row['type']}"] if row["type"] else []
    return [
        f"{row['question_id']}: {title} ({', '.join(labels)})",
        *_paragraph("question  ", row["text"]),
        *_paragraph("answer    ", row["answer"] or "none given"),
    ]


def _evidence(trace: Trace, presence: bool) -> list[str]:
    """Gold evidence; presence: say how the context holds each passage."""
    passages = [row["passage_id"] for row in trace.evidence]
    lines = [f"GOLD EVIDENCE: {len(passages) - passages.count(None)} of {len(passages)} resolve to a passage"]
    for passage, row in zip(passages, trace.evidence, strict=True):
        label = f"  {GOLD} [{passage}] " if passage else "    [does not resolve] "
        lines += _paragraph(label + (f"{trace.presence(passage)}: " if presence and passage else ""), row["text"])
    return lines


def _triples(trace: Trace) -> list[str]:
    triples = trace.steps["triples"].sort("n").select("head", "relation", "tail").rows()
    lines = [f"  {_cut(' | '.join(triple), WIDTH - 2)}" for triple in triples]
    return [f"QUESTION TRIPLES: {len(lines)}", *(lines or ["  none: its text is its one line, and it has no symbols"])]


def _candidates(trace: Trace, tables: QuestionTables) -> list[str]:
    """The candidate runs with the terms of their scores, and the edges of each run."""
    candidates = trace.steps["candidates"].sort("rank")
    triples = edge_lines(tables.graph("edges"), tables.graph("entities"), tables.graph("relations"))
    edges = {
        edge: " | ".join(triple) for edge, *triple in triples.select("edge_id", "head", "relation", "tail").iter_rows()
    }
    members = tables.graph("run_edges").filter(pl.col("run_id").is_in(candidates["run_id"].to_list()))
    runs = members.sort("run_id", "n").partition_by("run_id", as_dict=True)
    lines = [
        f"CANDIDATE RUNS: {candidates.height}, by fine score ({GOLD} from gold evidence)",
        "  rank     run" + "".join(term.rjust(10) for term in TERMS),
    ]
    for row in candidates.iter_rows(named=True):
        lines.append(f"  {row['rank']:4} {row['run_id']:7}" + "".join(f"{row[term]:10.3f}" for term in TERMS))
        for edge, passage in runs[(row["run_id"],)].select("edge_id", "passage_id").iter_rows():
            end = f"  [{passage}]"
            lines.append(f"     {_mark(passage, trace.gold)} {_cut(edges[edge], WIDTH - 7 - len(end))}{end}")
    return lines


def _ranking(trace: Trace, texts: Mapping[str, str], full: bool) -> list[str]:
    """The ranked passages; texts: of passages."""
    ranking = trace.steps["rankings"].sort("rank")
    via = dict(trace.steps["paths"].select("passage_id", "via").iter_rows()) if "paths" in trace.steps else {}
    note = "" if full else f"; the first {RANKED} and these; --full for all"
    lines = [f"RANKED PASSAGES: {ranking.height} ({GOLD} gold, + in the context{note})", "  rank     score    passage"]
    for rank, passage, edge, score in ranking.select("rank", "passage_id", "edge_id", "value").iter_rows():
        if full or rank < RANKED or passage in trace.gold | trace.sent:
            marks = f"{_mark(passage, trace.gold)}{'+' if passage in trace.sent else ' '}"
            line = "" if edge is None else f" line {edge}"
            step = f" from [{via[passage]}]" if passage in via else ""
            lines.append(_beside(f"  {rank:4} {score:9.3f}  {marks} [{passage}]{line}{step}", texts[passage]))
    missing = sorted(trace.gold - set(ranking["passage_id"]))
    return lines + ([f"  not among them: gold {', '.join(missing)}"] if missing else [])


def _figures(values: Mapping[str, float]) -> list[str]:
    """The figures of the question: first a table of those with budgets, then the others line by line."""
    if not values:
        return ["FIGURES: none, nothing was measured of this question"]
    at_budgets = [name.split("@") for name in values if name.partition("@")[2].isdigit()]
    budgets = sorted({int(budget) for _, budget in at_budgets})
    lines = ["FIGURES of this question, by tokens allowed", " " * 24 + "".join(f"{budget:8}" for budget in budgets)]
    for metric in dict.fromkeys(metric for metric, _ in at_budgets):
        cells = [values.get(f"{metric}@{budget}") for budget in budgets]
        lines.append(f"  {metric:22}" + "".join(f"{'-':>8}" if cell is None else f"{cell:8.4g}" for cell in cells))
    return lines + [
        f"  {name:22}{value:8.4g}" for name, value in values.items() if not name.partition("@")[2].isdigit()
    ]


def _context(trace: Trace, budget: int) -> list[str]:
    """A context: the passage and the rank of each row, then the text as sent."""
    head = f"CONTEXT within {budget} tokens" if budget else "CONTEXT"
    if not trace.context:
        return [f"{head}: none"]
    ranks: dict[str, int] = {}
    if "rankings" in trace.steps:
        best = trace.steps["rankings"].group_by("passage_id").agg(pl.min("rank"))
        ranks = dict(best.select("passage_id", "rank").iter_rows())
    lines = [
        f"{head}: {trace.tokens} used, {len(trace.context)} rows of {len(trace.sent)} passages, "
        f"form {trace.context[0]['form']} ({GOLD} gold)",
        "  place  rank  row    passage",
    ]
    for row in trace.context:
        passage, part = row["passage_id"], "whole" if row["whole"] else "lines" if row["edge_ids"] else "part"
        head = f"  {row['place']:5} {ranks.get(passage, '-'):>5}  {part:5} {_mark(passage, trace.gold)}"
        lines.append(_beside(f"{head} [{passage or 'not known'}]", row["says"] or row["text"]))
    text = "".join(row["text"] for row in trace.context)
    sent = [part for line in text.split("\n") for part in wrap(line, WIDTH - 2, break_on_hyphens=False) or [""]]
    return [*lines, "", "  --- as sent ---", *(f"  {line}".rstrip() for line in sent)]


def _selections(tables: QuestionTables, gold: Set[str], full: bool) -> list[str]:
    """The turns that each scorer of a system selected, the best scorers first."""
    selections = tables.rows(layout.shown(tables.options, True))
    rows = turns(selections, tables.whole(layout.passages(tables.options))).sort("rank")
    f1 = tables.rows(layout.selection(tables.options)).filter(
        pl.col("scorer").is_in(selections["scorer"].unique().implode()), metric="f1_at_gold"
    )
    f1 = f1.sort("answer_aware", "value", "scorer", descending=[False, True, False])
    note = "" if full or f1.height <= SCORERS else f"; the best {SCORERS} here, --full for all"
    lines = [f"{tables.variant.system}: F1 at gold size of {f1.height} scorers ({GOLD} gold{note})"]
    for scorer, value, aware in (
        (f1 if full else f1.head(SCORERS)).select("scorer", "value", "answer_aware").iter_rows()
    ):
        lines.append(f"  {value:.3f}  {scorer}{' (sees the answer)' if aware else ''}")
        for passage, text in rows.filter(scorer=scorer).select("passage_id", "text").iter_rows():
            lines.append(_beside(f"    {_mark(passage, gold)} [{passage}]", text))
    return lines
