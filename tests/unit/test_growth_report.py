"""The report's section on growth."""

import polars as pl

from secateur.core.tables.catalog import TABLES
from secateur.report.sections.growth import growth_section

KINDS = ("entities", "relations", "edges", "runs")
ROWS = [(kind, share, read, 4 * read) for kind in KINDS for share, read in ((0.5, 10), (1.0, 20))]


def growth(rows: list[tuple], system: str = "s") -> pl.DataFrame:
    frame = TABLES["growth"].frame([*rows, ("bytes", 1.0, 20, 2_000_000)])
    return frame.with_columns(corpus=pl.lit("c"), system=pl.lit(system), order=pl.lit("blind"))


def test_without_a_graph_there_is_no_section():
    assert growth_section(growth([]).clear()) is None


def test_a_row_a_graph_states_counts_exponents_and_megabytes():
    (part,) = growth_section(pl.concat([growth(ROWS), growth(ROWS, "t")]))["parts"]
    first, second = part["table"].texts()
    assert first == ["c · s · blind", "80", "80", "80", "80", "2.00"]
    assert second[0] == "c · t · blind"
    assert {cell.notes for cell in part["table"].rows[0].cells[1:5]} == {("exponent 1.000",)}


def test_a_graph_without_edges_has_counts_and_no_exponent():
    empty = growth([(kind, share, read, 0) for kind, share, read, _ in ROWS])
    assert growth_section(empty) is None
    (part,) = growth_section(pl.concat([growth(ROWS, "t"), empty]))["parts"]
    assert part["table"].texts()[1][1:] == ["0", "0", "0", "0", "2.00"]
    assert {cell.notes for cell in part["table"].rows[1].cells[1:5]} == {()}
