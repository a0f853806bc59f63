"""The papers' tables: published cells as printed, measured ones from a run or from kept figures, gaps with what fills them."""

from pathlib import Path

import polars as pl
import pytest
import yaml

from secateur.config.compose import names as options
from secateur.config.limits import unlimited
from secateur.core.artifacts import write_json
from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import write_table
from secateur.report import paper
from secateur.report.kept import write_kept

ROOT = Path(__file__).parents[2]
SPECS = yaml.safe_load((ROOT / "data/artefacts.yaml").read_text(encoding="utf-8"))
SPEC = {
    "ecs:9": {
        "title": "A table",
        "source": "ECS, table 9",
        "note": "Doubtful.",
        "metric": "f1_at_gold",
        "columns": {
            "Big": {"experiment": "toy", "dataset": "d", "subset": "all", "of": ":big", "command": "make run BIG"},
            "Small": {"experiment": "toy", "dataset": "d", "subset": "all"},
        },
        "rows": {
            "ECS": {"system": "ecs", "scorer": "signed", "reader": True, "published": [0.265, None]},
            "Theirs": {"published": [0.1, None]},
        },
    }
}
ROW = {"dataset": "d", "order": None, "scorer": "signed", "answer_aware": True, "subset": "all", "metric": "f1_at_gold"}
ROW |= {"low": 0.1, "high": 0.3, "n": 20, "units": 4, "split": "test", "published": False}


