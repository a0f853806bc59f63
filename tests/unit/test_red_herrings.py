"""Red herrings: the shipped set keeps its promises; kinds of passages are ranked, accepted and drawn as described."""

import json
import logging
import re
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scripts.check_red_herrings import stage_tables
from tests.support.loaded import conform
from tests.support.loaded import lines as as_lines
from tests.support.refusals import message

from secateur.config import compose
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import check
from secateur.datasets.loaders import load_corpus, load_questions
from secateur.ecs.scoring.distractors import KINDS, RANDOM, acceptances, by_kind, pool, quantiles, rankings
from secateur.ecs.scoring.score import columns, sees_answer
from secateur.models.units import content_words
from secateur.report.format import with_enough_data
from secateur.report.sections.distractors import distractor_parts

DATA = Path(__file__).parents[2] / "data"
SET, HARD = (DATA / name / "questions.jsonl" for name in ("red_herrings", "red_herrings_hard"))
LINES, HARD_LINES = ([json.loads(line) for line in own.read_text(encoding="utf-8").splitlines()] for own in (SET, HARD))
OF_PASSAGES = KINDS[:3]
RANKERS = compose.option(Path(__file__).parents[2] / "conf", "rankers", "utility")
SCORES = RANKERS.scores
GENERATED = {"trajectory_ctx", "trajectory_base"}
READ = {name for name, spec in SCORES.items() if not GENERATED & set(columns(spec))}
AWARE = {name for name in READ if sees_answer(SCORES[name])}


def loaded(path: Path = SET):
    passages = load_corpus("red_herrings", {"herrings": path}).passages
    return passages, load_questions("red_herrings", "red_herrings", {"herrings": path}, passages)


def test_every_question_has_each_kind_and_at_least_two_red_herrings_and_the_kinds_are_of_equal_length():
    assert all(len(one["counterfactual"]) == len(one["correct"]) > 0 for one in LINES)
    assert all(len(one["irrelevant"]) >= 2 for one in LINES)
    for size in (len, lambda text: len(text.split())):
        means = [np.mean([size(text) for one in LINES for text in one[kind]]) for kind in OF_PASSAGES]
        assert max(means) < 1.15 * min(means)


@pytest.mark.parametrize("lines", [LINES, HARD_LINES], ids=["plain", "hard"])
def test_a_correct_passage_and_its_counterfactual_are_of_one_length_and_yes_and_no_equally_common(lines):
    twins = [pair for one in lines for pair in zip(one["correct"], one["counterfactual"], strict=True)]
    words = np.array([[len(text.split()) for text in pair] for pair in twins])
    assert abs(words[:, 0].mean() / words[:, 1].mean() - 1) < 0.01
    assert (np.abs(words[:, 0] - words[:, 1]) <= 3).all()
    answers = [one["answer"] for one in lines if one["type"] == "yes/no"]
    assert answers.count("Yes") == answers.count("No") == len(answers) / 2


@pytest.mark.parametrize("path", [SET, HARD], ids=["plain", "hard"])
def test_the_set_loads_into_its_tables_with_the_kind_as_the_title(path):
    passages, questions = loaded(path)
    conform(passages, questions)
    assert set(passages["title"]) == set(OF_PASSAGES)
    gold = passages.filter(pl.col("title") == "correct")["passage_id"]
    assert set(questions.evidence["passage_id"]) == set(gold)


def test_the_answer_stands_in_no_counterfactual_and_no_red_herring():
    for one in (one for one in LINES if one["type"] != "yes/no"):
        said = " ".join(one["counterfactual"] + one["irrelevant"]).lower()
        core = one["answer"].lower().removeprefix("in ").removeprefix("on ").removeprefix("the ")
        assert f" {core} " not in f" {said.replace('.', ' ').replace(',', ' ')} ", one["id"]


def test_the_hard_set_is_of_the_numbers_that_its_page_states():
    types = Counter(one["type"] for one in HARD_LINES)
    assert types == {"number": 16, "name": 14, "place": 12, "date": 12, "thing": 10, "phrase": 8, "yes/no": 8}
    assert {tuple(len(one[kind]) for kind in OF_PASSAGES) for one in HARD_LINES} == {(1, 1, 3)}
    stated = [(content_words(one["answer"]), one) for one in HARD_LINES if one["type"] != "yes/no"]
    for kind, count in (("counterfactual", 45), ("irrelevant", 71)):  # hold all words of the answer
        assert sum(any(words <= content_words(text) for text in one[kind]) for words, one in stated) == count
    assert all(one["answer"].lower() in one["irrelevant"][0].lower() for one in HARD_LINES if one["type"] == "yes/no")


