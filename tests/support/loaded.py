"""What a loader returns, for tests of formats."""

import json

import polars as pl

from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import check


def lines(rows) -> str:
    """JSON lines; a row that is a text stands as it is."""
    return "\n".join(row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows)


def conform(passages: pl.DataFrame, found) -> None:
    """Loaders return frames that their tables accept."""
    for name, frame in (("passages", passages), ("questions", found.questions), ("evidence", found.evidence)):
        check(TABLES[name], frame, "test", "test")
        assert frame.schema == TABLES[name].empty().schema


def holders(questions, name: str) -> list[str | None]:
    return questions.evidence.filter(question_id=name).sort("n")["passage_id"].to_list()
