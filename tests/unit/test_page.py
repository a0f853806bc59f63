"""The page: the finding first, with what it rests on; tokens used beside each budget; questions to look through."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import polars as pl
import pytest
from tests.support.report_rows import CLAIM, metric, pair

from secateur.core.tables.catalog import TABLES
from secateur.report.browser import Set, browsed
from secateur.report.format import named, with_enough_data
from secateur.report.page import About, Figures, render
from secateur.report.plots.style import inline, subplots
from secateur.report.sections.differences import paired_parts
from secateur.report.sections.gain import gain_parts
from secateur.report.sections.recall import recall_parts
from secateur.report.table import markdown
from secateur.report.trace import Traces


def table(name: str, rows: list[dict]) -> pl.DataFrame:
    return TABLES[name].frame(rows)


def told(rows: list[dict]) -> pl.DataFrame:
    return with_enough_data(named(table("metrics", rows)), 10)


FAMILIES = {"graph_zsum": "graph", "graph_zsum:dense": "graph", "apr": "graph"}
FAMILIES |= {"title_zsum": "lexical", "rankers": "lexical"}


def test_paired_differences_have_a_table_an_axis_and_a_line_a_pair():
    rows = [
        pair("graph_zsum", "title_zsum"),
        pair("graph_zsum:dense", "graph_zsum", axis="form"),
        pair("apr", "title_zsum"),
    ]
    rows += [pair("graph_zsum", "title_zsum", metric="answer_gain@claim")]
    parts = paired_parts("toy", with_enough_data(table("comparisons", rows), 10))
    assert [part["title"] for part in parts] == ["Paired differences: ranker", "Paired differences: form"]
    names = [line[:2] for line in parts[0]["table"].texts()]
    assert names == [["graph_zsum", "title_zsum"], ["apr", "title_zsum"]]


def test_the_tokens_that_were_used_stand_beside_each_budget():
    rows = [metric("graph_zsum", f"evidence_recall@{budget}", 0.5) for budget in (64, 128)]
    _, part = recall_parts("toy", told([*rows, metric("graph_zsum", "tokens@64", 60.4)]), "blind")
    assert part["table"].heads == ["system", "64 tokens", "128 tokens"]
    shown = markdown(part["table"]).splitlines()[-1]
    assert shown == "| graph_zsum | 0.500 (0.400 to 0.600; 60 used) | 0.500 (0.400 to 0.600) |"


@pytest.mark.parametrize(
    ("other", "shown"),
    [
        ({"n": 17}, "| other | 0.900 (0.800 to 1.000; n 17) |"),
        ({"answer_aware": True}, "| other, sees the answer | 0.900"),
    ],
)
def test_a_mean_of_fewer_questions_or_with_the_answer_is_never_bold(other, shown):
    rows = [metric("graph_zsum", "evidence_recall@64", 0.5), metric("beam", "evidence_recall@64", 0.4)]
    rows += [metric("other", "evidence_recall@64", 0.9, **other)]
    drawn, part = recall_parts("toy", told(rows), "blind")
    lines = markdown(part["table"]).splitlines()
    assert any(line.startswith(shown) for line in lines)
    assert "| graph_zsum | **0.500** (0.400 to 0.600) |" in lines
    assert ("Not drawn: other." in drawn["note"]) == ("n" in other)


def test_gains_stand_by_budget_then_their_controls():
    values = {"closed_book": -3.0, "answer_gain@128": 0.2, "answer_gain@64": 0.1, "answer_gain@claim": 0.15}
    values |= {"answer_gain_own@64": 0.1, "answer_gain_shuffled@64": 0.0}
    drawn, part = gain_parts(
        "toy", told([metric("graph_zsum", name, value) for name, value in values.items()]), "blind", {}
    )
    assert "graph_zsum" in drawn["figures"][0][0]
    expected = ["system", "64 tokens", "128 tokens", "another question's, 64", "above it, 64", "closed book"]
    assert part["table"].heads == expected


def figures(metrics: list[dict], comparisons: list[dict]) -> Figures:
    keys = {key: pl.lit("") for key in ("corpus", "dataset", "system", "order")}
    own = {"growth": "growth", "statistics": "dataset_statistics", "spreads": "score_quantiles"}
    own |= {"accepted": "acceptance", "frontiers": "frontier"}
    empty = {name: TABLES[of].empty().with_columns(**keys) for name, of in own.items()}
    empty |= {name: table(name, []) for name in ("leaders", "equal_quality")}
    stated = pl.DataFrame(schema=dict.fromkeys(("dataset", "statistic", "stated", "source"), pl.String))
    both = {"metrics": table("metrics", metrics), "comparisons": table("comparisons", comparisons)}
    return Figures(drawings=[], stated=stated, **both, **empty)


def drawn(name: str, rows: list[dict], pairs: list[dict], **more) -> str:
    variants = [{"dataset": "toy", "system": "rankers", "order": None, "file": "results/x.parquet"}]
    about = About(name, "A title", 10, (64, 128), variants)
    return render(about, replace(figures(rows, pairs), **{"families": FAMILIES} | more))


def test_the_primary_family_stands_before_the_leaderboards():
    rows = [metric(s, CLAIM, 0.5) for s in ("graph_zsum", "title_zsum")]
    pairs = [pair("graph_zsum", "title_zsum"), pair("graph_zsum", "title_zsum", axis="primary", p=0.02, p_holm=0.024)]
    shown = drawn("tiny", rows, pairs).partition("<body")[2]
    family = shown.partition('id="primary"')[2].partition('<div id="leaderboard">')[0]
    assert "tests that the experiment declares (1)" in family
    assert "p 0.0240" in family
    assert 'id="primary"' not in drawn("tiny", rows, pairs[:1])
    assert "p 0.0240" not in shown.partition('<h2 id="more">')[2]  # once, and in no table of pairs


DRAWN = "stroke: var(--graph)"  # a line or a dot of a system of the graph


def small(n: int, units: int) -> str:
    own = {"n": n, "units": units}
    values = {"graph_zsum": 0.9, "title_zsum": 0.2}
    names = [f"{name}@{b}" for name in ("evidence_recall", "token_recall", "answer_gain") for b in (64, 128, "claim")]
    rows = [metric(s, name, v) | own for s, v in values.items() for name in (*names, "rouge_l")]
    pairs = [pair("graph_zsum", "title_zsum", metric=m, p_holm=0.0001, **own) for m in ("rouge_l", CLAIM)]
    return drawn("tiny", rows, pairs).partition("<body")[2]


@pytest.mark.parametrize(
    ("n", "units", "needed"),
    [(5, 3, "15 more questions"), (15, 15, "5 more questions"), (50, 9, "1 more documents with questions")],
)
def test_a_page_of_too_few_questions_or_units_has_means_intervals_and_curves_and_no_verdict(n, units, needed):
    page = small(n, units)
    assert DRAWN in page
    assert f"about {needed}" in page
    assert " are needed for a verdict." in page
    assert "<td>+0.100<small>+0.020 to +0.200</small></td>" in page
    assert "not enough data" in page
    assert not re.findall(r">significant<|do not differ|holds more", page)
    lines = re.findall(r"<tr[^>]*>(<.*?)</tr>", page)
    assert len(lines) > 10
    assert not [line for line in lines if not line.startswith(('<th scope="row">', '<th scope="col">'))]


def test_a_label_of_a_plot_is_text_whatever_is_in_it():
    label = 'recall on "a & b" <img src=x>\\1'
    drawn = ET.fromstring(inline(subplots(6.4, 1.2)[0], label))
    assert drawn.get("aria-label") == label
    assert drawn.get("role") == "img"


def test_an_experiment_without_rows_says_so():
    assert "Nothing was measured" in drawn("tiny", [], [])


def questions(count: int, text: str | None = None) -> tuple[pl.DataFrame, pl.DataFrame]:
    """So many questions with their gold evidence. text: of each question, in the place of its id."""
    ids, nothing = [f"q{n}" for n in range(count)], [None] * count
    rows = {"question_id": ids, "text": [text or i for i in ids], "answer": nothing, "type": nothing}
    gold = {"question_id": ids, "n": [0] * count, "text": [f"gold {i}" for i in ids], "passage_id": ids}
    return pl.DataFrame(rows), pl.DataFrame(gold)


def traces(count: int, text: str) -> Traces:
    """So many questions through a system whose contexts are the gold passage: the text, then its id."""
    ids = [f"q{n}" for n in range(count)]
    rows = {"question_id": ids, "place": [0] * count, "passage_id": ids, "text": [text + i for i in ids]}
    contexts = pl.DataFrame(rows | {"tokens": [9] * count})
    values = {"question_id": ids, "metric": ["evidence_recall@512"] * count, "hop": [None] * count}
    figures = pl.DataFrame(values | {"value": [0.5] * count})
    return Traces(*questions(count), contexts, figures, {"q0": "an answer"})


def test_ten_thousand_questions_stay_within_the_bytes_allowed_and_it_is_said_how_many_are_shown():
    toy = Set("toy", {name: traces(10_000, "words " * 200) for name in ("a", "b", "c")}, 512)
    made = browsed([toy], 3_000_000)
    (one,) = made["sets"]
    assert 1_000 < len(one["questions"]) < one["of"] == 10_000
    page = drawn("tiny", [metric("graph_zsum", CLAIM, 0.5)], [], browsed=made)
    assert len(page.encode()) < 3_500_000
    assert f"{len(one['questions'])} of 10000 questions, contexts within 512 tokens, drawn by hash" in page
    assert browsed([toy], 3_000_000) == made


def test_a_questions_own_words_end_no_script_and_a_limit_is_told():
    hostile = questions(1, "</script><script>alert(1)</script>")
    empty = (TABLES[name].empty() for name in ("contexts", "question_metrics"))
    toy = Set("toy", {"graph_zsum": Traces(*hostile, *empty)}, 512)
    page = drawn("tiny@20", [metric("graph_zsum", CLAIM, 0.5)], [], browsed=browsed([toy]))
    assert "alert(1)" in page
    assert "<script>alert" not in page
    assert "LIMIT=20: only the first 20 questions" in page
