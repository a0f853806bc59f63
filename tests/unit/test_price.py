"""A price for tokens: which passages are worth theirs, which rankings can have one, and utility at a price."""

import logging
import re
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from scripts import assemble_contexts, evaluate_contexts

import secateur
from secateur.config import compose
from secateur.contexts.assemble import Assembly
from secateur.contexts.piece import Material, Piece, Query, Ranked
from secateur.contexts.table import reads, texts
from secateur.core.fields import ConfigError
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import problems
from secateur.evaluation.evidence import Gold, has_sources
from secateur.evaluation.utility import utilities
from secateur.graph import assembling
from secateur.planning.contents import Planned
from secateur.stage.contract import Context as StageContext

CONF = Path(__file__).parents[2] / "conf"
RANKER = """
import numpy as np

from secateur.config.plugins import NoSettings as Settings

SHARES = {shares}


def score(settings, group, questions, seed):
    "A half for passages with a word of the question, a tenth for others."
    words = [set(question.lower().split()) for question in questions.queries]
    return np.array([[0.5 if own & set(text.lower().split()) else 0.1 for text in group.texts] for own in words])
"""


@pytest.fixture
def shares(tmp_path, monkeypatch):
    """Rankers of the user's: the scores of one are shares of the evidence, those of the other are not."""
    (tmp_path / "priced").mkdir()
    for name, declared in (("shares", True), ("others", False)):
        (tmp_path / f"priced/{name}.py").write_text(RANKER.format(shares=declared))
    monkeypatch.syspath_prepend(tmp_path)
    yield "rankers.scorers={shares: {kind: priced.shares}, others: {kind: priced.others}}"
    for module in [name for name in sys.modules if name.startswith("priced")]:
        del sys.modules[module]


def table(columns: str, *rows: tuple) -> pl.DataFrame:
    return pl.DataFrame(rows, columns.split(), orient="row")


# --- the stage ---------------------------------------------------------------------------------------

PASSAGES = table(
    "passage_id doc_id position text speaker date title source",
    *(
        (f"p{n}", "d", n, text, None, None, None, None)
        for n, text in enumerate(["Bears eat.", "They sleep now.", "No."])
    ),
)
RANKED = [("q1", "p1", 0.5625), ("q1", "p0", 0.25), ("q1", "p2", -1.0), ("q2", "p0", 0.125)]
INPUTS = {
    "passages": PASSAGES,
    "questions": table("question_id position text", ("q1", 0, "What do bears do?"), ("q2", 1, "Who?")),
    "rankings": TABLES["rankings"].frame([(q, "shares", n, p, None, v, False) for n, (q, p, v) in enumerate(RANKED)]),
}
# A passage is not sent from the price value x 512 / words on: 96 for p1, 64 for p0, 32 for p0 of the second question.


def count(said) -> np.ndarray:
    return np.array([len(text.split()) for text in said], np.int64)


@pytest.fixture
def assembled(tmp_path, monkeypatch):
    """(texts by question and budget, the table, the context of the stage) under an assembly with some keys changed."""
    monkeypatch.setattr(assembling, "lm_counter", lambda model, cache: count)

    def run(**changed):
        own = replace(
            compose.option(CONF, "assembly", "priced"), placement="best_first", budget=20, **({"price": None} | changed)
        )
        cfg = SimpleNamespace(assembly=own, eval=SimpleNamespace(budgets=(4,)), lm=SimpleNamespace(model="reader"))
        ctx = StageContext(logging.getLogger("test"), tmp_path, {}, "code")
        ctx.axes = {"pick": "shares", "assembly": "priced", "dataset": "d"}
        outputs = {}
        figures = assemble_contexts.run(cfg, INPUTS, outputs, ctx)
        assert problems(TABLES["contexts"], outputs["contexts"]) == []
        said = {(question, budget): text for (question, _, budget), text in texts(outputs["contexts"]).items()}
        return said, outputs["contexts"], ctx.counts | figures

    return run


