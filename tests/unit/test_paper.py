"""The papers' tables: published cells as printed, measured ones from a run or from kept figures, gaps with what fills them."""

from pathlib import Path

import polars as pl
import pytest
import yaml

from secateur.config.compose import names as options
from secateur.config.compose import option
from secateur.config.limits import unlimited
from secateur.core.artifacts import write_json
from secateur.core.errors import SecateurError
from secateur.core.fields import ConfigError
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import write_table
from secateur.planning.plan import variants
from secateur.report import paper
from secateur.report.kept import write_kept

ROOT = Path(__file__).parents[2]
CONF = ROOT / "conf"
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
    (tmp_path / "results/experiments/toy").mkdir(parents=True)
    (tmp_path / "data/artefacts.yaml").write_text(yaml.safe_dump(SPEC, sort_keys=False))
    return tmp_path


def run(root: Path, *rows: dict) -> None:
    frame = TABLES["metrics"].frame(rows)
    write_table(TABLES["metrics"], frame, root / "results/experiments/toy/metrics.parquet")


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


@pytest.mark.parametrize("changes", [[{"order": "blind"}, {"order": "aware"}], [{"published": True}]])
def test_two_rows_that_fit_and_a_published_one_are_no_measured_cell(root, changes):
    run(root, *(ROW | {"system": "ecs", "value": 0.2} | change for change in changes))
    assert cells(root)["ECS", "Small"].measured is None


def test_a_cell_of_fewer_questions_than_others_have_says_so(root):
    run(root, ROW | {"system": "ecs", "value": 0.2}, ROW | {"system": "other", "value": 0.3, "n": 50})
    assert cells(root)["ECS", "Small"].differs == "20 of 50 questions"


def test_a_cell_of_other_settings_than_its_command_has_says_so(root):
    run(root, ROW | {"system": "ecs", "value": 0.2}, ROW | {"system": "ecs:big", "value": 0.4})
    write_json(root / "results/experiments/toy/run.json", {"overrides": ["BIG", "lm.model=x"]})
    found = cells(root)
    assert found["ECS", "Small"].differs == "with BIG, with lm.model=x"
    assert found["ECS", "Big"].differs == "with lm.model=x"
    assert found["Theirs", "Big"].differs == ""


def test_kept_figures_stand_where_nothing_was_run_here(root):
    row = TABLES["metrics"].frame([ROW | {"system": "ecs", "value": 0.25}])
    write_kept(row, root / "docs", "toy", "metrics", {"command": "make run EXPERIMENT=toy"})
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
def test_a_figure_is_drawn_where_there_are_numbers_to_draw(root, tmp_path, form):
    run(root, ROW | {"system": "ecs", "value": 0.2})
    path = tmp_path / f"drawn.{form}"
    paper.drawn(paper.artefact(root, "ecs:9"), path)
    assert path.stat().st_size > 1000
    if form == "svg":
        assert all(said in path.read_text() for said in ("published", "measured, 95 %", "no figure", "Theirs"))
    with pytest.raises(SecateurError, match="no numbers to draw"):
        paper.drawn(paper.artefact(ROOT, "ecs:3"), path)
    with pytest.raises(SecateurError, match=r"ecs:8: no such table or figure; allowed: ecs:9"):
        paper.artefact(root, "ecs:8")


@pytest.mark.parametrize("name", SPECS)
def test_every_artefact_is_written_and_every_command_names_an_experiment(name):
    made = paper.artefact(ROOT, name)
    assert bool(made.cells) != bool(made.where)
    assert made.title in paper.written(made, "md")
    known = options(CONF, "experiment")
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
    for form in ("md", "latex", "csv"):
        assert "half the turns" in paper.written(made, form)
    paper.drawn(made, root / "drawn.svg")
    assert "half the turns" in (root / "drawn.svg").read_text()


@pytest.mark.parametrize("name", ["apr_table1", "apr_figure2", "apr_figure4", "graphrag_bench"])
def test_autoprunedretriever_answers_every_question_with_the_papers_models(name):
    for variant in variants(CONF, name):
        dataset = option(CONF, "dataset", variant.dataset)
        assert (dataset.split, variant.answered) == ("all", True)
        assert {"medical_v1": 2062, "novel_v1": 2010, "stem": 118}[variant.dataset] == dataset.answered
        assert (variant["answer"], variant.judges) == ("gpt_4o_mini", ("gpt_4o_mini",))
        assert variant["embedder"] == "bge_large"
        assert variant["service"] == "gpt_4o_mini" or variant["family"] != "peer"


def test_a_system_takes_the_experiments_options_and_the_command_line_has_the_last_word(write):
    options = "{all: {reader: gemma3_270m}, graph: {embedder: bge_large}, graph_zsum: {embedder: minilm}}"
    given = {"systems": "[bm25, beam, graph_zsum]", "options": options}
    found = {v.system: (v["reader"], v["embedder"]) for v in write(**given)}
    expected = {"bm25": ("gemma3_270m", "minilm"), "beam": ("gemma3_270m", "bge_large")}
    expected |= {"graph_zsum": ("gemma3_270m", "minilm")}
    assert found == expected
    assert {v["reader"] for v in write(**given, overrides=("system.reader=smollm2",))} == {"smollm2"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("{beem: {reader: smollm2}}", r"options names 'beem'; allowed: all, lexical, .*did you mean 'beam'"),
        ("{all: {readr: smollm2}}", r"options\.all: unknown axis 'readr'; allowed: .*did you mean 'reader'"),
    ],
)
def test_options_that_do_not_exist_are_refused_with_the_nearest_name(write, options, message):
    with pytest.raises(ConfigError, match=message):
        write(systems="[beam]", options=options)
