"""The lookup of `secateur show`: finds the systems that match a question's id and the options, and reads their tables."""

from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import chain
from pathlib import Path

import polars as pl

from secateur.config.limits import not_run
from secateur.contexts.table import OWN_LENGTH
from secateur.core import layout
from secateur.core.artifacts import read_json
from secateur.core.errors import SecateurError, one_of
from secateur.core.layout import scorer_order
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table
from secateur.planning.earlier import run_variants
from secateur.planning.plan import Variant
from secateur.report.format import row_of
from secateur.report.trace import ID_COLUMNS, Trace, Traces

__all__ = ["QuestionTables", "find"]

NEAREST = 5  # ids that the message about an unknown id names


@dataclass(frozen=True)
class QuestionTables:
    """The tables of one question under one variant. scorer: the ranker, where the variant has several."""

    root: Path
    variant: Variant
    question_id: str
    scorer: str | None = None

    @property
    def options(self) -> dict[str, str]:
        """The options of the variant by name."""
        return self.variant.wildcards

    @property
    def folder(self) -> str:
        """The folder of the data set."""
        return layout.folder(self.options)

    @property
    def contexts(self) -> str:
        """The path of the contexts table."""
        return f"{self.folder}/{layout.source(self.options)}/contexts.parquet"

    def whole(self, path: str) -> pl.DataFrame:
        """A whole table; the stem of its path is its name."""
        return read_table(TABLES[Path(path).stem], self.root / path)

    def rows(self, path: str) -> pl.DataFrame:
        """The rows of a table for the question and, where the table has several scorers, for the scorer."""
        rows = self.whole(path).filter(pl.col(ID_COLUMNS.get(Path(path).stem, "question_id")) == self.question_id)
        return rows.filter(scorer=self.scorer) if self.scorer and "scorer" in rows.columns else rows

    def graph(self, name: str) -> pl.DataFrame:
        """A table of the graph that ranks."""
        return self.whole(layout.table_of_graph(name)(self.options))

    def question_ids(self) -> list[str]:
        """The ids of all questions of the data set, in order; empty before the questions are prepared."""
        path = f"{self.folder}/questions/questions.parquet"
        return self.whole(path).sort("position")["question_id"].to_list() if (self.root / path).exists() else []

    def trace(
        self, contexts: pl.DataFrame, figures: pl.DataFrame, steps: dict[str, pl.DataFrame] | None = None
    ) -> Trace:
        """The trace of the question through some contexts."""
        questions, evidence = (
            self.rows(f"{self.folder}/questions/{name}.parquet") for name in ("questions", "evidence")
        )
        texts = dict(self.whole(layout.passages(self.options)).select("passage_id", "text").iter_rows())
        return Traces(questions, evidence, contexts, figures, texts=texts, steps=steps)[self.question_id]

    def steps(self) -> dict[str, pl.DataFrame]:
        """The tables of the steps before the context by name; none for imported contexts."""
        paths = []
        if self.options["family"] == "graph":
            candidates = layout.candidates(self.options)
            paths = [layout.question_triples(self.options), candidates, layout.beside(candidates, "paths.parquet")]
        steps = {Path(path).stem: self.rows(path) for path in paths}
        if self.options["family"] != layout.IMPORTED:
            rankings = self.rows(layout.ranked_file(self.options | {"ranking": layout.ranking(self.options)}))
            pick = self.variant["pick"]
            steps["rankings"] = rankings if pick == layout.ALL else rankings.filter(scorer=pick)
        return steps

    def figures(self) -> pl.DataFrame:
        """The figures of the question: evidence, answer gain, answers."""
        shards = sorted((self.root / layout.gained(self.options)).glob("*/question_metrics.parquet"))
        paths = [layout.figures(self.options, None), *(str(path.relative_to(self.root)) for path in shards)]
        paths.append(layout.answered(self.options))
        tables = [self.rows(path) for path in paths if (self.root / path).exists()]
        return pl.concat([TABLES["question_metrics"].empty(), *tables])

    def budget(self) -> int:
        """The budget in tokens of the context that questions are answered with."""
        return read_json(self.root / layout.beside(self.contexts, "run.json"))["config"].get(
            "assembly.budget", OWN_LENGTH
        )


