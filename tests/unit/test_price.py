"""A price for tokens: which rankings can have one, utility at a price, and the library's."""

import sys
from functools import partial
from pathlib import Path

import polars as pl
import pytest

import secateur
from secateur.config import compose
from secateur.core.fields import ConfigError
from secateur.evaluation.utility import utilities
from secateur.planning.contents import Planned

CONF = Path(__file__).parents[2] / "conf"
RANKER = """
import numpy as np

from secateur.config.plugins import NoSettings as Settings

SHARES = {shares}


def score(settings, group, questions, seed):
    words = [set(question.lower().split()) for question in questions.queries]
    return np.array([[0.5 if own & set(text.lower().split()) else 0.1 for text in group.texts] for own in words])
"""
MINE = ("system.ranker=shares", "system.orders=[blind]")


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


def test_a_ranker_of_shares_can_have_a_price_which_is_an_axis_and_asks_for_utilities(write, shares):
    test = "{row: 'title_zsum:price=0.25', minus: title_zsum, differs: packing, metrics: [utility@0.5]}"
    more = {"axes": "{assembly: [{price: 0.25}, priced_mean]}", "primary": f"[{test}]"}
    found = write(systems="[title_zsum]", overrides=(shares, *MINE), **more)
    assert [v.system for v in found] == ["title_zsum", "title_zsum:price=0.25", "title_zsum:priced_mean"]
    packing = [dict(v.axes)["packing"] for v in found]
    assert packing == ["refill", "refill, a price of 0.25", "refill, 370 mean tokens"]
    option = partial(compose.option, CONF)
    assert Planned("mine", found, option).prices() == [0.1, 0.25, 0.5, 1.0, 2.0]
    assert Planned("mine", found[:1], option).prices() == []


@pytest.mark.parametrize(
    ("systems", "overrides", "ranking"),
    [
        ("title_zsum", ("system.ranker=others", "system.orders=[blind]"), "others; .*allowed: shares"),
        ("title_zsum", ("system.ranker=shares", "system.orders=[aware]"), r"shares\+neighbour; .*order-blind"),
        ("title_zsum", (*MINE, "system.reranker=pmi_q"), "shares, reranked by pmi_q; "),
        ("rankers", (), "of family lexical, by no single ranker; .*allowed: shares"),
        ("graph_zsum", (), "of family graph, .*allowed: none of this system"),
        ("lightrag", (), "of family peer, "),
    ],
)
def test_any_other_ranking_is_refused_by_name(write, shares, systems, overrides, ranking):
    for key, value in {"price": 0.5, "mean_tokens": 370}.items():
        with pytest.raises(ConfigError, match=rf"assembly\.{key} is set and the ranking is {ranking}") as said:
            write(systems=f"[{systems}]", overrides=(shares, *overrides, f"assembly.{key}={value}"))
        assert str(said.value).count("is set and the ranking") == 1


def test_one_price_of_0_at_least_is_asked_for(write, shares):
    for changed, message in ((("price=-1",), "is -1"), (("price=1", "mean_tokens=9"), "are both set; allowed: one")):
        with pytest.raises(ConfigError, match=message):
            write(systems="[title_zsum]", overrides=(shares, *MINE, *(f"assembly.{key}" for key in changed)))


def test_utility_is_the_recall_of_a_rows_own_contexts_minus_what_their_tokens_cost():
    values = {"evidence_recall@64": 0.25, "evidence_recall@128": 0.5, "tokens@64": 60, "tokens@128": 128}
    rows = [("q1", "blind", None, False, hop, *pair) for hop in (None, "1st") for pair in values.items()]
    rows.append(("q2", "blind", None, False, None, "tokens@128", 9))
    columns = ["question_id", "order", "scorer", "answer_aware", "hop", "metric", "value"]
    figures = pl.DataFrame(rows, columns, orient="row", strict=False).cast({"value": pl.Float64})
    found = utilities(figures, 128, [0.5, 2.0])
    assert found.schema == figures.schema
    assert dict(found.select("metric", "value").iter_rows()) == {"utility@0.5": 0.375, "utility@2.0": 0.0}
    assert utilities(figures, 256, [0.5]).is_empty()


def test_a_memory_leaves_out_what_is_not_worth_a_price_and_a_budget_caps(shares):
    texts, asked = {"a": "Alder Ltd bought it.", "b": "It rains a lot.", "c": "A mill is here."}, "Where is a mill"
    memory = secateur.Memory("rankers/shares", overrides=[shares])
    priced = secateur.Memory("rankers/shares", assembly="priced+price=25", overrides=[shares])
    for made in (memory, priced):
        made.index(texts)
    scores = {source.doc_id: source.score for source in memory.retrieve(asked).sources}
    assert scores == {"b": 0.5, "c": 0.5, "a": pytest.approx(0.1)}
    cheap, dear, short = (memory.retrieve(asked, n, price) for n, price in ((256, 25), (256, 999), (7, 25)))
    assert [source.doc_id for source in cheap.sources] == ["c", "b"]  # the best last
    assert (dear.text, dear.tokens, dear.sources) == ("", 0, ())
    assert [source.doc_id for source in short.sources] == ["b"]
    assert (priced.retrieve(asked), priced.retrieve(asked, price=999)) == (cheap, dear)
    with pytest.raises(secateur.SecateurError, match=r"price: found -1; allowed: a number, 0 or more.*price=0\.5"):
        memory.retrieve(asked, price=-1)
    for name, assembly, order, message in (
        ("others", "priced", "blind", "assembly.price is set and the ranking is others; .*allowed: shares"),
        ("shares", "priced", "aware", r"shares\+neighbour; .*order-blind"),
        ("shares", "priced_mean", "blind", "which a memory does not know"),
    ):
        with pytest.raises(secateur.SecateurError, match=message):
            secateur.Memory(f"rankers/{name}", assembly=assembly, order=order, overrides=[shares])