def test_the_kinds_of_the_hard_set_share_as_many_words_with_the_question():
    asked = [(content_words(one["question"]), one) for one in HARD_LINES]
    shared = {
        kind: np.mean([len(words & content_words(text)) / len(words) for words, one in asked for text in one[kind]])
        for kind in OF_PASSAGES
    }
    assert max(shared.values()) < 1.05 * min(shared.values())


def test_no_invented_name_of_the_hard_set_stands_in_two_questions():
    said = [" ".join([one["question"], *(t for kind in OF_PASSAGES for t in one[kind])]) for one in HARD_LINES]
    common = {"Monday", "Friday", "Sundays", "Dr", "Mrs", "Old"}
    for n, one in enumerate(HARD_LINES):
        asked = set(re.findall(r"(?<= )[A-Z][a-z]+\b", one["question"]))
        assert not asked & set(re.findall(r"\b[A-Z][a-z]+\b", " ".join(said[:n] + said[n + 1 :]))) - common


GOOD = {"id": "a", "domain": "d", "type": "name", "question": "Who?", "answer": "Ann"}
GOOD |= {"correct": ["It was Ann."], "counterfactual": ["It was Bo."], "irrelevant": ["It rained."]}


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([], "the file: is empty"),
        ([GOOD | {"answer": " "}], "line 1: answer is blank"),
        ([GOOD | {"irelevant": []}], "unknown key 'irelevant'"),
        ([GOOD | {"irrelevant": []}], "irrelevant must be a list of passages"),
        ([GOOD | {"correct": ["It was Ann.", " "]}], "correct must be a list of passages"),
        ([GOOD, GOOD | {"id": "b"}], "line 2: 'It was Ann.' stands twice"),
        ([GOOD, GOOD], "line 2: 'a' stands twice"),
    ],
)
def test_a_broken_file_is_refused_with_its_lines(tmp_path, lines, said):
    path = tmp_path / "mine.jsonl"
    path.write_text(as_lines(lines), encoding="utf-8")
    assert said in message(load_corpus, "red_herrings", {"herrings": path})


def scores(**kinds: list[float]) -> pl.DataFrame:
    rows = [("q", kind, value) for kind, values in kinds.items() for value in values]
    return pl.DataFrame(rows, schema=["question_id", "kind", "value"], orient="row")


def by_metric(rows: pl.DataFrame) -> dict[str, float]:
    return dict(rows.select("metric", "value").iter_rows())


def test_a_kind_wins_by_its_share_of_pairs_and_a_tie_counts_a_half():
    found = by_metric(rankings(scores(correct=[3.0, 1.0], counterfactual=[2.0], irrelevant=[1.0, 0.0])))
    expected = {"correct_over_counterfactual": 0.5, "correct_over_irrelevant": (1 + 1 + 0.5 + 1) / 4}
    assert found == expected | {"counterfactual_over_irrelevant": 1.0}


def test_acceptance_is_strictly_above_the_threshold_and_leaves_out_what_has_no_value():
    given = scores(correct=[0.05, 0.06, None], counterfactual=[0.0], irrelevant=[1.0], random=[0.0, 0.1])
    found = by_metric(acceptances(given, {"fixed": {"value": 0.05}}))
    assert [found[f"accepts_{kind}@fixed"] for kind in KINDS] == [0.5, 0.0, 1.0, 0.5]


def test_quantiles_are_of_all_values_of_a_kind():
    found = quantiles(scores(correct=[1.0], random=[0.0, 1.0, 2.0]), [0.5, 1.0]).select("kind", "at", "value", "n")
    expected = [("correct", 0.5, 1, 1), ("correct", 1.0, 1, 1), ("random", 0.5, 1, 3), ("random", 1.0, 2, 3)]
    assert sorted(found.rows()) == expected


def test_a_pool_is_a_questions_own_passages_and_as_many_random_ones_of_others_as_long_as_all():
    passages, found = loaded()
    questions, passages = found.questions, passages.with_columns(kind="title", tokens=pl.col("text").str.len_chars())
    found = pool(questions, passages, 8, seed=7)
    assert found.select("question_id", "passage_id").is_unique().all()
    group = dict(passages.select("passage_id", "group_id").iter_rows())
    for question, passage, kind in found.iter_rows():
        assert (group[passage] == question) == (kind != RANDOM)
    counts = found.group_by("question_id").agg((pl.col("kind") == RANDOM).sum().alias("random"), n=pl.len())
    assert counts["random"].unique().to_list() == [8]
    assert counts["n"].unique().to_list() == [8 + 7]
    drawn = found.filter(pl.col("kind") == RANDOM).join(passages, on="passage_id")
    assert drawn["tokens"].mean() == pytest.approx(passages["tokens"].mean(), rel=0.03)
    again = pool(questions.reverse(), passages.reverse(), 8, seed=7)  # the seed decides, and no order
    assert set(again.iter_rows()) == set(found.iter_rows()) != set(pool(questions, passages, 8, seed=8).iter_rows())


