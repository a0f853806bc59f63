"""Leaderboards: every row, the best first, with its differences to the best row and to its best baseline."""

import json
import re

import pytest
from tests.support.report_rows import CLAIM, metric, pair

from publication.kept_board import kept_board
from secateur.core.tables.catalog import TABLES
from secateur.evaluation.comparison import Row, to_best
from secateur.report.kept import write_kept
from secateur.report.leaderboard import board_table, boards, embedded, title_of

FAMILIES = {"graph_zsum": "graph", "bm25": "lexical", "mine": "yours", "myrag": "imported", "gold": "control"}
MEANS = {"bm25": 0.5, "graph_zsum": 0.6, "mine": 0.4, "myrag": 0.55, "gold": 1.0}
SIZES = {"n": 40, "units": 20}


def mean(system: str, value: float) -> dict:
    return metric(system, CLAIM, value, **SIZES)


def below(system: str, baseline: str, axis: str, **changes) -> dict:
    ends = {"difference": -0.1, "low": -0.2, "high": -0.01, "p": 0.01, "p_holm": 0.02}
    return pair(system, baseline, axis=axis, **ends | SIZES | changes)


def made(metrics=None, leaders=None, pairs=None, first=()):
    metrics = metrics or [mean(*one) for one in MEANS.items()]
    pairs = pairs or [below(name, "bm25", "ranker") for name in ("graph_zsum", "mine", "myrag")]
    leaders = leaders or [below(name, "graph_zsum", "best") for name in MEANS if name != "graph_zsum"]
    tables = {"metrics": metrics, "comparisons": pairs, "leaders": leaders}
    return list(boards(*(TABLES[name].frame(rows) for name, rows in tables.items()), FAMILIES, 10, first))


def test_every_row_stands_on_it_the_best_first_controls_last_and_the_users_starred():
    (board,) = made()
    table = board_table(board, (64, 512))
    assert [row.cells[0] for row in table.rows] == ["graph_zsum", "★ myrag", "bm25", "★ mine", "gold"]
    assert [row.cells[3] for row in table.rows] == ["the best", *["significant"] * 4]
    assert [row.cells[4] for row in table.rows] == ["bm25", "bm25", None, "bm25", None]
    assert table.caption == "toy, order-blind, mean of 64 to 512 tokens, n 40. ★ yours."


@pytest.mark.parametrize("little", [{"n": 15, "units": 15}, {"n": 50, "units": 9}])
def test_with_few_questions_means_and_intervals_stay_and_the_verdict_is_withheld(little):
    (board,) = made(leaders=[below(name, "graph_zsum", "best", **little) for name in MEANS if name != "graph_zsum"])
    row = board_table(board, (64, 512)).rows[1]
    assert (row.cells[1].low, row.cells[2].value, row.cells[3]) == (pytest.approx(0.45), -0.1, "not enough data")


def test_a_row_of_few_questions_leads_neither_the_board_nor_the_choice_of_the_metric():
    """Contexts of 64 tokens exist for short texts alone, and their mean over budgets is of these."""
    at = "evidence_recall@256"
    means = [mean("bm25", 0.9), mean("graph_zsum", 0.95), mean("myrag", 1.0) | {"n": 3}]
    means += [row | {"metric": at, "n": 40} for row in means]
    own = [below("myrag", "bm25", "ranker") | {"n": 3}, below("myrag", "bm25", "ranker", metric=at)]
    others = [below("graph_zsum", "bm25", "ranker", metric=metric) for metric in (CLAIM, at)]
    best = [below(name, "graph_zsum", "best", metric=metric) for metric in (CLAIM, at) for name in ("bm25", "myrag")]
    first, second = made(means, best, [*own, *others])
    assert (first.metric, second.metric) == (at, CLAIM)
    table = board_table(second, (64, 512))
    assert [row.cells[0] for row in table.rows] == ["graph_zsum", "bm25", "★ myrag"]
    assert (table.columns[-1].head, table.rows[-1].cells[-1].value) == ("n", 3)


