"""One question's whole way from its text to its context, as lines for a terminal."""

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from textwrap import wrap

import polars as pl

from secateur.config.limits import command
from secateur.core import layout
from secateur.core.artifacts import read_json
from secateur.core.errors import SecateurError, nearest
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table
from secateur.evaluation.rows import order_of
from secateur.graph.codebook import edge_lines
from secateur.planning.plan import Variant, variants
from secateur.report.format import row_name, row_of
from secateur.report.turns import chosen_turns

__all__ = ["show"]

WIDTH = 120
RANKED = 20  # passages listed besides gold ones and those in the context
NEAREST = 5  # ids named where the one asked for is unknown
GOLD = "*"
TERMS = ("coarse", "rel_top", "coverage", "pairs", "distinct", "whole", "fine")
ASKED = {"triples": "doc_id"}  # tables of a question that name it otherwise than question_id


class _Way:
    """The tables of a variant, or of one ranker of it, and those rows of them that speak of one question."""

    def __init__(self, root: Path, variant: Variant, question_id: str = "", scorer: str | None = None) -> None:
        self.root, self.variant, self.scorer, self.question_id = root, variant, scorer, question_id
        self.options = variant.wildcards
        self.folder = layout.folder(self.options)
        self.contexts = f"{self.folder}/{layout.source(self.options)}/contexts.parquet"

    def all(self, path: str) -> pl.DataFrame:
        """A table by its path, which ends in its name."""
        return read_table(TABLES[Path(path).stem], self.root / path)

    def own(self, path: str) -> pl.DataFrame:
        """Its rows of the question; of the scorer, where it has several."""
        rows = self.all(path).filter(pl.col(ASKED.get(Path(path).stem, "question_id")) == self.question_id)
        several = self.scorer is not None and "scorer" in rows.columns
        return rows.filter(pl.col("scorer") == self.scorer) if several else rows

    def asked(self, name: str) -> pl.DataFrame:
        """The question, its evidence."""
        return self.own(f"{self.folder}/questions/{name}.parquet")

    def graph(self, name: str) -> pl.DataFrame:
        """A table of the graph that ranks."""
        return self.all(layout.table_of_graph(name)(self.options))

    @property
    def ranks(self) -> bool:
        """Whether its contexts are made of a ranking here."""
        return self.options["family"] != layout.IMPORTED

    @property
    def by_graph(self) -> bool:
        """Whether the graph ranks."""
        return self.options["family"] == "graph"

    def ranking(self) -> pl.DataFrame:
        """What its context was assembled from, best first."""
        rows = self.own(layout.ranked_file(self.options | {"ranking": layout.ranking(self.options)}))
        every = self.variant["pick"] == layout.ALL
        return (rows if every else rows.filter(pl.col("scorer") == self.variant["pick"])).sort("rank")

    def budget(self) -> int:
        """Tokens of the context that questions are answered with, as it was assembled."""
        return read_json(self.root / layout.beside(self.contexts, "run.json"))["config"]["assembly.budget"]


# --- which row, which question -------------------------------------------------------------------


def _one_of(what: str, asked: str, allowed: Iterable[str]) -> str:
    allowed = list(dict.fromkeys(allowed))
    if asked not in allowed:
        raise SecateurError(f"{what} {asked!r}: allowed: {', '.join(allowed)}{nearest(asked, allowed)}")
    return asked


def _variants(conf: Path, experiment: str, system: str | None, order: str | None) -> list[Variant]:
    """One variant for each data set of documents: of the system and order asked for, or of the first by the graph."""
    known = [v for v in variants(conf, experiment) if v.kind == "documents" and v.study is None]
    if not known:
        raise SecateurError(
            f"{experiment} has no system on documents, so no question has a context to show. "
            "Fix: name a question of its dialogues, or an experiment with documents, e.g. quickstart."
        )
    first = min(known, key=lambda v: v["family"] != "graph").system
    named = _one_of(f"{experiment}: system", system or first, (v.system for v in known))
    own = [v for v in known if v.system == named]
    if own[0].order is None:  # a list of rankers: each says its order itself
        return own
    followed = _one_of(f"{experiment}: system {named}: order", order or own[0].order, (v.order for v in own))
    return [v for v in own if v.order == followed]