@pytest.fixture(scope="module")
def checked(tiny_lm, ecs, tmp_path_factory):
    """The tables of the stage on four questions with a tiny model."""
    few = tmp_path_factory.mktemp("herrings") / "few.jsonl"
    few.write_text("\n".join(SET.read_text(encoding="utf-8").splitlines()[:4]), encoding="utf-8")
    passages, questions = loaded(few)
    return stage_tables(tiny_lm(), ecs(), RANKERS, questions.questions, passages, few.parent, logging.getLogger("test"))


def test_the_stage_fills_its_tables_for_every_scorer_it_reads(checked):
    for name, frame in checked.items():
        check(TABLES[name], frame, "here", "none")
    rows = checked["question_metrics"]
    assert set(checked["acceptance"]["scorer"]) == set(checked["score_quantiles"]["scorer"]) == READ
    assert set(rows["scorer"]) == READ | set(RANKERS.rules)
    assert checked["statistics"].height == 4 * (15 + 1)
    assert rows.height == 4 * (len(READ) * (3 + 2 * 4) + len(RANKERS.rules) * 2 * 4)
    assert set(rows.filter("answer_aware")["scorer"]) == AWARE | {"signed_both"}


def test_about_a_twentieth_of_the_random_passages_pass_the_nulls_threshold(checked):
    rows = checked["question_metrics"].filter(pl.col("scorer").is_in(list(SCORES)), metric=f"accepts_{RANDOM}@null")
    shares = rows.filter(~pl.col("scorer").str.ends_with("_binary")).group_by("scorer").agg(pl.col("value").mean())
    assert shares["value"].is_between(1 / 32, 3 / 32).all()  # 32 passages, 95th percentile


def test_by_kind_keeps_a_random_passage_apart_from_the_kind_it_is_elsewhere():
    pooled = pl.DataFrame({"question_id": ["q", "r"], "passage_id": ["p", "p"], "kind": ["correct", RANDOM]})
    found = by_kind(pooled.select("question_id", "passage_id", value=pl.Series([1.0, 2.0])), pooled)
    assert list(found.iter_rows()) == [("q", "correct", 1.0), ("r", RANDOM, 2.0)]


def metrics(rows: pl.DataFrame, n: int = 40) -> pl.DataFrame:
    means = rows.group_by("scorer", "answer_aware", "metric", maintain_order=True).agg(pl.col("value").mean())
    labels = {"n": n, "units": n, "subset": "all", "published": False, "system": "herrings"}
    own = means.with_columns(low="value", high="value", **{name: pl.lit(value) for name, value in labels.items()})
    return with_enough_data(own, 10)


def named(checked) -> list[pl.DataFrame]:
    """What the report is given beside the metrics."""
    keys = {"dataset": pl.lit("mine"), "system": pl.lit("herrings")}
    return [checked[name].with_columns(**keys) for name in ("score_quantiles", "acceptance")]


def test_thresholds_of_too_few_questions_are_not_drawn_and_contests_are(checked):
    of_mine = named(checked)
    for n, text in ((40, ""), (15, "Not enough data: 15 questions in 15 units.")):
        parts = list(distractor_parts("mine", metrics(checked["question_metrics"], n), *of_mine))
        contests = [part for part in parts if part["title"].startswith("How often")]
        assert contests and all(part["figures"] for part in contests)
        traded = [part for part in parts if part["title"].startswith("What each threshold")]
        assert [(part["text"], bool(part["figures"])) for part in traded] == [(text, not text)] * 2


def test_the_curve_at_the_nulls_percentile_is_the_metric(checked):
    curve = checked["acceptance"].filter((pl.col("at") - 0.95).abs() < 1e-9)
    rows = checked["question_metrics"].filter(pl.col("metric").str.ends_with("@null"))
    means = rows.group_by("scorer", "metric").agg(pl.col("value").mean())
    known = {(scorer, metric): share for scorer, metric, share in means.iter_rows()}
    for scorer, kind, share in curve.select("scorer", "kind", "value").iter_rows():
        assert share == pytest.approx(known[scorer, f"accepts_{kind}@null"])


def test_the_report_never_puts_scorers_that_see_the_answer_beside_others(checked):
    of_mine = named(checked)
    parts = distractor_parts("mine", metrics(checked["question_metrics"]), *of_mine)
    tables = [{line[0] for line in part["table"].texts()} for part in parts if part.get("table")]
    assert len(tables) == 10
    aware = AWARE | {"signed_both"}
    assert all(names <= aware or not names & aware for names in tables)
    assert sum("signed_both" in names for names in tables) == 2  # accepts at either threshold, ranks nothing
    without = metrics(checked["question_metrics"]).with_columns(metric=pl.lit("f1_at_gold"))  # nothing of this check
    assert list(distractor_parts("mine", without, pl.DataFrame(), pl.DataFrame())) == []