@pytest.mark.parametrize(
    ("price", "first", "second"),
    [
        (0, "They sleep now.\nBears eat.", "Bears eat."),  # a value below 0 is worth no price
        (31.9, "They sleep now.\nBears eat.", "Bears eat."),
        (32, "They sleep now.\nBears eat.", ""),
        (64, "They sleep now.", ""),
        (96, "", ""),
    ],
)
def test_a_passage_is_sent_where_its_value_exceeds_the_price_of_its_tokens_and_a_budget_caps(
    assembled, price, first, second
):
    said, contexts, counts = assembled(price=price)
    assert said == {("q1", 20): first, ("q2", 20): second, ("q1", 4): first.split("\n")[0], ("q2", 4): second}
    assert counts["tokens_used"] == (count([first])[0] + count([second])[0]) / 2
    assert contexts.filter(text="")["tokens"].sum() == 0


@pytest.mark.parametrize(("most", "price"), [(4, 0.0), (3, 32.0), (2, 64.0), (1, 96.0)])
def test_the_price_of_mean_tokens_is_the_lowest_one_that_keeps_them_and_stands_in_the_record(assembled, most, price):
    said, _, counts = assembled(mean_tokens=most)
    assert counts["price"] == price
    assert said == assembled(price=price)[0]
    assert counts["tokens_used"] <= most


def test_a_question_to_which_nothing_is_worth_sending_is_measured(assembled):
    _, contexts, _ = assembled(price=96)
    golds = {q: Gold("What do bears do?", {"p1": "They sleep now."}, ("They sleep now.",)) for q in ("q1", "q2")}
    cfg = SimpleNamespace(
        eval=SimpleNamespace(metrics=("evidence_recall", "tokens")), dataset=SimpleNamespace(metrics=())
    )
    known = has_sources(golds, contexts)
    rows = evaluate_contexts._rows(cfg, golds, dict(reads(contexts)), ["q1", "q2"], {20: "20"}, known, "shares", None)
    assert list(rows) == [(q, f"{name}@20", 0.0) for q in golds for name in ("evidence_recall", "tokens")]


def test_a_piece_that_no_ranked_passage_stands_behind_has_no_worth():
    form = SimpleNamespace(pieces=lambda query, ranked: [Piece(None, "A header.")], parts=lambda pieces: [2])
    assembly = Assembly(form, "refill", "best_first", Material({}, count), {})
    with pytest.raises(ValueError, match="a piece of no ranked passage with a value"):
        assembly.contexts(Query("?"), [Ranked("p1", None, 0.5)], [9], 0.5)


# --- which rankings can have a price -----------------------------------------------------------------

MINE = ("system.ranker=shares", "system.orders=[blind]")


def test_a_ranker_of_shares_can_have_a_price_which_is_an_axis_and_asks_for_utilities(write, shares):
    found = write(systems="[title_zsum]", overrides=(shares, *MINE), axes="{assembly: [{price: 0.25}, priced_mean]}")
    assert [v.system for v in found] == ["title_zsum", "title_zsum:price=0.25", "title_zsum:priced_mean"]
    packing = [dict(v.axes)["packing"] for v in found]
    assert packing == ["refill", "refill, a price of 0.25", "refill, a price of 370 tokens in the mean"]

    def option(group, name):
        return compose.option(CONF, group, name)

    assert Planned("mine", found, option).prices() == [0.1, 0.25, 0.5, 1.0, 2.0]
    assert Planned("mine", found[:1], option).prices() == []
    test = "{row: 'title_zsum:price=0.25', minus: title_zsum, differs: packing, metrics: [utility@0.5]}"
    more = {"overrides": (shares, *MINE), "axes": "{assembly: [{price: 0.25}]}", "primary": f"[{test}]"}
    assert write(systems="[title_zsum]", **more)


