"""All tables by name, joined from the rooms."""

from collections.abc import Iterable

from secateur.core.tables import (
    answers,
    contexts,
    datasets,
    ecs,
    evaluation,
    graph,
    memory,
    peers,
    policy,
    ranking,
    report,
)
from secateur.core.tables.table import Table, TableError

__all__ = ["TABLES", "joined"]

ROOMS = (datasets, graph, ranking, peers, ecs, contexts, policy, memory, answers, evaluation, report)


def joined(tables: Iterable[Table]) -> dict[str, Table]:
    """The tables by name; TableError where two have one name."""
    found: dict[str, Table] = {}
    for table in tables:
        if table.name in found:
            raise TableError(f"table {table.name} is declared twice. Fix: give one of the two another name.")
        found[table.name] = table
    return found


TABLES: dict[str, Table] = joined(table for room in ROOMS for table in room.DECLARED)
