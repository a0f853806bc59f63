"""All tables by name."""

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
    """Tables by name. Raises TableError for two tables of the same name."""
    by_name: dict[str, Table] = {}
    for table in tables:
        if table.name in by_name:
            raise TableError(f"table {table.name} is declared twice. Fix: give one of the two another name.")
        by_name[table.name] = table
    return by_name


TABLES: dict[str, Table] = joined(table for room in ROOMS for table in room.DECLARED)
