"""The bonus for names on a ranking of any system, as `named_two_step` has it."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from secateur.config import plugins
from secateur.config.compose import option
from secateur.core.errors import SecateurError
from secateur.core.layout import PEER
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import problems
from secateur.evaluation.comparison import AXES
from secateur.planning.plan import variants
from secateur.ranking.group import z_scores
from secateur.ranking.rank import group_of

CONF = Path(__file__).parents[2] / "conf"
OTHER = [("x", "Tea", "Tea is a drink.")]  # another group's only article
TEXTS = [
    ("a", "Free Guy", "Free Guy is a comedy film."),
    ("a", "Free Guy", "It was directed by Shawn Levy."),
    ("b", "Shawn Levy", "He was born in Montreal."),
    ("c", "Rain", "Somebody was born in the rain."),
]
TEXT = {"q1": "Where was Shawn Levy born?", "q2": "Who was born?", "q3": "What is Tea?", "q4": "Is Free Guy a film?"}
QUESTIONS = pl.DataFrame(
    {"question_id": list(TEXT), "group_id": ["g", "g", "h", "g"], "text": list(TEXT.values()), "position": range(4)}
)
PASSAGES = pl.DataFrame(
    [
        (f"p{n}", "h" if doc == "x" else "g", doc, title, text, n, None)
        for n, (doc, title, text) in enumerate([*TEXTS, *OTHER])
    ],
    schema=["passage_id", "group_id", "doc_id", "title", "text", "position", "speaker"],
    orient="row",
).cast({"speaker": pl.String})
SENT = {"q1": "0132", "q2": "320", "q3": "4", "q4": "23"}  # passages in a peer's order
RANKINGS = TABLES["rankings"].frame(
    (question, PEER, n, f"p{place}", None, float(-n), False) for question, places in SENT.items() for n, place in enumerate(places)
)  # fmt: skip
NAMES = option(CONF, "consolidation", "default")
CFG = SimpleNamespace(
    extra=SimpleNamespace(model={"joins": list(NAMES.joins), "skipped": list(NAMES.skipped), "longest": 8})
)


def reranked(**changes) -> pl.DataFrame:
    spec = option(CONF, "reranker", "named").spec | changes
    plugin = plugins.load("reranker", spec["kind"])
    settings = plugins.settings("reranker", spec, "conf/reranker/none")
    found = plugin.rerank(settings, RANKINGS, QUESTIONS, PASSAGES, CFG, None)
    assert problems(TABLES["rankings"], found) == []
    return found


def test_passages_of_a_named_article_go_first_and_the_others_keep_their_order():
    assert reranked(named=0).equals(RANKINGS)
    by_question = reranked().sort("question_id", "rank").group_by("question_id").agg("passage_id")
    orders = {question: "".join(ids).replace("p", "") for question, ids in by_question.iter_rows()}
    assert orders == {"q1": "2013", "q2": "320", "q3": "4", "q4": "23"}


def test_the_bonus_is_that_of_named_two_step():
    spec = option(CONF, "rankers", "multihop").scorers["named_two_step"]
    assert option(CONF, "reranker", "named").spec["named"] == spec["named"]
    assert (list(NAMES.joins), list(NAMES.skipped), NAMES.longest) == (spec["joins"], spec["skipped"], spec["longest"])
    group = group_of(PASSAGES.filter(group_id="g"), lambda texts: np.ones((len(texts), 2), np.float32))
    two_step = plugins.load("ranker", "two_step")
    firsts = [
        two_step.first_step(plugins.settings("ranker", spec | {"named": named}, "here"), group, [TEXT["q1"]], 0)
        for named in (spec["named"], 0)
    ]
    bonus = dict(zip(group.ids, (firsts[0] - firsts[1])[0], strict=True))
    own = RANKINGS.filter(question_id="q1").with_columns(z=z_scores(-np.arange(4.0)[None])[0])
    both = own.join(reranked().select("question_id", "passage_id", moved="value"), on=["question_id", "passage_id"])
    gained = dict(both.select("passage_id", pl.col("moved") - pl.col("z")).iter_rows())
    assert gained == pytest.approx(bonus, abs=1e-5)
    assert gained["p2"] > 1


@pytest.mark.parametrize("name", ["peers_multihop", "peers_whole"])
def test_hipporag_with_names_differs_from_its_baseline_in_the_bonus_alone(name):
    rows = {(v.system, v.dataset): v for v in variants(CONF, name)}
    for dataset in {dataset for _, dataset in rows}:
        named, plain, five = (
            rows[f"{s}:controlled", dataset] for s in ("named_hipporag2", "hipporag2_top100", "hipporag2")
        )
        assert [axis for axis in AXES if dict(named.axes)[axis] != dict(plain.axes)[axis]] == ["reranker"]
        differing = {axis for axis, value in plain.options if five[axis] != value} - {"imported"}
        assert differing == {"peer"}


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("reranker.spec.names=defalt", r"consolidation 'defalt' is no option .*did you mean 'default'"),
        ("reranker.spec.named=-1", r"reranker\.spec\.named is -1\.?0?, allowed: \[0"),
    ],
)
def test_a_bonus_that_cannot_be_given_is_refused_before_a_run(write, override, message):
    with pytest.raises(SecateurError, match=message):
        write(systems="[title_zsum]", axes="{reranker: [named]}", overrides=(override,))
