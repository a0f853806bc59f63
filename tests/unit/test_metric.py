"""A metric declares itself once: comparison, finding, `compare`, MLflow and kept figures show what a plug-in says it is."""

import sys
from types import SimpleNamespace

import polars as pl
import pytest
from tests.support.report_rows import metric as row

from secateur.core.tables.catalog import TABLES
from secateur.evaluation.comparison import Row, differences
from secateur.evaluation.figure import headlines, summaries
from secateur.report.finding import lines, main_metric, sentence
from secateur.report.kept import _is_kept
from secateur.stage.ledger import _figures

PLUGIN = """
from dataclasses import dataclass

from secateur.evaluation.metric import Figure

FIGURE = Figure("any gold", order=0, words=("gold", "has gold more often than", "has gold less often than"))


@dataclass(frozen=True)
class Settings:
    "None."


def measure(cases, settings, embed):
    return [1.0 for _ in cases]
"""
NAME = "own_metrics.any_gold"
CFG = SimpleNamespace(resamples=200, permutations=200, permutations_at_floor=0, min_units=2, seed=7)


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    (tmp_path / "own_metrics").mkdir()
    (tmp_path / "own_metrics/any_gold.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(tmp_path)
    yield NAME
    for module in [name for name in sys.modules if name.startswith("own_metrics")]:
        del sys.modules[module]


def figures(metric: str) -> pl.DataFrame:
    rows = [
        (system, None, None, False, metric, f"q{n}", f"c{n}", value)
        for system, value in (("mine", 1.0), ("bm25", 0.0))
        for n in range(40)
    ]
    columns = ["system", "order", "scorer", "answer_aware", "metric", "question_id", "cluster_id", "value"]
    schema = dict.fromkeys(columns, pl.String) | {"answer_aware": pl.Boolean, "value": pl.Float64}
    return pl.DataFrame(rows, schema, orient="row")


def test_a_plug_in_is_compared_found_tracked_and_kept(plugin):
    metric = f"{plugin}@claim"
    both = [Row(system, None, None, False, (("ranker", system),), "", True) for system in ("mine", "bm25")]
    found = differences(figures(metric), both, lambda rows, means, sizes: [(rows[0], rows[1], "ranker")], CFG)
    assert found["metric"].to_list() == [metric]
    compared = found.with_columns(subset=pl.lit("all"))
    assert main_metric(compared, {"mine": "yours", "bm25": "lexical"}) == metric
    means = [row(system, metric, value, order=None, n=40) for system, value in (("mine", 1.0), ("bm25", 0.0))]
    table = TABLES["metrics"].frame(means)
    said = sentence("toy", lines(table, compared, {"mine": "yours", "bm25": "lexical"}, 2))
    assert said.startswith("toy: mine has gold more often than the best baseline (bm25): +1.000")
    assert (plugin, 1.0, 0) in _figures(table)
    assert _is_kept(metric) and not _is_kept(f"{plugin}@256")


def test_headlines_come_in_their_order_and_figures_at_each_budget_are_no_summaries(plugin):
    names = ["rouge_l", "tokens@claim", f"{plugin}@64", "evidence_recall@claim", "evidence_recall@mine"]
    names += [f"{plugin}@claim", "refused", "semantic_floor@claim"]
    assert headlines(names) == [plugin, "evidence_recall", "rouge_l"]
    assert summaries(names) == [
        f"{plugin}@claim", "evidence_recall@claim", "evidence_recall@mine", "rouge_l", "tokens@claim"
    ]  # fmt: skip
