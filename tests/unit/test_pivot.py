"""A table for a paper: systems by budgets or metrics, the best in bold, † for what differs from the baseline."""

from csv import DictReader
from io import StringIO

import pytest
from tests.support.report_rows import metric, pair

from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.report.pivot import pivot
from secateur.report.table import csv, floated, markdown

FAMILIES = {"graph_1": "graph", "bm25": "lexical", "zsum": "lexical", "gold": "control"}
MEANS = {"graph_1": 0.6, "bm25": 0.4, "zsum": 0.5, "gold": 1.0}


def compared(system: str, baseline: str, name: str, p: float, n: int = 40) -> dict:
    return pair(system, baseline, metric=name, p=p, p_holm=p, n=n)


ROWS = [
    metric(system, f"evidence_recall@{at}", value * scale, n=40)
    for system, value in MEANS.items()
    for at, scale in ((64, 0.8), (1024, 1.0), (256, 0.9), ("claim", 0.85))
] + [metric(system, "tokens@64", 60.0, n=40) for system in MEANS]
PAIRS = [
    compared("graph_1", "zsum", "evidence_recall@claim", 0.01),
    compared("graph_1", "zsum", "evidence_recall@64", 0.2),
    compared("graph_1", "zsum", "evidence_recall@256", 0.01, n=10),  # too few for a verdict
    compared("bm25", "graph_1", "evidence_recall@64", 0.03),
]


def made(rows=ROWS, **asked):
    return pivot(TABLES["metrics"].frame(rows), TABLES["comparisons"].frame(PAIRS), FAMILIES, 10, (64, 256), **asked)


def test_a_row_a_system_a_column_a_budget_in_their_order_the_mean_last_controls_below():
    table = made()
    assert table.heads == ["", "64", "256", "1024", "mean"]
    assert [row.cells[0] for row in table.rows] == ["graph_1", "zsum", "bm25", "gold"]
    assert table.texts()[0] == ["graph_1", "0.480", "0.540", "0.600", "0.510†"]
    for said in ("(mean: of 64 to 256) on toy, order-blind", "over 40 questions in 20 ", "†: differs from zsum at .05"):
        assert said in table.caption
    assert made(baseline="graph_1").texts()[2][1] == "0.320†"  # a pair counts from both sides


def test_a_row_of_one_budget_alone_stands_below_and_the_caption_says_what_a_mean_is_of():
    mine = metric("mine", "evidence_recall@256", 0.9, n=40)
    assert made([*ROWS, mine]).texts()[3][:3] == ["mine", "", "0.900"]
    gains = [metric("zsum", f"answer_gain@{at}", 0.5, n=40) for at in (64, 256, "claim")]
    assert "(mean" not in made(gains, metric="answer_gain").caption  # it has budgets of its own


def test_a_mean_of_fewer_questions_states_them_and_is_neither_first_nor_bold():
    few = [metric("few", f"evidence_recall@{at}", 1.0, n=30) for at in (64, "claim")]
    table = made([*ROWS, *few])
    assert [row.cells[0] for row in table.rows] == ["graph_1", "zsum", "bm25", "few", "gold"]
    lines = markdown(table).splitlines()
    assert lines[2] == markdown(made()).splitlines()[2]  # the best of all questions
    assert table.texts()[3] == ["few", "1.000 (n 30)", "", "", "1.000 (n 30)"]
    assert lines[5] == "| few | 1.000 (n 30) |  |  | 1.000 (n 30) |"
    rows = {row[""]: row for row in DictReader(StringIO(csv(table)))}
    assert (rows["few"]["64"], rows["few"]["64 mark"]) == ("1.0", "(n 30)")
    assert "128 mark" not in rows["few"]  # no number of the column has one


def test_several_metrics_are_columns_with_their_names():
    table = made(metric="evidence_recall@64,tokens")
    assert table.heads == ["", "evidence recall 64 tokens", "tokens used 64 tokens"]
    assert markdown(table).splitlines()[2:] == [
        *("| graph_1 | **0.480** | 60 |", "| zsum | 0.400 | 60 |", "| bm25 | 0.320 | 60 |", "| gold | 0.800 | 60 |")
    ]  # gold evidence is no competitor


def test_latex_floats_with_its_caption_and_every_sign_escaped():
    text = floated(made())
    assert "\\begin{table}" in text and "\\caption{Evidence recall by budget in tokens " in text
    assert r"graph\_1 & \textbf{0.480} &" in text
    assert "0.510$^\\dagger$" in text
    assert "†" not in text
    assert text.endswith("\\end{tabular}\n\\end{table}")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"metric": "evidence_recal"}, "did you mean 'evidence_recall'"),
        ({"dataset": "toys"}, "data set 'toys': allowed: toy"),
        ({"baseline": "bm52"}, "did you mean 'bm25'"),
        ({"order": "aware"}, "order 'aware': allowed: blind"),
    ],
)
def test_an_unknown_name_is_refused_with_the_allowed_ones(asked, said):
    with pytest.raises(SecateurError, match=said):
        made(**asked)