@pytest.mark.parametrize(
    ("systems", "overrides", "ranking"),
    [
        ("title_zsum", ("system.ranker=others", "system.orders=[blind]"), "others; .*allowed: shares"),
        ("title_zsum", ("system.ranker=shares", "system.orders=[aware]"), r"shares\+neighbour; .*order-blind"),
        ("title_zsum", (*MINE, "system.reranker=pmi_q"), "shares, reranked by pmi_q; "),
        ("rankers", (), "of family lexical, by no single ranker; .*allowed: shares"),
        ("secateur", (), "of family graph, .*allowed: none of this system"),
        ("lightrag", (), "of family peer, "),
    ],
)
@pytest.mark.parametrize("key", ["price=0.5", "mean_tokens=370"])
def test_any_other_ranking_is_refused_by_name(write, shares, systems, overrides, ranking, key):
    asked = {"systems": f"[{systems}]", "overrides": (shares, *overrides, f"assembly.{key}")}
    with pytest.raises(
        ConfigError, match=rf"assembly\.{key.split('=')[0]} is set and the ranking is {ranking}"
    ) as said:
        write(**asked)
    assert len(re.findall("is set and the ranking", str(said.value))) == 1


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (("assembly.price=-1",), r"assembly\.price is -1"),
        (("assembly.price=1", "assembly.mean_tokens=9"), "are both set; allowed: one of them"),
    ],
)
def test_one_price_of_0_at_least_is_asked_for(write, shares, changed, message):
    with pytest.raises(ConfigError, match=message):
        write(systems="[title_zsum]", overrides=(shares, *MINE, *changed))


# --- utility -----------------------------------------------------------------------------------------


def test_utility_is_the_recall_of_a_rows_own_contexts_minus_what_their_tokens_cost():
    figures = table(
        "question_id order scorer answer_aware hop metric value",
        *(("q1", "blind", None, False, hop, f"{name}@{at}", value)
          for hop in (None, "1st") for at in (64, 128) for name, value in (("evidence_recall", at / 128), ("tokens", at))),
        ("q2", "blind", None, False, None, "tokens@128", 9.0),
    )  # fmt: skip
    found = utilities(figures, 128, [0.5, 2.0])
    assert found.schema == figures.schema
    assert dict(found.select("metric", "value").iter_rows()) == {"utility@0.5": 0.875, "utility@2.0": 0.5}
    assert utilities(figures, 256, [0.5]).is_empty()


# --- the library ---------------------------------------------------------------------------------------


def test_a_memory_leaves_out_what_is_not_worth_a_price_and_a_budget_caps(shares):
    memory = secateur.Memory("rankers/shares", overrides=[shares])
    memory.index({"a": "Alder Ltd bought the mill.", "b": "It rains a lot.", "c": "A mill stands in Leeds."})
    asked = "Where does a mill stand"
    whole = memory.retrieve(asked)
    assert {source.doc_id: source.score for source in whole.sources} == {"c": 0.5, "b": 0.5, "a": pytest.approx(0.1)}
    cheap, dear, short = (
        memory.retrieve(asked, **more) for more in ({"price": 15}, {"price": 999}, {"budget": 8, "price": 15})
    )
    assert {source.doc_id for source in cheap.sources} == {"b", "c"}
    assert (dear.text, dear.tokens, dear.sources) == ("", 0, ())
    assert [source.doc_id for source in short.sources] == ["b"]
    priced = secateur.Memory("rankers/shares", assembly="priced+price=15", overrides=[shares])
    priced.index({"a": "Alder Ltd bought the mill.", "b": "It rains a lot.", "c": "A mill stands in Leeds."})
    assert priced.retrieve(asked) == cheap
    assert priced.retrieve(asked, price=999).text == ""
    with pytest.raises(secateur.SecateurError, match=r"price: found -1; allowed: a number, 0 or more.*price=0\.5"):
        memory.retrieve(asked, price=-1)


@pytest.mark.parametrize(
    ("name", "more", "message"),
    [
        ("others", {"assembly": "priced"}, "assembly.price is set and the ranking is others; .*allowed: shares"),
        ("shares", {"assembly": "priced", "order": "aware"}, r"shares\+neighbour; .*order-blind"),
        ("shares", {"assembly": "priced_mean"}, "which a memory does not know"),
    ],
)
def test_a_memory_without_shares_of_the_evidence_has_no_price(shares, name, more, message):
    with pytest.raises(secateur.SecateurError, match=message):
        secateur.Memory(f"rankers/{name}", overrides=[shares], **more)
