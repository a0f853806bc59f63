"""A plug-in that does not do what its family asks for is named, with what it did, in one message."""

import logging
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
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


PASSAGE = {"doc_id": "d", "group_id": "g"}
PASSAGES = [
    PASSAGE | {"passage_id": "p1", "position": 0, "text": "Acme bought Bolt."},
    PASSAGE | {"passage_id": "p2", "position": 1, "text": "Bolt makes nuts."},
]
PASSAGES = TABLES["passages"].frame(PASSAGES)
QUESTIONS = [{"question_id": "q", "group_id": "g", "position": 0, "text": "Who bought Bolt?"}]
QUESTIONS = TABLES["questions"].frame(QUESTIONS)
ROW = {"question_id": "q", "scorer": "mine", "answer_aware": False, "value": 1.0}
RANKINGS = TABLES["rankings"].frame([ROW | {"rank": n, "passage_id": p} for n, p in enumerate(("p2", "p1"))])
TABLED = {"rankings": RANKINGS, "questions": QUESTIONS, "passages": PASSAGES}


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


def reranked(ctx):
    cfg = SimpleNamespace(reranker=SimpleNamespace(spec={"kind": "mypackage.mine"}))
    rerank_passages.run(cfg, TABLED, {}, ctx)


def assembled(ctx):
    own = SimpleNamespace(form={"kind": "mypackage.mine"}, counter="reader", packing="refill", placement="best_first")
    own.budget, own.titles, own.pieces, own.price, own.mean_tokens = 4, False, None, None, None
    cfg = SimpleNamespace(assembly=own, eval=SimpleNamespace(budgets=(2, 4)), lm=SimpleNamespace(model="lm"))
    assemble_contexts.run(cfg, TABLED, {}, ctx)


def measured(_):
    gold = Gold("Who?", {"p1": "Acme bought Bolt."}, ("Acme bought Bolt.",))
    return list(measure_all([Case(gold, NOTHING)] * 2, (), ["mypackage.mine"], "conf/eval/default"))


def scored(_):
    return expression("mypackage.mine")


RANKER = "def score(settings, group, questions, seed):\n    return GIVEN\n"
RERANKER = "def rerank(settings, rankings, questions, passages, cfg, ctx):\n    return GIVEN\n"
METRIC = "from secateur.evaluation.metric import Figure\nFIGURE = Figure('mine')\n"
METRIC += "def measure(cases, settings, embed):\n    return GIVEN\n"
SCORE = "import polars as pl\ndef score(settings):\n    return GIVEN\n"
PIECES = """\
NEEDS_GRAPH = False

class Mine:
    def pieces(self, query, ranked):
        return GIVEN

    def rows(self, query, pieces):
        return [Row(piece.text, piece.passage_id) for piece in pieces]

def form(settings, material):
    return Mine()
"""
ROWS = PIECES.replace("GIVEN", "[Piece(unit.passage_id, 'Text.') for unit in ranked]")
ROWS = ROWS.replace("[Row(piece.text, piece.passage_id) for piece in pieces]", "GIVEN")
WRONG = {
    (ranked_by_plugin, RANKER): {
        "np.zeros((1, 3))": "gave scores with shape (1, 3), (1, 2) (questions, passages) is needed",
        "np.zeros(2)": "gave scores with shape (2,)",
        "[[0.0, np.nan]]": "gave scores with NaN or +inf, first for question q and passage p2",
        "[[np.inf, 0.0]]": "gave scores with NaN or +inf, first for question q and passage p1",
        "[['a', 'b']]": "mine.py: ValueError: could not convert string to float",
        "None": "gave scores with shape ()",
        "{}['k1']": "mine.py:5: KeyError: 'k1'",
    },
    (reranked, RERANKER): {
        "None": "gave a NoneType, a table is needed",
        "rankings.drop('value')": "column value missing",
        "rankings.with_columns(rank=rankings['rank'] * 0)": "key question_id, scorer, rank duplicated in 2 rows",
        "rankings.with_columns(passage_id=rankings['passage_id'] + 'x')": "ranks 'p2x' for 'q' as 'mine', which",
        "rankings.with_columns(scorer=rankings['scorer'] + 's')": "ranks 'p2' for 'q' as 'mines', which",
        "rankings.head(1)": "leaves out 'p1' of 'q'",
        "rankings.vstack(rankings.with_columns(rank=rankings['rank'] + 2))": "gave 4 rows for 2",
        "rankings['no such column']": "mine.py:5: ColumnNotFoundError",
    },
    (assembled, PIECES): {"{}": "pieces() gave a dict, a list of pieces is needed", "{}['p']": "mine.py:8: KeyError"},
    (assembled, ROWS): {
        "['Text.' for piece in pieces]": "'str' object has no attribute 'text'",
        "[Row('a b c d e')]": "not (tokens within the budget) in 2 rows",
        "[Row(None) for _ in pieces]": "mine.py",
    },
    (measured, METRIC): {
        "[1.0]": "1 figures for 2 contexts",
        "['much', 'more']": "ValueError: could not convert string to float",
        "[float('nan'), 1.0]": "a figure that is NaN or infinite",
        "cases[9]": "mine.py:7: IndexError",
    },
    (scored, SCORE): {
        "None": "gave a NoneType, a Polars expression is needed",
        "pl.col('kl_fist')": "it reads kl_fist, allowed: tokens, ",
        "pl.col('base_kl')": "it reads base_kl, allowed: tokens, ",
        "pl.all()": "it reads no column by its name, allowed: tokens, ",
        "pl.colum('kl')": "mine.py:6: AttributeError",
    },
}


@pytest.mark.parametrize(
    ("run", "text", "given", "said"),
    [(*where, given, said) for where, own in WRONG.items() for given, said in own.items()],
)
def test_one_that_gives_something_else_than_it_is_asked_for(plugin, ctx, monkeypatch, run, text, given, said):
    words = lambda texts: np.array([len(text.split()) for text in texts])  # noqa: E731
    monkeypatch.setattr(assembling, "lm_counter", lambda model, cache: words)
    plugin(text.replace("GIVEN", given))
    assert said in message(run, ctx)


def test_a_ranker_may_leave_a_passage_out_and_a_metric_give_no_figure(plugin, ctx):
    plugin(RANKER.replace("GIVEN", "[[-np.inf, 3]]") + METRIC.replace("GIVEN", "[None, len(cases)]"))
    assert ranked_by_plugin(ctx)["passage_id"].to_list() == ["p2"]
    assert measured(ctx) == [{}, {"mypackage.mine": 2.0}]


def test_a_full_disk_is_not_a_rankers_fault(plugin, ctx):
    plugin(RANKER.replace("return GIVEN", "raise OSError(28, 'No space left on device', 'cache/a.npz')"))
    with pytest.raises(OSError, match=r"cache/a\.npz"):
        ranked_by_plugin(ctx)