def find(
    root: Path,
    experiment: str,
    question_id: str,
    system: str | None = None,
    order: str | None = None,
    dataset: str | None = None,
) -> list[QuestionTables]:
    """The systems that match: all that select turns, for a question of a dialogue; else one on documents.

    system: `system`, or `system/scorer` where it ranks with several; by default the first that ranks by the graph.
    order: by default the system's first. Raises SecateurError for unknown names, with the allowed ones.
    """
    name, scorer = row_of(system) if system else (None, None)
    systems = [QuestionTables(root, v, question_id) for v in run_variants(root, experiment) if v.study is None]
    dialogues = [
        tables
        for tables in systems
        if tables.variant.kind == "dialogue"
        and name in (None, tables.variant.system)
        and dataset in (None, tables.variant.dataset)
        and question_id in tables.question_ids()
    ]
    if dialogues:
        return [tables for tables in dialogues if tables.variant.dataset == dialogues[0].variant.dataset]
    documents = [tables for tables in systems if tables.variant.kind == "documents"]
    if not documents:
        raise SecateurError(
            f"{experiment} has no system on documents, so no question has a context to show. "
            "Fix: name a question of its dialogues, or an experiment with documents, e.g. quickstart."
        )
    tables = _of_question(_of_system(documents, experiment, name, order), experiment, dataset)
    return [replace(tables, scorer=_scorer(tables, scorer, order))]


def _of_system(
    documents: list[QuestionTables], experiment: str, system: str | None, order: str | None
) -> list[QuestionTables]:
    """The variants of one system and order, one per data set."""
    default = min(documents, key=lambda tables: tables.options["family"] != "graph").variant.system
    system = one_of(f"{experiment}: system", system or default, (tables.variant.system for tables in documents))
    documents = [tables for tables in documents if tables.variant.system == system]
    orders = [tables.variant.order for tables in documents]
    if orders[0] is None:  # a list of rankers: the name of each implies its order
        return documents
    order = one_of(f"{experiment}: system {system}: order", order or orders[0], orders)
    return [tables for tables in documents if tables.variant.order == order]


def _of_question(documents: list[QuestionTables], experiment: str, dataset: str | None) -> QuestionTables:
    """The variant whose data set has the question."""
    if dataset:
        one_of(f"{experiment}: dataset", dataset, (tables.variant.dataset for tables in documents))
        documents = [tables for tables in documents if tables.variant.dataset == dataset]
    if absent := [tables.contexts for tables in documents if not (tables.root / tables.contexts).exists()]:
        if not (documents[0].root / "results/experiments" / experiment / "run.json").exists():
            raise not_run(experiment)
        raise SecateurError(f"{absent[0]}: missing. Fix: snakemake --config experiment={experiment} -- {absent[0]}")
    question_id = documents[0].question_id
    ids = {tables.variant.dataset: tables.question_ids() for tables in documents}
    matches = [tables for tables in documents if question_id in ids[tables.variant.dataset]]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise SecateurError(
            f"question {question_id!r} occurs in {', '.join(tables.variant.dataset for tables in matches)}. "
            f"Fix: add --dataset {matches[0].variant.dataset}"
        )
    all_ids = list(chain.from_iterable(ids.values()))
    near = get_close_matches(question_id, all_ids, n=NEAREST, cutoff=0.0)
    raise SecateurError(
        f"question {question_id!r}: not among the {len(all_ids)} questions of {', '.join(ids)}; "
        f"the nearest are {', '.join(near)}"
    )


def _scorer(tables: QuestionTables, scorer: str | None, order: str | None) -> str | None:
    """The ranker of a system with several; None for a system with one."""
    system = tables.variant.system
    if tables.variant["pick"] != layout.ALL or tables.options["family"] == layout.IMPORTED:
        return None
    scorers = sorted(set(tables.whole(tables.contexts)["scorer"]))
    scorers = [name for name in scorers if order in (None, scorer_order(name))]
    if scorer is None:
        raise SecateurError(
            f"system {system} has several rankers. Fix: --system {system}/NAME, of {', '.join(scorers)}"
        )
    return one_of(f"system {system}: ranker", scorer, scorers)
