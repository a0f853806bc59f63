"""A plug-in that does not do what its family asks for is named, with what it did, in one message."""

import logging
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from scripts import assemble_contexts, rerank_passages
from tests.support import refusals
from tests.support.ranked import ranked

from secateur.config import plugins
from secateur.contexts.table import NOTHING
from secateur.core.tables.catalog import TABLES
from secateur.ecs.scoring.score import expression
from secateur.evaluation.evidence import Case, Gold
from secateur.evaluation.metric import measure_all
from secateur.graph import assembling
from secateur.stage.contract import Context

HEAD = "import numpy as np\nfrom secateur.contexts.piece import Piece, Row\n"
HEAD += "from secateur.config.plugins import NoSettings as Settings\n"


def frame(table: str, *rows: dict) -> pl.DataFrame:
    """A table of which most columns are null."""
    return TABLES[table].frame(rows)


PASSAGES = frame(
    "passages",
    {"passage_id": "p1", "doc_id": "d", "group_id": "g", "position": 0, "text": "Acme bought Bolt."},
    {"passage_id": "p2", "doc_id": "d", "group_id": "g", "position": 1, "text": "Bolt makes nuts."},
)
QUESTIONS = frame("questions", {"question_id": "q", "group_id": "g", "position": 0, "text": "Who bought Bolt?"})
ROW = {"question_id": "q", "scorer": "mine", "answer_aware": False, "value": 1.0}
RANKINGS = frame("rankings", ROW | {"rank": 0, "passage_id": "p2"}, ROW | {"rank": 1, "passage_id": "p1"})


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """A function that writes the module mypackage.mine, and gives its file."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(text: str) -> Path:
        (tmp_path / "mypackage").mkdir()
        (tmp_path / "mypackage/__init__.py").touch()
        (tmp_path / "mypackage/mine.py").write_text(HEAD + text)
        return tmp_path / "mypackage/mine.py"

    yield write
    for name in ("mypackage", "mypackage.mine"):
        sys.modules.pop(name, None)


@pytest.fixture
def ctx(tmp_path):
    axes = {"pick": "mine", "reranker": "mine", "assembly": "mine", "dataset": "toy"}
    return Context(logging.getLogger("test"), tmp_path / "cache", axes, "code")


def message(call, *args) -> str:
    said = refusals.message(call, *args)
    assert "mypackage.mine" in said
    return said


@pytest.mark.parametrize("family", plugins.FAMILIES)
def test_one_that_raises_when_it_is_imported(plugin, family):
    file = plugin("raise OSError('no such thing')\n")
    said = message(plugins.load, family, "mypackage.mine")
    assert f"{file} cannot be imported (OSError: no such thing)" in said


def ranked_by_plugin(ctx):
    return ranked(ctx, {"mine": {"kind": "mypackage.mine"}}, PASSAGES, QUESTIONS)


SCORE = "def score(settings, group, questions, seed):\n    "


@pytest.mark.parametrize(
    ("gives", "said"),
    [
        ("np.zeros((1, 3))", "gave scores with shape (1, 3), (1, 2) (questions, passages) is needed"),
        ("np.zeros(2)", "gave scores with shape (2,)"),
        ("[[0.0, np.nan]]", "gave scores with NaN or +inf, first for question q and passage p2"),
        ("[[np.inf, 0.0]]", "gave scores with NaN or +inf, first for question q and passage p1"),
        ("[['a', 'b']]", "mine.py: ValueError: could not convert string to float"),
        ("None", "gave scores with shape ()"),
        ("{}['k1']", "mine.py:5: KeyError: 'k1'"),
    ],
)
def test_a_ranker(plugin, ctx, gives, said):
    plugin(f"{SCORE}return {gives}\n")
    assert said in message(ranked_by_plugin, ctx)


def test_a_ranker_may_leave_a_passage_out(plugin, ctx):
    plugin(f"{SCORE}return [[-np.inf, 3]]\n")
    assert ranked_by_plugin(ctx)["passage_id"].to_list() == ["p2"]


def test_a_full_disk_is_not_a_rankers_fault(plugin, ctx):
    plugin(f"{SCORE}raise OSError(28, 'No space left on device', 'cache/a.npz')\n")
    with pytest.raises(OSError, match=r"cache/a\.npz"):
        ranked_by_plugin(ctx)


def reranked(ctx):
    cfg = SimpleNamespace(reranker=SimpleNamespace(spec={"kind": "mypackage.mine"}))
    outputs = {}
    rerank_passages.run(cfg, {"rankings": RANKINGS, "questions": QUESTIONS, "passages": PASSAGES}, outputs, ctx)
    return outputs["rankings"]


@pytest.mark.parametrize(
    ("gives", "said"),
    [
        ("None", "gave a NoneType, a table is needed"),
        ("rankings.drop('value')", "column value missing"),
        ("rankings.with_columns(rank=rankings['rank'] * 0)", "key question_id, scorer, rank duplicated in 2 rows"),
        (
            "rankings.with_columns(passage_id=rankings['passage_id'] + 'x')",
            "ranks 'p2x' for 'q' as 'mine', which was not",
        ),
        (
            "rankings.with_columns(scorer=rankings['scorer'] + 's')",
            "ranks 'p2' for 'q' as 'mines', which was not ranked",
        ),
        ("rankings.head(1)", "leaves out 'p1' of 'q'"),
        ("rankings.vstack(rankings.with_columns(rank=rankings['rank'] + 2))", "gave 4 rows for 2"),
        ("rankings['no such column']", "mine.py:5: ColumnNotFoundError"),
    ],
)
def test_a_reranker(plugin, ctx, gives, said):
    plugin(f"def rerank(settings, rankings, questions, passages, cfg, ctx):\n    return {gives}\n")
    assert said in message(reranked, ctx)


FORM = """\
NEEDS_GRAPH = False

