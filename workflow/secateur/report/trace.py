"""The trace of a question through a system: its gold evidence, its ranked passages, its context and its figures.

`Traces` builds it from tables. `secateur show`, the question browser of the page and its sampled questions are views of
it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

__all__ = ["ID_COLUMNS", "Trace", "Traces", "turns"]

ID_COLUMNS = {"triples": "doc_id"}  # table -> column of the question's id, where it is not question_id
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Trace:
    """One question through one system.

    question: row of `questions`; evidence: rows of `evidence`; context: rows of `contexts` at one budget, in the order
    sent; figures: metric -> value; answer: None where the question was not answered; steps: table -> its rows, of the
    steps before the context.
    """

    question: Row
    evidence: Sequence[Row]
    context: Sequence[Row]
    figures: Mapping[str, float]
    answer: str | None
    steps: Mapping[str, pl.DataFrame]

    @cached_property
    def gold(self) -> frozenset[str]:
        """Passages of the gold evidence."""
        return frozenset(row["passage_id"] for row in self.evidence if row["passage_id"])

    @cached_property
    def sent(self) -> frozenset[str]:
        """Passages in the context."""
        return frozenset(row["passage_id"] for row in self.context if row["passage_id"])

    @property
    def tokens(self) -> int | None:
        """Tokens of the context; None where they are not counted."""
        return self.context[0]["tokens"] if self.context else 0

    def presence(self, passage: str | None) -> str:
        """How the context holds a passage of the evidence: whole, lines or absent; unresolved for None."""
        if passage is None:
            return "unresolved"
        whole = [row["whole"] for row in self.context if row["passage_id"] == passage]
        return "whole" if any(whole) else "lines" if whole else "absent"


class _Grouped:
    """The rows of a table by question, as slices of the sorted table."""

    def __init__(self, rows: pl.DataFrame, *order: str, by: str = "question_id") -> None:
        self.rows = rows.sort(by, *order, maintain_order=True)
        slices = self.rows.with_row_index("start").group_by(by).agg(pl.first("start"), pl.len())
        self.slices = {question: (start, length) for question, start, length in slices.iter_rows()}

    def __call__(self, question: str) -> pl.DataFrame:
        return self.rows.slice(*self.slices.get(question, (0, 0)))


class Traces(Mapping[str, Trace]):
    """The traces of the questions of a data set through one system, in the order of the questions."""

    def __init__(
        self,
        questions: pl.DataFrame,
        evidence: pl.DataFrame,
        contexts: pl.DataFrame,
        figures: pl.DataFrame,
        answers: Mapping[str, str] | None = None,
        texts: Mapping[str, str] | None = None,
        steps: Mapping[str, pl.DataFrame] | None = None,
    ) -> None:
        """Groups the rows of tables by question.

        contexts: rows of one budget and one scorer; figures: rows of `question_metrics`; answers: question -> answer;
        texts: passage -> text, for evidence without a text; steps: name -> table of a step before the context.
        """
        self._questions = {row["question_id"]: row for row in questions.iter_rows(named=True)}
        self._evidence, self._contexts = _Grouped(evidence, "n"), _Grouped(contexts, "place")
        self._figures = _Grouped(figures.filter(pl.col("hop").is_null()).select("question_id", "metric", "value"))
        self._steps = {
            name: _Grouped(rows, by=ID_COLUMNS.get(name, "question_id")) for name, rows in (steps or {}).items()
        }
        self._answers, self._texts = answers or {}, texts or {}

    def __getitem__(self, question: str) -> Trace:
        evidence = self._evidence(question).to_dicts()
        return Trace(
            question=self._questions[question],
            evidence=[row | {"text": row["text"] or self._texts.get(row["passage_id"], "")} for row in evidence],
            context=self._contexts(question).to_dicts(),
            figures={metric: value for _, metric, value in self._figures(question).iter_rows()},
            answer=self._answers.get(question),
            steps={name: rows(question) for name, rows in self._steps.items()},
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._questions)

    def __len__(self) -> int:
        return len(self._questions)


def turns(selections: pl.DataFrame, passages: pl.DataFrame) -> pl.DataFrame:
    """The turns that scorers selected from dialogues, as rows of `contexts`; their tokens are not counted."""
    spoken = pl.concat_str(pl.col("speaker") + ": ", pl.col("text") + "\n", ignore_nulls=True)
    selected = selections.drop_nulls("passage_id")
    rows = selected.join(passages.select("passage_id", text=spoken), on="passage_id", maintain_order="left")
    return rows.with_columns(place="rank", tokens=pl.lit(None, pl.Int32), whole=pl.lit(True))
