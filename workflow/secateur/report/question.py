"""One question's whole way from its text to its prompt, as lines for a terminal."""

import json
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from textwrap import wrap

import polars as pl

from secateur.graph.codebook import edge_lines
from secateur.pipeline.errors import SecateurError, nearest
from secateur.pipeline.plan import Variant, variants
from secateur.pipeline.tables.catalog import TABLES
from secateur.pipeline.tables.table import read_table

__all__ = ["show"]

WIDTH = 120
SOURCES = 20  # sources listed besides gold ones and those in the block
NEAREST = 5  # ids named where the one asked for is unknown
LINES = 4  # first lines of a prompt that is not the chosen one
GOLD = "*"
TERMS = ("coarse", "rel_top", "coverage", "pairs", "distinct", "whole", "fine")
FIGURES = ("exact", "novel", "held", "semantic")

PLACES = {  # table: its folder under results
    "passages": "{corpus}/passages",
    "questions": "{corpus}/{dataset}/questions",
    "evidence": "{corpus}/{dataset}/questions",
    "triples": "{corpus}/{dataset}/triples/{extractor}",
    "entities": "{corpus}/codebook/{extractor}/{embedder}",
    "relations": "{corpus}/codebook/{extractor}/{embedder}",
    "edges": "{corpus}/graph/GRAPH",
    "run_edges": "{corpus}/graph/GRAPH",
    "candidates": "{corpus}/{dataset}/candidates/GRAPH/{retriever}",
    "sources": "{corpus}/{dataset}/sources/GRAPH/{retriever}",
    "blocks": "{corpus}/{dataset}/prompts/GRAPH/{retriever}/{prompt}/{lm}",
    "prompts": "{corpus}/{dataset}/prompts/GRAPH/{retriever}/{prompt}/{lm}",
    "question_metrics": "{corpus}/{dataset}/evidence/GRAPH/{retriever}/{prompt}/{lm}",
}
GRAPH = "{extractor}/{embedder}/{codebook}/{track}/{consolidation}"
ASKED = {"triples": "doc_id"}  # tables of a question that name it otherwise than question_id


class _Way:
    """The tables of one variant, and those rows of them that speak of one question."""

    def __init__(self, root: Path, variant: Variant, question_id: str) -> None:
        self.root, self.variant, self.question_id = root, variant, question_id

    def folder(self, name: str) -> Path:
        return self.root / "results" / PLACES[name].replace("GRAPH", GRAPH).format(**self.variant.wildcards)

    def all(self, name: str) -> pl.DataFrame:
        return read_table(TABLES[name], self.folder(name) / f"{name}.parquet")

    def own(self, name: str) -> pl.DataFrame:
        return self.all(name).filter(pl.col(ASKED.get(name, "question_id")) == self.question_id)

    def budget(self) -> int:
        """Word pieces of the block in the prompt as used, as it was built."""
        record = json.loads((self.folder("blocks") / "run.json").read_text(encoding="utf-8"))
        return record["config"]["prompt.budget"]


# --- which variant, which question ---------------------------------------------------------------


def _one_of(what: str, asked: str, allowed: Iterable[str]) -> str:
    allowed = list(dict.fromkeys(allowed))
    if asked not in allowed:
        raise SecateurError(f"{what} {asked!r}: allowed: {', '.join(allowed)}{nearest(asked, allowed)}")
    return asked


def _variants(conf: Path, experiment: str, system: str | None, track: str | None) -> list[Variant]:
    """One graph variant for each data set: of the system and track asked for, or of the first there are."""
    graph = [v for v in variants(conf, experiment) if v.path == "graph"]
    if not graph:
        raise SecateurError(
            f"{experiment} has no graph system, so no question has a way to show. "
            "Fix: name an experiment with documents, e.g. quickstart."
        )
    named = _one_of(f"{experiment}: system", system or graph[0].system, (v.system for v in graph))
    own = [v for v in graph if v.system == named]
    followed = _one_of(f"{experiment}: system {named}: track", track or own[0].track, (v.track for v in own))
    return [v for v in own if v.track == followed]


def _questions(root: Path, variant: Variant, experiment: str) -> list[str]:
    way = _Way(root, variant, "")
    for name in PLACES:
        if not (way.folder(name) / f"{name}.parquet").exists():
            raise SecateurError(f"{experiment} has not been run here. Fix: make run EXPERIMENT={experiment}")
    return way.all("questions").sort("position")["question_id"].to_list()


