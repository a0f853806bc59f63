"""The parts on answers: there where questions were answered, one line a system; their paired differences."""

import polars as pl
from tests.support.report_rows import metric, pair

from secateur.core.tables.catalog import TABLES
from secateur.report.format import with_enough_data
from secateur.report.sections.answers import answer_parts
from secateur.report.sections.differences import paired_parts
from secateur.report.table import markdown

FEW = {"n": 6, "units": 6}


def parts(rows: list[dict]) -> list[dict]:
    metrics = TABLES["metrics"].frame(rows)
    return list(answer_parts("toy", metrics.with_columns(enough_data=pl.col("n") > 5), {}))


def test_each_answering_system_has_a_line_and_one_for_each_order():
    other = metric("graph_zsum", "evidence_recall@64", 0.9, **FEW)
    assert parts([other]) == []
    values = {"closed_book": 0.1, "rag_zsum": 0.25, "graph_zsum": 0.3}
    rows = [metric(system, "rouge_l", value, **FEW) for system, value in values.items()]
    rows += [metric("graph_zsum", "rouge_l", 0.4, order="aware", **FEW), other]
    drawn, part = parts([*rows, metric("closed_book", "read_tokens", 75.4, **FEW)])
    assert "order-aware" in drawn["figures"][0][0]
    assert part["table"].heads == ["system", "ROUGE-L", "prompt tokens"]
    assert sorted(part["table"].texts()) == [
        ["closed_book", "0.100", "75"],
        ["graph_zsum · order-aware", "0.400", ""],
        ["graph_zsum · order-blind", "0.300", ""],
        ["rag_zsum", "0.250", ""],
    ]
    assert "n = 6" in part["note"]


def test_differences_are_shown_with_what_they_are_differences_from():
    apart = {"metric": "rouge_l", "low": -1.0, "high": 1.0, "p_holm": 0.75}
    values = {"rag_zsum": 0.05, "closed_book": 0.2}
    compared = [pair("graph_zsum", name, difference=value, **apart, **FEW) for name, value in values.items()]
    (part,) = paired_parts("toy", with_enough_data(TABLES["comparisons"].frame(compared), 10))
    assert [line[1::3] for line in part["table"].texts()] == [["rag_zsum", "+0.050"], ["closed_book", "+0.200"]]
    assert "| +0.200 (-1.000 to +1.000; p 0.7500, not enough data; 6 questions in 6 units) |" in markdown(part["table"])
