"""The leaderboard of kept figures: every headline of every experiment, with its interval, command and commit."""

import json
import re

import polars as pl
import pytest

from secateur.core.tables.catalog import TABLES
from secateur.report.kept import write_kept
from secateur.report.kept_board import kept_board

SOURCE = {"command": "make run EXPERIMENT=toy", "commit": "0123456789abcdef", "finished": "2026-11-27T00:00:00"}
ROW = {"dataset": "toy", "system": "beam", "order": "blind", "scorer": None, "answer_aware": False, "split": "all"}
ROW |= {"subset": "all", "metric": "evidence_recall@claim", "value": 0.5, "low": 0.4, "high": 0.6, "n": 40, "units": 20}


@pytest.fixture
def embedded(tmp_path):
    """The data of a page of some rows of `metrics`."""

    def made(*changes: dict) -> tuple[dict, str]:
        frame = TABLES["metrics"].frame([ROW | {"published": False} | change for change in changes])
        write_kept(frame, tmp_path, "toy", "metrics", SOURCE)
        page = kept_board(tmp_path, (64, 512), ("small", "large"))
        return json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1]), page

    return made


def test_a_figure_has_its_place_its_interval_its_command_and_its_commit(embedded):
    data, page = embedded({}, {"scorer": "a", "answer_aware": True}, {"metric": "memory_reuse"})
    title = "evidence recall, mean of 64 to 512 tokens"
    assert data["rows"] == [
        ["toy", "main", "blind", title, "small", "beam", 0.5, 0.4, 0.6, 40, "toy"],
        ["toy", "main", "blind", title, "small", "beam · a, sees the answer", 0.5, 0.4, 0.6, 40, "toy"],
    ]
    assert data["about"] == {"toy": ["make run EXPERIMENT=toy", "0123456789", "2026-11-27"]}
    assert "2 kept figures" in page


def test_the_main_questions_of_locomo_are_those_with_an_answer(embedded):
    data, _ = embedded({"subset": "cat1-4"}, {"subset": "all"})
    assert [row[1] for row in data["rows"]] == ["main", "all"]


def test_no_name_ends_the_script(embedded):
    data, page = embedded({"system": "</script><b>"})
    assert data["rows"][0][5] == "</script><b>"
    assert "</script><b>" not in page


def test_the_projects_own_figures_are_all_on_it():
    from tests.support.project import ROOT

    page = kept_board(ROOT / "docs", (64, 512), ("smollm2", "gemma3_270m"))
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])
    assert {"hotpotqa", "musique", "locomo", "stem_old"} <= {row[0] for row in data["rows"]}
    assert all(isinstance(row[6], float) for row in data["rows"])
    assert pl.Series([row[9] for row in data["rows"]]).min() > 0
    assert {"smollm2", "gemma3_270m"} == {row[4] for row in data["rows"]}


def test_a_row_stands_under_its_reader(embedded):
    data, _ = embedded({}, {"system": "beam:titles=true+large"})
    assert [row[4] for row in data["rows"]] == ["small", "large"]
