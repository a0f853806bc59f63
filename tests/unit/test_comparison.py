"""Means and paired differences on a frame small enough to check by hand."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from secateur.config import compose
from secateur.core.fields import ConfigError
from secateur.core.layout import scorer_order
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import problems
from secateur.ecs.names import matched_baselines
from secateur.evaluation.compared import _rows
from secateur.evaluation.comparison import (
    AXES,
    Row,
    axes_of,
    claims,
    differences,
    paired_differences,
    pairs,
    summarise,
    to_best,
)
from secateur.evaluation.figure import Figure
from secateur.planning.plan import variants

CFG = SimpleNamespace(resamples=200, permutations=200, permutations_at_floor=0, min_units=2, seed=7)
SCHEMA = {
    "system": pl.String, "order": pl.String, "scorer": pl.String, "answer_aware": pl.Boolean, "metric": pl.String,
    "question_id": pl.String, "cluster_id": pl.String, "value": pl.Float64,
}  # fmt: skip
UTILITY = compose.option(Path(__file__).parents[2] / "conf", "rankers", "utility")
MODEL = set(UTILITY.scores)
BASE = dict.fromkeys(AXES, "default")


def row(system, scorer=None, *, order="blind", aware=False, listed=False, **axes) -> Row:
    return Row(system, order, scorer, aware, tuple(sorted((BASE | axes).items())), listed)


def rows(system, scorer, values, *, order="blind", aware=False, metric="evidence_recall@64") -> list[tuple]:
    return [(system, order, scorer, aware, metric, q, f"c{q}", float(v)) for q, v in values.items()]


def frame(*parts) -> pl.DataFrame:
    return pl.DataFrame([one for part in parts for one in part], schema=SCHEMA, orient="row")


TWO = [row("one", ranker="a"), row("two", ranker="b")]


def figures_of(*known: Row, metric="evidence_recall@64", questions=8) -> pl.DataFrame:
    """Figures in which each row is a tenth better than the one before, on half of the questions more."""
    parts = []
    for n, one in enumerate(known):
        values = {f"q{q}": 0.1 * n * (1 + q % 2) for q in range(questions)}
        parts.append(rows(one.system, one.scorer, values, order=one.order, aware=one.answer_aware, metric=metric))
    return frame(*parts)


def compared(known, part=None, against=(), joined=None, cfg=CFG) -> pl.DataFrame:
    def choose(rows, means, _):
        return pairs(rows, means, against, joined or {})

    found = differences(figures_of(*known) if part is None else part, known, choose, cfg)
    whole = found.with_columns(dataset=pl.lit("d"), subset=pl.lit("all"), split=pl.lit("all"))
    assert problems(TABLES["comparisons"], whole.select(list(TABLES["comparisons"].columns))) == []
    return found


def of(found: pl.DataFrame) -> set[tuple]:
    """What is compared with what, and about what."""
    columns = ("system", "scorer", "baseline", "baseline_scorer", "axis")
    return {tuple(name for name in one if name is not None) for one in found.select(columns).iter_rows()}


ZSUM = rows("rankers", "zsum", {"q1": 1.0, "q2": 0.5, "q3": 0.75})
GRAPH = rows("graph_zsum", None, {"q1": 1.0, "q2": 1.0, "q3": 1.0})


def test_a_claim_is_each_questions_mean_over_the_budgets_and_needs_every_one():
    first = {64: 0.2, 128: 0.6, 512: 0.9}
    parts = [rows("one", None, {"q1": v, "q2": 1.0}, metric=f"token_recall@{b}") for b, v in first.items()]
    found = claims(frame(*parts), (64, 128), (64,))
    assert dict(found.select("question_id", "value").iter_rows()) == pytest.approx({"q1": 0.4, "q2": 1.0})
    assert found["metric"].unique().to_list() == ["token_recall@claim"]
    assert claims(frame(rows("one", None, {"q1": 0.2})), (64, 128), (64,)).is_empty()
    assert claims(frame(rows("one", None, {"q1": 90.0}, metric="closed_book")), (64,), (64,)).is_empty()


def test_answer_gain_is_claimed_over_the_budgets_at_which_it_is_measured():
    names = ("answer_gain", "token_recall")
    part = frame(*(rows("one", None, {"q": b}, metric=f"{name}@{b}") for name in names for b in (64, 128, 256)))
    found = claims(part, (64, 128, 256), (64, 128))
    assert dict(found.select("metric", "value").iter_rows()) == {"answer_gain@claim": 96, "token_recall@claim": 448 / 3}


def test_value_is_the_mean_over_a_rows_own_questions_and_n_their_number():
    aware = rows("rankers", "bm25+answer", {"q1": 1.0, "q3": 0.0}, aware=True)
    unordered = rows("any", None, {"q1": 1.0, "q2": 0.0, "q3": 0.5}, order=None)
    found = summarise(frame(ZSUM, aware, rows("one", None, {"q1": 0.5}), unordered))
    assert {(r["system"], r["scorer"]): (r["value"], r["n"]) for r in found.iter_rows(named=True)} == {
        ("rankers", "zsum"): (0.75, 3),
        ("rankers", "bm25+answer"): (0.5, 2),
        ("one", None): (0.5, 1),
        ("any", None): (0.5, 3),
    }
    several = found.filter(pl.col("n") > 1)
    assert (several["low"] <= several["value"]).all() and (several["value"] <= several["high"]).all()
    assert found.filter(system="one").select("low", "high").rows() == [(None, None)]


def test_the_order_of_the_figures_is_of_no_account():
    whole = frame(ZSUM, GRAPH)
    assert summarise(whole.reverse()).sort("system").equals(summarise(whole).sort("system"))
    known = [*listed("zsum"), row("graph_zsum", ranker="graph")]
    assert compared(known, whole).equals(compared(known, whole.reverse()))


def listed(*names: str, suffix: str = "", **changes) -> list[Row]:
    """Rankers of a list."""
    return [row("rankers", name + suffix, listed=True, ranker=name, **changes) for name in names]


PLAIN, OURS = row("title_zsum", ranker="title_zsum"), row("graph_zsum", ranker="graph")
DENSE = row("graph_zsum:dense", ranker="graph", form="dense")
PMI_Q, JS, CHANCE = (row("ecs", name, ranker="ecs") for name in ("pmi_q", "js", "pool_random"))
SIGNED, ANSWERED = row("ecs", "signed", aware=True, ranker="ecs"), listed("bm25", suffix="+answer", aware=True)
GRAPH_ON_PLAIN = ("graph_zsum", "title_zsum", "ranker")


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ([PLAIN, OURS, DENSE], {GRAPH_ON_PLAIN, ("graph_zsum:dense", "graph_zsum", "form")}),
        # Rows that differ in no axis or in two are no pair, nor are those of a list among each other.
        ([row("one"), row("same")], set()),
        ([row("one"), row("other", form="dense", reader="gemma")], set()),
        (listed("a", "b", "c"), set()),
        # The baseline is the listed row, else the one that comes first.
        (
            [*TWO, *listed("c")],
            {("two", "one", "ranker"), *((name, "rankers", "c", "ranker") for name in ("one", "two"))},
        ),
        # A listed row that is the same contexts as a system is not paired twice.
        (
            [*listed("bm25", "title_zsum"), PLAIN, OURS],
            {GRAPH_ON_PLAIN, *((name, "rankers", "bm25", "ranker") for name in ("graph_zsum", "title_zsum"))},
        ),
        # What sees the answer is compared with its like alone.
        ([*ANSWERED, SIGNED, PMI_Q], {("ecs", "signed", "rankers", "bm25+answer", "strongest")}),
        # A system of several scorers meets the strongest listed one.
        (
            [*listed("bm25", "zsum", "minilm"), PMI_Q, JS],
            {("ecs", name, "rankers", "minilm", "strongest") for name in ("pmi_q", "js")},
        ),
        # Chance in a pool ranks nothing, and is tested against nothing.
        ([*listed("bm25"), CHANCE], {("ecs", "pool_random", "rankers", "bm25", "strongest")}),
        ([*listed("bm25"), replace(CHANCE, ranks=False)], set()),
    ],
)
def test_what_is_compared_with_what_and_about_what(known, expected):
    assert of(compared(known)) == expected


@pytest.mark.parametrize("axis", AXES)
def test_every_axis_makes_pairs(axis):
    known = [row("one"), row("other", **{axis: "changed"})]
    assert of(compared(known, figures_of(*known, metric="rouge_l"))) == {("other", "one", axis)}


@pytest.mark.parametrize(
    ("metric", "axes"), [("evidence_recall@64", {"ranker"}), ("token_f1", set()), ("judged_acc@m", set())]
)
def test_what_answers_at_which_budget_counts_for_figures_of_answers_alone(metric, axes):
    known = [row("bm25"), row("graph:budget=2048", ranker="graph", answer="default, 2048 tokens")]
    found = compared(known, figures_of(*known, metric=metric))
    assert set(found["axis"]) == axes


def test_of_equally_strong_ones_the_name_decides():
    alike = listed("alpha", "beta")
    means = dict.fromkeys((one.key for one in alike), 0.5)
    (found,) = pairs([*alike, JS], means | {JS.key: 1}, (), {})
    assert found[1].scorer == "beta"


def test_orders_are_never_compared_across():
    both = [row(name, order=order, ranker=name) for name in ("plain", "graph") for order in ("blind", "aware")]
    found = compared([*both, row("apr", order=None, ranker="apr")]).select("system", "baseline", "order")
    assert set(found.rows()) == {("graph", "plain", "blind"), ("graph", "plain", "aware")}


def test_each_joined_scorer_meets_its_matched_baseline_without_a_language_model():
    known = [row("ecs", name, ranker="ecs") for name in ("sum(bm25)", "sum(bm25,pmi_q)")]
    found = compared(known, joined={"sum(bm25,pmi_q)": ["sum(bm25)", "sum(tfidf)"], "sum(js)": ["sum(bm25)"]})
    assert of(found) == {("ecs", "sum(bm25,pmi_q)", "ecs", "sum(bm25)", "language_model")}


def test_every_join_with_a_language_model_has_a_matched_baseline_without_it():
    specs = UTILITY.utilities
    found = matched_baselines(UTILITY.scores, specs)
    said = {name for name, spec in specs.items() if spec["kind"] in ("sum", "fitted") and set(spec["of"]) & MODEL}
    assert {name for name in found if not name.endswith("@other_sets")} == said
    for name in said:
        plain, *rest = found[name]
        assert set(specs[plain]["of"]) == set(specs[name]["of"]) - MODEL
        assert all(set(specs[other]["of"]) == set(specs[name]["of"]) - MODEL | {"pmi_q"} for other in rest)
        if specs[name]["kind"] == "fitted":
            assert found[f"{name}@other_sets"] == [f"{other}@other_sets" for other in found[name]]


def test_those_that_are_named_are_met_besides_the_strongest_with_or_without_the_answer():
    found = compared([*listed("bm25", "tfidf", "zsum"), JS], against=("bm25", "zsum"))
    named = {"zsum": "strongest", "bm25": "named"}  # zsum is named too, and met once
    assert of(found) == {("ecs", "js", "rankers", name, axis) for name, axis in named.items()}
    found = compared([*ANSWERED, *listed("zsum", suffix="+answer", aware=True), SIGNED], against=("bm25",))
    assert ("ecs", "signed", "rankers", "bm25+answer", "named") in of(found)


def test_the_best_row_is_one_of_those_that_measure_the_most_questions():
    rows = [PLAIN, OURS, replace(CHANCE, ranks=False)]
    means = {PLAIN.key: 0.5, OURS.key: 0.9, CHANCE.key: 1.0}
    fewer = {PLAIN.key: 8, OURS.key: 3, CHANCE.key: 8}
    found = [(row.system, best.system) for row, best, _ in to_best(rows, means, fewer)]
    assert found == [("graph_zsum", "title_zsum"), ("ecs", "title_zsum")]
    equal = dict.fromkeys(fewer, 8)
    assert {best.system for _, best, _ in to_best(rows, means, equal)} == {"graph_zsum"}


def test_a_system_of_one_ranker_keeps_its_axes_whatever_scored_it():
    assert axes_of({"axes": {"ranker": "graph"}, "listed": ""}, "bm25") == (("ranker", "graph"),)
    assert axes_of({"axes": {"ranker": "list:all"}, "listed": ":all"}, None) == (("ranker", "list:all"),)


def test_a_policy_is_compared_within_its_own_variant():
    known = [row(system, scorer) for system in ("policy", "policy:none") for scorer in ("random", "policy")]
    found = compared(known, figures_of(*known, metric="policy_utility"), against=("random",))
    assert of(found) == {(name, "policy", name, "random", "named") for name in ("policy", "policy:none")}


def test_a_scorer_of_a_list_has_the_axes_of_the_system_that_picks_it():
    """Else the same contexts would be compared with themselves."""
    conf, own, figures = Path(__file__).parents[2] / "conf", [], []
    for v in variants(conf, "stem_old", ("experiment.systems=[rankers,title_zsum]",)):
        if v.system == v.base:
            listed = v["pick"] == "all"
            named = {"system": v.system, "order": v.order, "dataset": v.dataset, "axes": dict(v.axes)}
            own.append(named | {"listed": ":all" if listed else "", "ranks": True})
            scorers = ("title_zsum", "title_zsum+neighbour", "zsum") if listed else (None,)
            figures += [(v.system, v.order or scorer_order(scorer), scorer, False) for scorer in scorers]
    table = pl.DataFrame(figures, schema=["system", "order", "scorer", "answer_aware"], orient="row")
    axes = {(one.system, one.order, one.scorer): one.axes for one in _rows(own, table, "stem_old")}
    for order, suffix in (("blind", ""), ("aware", "+neighbour")):
        assert axes["rankers", order, f"title_zsum{suffix}"] == axes["title_zsum", order, None]
    assert axes["rankers", "blind", "zsum"] != axes["title_zsum", "blind", None]


def test_a_difference_is_that_of_the_means_over_the_questions_that_both_have():
    known = [*listed("zsum"), row("graph_zsum", ranker="graph")]
    found = compared(known, frame(ZSUM, rows("graph_zsum", None, {"q1": 1.0, "q3": 1.0, "q9": 0.0})))
    assert found.select("difference", "n", "units").rows() == [(0.125, 2, 2)]
    assert compared(TWO, frame(rows("one", None, {"q1": 1}), rows("two", None, {"q2": 1}))).is_empty()


def test_headlines_are_compared_and_costs_are_not():
    part = pl.concat(figures_of(*TWO, metric=metric) for metric in ("tokens@64", "semantic@64", "read_gain"))
    assert compared(TWO, part)["metric"].to_list() == ["read_gain", "semantic@64"]


def test_an_interval_holds_its_difference_and_too_few_units_bound_nothing():
    found = compared(TWO, figures_of(*TWO, questions=3))
    assert found.select("low", "high", "p", "units").rows() == [(None, None, 0.25, 3)]
    ((low, difference, high),) = compared(TWO, figures_of(*TWO, questions=8)).select("low", "difference", "high").rows()
    assert low < difference < high


def test_p_is_adjusted_over_the_pairs_of_a_metric_and_an_order():
    known = [row(name, ranker=name) for name in "abc"]
    own = compared(known, figures_of(*known))
    assert own["p_holm"].to_list() == pytest.approx([min(1, 3 * own["p"].max())] * 3)
    more = [*known, *(row(name, order="aware", ranker=name) for name in "ab")]
    two = compared(more, pl.concat([figures_of(*more), figures_of(*more, metric="token_recall@64")]))
    blind = two.filter((pl.col("order") == "blind") & (pl.col("metric") == "evidence_recall@64"))
    assert blind["p_holm"].to_list() == own["p_holm"].to_list()
    aware = two.filter(pl.col("order") == "aware")
    assert aware["p_holm"].to_list() == aware["p"].to_list()


def test_rows_that_are_equal_in_every_question_are_no_test_of_a_family_however_few_their_units():
    known = [row("one"), row("two", ranker="b"), row("moved", placement="best_first")]
    same = figures_of(*known).filter(pl.col("system") != "moved")
    part = pl.concat([same, same.filter(pl.col("system") == "one").with_columns(system=pl.lit("moved"))])
    found = {(r["system"], r["baseline"]): r for r in compared(known, part).to_dicts()}
    assert found["moved", "one"]["p_holm"] == 1
    assert found["two", "one"]["p_holm"] == found["two", "one"]["p"]  # the only one that was tested
    units = {"question_id": list("abcdefgh"), "cluster_id": list("abcdefgh")}
    sample = pl.DataFrame(units | {"a": [1.0] * 8, "b": [0.0] * 8})
    equal = sample.head(5).with_columns(b=pl.col("a"))
    alone, both = (paired_differences(samples, CFG) for samples in ([sample], [sample, equal]))
    assert both["p_holm"].to_list() == [alone["p_holm"][0], 1.0]


def test_tables_of_nothing_stack_on_full_ones():
    full, none = figures_of(*TWO), figures_of(*TWO, questions=0)
    assert pl.concat([compared(TWO, full), compared(TWO, none)]).height == 1
    assert pl.concat([summarise(full), summarise(none)]).height == 2


def test_a_pair_is_tested_once_and_in_the_direction_that_was_chosen_first():
    known = [row("p", name) for name in ("policy", "best_constant", "classifier", "random")]
    found = compared(known, against=("best_constant", "classifier", "random"))
    told = list(found.select("scorer", "baseline_scorer").iter_rows())
    assert told[:3] == [("policy", name) for name in ("best_constant", "classifier", "random")]
    assert len(told) == len(set(map(frozenset, told))) == 6


def test_a_headline_is_better_the_higher_it_is():
    with pytest.raises(ConfigError, match="better='lower'"):
        Figure("noise", better="lower")
    assert Figure("noise", better="lower", headline=False).better == "lower"