def _of_dialogue(
    root: Path, experiment: str, question_id: str, system: str | None, dataset: str | None
) -> list[Variant]:
    """The variants that choose turns for a question of a dialogue; none where it is one of documents."""
    known = [v for v in variants(root / "conf", experiment) if v.kind == "dialogue" and v.study is None]
    known = [v for v in known if system in (None, v.system) and dataset in (None, v.dataset)]
    for name in dict.fromkeys(v.dataset for v in known):
        own = [v for v in known if v.dataset == name]
        table = root / layout.folder(own[0].wildcards) / "questions/questions.parquet"
        if table.exists() and question_id in set(read_table(TABLES["questions"], table)["question_id"]):
            return own
    return []


def _scorer(way: _Way, scorer: str | None, order: str | None) -> str | None:
    """The ranker of a list; None where a system has one ranker only."""
    if way.variant["pick"] != layout.ALL or not way.ranks:
        return None
    known = [name for name in sorted(set(way.all(way.contexts)["scorer"])) if order in (None, order_of(name))]
    system = way.variant.system
    if scorer is None:
        raise SecateurError(f"system {system} has several rankers. Fix: --system {system}/NAME, of {', '.join(known)}")
    return _one_of(f"system {system}: ranker", scorer, known)


def _questions(root: Path, variant: Variant, experiment: str) -> list[str]:
    way = _Way(root, variant)
    if not (root / layout.beside(way.contexts, "run.json")).exists():
        raise SecateurError(f"{experiment} has not been run here. Fix: {command(experiment)}")
    return way.all(f"{way.folder}/questions/questions.parquet").sort("position")["question_id"].to_list()


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


def _mark(passage_id: str | None, gold: set[str]) -> str:
    return GOLD if passage_id in gold else " "


def _beside(head: str, text: str) -> str:
    """A line with as much of a text as fits."""
    return f"{head} {_cut(text, max(WIDTH - len(head) - 1, 20))}"


# --- the sections --------------------------------------------------------------------------------


def _question(way: _Way) -> list[str]:
    row, v = way.asked("questions").row(0, named=True), way.variant
    where = [f"data set {v.dataset}", f"group {row['group_id']}", f"split {row['split']}"]
    where += [f"type {row['type']}"] if row["type"] else []
    order = v.order or order_of(way.scorer or "")
    return [
        f"{way.question_id}: {row_name(v.system, way.scorer)}, order-{order} ({', '.join(where)})",
        *_paragraph(row["text"], "question  "),
        *_paragraph(row["answer"] or "none given", "answer    "),
    ]


def _evidence(way: _Way, texts: dict[str, str]) -> list[str]:
    rows = way.asked("evidence").sort("n")
    resolved = rows["passage_id"].drop_nulls().len()
    found = [f"GOLD EVIDENCE: {resolved} of {rows.height} resolve to a passage"]
    for passage, text in rows.select("passage_id", "text").iter_rows():
        found += _paragraph(text or texts[passage], f"  {'[' + passage + ']' if passage else '[does not resolve]'} ")
    return found


def _triples(way: _Way) -> list[str]:
    rows = way.own(layout.question_triples(way.options)).sort("n").select("head", "relation", "tail").rows()
    shown = [f"  {_cut(_line(row), WIDTH - 2)}" for row in rows]
    return [f"QUESTION TRIPLES: {len(rows)}", *(shown or ["  none: its text is its one line, and it has no symbols"])]


def _candidates(way: _Way, gold: set[str]) -> list[str]:
    rows = way.own(layout.candidates(way.options)).sort("rank")
    triples = edge_lines(way.graph("edges"), way.graph("entities"), way.graph("relations"))
    lines = {edge: triple for edge, *triple in triples.select("edge_id", "head", "relation", "tail").iter_rows()}
    members = way.graph("run_edges").filter(pl.col("run_id").is_in(rows["run_id"].to_list())).sort("run_id", "n")
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


def _ranked(
    way: _Way, ranking: pl.DataFrame, within: set[str], texts: dict[str, str], gold: set[str], full
) -> list[str]:
    paths = way.own(layout.beside(layout.candidates(way.options), "paths.parquet")) if way.by_graph else None
    via = dict(paths.select("passage_id", "via").iter_rows()) if paths is not None else {}
    rest = "" if full else f"; the first {RANKED} and these; --full for all"
    found = [f"RANKED PASSAGES: {ranking.height} ({GOLD} gold, + in the context{rest})", "  rank     score    passage"]
    for rank, passage, edge, value in ranking.select("rank", "passage_id", "edge_id", "value").iter_rows():
        if full or rank < RANKED or passage in gold or passage in within:
            marks = f"{_mark(passage, gold)}{'+' if passage in within else ' '}"
            line = "" if edge is None else f" line {edge}"
            step = f" from [{via[passage]}]" if passage in via else ""
            found.append(_beside(f"  {rank:4} {value:9.3f}  {marks} [{passage}]{line}{step}", texts[passage]))
    missing = sorted(gold - set(ranking["passage_id"]))
    return found + ([f"  not among them: gold {', '.join(missing)}"] if missing else [])


