"""The distance of two judges on the questions that both judged."""

from types import SimpleNamespace

from scripts import compare_judges

from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import write_table
from secateur.evaluation.rows import long_rows
from secateur.stage.contract import Inputs


def test_two_judges_are_compared_on_the_questions_of_both(tmp_path):
    verdicts = {"first": ("mine", {"q1": 0.5, "q2": 1.0}), "second": ("yours", {"q1": 0.25, "q2": 1.0, "q3": 0.0})}
    for name, (judge, values) in verdicts.items():
        rows = [(q, "blind", None, False, f"judged_acc@{judge}", value) for q, value in values.items()]
        write_table(TABLES["question_metrics"], long_rows(rows), tmp_path / f"{name}.parquet")
    inputs, outputs = Inputs({name: [tmp_path / f"{name}.parquet"] for name in verdicts}), {}
    ctx = SimpleNamespace(axes={"judge": "mine", "judged_too": "yours"})
    assert compare_judges.run(None, inputs, outputs, ctx) == {"questions": 2}
    rows = outputs["question_metrics"].select("question_id", "metric", "value").rows()
    expected = [("q1", 0.25), ("q2", 0.0)]
    assert [(q, value) for q, metric, value in rows if metric == "judges_apart@mine.yours"] == expected
    assert [(q, value) for q, metric, value in rows if "by_chance" in metric] == [("q1", 0.5), ("q2", 0.75)]
