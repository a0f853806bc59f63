"""What a report shows: the tables it is made of, and what each of them speaks of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import polars as pl

from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table, read_tables

__all__ = ["Contents", "labelled", "tables"]

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Contents:
    """The plan of a report, as plain data.

    A row has labels (corpus, dataset, system, order) and, under the name of a table, the file or files of that table.
    """

    name: str  # of the experiment
    families: Mapping[str, str]  # system -> who ranks
    variants: Sequence[Row]  # labels, `files`: all figures of a variant
    missing: Sequence[Row]  # labels, `absent`: folders of figures that an unfinished experiment lacks
    graphs: Sequence[Row]  # growth
    datasets: Sequence[Row]  # dataset_statistics
    drawn: Sequence[Row]  # samples, subgraphs
    distractors: Sequence[Row]  # score_quantiles, acceptance
    policies: Sequence[Row]  # frontier
    peers: Sequence[Row]  # peer_costs, peer_asked
    browsed: Sequence[Row]  # selections of a dialogue or contexts, question_metrics, answers
    browsed_sets: Sequence[Row]  # `split`, questions, evidence, and passages of a dialogue

    @property
    def files(self) -> list[str]:
        """Every file that the report is made of, once each."""
        shown = (self.graphs, self.datasets, self.drawn, self.distractors, self.policies, self.peers)
        values = [row[name] for row in chain(*shown, self.browsed, self.browsed_sets) for name in row if name in TABLES]
        return list(dict.fromkeys(chain.from_iterable([v] if isinstance(v, str) else v for v in values)))


def tables(name: str, paths: Sequence[str]) -> pl.DataFrame:
    """The rows of several files of a table; none for no file."""
    return read_tables(TABLES[name], paths) if paths else TABLES[name].empty()


def labelled(rows: Sequence[Row], name: str, *labels: str) -> pl.DataFrame:
    """The table `name` of all rows, with their labels as columns."""
    frames = [(read_table(TABLES[name], row[name]), row) for row in rows] or [(TABLES[name].empty(), {})]
    return pl.concat(
        frame.with_columns(**{label: pl.lit(row.get(label), pl.String) for label in labels}) for frame, row in frames
    )
