"""The contents of a report: its tables, and the rows that they describe."""

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
    """The contents of a report, as plain data.

    A row has labels (corpus, dataset, system, order) and, by the name of a table, its file or files. The comments list
    the tables and other keys of each kind of row.
    """

    name: str  # of the experiment
    families: Mapping[str, str]  # system -> who ranks
    variants: Sequence[Row]  # `files`: all figures of the variant
    missing: Sequence[Row]  # `absent`: folders of figures that an unfinished experiment lacks
    graphs: Sequence[Row]  # growth
    datasets: Sequence[Row]  # dataset_statistics
    drawn: Sequence[Row]  # samples, subgraphs
    distractors: Sequence[Row]  # score_quantiles, acceptance
    policies: Sequence[Row]  # frontier
    peers: Sequence[Row]  # peer_costs, peer_asked
    browsed: Sequence[Row]  # contexts (in a dialogue: selections), question_metrics, answers, `length`
    browsed_sets: Sequence[Row]  # `split`, questions, evidence (in a dialogue also passages)

    @property
    def files(self) -> list[str]:
        """All files that the report reads."""
        lists = (self.graphs, self.datasets, self.drawn, self.distractors, self.policies, self.peers)
        values = [row[name] for row in chain(*lists, self.browsed, self.browsed_sets) for name in row if name in TABLES]
        return list(dict.fromkeys(chain.from_iterable([v] if isinstance(v, str) else v for v in values)))


def tables(name: str, paths: Sequence[str]) -> pl.DataFrame:
    """The rows of a table from several files, empty for none."""
    return read_tables(TABLES[name], paths) if paths else TABLES[name].empty()


def labelled(rows: Sequence[Row], name: str, *labels: str) -> pl.DataFrame:
    """The table `name` of all rows together, with the labels as columns."""
    frames = [(read_table(TABLES[name], row[name]), row) for row in rows] or [(TABLES[name].empty(), {})]
    return pl.concat(
        frame.with_columns(**{label: pl.lit(row.get(label), pl.String) for label in labels}) for frame, row in frames
    )