def _figures(way: _Way) -> list[str]:
    """What was measured of the question: a table of what has budgets, the rest line by line."""
    shards = sorted((way.root / layout.gained(way.options)).glob("*/question_metrics.parquet"))
    paths = [layout.figures(way.options, None), *(str(path.relative_to(way.root)) for path in shards)]
    paths.append(layout.answered(way.options))
    tables = [way.own(path).filter(pl.col("hop").is_null()) for path in paths if (way.root / path).exists()]
    values = {metric: value for rows in tables for metric, value in rows.select("metric", "value").iter_rows()}
    at = {name: name.split("@") for name in values if "@" in name}
    budgets = sorted({int(budget) for _, budget in at.values()})
    if not values:
        return ["FIGURES: none, nothing was measured of this question"]
    found = ["FIGURES of this question, by tokens allowed", "  " + " " * 22 + "".join(str(b).rjust(8) for b in budgets)]
    for base in dict.fromkeys(base for base, _ in at.values()):
        cells = [values.get(f"{base}@{b}") for b in budgets]
        found.append(f"  {base:22}" + "".join(("-" if c is None else f"{c:.4g}").rjust(8) for c in cells))
    return found + [f"  {name:22}{value:8.4g}" for name, value in values.items() if name not in at]


def _context(rows: pl.DataFrame, budget: int, rank: dict[str, int], gold: set[str]) -> list[str]:
    """A context: where each of its rows comes from, and the text as it is sent."""
    own = rows.filter(pl.col("budget") == budget).sort("place")
    if own.is_empty():
        return [f"CONTEXT within {budget} tokens: none"]
    passages, form = own["passage_id"].drop_nulls().n_unique(), own["form"][0]
    found = [
        f"CONTEXT within {budget} tokens: {own['tokens'][0]} used, {own.height} rows of {passages} passages, form {form} "
        f"({GOLD} gold)",
        "  place  rank  row    passage",
    ]
    for row in own.iter_rows(named=True):
        passage, kind = row["passage_id"], "whole" if row["whole"] else "lines" if row["edge_ids"] else "part"
        head = f"  {row['place']:5} {rank.get(passage, '-'):>5}  {kind:5} {_mark(passage, gold)} [{passage or 'not known'}]"
        found.append(_beside(head, row["says"] or row["text"]))
    text = "".join(own["text"])
    lines = [part for line in text.split("\n") for part in wrap(line, WIDTH - 2, break_on_hyphens=False) or [""]]
    return [*found, "", "  --- as sent ---", *(f"  {line}".rstrip() for line in lines)]


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
    """Everything the tables of one row of figures hold about one question.

    system: `system`, or `system/scorer` where it ranks with several; by default the experiment's first by the graph.
    order: by default its first; dataset: needed where several data sets have a question of that id; full: the whole
    ranking, and the context at every budget. Raises SecateurError for unknown names, with the allowed ones.
    """
    named, scorer = row_of(system) if system else (None, None)
    if turns := _of_dialogue(root, experiment, question_id, named, dataset):
        return chosen_turns(root, turns, question_id, full)
    own = _variants(root / "conf", experiment, named, order)
    variant = _find(root, own, experiment, question_id, dataset)
    way = _Way(root, variant, question_id, _scorer(_Way(root, variant), scorer, order))
    texts = dict(way.all(layout.passages(way.options)).select("passage_id", "text").iter_rows())
    gold = set(way.asked("evidence")["passage_id"].drop_nulls())
    contexts, budget = way.own(way.contexts), way.budget()
    within = set(contexts.filter(pl.col("budget") == budget)["passage_id"].drop_nulls())
    sections = [_question(way), _evidence(way, texts)]
    sections += [_triples(way), _candidates(way, gold)] if way.by_graph else []
    rank: dict[str, int] = {}
    if way.ranks:
        ranking = way.ranking()
        best = ranking.unique("passage_id", keep="first", maintain_order=True)
        rank = dict(best.select("passage_id", "rank").iter_rows())
        sections += [_ranked(way, ranking, within, texts, gold, full)] if ranking.height else []
    budgets = sorted({budget, *contexts["budget"]}) if full else [budget]
    sections += [_figures(way), *(_context(contexts, one, rank, gold) for one in budgets)]
    return "\n\n".join("\n".join(section) for section in sections)
