"""What a loader returns, for tests of formats."""

import polars as pl

from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import check


def conform(passages: pl.DataFrame, found) -> None:
    """Loaders return frames that their tables accept."""
    for name, frame in (("passages", passages), ("questions", found.questions), ("evidence", found.evidence)):
        check(TABLES[name], frame, "test", "test")
        assert frame.schema == TABLES[name].empty().schema


def holders(questions, name: str) -> list[str | None]:
    """The passages that hold the evidence of a question."""
    return questions.evidence.filter(question_id=name).sort("n")["passage_id"].to_list()