def test_a_board_for_each_metric_and_order_the_main_metric_first():
    rows = [mean(*one) for one in MEANS.items()]
    more = [row | {"metric": "token_recall@64"} for row in rows] + [row | {"order": "aware"} for row in rows]
    leaders = [below("bm25", "graph_zsum", "best", metric=name) for name in (CLAIM, "token_recall@64")]
    found = made([*more, *rows], leaders)
    expected = [(CLAIM, "blind"), (CLAIM, "aware"), ("token_recall@64", "blind")]
    assert [(board.metric, board.order) for board in found] == expected
    data = embedded(found, (64, 512))
    assert [(one["metric"], one["budget"]) for one in data][::2] == [
        ("evidence recall", "mean of 64 to 512 tokens"),
        ("token recall", "within 64 tokens"),
    ]
    assert data[0]["rows"][0][0] == ["graph_zsum", ""]


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("passage_recall@100", "at 100"),
        ("evidence_recall@16", "within 16 tokens"),
        ("recall_mine@64", "within 64 tokens"),
    ],
)
def test_what_stands_behind_a_metric_is_a_rank_or_tokens_by_the_metric_not_by_its_size(metric, words):
    assert title_of(metric, (64, 512))[1] == words


def test_a_row_that_shares_no_question_with_the_best_is_not_called_the_best():
    (board,) = made(leaders=[below(name, "graph_zsum", "best") for name in ("bm25", "mine", "gold")])
    verdicts = {row.cells[0]: row.cells[3] for row in board_table(board, (64, 512)).rows}
    assert (verdicts["graph_zsum"], verdicts["★ myrag"], verdicts["bm25"]) == ("the best", "", "significant")


def test_the_data_set_of_the_finding_comes_first():
    rows = [mean(*one) | {"dataset": name} for name in ("a", "b") for one in MEANS.items()]
    leaders = [below("bm25", "graph_zsum", "best") | {"dataset": name} for name in ("a", "b")]
    assert [board.dataset for board in made(rows, leaders)] == ["a", "b"]
    assert [board.dataset for board in made(rows, leaders, first=["b"])] == ["b", "a"]


def test_the_best_row_answers_most_questions_and_is_no_control():
    rows = [Row(name, "blind", None, False, (), False, name != "gold") for name in ("a", "b", "gold", "few")]
    means = {row.key: value for row, value in zip(rows, (0.4, 0.5, 1.0, 0.9), strict=True)}
    sizes = {row.key: 10 if row.system == "few" else 40 for row in rows}
    found = to_best(rows, means, sizes)
    assert [(row.system, best.system) for row, best, _ in found] == [("a", "b"), ("gold", "b"), ("few", "b")]
    assert to_best([], {}, {}) == []


SOURCE = {"command": "make run EXPERIMENT=toy", "commit": "0123456789abcdef", "finished": "2026-11-27T00:00:00"}
ROW = {"dataset": "toy", "system": "beam", "order": "blind", "scorer": None, "answer_aware": False, "split": "all"}
ROW |= {"subset": "all", "metric": "evidence_recall@claim", "value": 0.5, "low": 0.4, "high": 0.6, "n": 40, "units": 20}


@pytest.fixture
def kept_page(tmp_path):
    """The data of a page of some rows of `metrics`."""

    def made(*changes: dict) -> tuple[dict, str]:
        frame = TABLES["metrics"].frame([ROW | {"published": False} | change for change in changes])
        write_kept(frame, tmp_path, "toy", "metrics", SOURCE)
        page = kept_board(tmp_path, (64, 512), ("small", "large"))
        return json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1]), page

    return made


def test_a_figure_has_its_place_its_interval_its_command_and_its_commit(kept_page):
    data, page = kept_page({}, {"scorer": "a", "answer_aware": True}, {"metric": "memory_reuse"})
    title = "evidence recall, mean of 64 to 512 tokens"
    assert data["rows"] == [
        ["toy", "main", "blind", title, "small", "beam", 0.5, 0.4, 0.6, 40, "toy"],
        ["toy", "main", "blind", title, "small", "beam · a, sees the answer", 0.5, 0.4, 0.6, 40, "toy"],
    ]
    assert data["about"] == {"toy": ["make run EXPERIMENT=toy", "0123456789", "2026-11-27"]}
    assert "2 kept figures" in page


def test_rows_stand_under_their_reader_and_subset_and_no_name_ends_the_script(kept_page):
    data, _ = kept_page({}, {"system": "beam:titles=true+large"})
    assert [row[4] for row in data["rows"]] == ["small", "large"]
    data, _ = kept_page({"subset": "cat1-4"}, {"subset": "all"})
    assert [row[1] for row in data["rows"]] == ["main", "all"]  # of LoCoMo those with an answer
    data, page = kept_page({"system": "</script><b>"})
    assert data["rows"][0][5] == "</script><b>"
    assert "</script><b>" not in page
