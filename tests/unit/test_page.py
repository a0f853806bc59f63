"""The page: the matched differences first, with what they rest on; tokens used beside each budget."""

import polars as pl
import pytest

from secateur.pipeline.tables.catalog import TABLES
from secateur.report.format import judged, named
from secateur.report.page import Figures, found, render
from secateur.report.sections.differences import claim_parts, headlines, matched_parts
from secateur.report.sections.gain import gain_parts
from secateur.report.sections.recall import recall_parts

WHOLE = {"dataset": "toy", "answer_aware": False, "subset": "all", "split": "all"}


def metric(system: str, name: str, value: float, scorer: str | None = None) -> dict:
    own = {"system": system, "scorer": scorer, "order": "blind", "metric": name, "value": value, "published": False}
    return WHOLE | own | {"low": value - 0.1, "high": value + 0.1, "n": 20, "units": 20}


def pair(system: str, baseline: str, **changes) -> dict:
    row = {"order": "blind", "metric": "evidence_recall@claim", "system": system, "scorer": None, "baseline": baseline}
    row |= {"baseline_scorer": None, "axis": "ranker", "difference": 0.1, "low": 0.02, "high": 0.2, "p": 0.03}
    return WHOLE | row | {"p_holm": 0.06, "n": 20, "units": 20} | changes


def table(name: str, rows: list[dict]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=TABLES[name].empty().schema)


def told(*rows: dict) -> pl.DataFrame:
    return judged(table("comparisons", list(rows)), 10)


# --- the headline --------------------------------------------------------------------------------


def test_the_headline_is_the_difference_to_the_plain_twin_with_all_it_rests_on():
    (line,) = headlines("toy", told(pair("secateur", "title_zsum")))
    assert line == (
        "toy, order-blind, evidence recall over the budgets claimed: secateur less title_zsum is +0.100 "
        "(+0.020 to +0.200; p 0.0600; 20 questions in 20 units)."
    )


def test_the_twin_may_be_one_ranker_of_a_list_and_may_have_been_listed_last():
    listed = pair("secateur", "rankers", baseline_scorer="title_zsum+neighbour", order="aware")
    last = pair("title_zsum", "secateur", low=None)
    blind, aware = headlines("toy", told(listed, last))
    assert "secateur less title_zsum is" in blind
    assert "-0.100 (-0.200 to unbounded;" in blind
    assert "order-aware" in aware
    assert "secateur less rankers · title_zsum+neighbour" in aware


def test_under_so_many_units_it_is_too_few_to_tell_and_an_end_that_nothing_bounds_is_unbounded():
    (line,) = headlines("toy", told(pair("secateur", "title_zsum", low=None, high=None, n=5, units=4)))
    assert line.endswith("+0.100 (unbounded; p 0.0600, too few to tell; 5 questions in 4 units).")


@pytest.mark.parametrize(
    "other",
    [
        {"baseline": "apr"},
        {"system": "secateur:dense", "baseline": "title_zsum:dense"},
        {"baseline": "secateur:dense", "axis": "form"},
        {"metric": "evidence_recall@64"},
        {"subset": "hard"},
    ],
)
def test_no_other_pair_makes_a_headline(other):
    assert headlines("toy", told(pair("secateur", "title_zsum") | other)) == []


def test_the_claim_has_a_line_an_order_and_a_column_a_metric():
    rows = [pair("secateur", "title_zsum", metric=f"{m}@claim") for m in ("token_recall", "evidence_recall")]
    (part,) = claim_parts("toy", told(*rows, pair("secateur", "title_zsum", order="aware")))
    assert part["table"]["heads"][2:] == ["evidence recall", "evidence coverage", "token recall", "answer gain"]
    shown = [[cell["text"] for cell in line["cells"]] for line in part["table"]["rows"]]
    assert shown == [
        ["order-blind", "title_zsum", "+0.100", "", "+0.100", ""],
        ["order-aware", "title_zsum", "+0.100", "", "", ""],
    ]


def test_matched_differences_have_a_table_an_axis_and_a_line_a_pair():
    rows = [pair("secateur", "title_zsum"), pair("secateur:dense", "secateur", axis="form"), pair("apr", "title_zsum")]
    parts = matched_parts("toy", told(*rows, pair("secateur", "title_zsum", metric="answer_gain@claim")))
    assert [part["title"] for part in parts] == ["Matched differences: ranker", "Matched differences: form"]
    names = [[cell["text"] for cell in line["cells"][:2]] for line in parts[0]["table"]["rows"]]
    assert names == [["secateur", "title_zsum"], ["apr", "title_zsum"]]


# --- recall and gain -----------------------------------------------------------------------------


def test_the_tokens_that_were_used_stand_beside_each_budget():
    rows = [metric("secateur", f"{name}@{b}", v) for b in (64, 128) for name, v in (("evidence_recall", 0.5),)]
    rows += [metric("secateur", "tokens@64", 60.4)]
    _, part = recall_parts("toy", named(table("metrics", rows)), "blind")
    assert part["table"]["heads"] == ["system", "64 tokens", "128 tokens"]
    assert [cell["small"] for cell in part["table"]["rows"][0]["cells"][1:]] == [
        ".400 to .600\n60 used",
        ".400 to .600",
    ]


def test_gains_stand_by_budget_then_their_controls():
    values = {"closed_book": -3.0, "answer_gain@128": 0.2, "answer_gain@64": 0.1, "answer_gain@claim": 0.15}
    rows = [metric("secateur", name, v) for name, v in (values | {"answer_gain_shuffled@64": 0.0}).items()]
    (part,) = gain_parts("toy", named(table("metrics", rows)), "blind")
    assert part["table"]["heads"] == ["system", "64 tokens", "128 tokens", "another question's, 64", "closed book"]


# --- the page ------------------------------------------------------------------------------------


def figures(metrics: list[dict], comparisons: list[dict]) -> Figures:
    keys = {key: pl.lit("") for key in ("corpus", "dataset", "system", "order")}
    empty = {name: TABLES[name].empty().with_columns(**keys) for name in ("graph_measures", "score_quantiles")}
    empty |= {name: TABLES[name].empty().with_columns(**keys) for name in ("dataset_statistics", "frontier")}
    return Figures(
        metrics=table("metrics", metrics),
        comparisons=table("comparisons", comparisons),
        drawings=[],
        measures=empty["graph_measures"],
        statistics=empty["dataset_statistics"],
        stated=pl.DataFrame(schema=dict.fromkeys(("dataset", "statistic", "stated", "source"), pl.String)),
        spreads=empty["score_quantiles"],
        frontiers=empty["frontier"],
    )


def test_a_page_is_written_from_its_tables_and_says_none_of_the_old_words():
    systems = [("secateur", None), ("title_zsum", None), ("rankers", "bm25")]
    rows = [metric(s, f"evidence_recall@{b}", 0.5, c) for s, c in systems for b in (64, 128, "claim")]
    own = figures(rows, [pair("secateur", "title_zsum", units=3)])
    variants = [{"dataset": "toy", "system": "rankers", "order": None, "file": "results/x.parquet"}]
    page = render("tiny", "A title", 10, variants, own)
    assert found(own.metrics, own.comparisons, 10)[0].endswith("too few to tell; 20 questions in 3 units).")
    assert page.index("What was found") < page.index("secateur less its plain twin") < page.index("<svg")
    assert not [word for word in ("track", "lift", "block") if f" {word}" in page.partition("</style>")[2]]
