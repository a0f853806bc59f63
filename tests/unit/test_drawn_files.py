"""`secateur figures EXPERIMENT`: its plots as files, and words where they would rest on too little."""

from pathlib import Path

import pytest
from tests.support.report_rows import metric, pair

from secateur.core.artifacts import write_json
from secateur.core.tables.catalog import TABLES
from secateur.report.figures import drawings
from secateur.report.plots.charts import Dot, forest
from secateur.report.plots.style import LIGHT, saved

CONFIG = {
    "eval.min_units": 10,
    "eval.claim": [64, 128],
    "extra.plan": {"families": {"graph_zsum": "graph", "plain": "lexical"}},
}


def files(root: Path, n: int, units: int) -> dict[str, str]:
    """The names of the files of an experiment whose figures rest on so much, with what is in them."""
    home = root / "results/experiments/tiny"
    for record in (home / "run.json", home / "report/run.json"):
        write_json(record, {"config": CONFIG})
    of = {"n": n, "units": units, "low": 0.1, "high": 0.9}
    compared = [pair("graph_zsum", "plain", difference=0.3, p=0.001, p_holm=0.001, **of)]
    metrics = []
    for system, value in (("graph_zsum", 0.5), ("plain", 0.2)):
        metrics += [metric(system, f"evidence_recall@{at}", value, **of) for at in (64, 128, "claim")]
    rows = {"metrics": metrics, "comparisons": compared, "equal_quality": []}
    tables = [TABLES[name].frame(own) for name, own in rows.items()]
    made = drawings(root, "tiny", *tables, root / "figures", "svg")
    return {path.name: path.read_text(encoding="utf-8") for path in made}


@pytest.mark.parametrize(("n", "units", "hollow"), [(40, 30, False), (5, 3, True), (15, 15, True), (50, 9, True)])
def test_an_experiment_has_its_differences_and_its_curves_as_files_hollow_over_few_questions(
    tmp_path, n, units, hollow
):
    made = files(tmp_path, n, units)
    assert set(made) == {"differences-toy.svg", "evidence_recall-toy-blind.svg"}
    assert all(LIGHT["graph"] in drawn for drawn in made.values())
    assert "tokens sent" in made["evidence_recall-toy-blind.svg"]
    assert f"n {n}, {units} units" in made["differences-toy.svg"]
    assert (f"fill: {LIGHT['paper']}; stroke: {LIGHT['graph']}" in made["differences-toy.svg"]) == hollow


@pytest.mark.parametrize("form", ["svg", "pdf", "png"])
def test_equal_figures_are_equal_files(tmp_path, form):
    dots = [Dot("graph_zsum", "graph", 0.1, 0.02, None, "+0.100", "n 40")]
    first, second = (saved(forest(dots, "difference"), tmp_path / f"{n}.{form}").read_bytes() for n in range(2))
    assert first == second