@pytest.fixture
def root(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data/artefacts.yaml").write_text(yaml.safe_dump(SPEC, sort_keys=False))
    return tmp_path


def run(root: Path, *rows: dict) -> None:
    (root / "results/experiments/toy").mkdir(parents=True, exist_ok=True)
    frame = pl.DataFrame(rows, schema_overrides=dict(TABLES["metrics"].empty().schema))
    write_table(
        TABLES["metrics"],
        frame.select(TABLES["metrics"].empty().columns),
        root / "results/experiments/toy/metrics.parquet",
    )


def cells(root: Path) -> dict[tuple[str, str], paper.Cell]:
    return {(cell.row, cell.column): cell for cell in paper.artefact(root, "ecs:9").cells}


def test_nothing_that_was_not_run_is_measured(root):
    found = cells(root)
    assert all(cell.measured is None for cell in found.values())
    assert (found["ECS", "Big"].printed, found["ECS", "Big"].fix) == (0.265, "make run BIG")
    assert found["ECS", "Small"].fix == "make run EXPERIMENT=toy"
    assert found["Theirs", "Big"].fix == "nothing here makes it"


def test_a_cell_is_the_row_of_its_own_reader(root):
    run(root, ROW | {"system": "ecs", "value": 0.2}, ROW | {"system": "ecs:big", "value": 0.4})
    found = cells(root)
    assert found["ECS", "Small"].measured == (0.2, 0.1, 0.3, 20)
    assert found["ECS", "Big"].measured == (0.4, 0.1, 0.3, 20)


def test_a_cell_of_fewer_questions_than_others_have_says_so(root):
    run(root, ROW | {"system": "ecs", "value": 0.2}, ROW | {"system": "other", "value": 0.3, "n": 50})
    assert cells(root)["ECS", "Small"].differs == "20 of 50 questions"
    run(root, ROW | {"system": "ecs", "value": 0.2}, ROW | {"system": "other", "value": 0.3, "n": 20})
    assert cells(root)["ECS", "Small"].differs == ""


def test_a_cell_of_other_settings_than_its_command_has_says_so(root):
    run(root, ROW | {"system": "ecs", "value": 0.2}, ROW | {"system": "ecs:big", "value": 0.4})
    write_json(root / "results/experiments/toy/run.json", {"overrides": ["BIG", "lm.model=x"]})
    found = cells(root)
    assert found["ECS", "Small"].differs == "with BIG, with lm.model=x"
    assert found["ECS", "Big"].differs == "with lm.model=x"
    assert found["Theirs", "Big"].differs == ""


def test_two_rows_that_fit_are_no_cell(root):
    run(
        root,
        ROW | {"system": "ecs", "value": 0.2, "order": "blind"},
        ROW | {"system": "ecs", "value": 0.3, "order": "aware"},
    )
    assert cells(root)["ECS", "Small"].measured is None


def test_published_rows_of_a_run_are_not_measured(root):
    run(root, ROW | {"system": "ecs", "value": 0.2, "published": True})
    assert cells(root)["ECS", "Small"].measured is None


def test_kept_figures_stand_where_nothing_was_run_here(root):
    empty = TABLES["metrics"].empty()
    row = pl.DataFrame([ROW | {"system": "ecs", "value": 0.25}], schema_overrides=dict(empty.schema))
    write_kept(row.select(empty.columns), root / "docs", "toy", "metrics", {"command": "make run EXPERIMENT=toy"})
    assert cells(root)["ECS", "Small"].measured == (0.25, 0.1, 0.3, 20)
    run(root, ROW | {"system": "ecs", "value": 0.2})
    assert cells(root)["ECS", "Small"].measured[0] == 0.2


def test_a_table_says_what_is_published_what_is_measured_and_what_is_missing(root):
    run(root, ROW | {"system": "ecs", "value": 0.2})
    made = paper.artefact(root, "ecs:9")
    shown = paper.written(made, "md")
    assert "| ECS | 0.265† | 0.200 (0.100 to 0.300), n 20 |" in shown
    assert "- Big: make run BIG" in shown
    assert "Doubtful." in shown
    rows = pl.read_csv(paper.written(made, "csv").encode())
    assert rows.filter(row="ECS", column="Small").select("measured", "n").row(0) == (0.2, 20)
    assert rows.filter(row="ECS", column="Big")["filled_by"][0] == "make run BIG"
    assert r"ECS & 0.265$^\dagger$ & 0.200 (0.100 to 0.300), n 20 \\" in paper.written(made, "latex")


@pytest.mark.parametrize("form", ["svg", "png", "pdf"])
def test_a_figure_is_drawn(root, tmp_path, form):
    run(root, ROW | {"system": "ecs", "value": 0.2})
    path = tmp_path / f"drawn.{form}"
    paper.drawn(paper.artefact(root, "ecs:9"), path)
    assert path.stat().st_size > 1000
    if form == "svg":
        assert all(said in path.read_text() for said in ("published", "measured, 95 %", "no figure", "Theirs"))


def test_an_unknown_artefact_names_those_that_there_are(root):
    with pytest.raises(SecateurError, match=r"ecs:8: no such table or figure; allowed: ecs:9"):
        paper.artefact(root, "ecs:8")


@pytest.mark.parametrize("name", SPECS)
def test_every_artefact_is_written_and_every_command_names_an_experiment(name):
    made = paper.artefact(ROOT, name)
    assert bool(made.cells) != bool(made.where)
    assert made.title in paper.written(made, "md")
    known = options(ROOT / "conf", "experiment")
    for cell in made.cells:
        asked = [word.split("=", 1)[1] for word in cell.fix.split() if word.startswith("EXPERIMENT=")]
        assert all(unlimited(one)[0] in known for one in asked)
        assert asked or cell.fix.startswith(("nothing", "make bench"))


def test_the_kept_figures_of_locomo_fill_our_column_of_table_1():
    found = {(cell.row, cell.column): cell for cell in paper.artefact(ROOT, "ecs:1").cells}
    ours = found["ECS of a pool", "LoCoMo turns, SmolLM2-135M"]
    assert ours.printed is None
    assert ours.measured[3] == 200
    assert "18 preselected turns" in ours.differs
    assert ("ECS of a pool", "LoCoMo turns, Llama-3.1-8B") not in found


def test_a_cell_of_another_protocol_says_so_wherever_it_is_written(root):
    spec = yaml.safe_load((root / "data/artefacts.yaml").read_text())
    spec["ecs:9"]["columns"]["Small"]["differs"] = "half the turns"
    (root / "data/artefacts.yaml").write_text(yaml.safe_dump(spec, sort_keys=False))
    run(root, ROW | {"system": "ecs", "value": 0.2})
    made = paper.artefact(root, "ecs:9")
    assert "0.200 (0.100 to 0.300), n 20 (half the turns) |" in paper.written(made, "md")
    assert "n 20 (half the turns)" in paper.written(made, "latex")
    rows = pl.read_csv(paper.written(made, "csv").encode())
    assert rows.filter(row="ECS", column="Small")["differs"].item() == "half the turns"
    paper.drawn(made, root / "drawn.svg")
    assert "half the turns" in (root / "drawn.svg").read_text()


def test_tables_of_words_are_not_drawn(tmp_path):
    with pytest.raises(SecateurError, match="no numbers to draw"):
        paper.drawn(paper.artefact(ROOT, "ecs:3"), tmp_path / "x.svg")