class Mine:
    def pieces(self, query, ranked):
        return {pieces}

    def rows(self, query, pieces):
        return {rows}

def form(settings, material):
    return Mine()
"""
PIECES = "[Piece(unit.passage_id, 'Text.') for unit in ranked]"
ROWS = "[Row(piece.text, piece.passage_id) for piece in pieces]"


def assembled(ctx, monkeypatch):
    words = lambda texts: np.array([len(text.split()) for text in texts])  # noqa: E731
    monkeypatch.setattr(assembling, "lm_counter", lambda model, cache: words)
    own = SimpleNamespace(form={"kind": "mypackage.mine"}, counter="reader", packing="refill", placement="best_first")
    own.budget, own.titles, own.pieces, own.price, own.mean_tokens = 4, False, None, None, None
    cfg = SimpleNamespace(assembly=own, eval=SimpleNamespace(budgets=(2, 4)), lm=SimpleNamespace(model="lm"))
    outputs = {}
    assemble_contexts.run(cfg, {"rankings": RANKINGS, "questions": QUESTIONS, "passages": PASSAGES}, outputs, ctx)
    return outputs["contexts"]


@pytest.mark.parametrize(
    ("pieces", "rows", "said"),
    [
        ("{}", ROWS, "pieces() gave a dict, a list of pieces is needed"),
        ("{}['p']", ROWS, "mine.py:8: KeyError"),
        (PIECES, "['Text.' for piece in pieces]", "'str' object has no attribute 'text'"),
        (PIECES, "[Row('a b c d e')]", "not (tokens within the budget) in 2 rows"),
        (PIECES, "[Row(None) for _ in pieces]", "mine.py"),
    ],
)
def test_a_form(plugin, ctx, monkeypatch, pieces, rows, said):
    plugin(FORM.replace("{pieces}", pieces).replace("{rows}", rows))
    assert said in message(assembled, ctx, monkeypatch)


METRIC = 'from secateur.evaluation.metric import Figure\nFIGURE = Figure("mine")\n'


def figures_of(cases: int):
    gold = Gold("Who?", {"p1": "Acme bought Bolt."}, ("Acme bought Bolt.",))
    return list(measure_all([Case(gold, NOTHING)] * cases, (), ["mypackage.mine"], "conf/eval/default"))


@pytest.mark.parametrize(
    ("gives", "said"),
    [
        ("[1.0]", "1 figures for 2 contexts"),
        ("['much', 'more']", "ValueError: could not convert string to float"),
        ("[float('nan'), 1.0]", "a figure that is NaN or infinite"),
        ("cases[9]", "mine.py:7: IndexError"),
        ("[None, len(cases)]", None),
    ],
)
def test_a_metric(plugin, gives, said):
    plugin(f"{METRIC}def measure(cases, settings, embed):\n    return {gives}\n")
    if said is None:  # as it should be: no figure, and one
        assert figures_of(2) == [{}, {"mypackage.mine": 2.0}]
    else:
        assert said in message(figures_of, 2)


@pytest.mark.parametrize(
    ("gives", "said"),
    [
        ("None", "gave a NoneType, a Polars expression is needed"),
        ("pl.col('kl_fist')", "it reads kl_fist, allowed: tokens, "),
        ("pl.col('base_kl')", "it reads base_kl, allowed: tokens, "),
        ("pl.all()", "it reads no column by its name, allowed: tokens, "),
        ("pl.colum('kl')", "mine.py:6: AttributeError"),
    ],
)
def test_a_score(plugin, gives, said):
    plugin(f"import polars as pl\ndef score(settings):\n    return {gives}\n")
    assert said in message(expression, "mypackage.mine")
