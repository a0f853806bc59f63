"""The report's section on selected turns."""

import polars as pl
from tests.support.report_rows import metric

from secateur.report.sections.selection import selection_parts


def test_a_scorer_that_lacks_one_question_is_drawn_and_one_of_few_is_named():
    counts = {"great": (0.6, 199), "dense": (0.35, 200), "probe": (0.9, 50)}
    rows = [metric(name, "f1_at_gold", value, n=n) for name, (value, n) in counts.items()]
    frame = pl.DataFrame(rows).with_columns(name="system", enough_data=pl.lit(value=True))
    plot, table = selection_parts("toy", frame, {})
    assert plot["note"] == "Not drawn, of fewer questions: probe."
    assert [row.cells[0] for row in table["table"].rows] == ["great", "dense", "probe"]