def _find(root: Path, own: list[Variant], experiment: str, question_id: str, dataset: str | None) -> Variant:
    """The variant whose data set has the question."""
    if dataset:
        _one_of(f"{experiment}: dataset", dataset, (v.dataset for v in own))
        own = [v for v in own if v.dataset == dataset]
    ids = {v: _questions(root, v, experiment) for v in own}
    having = [v for v in own if question_id in ids[v]]
    if len(having) == 1:
        return having[0]
    if having:
        raise SecateurError(
            f"question {question_id!r} occurs in {', '.join(v.dataset for v in having)}. "
            f"Fix: add --dataset {having[0].dataset}"
        )
    known = [qid for one in ids.values() for qid in one]
    near = get_close_matches(question_id, known, n=NEAREST, cutoff=0.0)
    raise SecateurError(
        f"question {question_id!r}: not among the {len(known)} questions of {', '.join(v.dataset for v in own)}; "
        f"the nearest are {', '.join(near)}"
    )


# --- text in columns -----------------------------------------------------------------------------


def _cut(text: str, width: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= width else f"{flat[: width - 1]}…"


def _paragraph(text: str, first: str) -> list[str]:
    """A text in lines of WIDTH, later lines indented as far as the first one's label reaches."""
    return wrap(text, WIDTH, initial_indent=first, subsequent_indent=" " * len(first), break_on_hyphens=False) or [
        first
    ]


def _line(triple: tuple[str, str, str]) -> str:
    return " | ".join(triple)


def _mark(passage_id: str, gold: set[str]) -> str:
    return GOLD if passage_id in gold else " "


# --- the sections --------------------------------------------------------------------------------


def _question(way: _Way) -> list[str]:
    row, v = way.own("questions").row(0, named=True), way.variant
    where = [f"data set {v.dataset}", f"group {row['group_id']}", f"split {row['split']}"]
    where += [f"type {row['type']}"] if row["type"] else []
    return [
        f"{way.question_id}: {v.system}, order-{v.track} ({', '.join(where)})",
        *_paragraph(row["text"], "question  "),
        *_paragraph(row["answer"] or "none given", "answer    "),
    ]


def _evidence(way: _Way, texts: dict[str, str]) -> list[str]:
    rows = way.own("evidence").sort("n")
    resolved = rows["passage_id"].drop_nulls().len()
    found = [f"GOLD EVIDENCE: {resolved} of {rows.height} resolve to a passage"]
    for passage, text in rows.select("passage_id", "text").iter_rows():
        found += _paragraph(text or texts[passage], f"  {'[' + passage + ']' if passage else '[does not resolve]'} ")
    return found


def _asked(way: _Way) -> list[str]:
    rows = way.own("triples").sort("n").select("head", "relation", "tail").rows()
    shown = [f"  {_cut(_line(row), WIDTH - 2)}" for row in rows]
    return [f"QUESTION TRIPLES: {len(rows)}", *(shown or ["  none: its text is its one line, and it has no symbols"])]


def _candidates(way: _Way, lines: dict[int, tuple], gold: set[str]) -> list[str]:
    rows = way.own("candidates").sort("rank")
    members = way.all("run_edges").filter(pl.col("run_id").is_in(rows["run_id"].to_list())).sort("run_id", "n")
    of_run = members.partition_by("run_id", as_dict=True)
    found = [
        f"CANDIDATE RUNS: {rows.height}, by fine score ({GOLD} from gold evidence)",
        "  rank     run" + "".join(term.rjust(10) for term in TERMS),
    ]
    for row in rows.iter_rows(named=True):
        found.append(f"  {row['rank']:4} {row['run_id']:7}" + "".join(f"{row[term]:10.3f}" for term in TERMS))
        for edge, passage in of_run[(row["run_id"],)].select("edge_id", "passage_id").iter_rows():
            end = f"  [{passage}]"
            found.append(f"     {_mark(passage, gold)} {_cut(_line(lines[edge]), WIDTH - 7 - len(end))}{end}")
    return found


def _sources(way: _Way, block: pl.DataFrame, texts: dict[str, str], gold: set[str], full: bool) -> list[str]:
    rows, within = way.own("sources").sort("rank"), set(block["passage_id"])
    found = [
        f"RANKED SOURCES: {rows.height} ({GOLD} gold, + in the block"
        + ("" if full else f"; the first {SOURCES} and these; --full for all")
        + ")",
        "  rank     score      p     passage",
    ]
    for rank, passage, score, p in rows.select("rank", "passage_id", "score", "p").iter_rows():
        if full or rank < SOURCES or passage in gold or passage in within:
            marks = f"{_mark(passage, gold)}{'+' if passage in within else ' '}"
            found.append(_cut_tail(f"  {rank:4} {score:9.3f} {p:6.3f}  {marks} [{passage}]", texts[passage]))
    missing = sorted(gold - set(rows["passage_id"]))
    return found + ([f"  not among them: gold {', '.join(missing)}"] if missing else [])


def _cut_tail(head: str, tail: str) -> str:
    return f"{head} {_cut(tail, max(WIDTH - len(head) - 1, 20))}"


def _selection(way: _Way, block: pl.DataFrame, budget: int, gold: set[str]) -> list[str]:
    candidates = way.own("candidates").sort("rank")
    rank = dict(candidates.select("run_id", "rank").iter_rows())
    place = dict(way.own("sources").select("passage_id", "rank").iter_rows())
    members = way.all("run_edges").filter(pl.col("run_id").is_in(list(rank)))
    runs: dict[tuple[int, str], set[int]] = {}
    for run, edge, passage in members.select("run_id", "edge_id", "passage_id").iter_rows():
        runs.setdefault((edge, passage), set()).add(rank[run])
    shown, found = set(), []
    for row in block.sort("n").iter_rows(named=True):
        of = set().union(*(runs.get((edge, row["passage_id"]), set()) for edge in row["edge_ids"]))
        shown |= of
        source, run = place.get(row["passage_id"], "-"), " ".join(map(str, sorted(of))) or "-"
        head = f"  {row['kind']:8} {row['tokens']:4} {source:>6} {run:>6} {_mark(row['passage_id'], gold)}"
        found.append(_cut_tail(f"{head} [{row['passage_id']}]", row["text"]))
    whole = block.filter(pl.col("kind") == "sentence").height
    return [
        *_paragraph(
            f"{block['tokens'].sum()} used by {block['passage_id'].n_unique()} sources; {whole} whole sentences, "
            f"{block.height - whole} lines; {len(shown)} of {len(rank)} candidate runs have a line in it",
            f"SELECTION at {budget} word pieces: ",
        ),
        "  kind     size source    run   passage",
        *found,
    ]


def _figures(way: _Way) -> list[str]:
    values = dict(way.own("question_metrics").select("metric", "value").iter_rows())
    budgets = sorted({int(name.split("@")[1]) for name in values if "@" in name})
    found = ["FIGURES of this question, by word pieces", "  " + " " * 8 + "".join(str(b).rjust(8) for b in budgets)]
    for name in FIGURES:
        cells = [values.get(f"{name}@{b}") for b in budgets]
        if any(cell is not None for cell in cells):
            found.append(f"  {name:8}" + "".join(("-" if c is None else f"{c:.3f}").rjust(8) for c in cells))
    return found if budgets else ["FIGURES: none, the question has no gold evidence"]


def _prompts(way: _Way, full: bool) -> list[str]:
    rows = way.own("prompts").sort("chosen", "encoding", descending=[True, False])
    found = [f"PROMPT: {rows['edges'][0]} edges; tokens of the whole prompt"]
    found += [
        f"  {e:8}{n:6}{'  chosen' if c else ''}" for e, n, c in rows.select("encoding", "tokens", "chosen").rows()
    ]
    for encoding, chosen, text in rows.select("encoding", "chosen", "text").iter_rows():
        lines = [part for line in text.split("\n") for part in wrap(line, WIDTH - 2, break_on_hyphens=False) or [""]]
        kept = lines if full or chosen else lines[:LINES]
        found += ["", f"  --- {encoding}{', as sent' if chosen else ''} ---", *(f"  {line}" for line in kept)]
        found += [f"  ({len(lines) - len(kept)} more lines; --full for all)"] if len(kept) < len(lines) else []
    return found


def show(
    root: Path,
    experiment: str,
    question_id: str,
    *,
    system: str | None = None,
    track: str | None = None,
    dataset: str | None = None,
    full: bool = False,
) -> str:
    """Everything the tables of one graph system hold about one question.

    system, track: default to the first of the experiment's graph systems; dataset: needed where several data sets
    have a question of that id. Raises SecateurError for unknown names, with the allowed ones.
    """
    variant = _find(root, _variants(root / "conf", experiment, system, track), experiment, question_id, dataset)
    way = _Way(root, variant, question_id)
    texts = dict(way.all("passages").select("passage_id", "text").iter_rows())
    gold = set(way.own("evidence")["passage_id"].drop_nulls())
    triples = edge_lines(way.all("edges"), way.all("entities"), way.all("relations"))
    lines = {edge: triple for edge, *triple in triples.select("edge_id", "head", "relation", "tail").iter_rows()}
    budget = way.budget()
    block = way.own("blocks").filter(pl.col("budget") == budget)
    sections = [
        _question(way),
        _evidence(way, texts),
        _asked(way),
        _candidates(way, lines, gold),
        _sources(way, block, texts, gold, full),
        _selection(way, block, budget, gold),
        _figures(way),
        _prompts(way, full),
    ]
    return "\n\n".join("\n".join(section) for section in sections)
