"""The sizes of a data set on one small enough to count by hand, and how the report shows them."""

import numpy as np
import polars as pl
import pytest

from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import check
from secateur.datasets.description import describe
from secateur.datasets.schema import evidence_frame, passages_frame, questions_frame
from secateur.evaluation.published import published_statistics
from secateur.report.sections.datasets import LABELS, statistics_part
from secateur.report.sections.rankings import cutoff_parts
from secateur.report.table import tidy


def words(texts) -> np.ndarray:
    """As many tokens as words."""
    return np.array([len(text.split()) for text in texts], np.int64)


def passage(n: int, group: str, session: str | None, text: str) -> dict:
    name = f"{group}:{n}"
    return {"passage_id": name, "doc_id": group, "group_id": group, "session_id": session, "position": n, "text": text}


def question(n: int, group: str, kind: str | None, answer: str | None) -> dict:
    name = f"q{n}"
    row = {"question_id": name, "group_id": group, "cluster_id": group, "position": n, "text": "Why?"}
    return row | {"answer": answer, "type": kind, "split": "test"}


PASSAGES = [
    passage(0, "a", "s1", "one"),
    passage(1, "a", "s1", "one two three"),
    passage(2, "a", "s2", "one two"),
    passage(0, "b", "s1", "one two three four"),
]
QUESTIONS = [question(0, "a", "x", "yes sir"), question(1, "a", None, None), question(2, "b", "x", "no")]
EVIDENCE = [
    {"question_id": "q0", "n": 0, "text": "one", "passage_id": "a:0"},
    {"question_id": "q0", "n": 1, "text": "one two", "passage_id": "a:2"},
    {"question_id": "q1", "n": 0, "text": "lost", "passage_id": None},
    {"question_id": "q2", "n": 0, "text": "one", "passage_id": "b:0"},
]


def described(passages=PASSAGES, questions=QUESTIONS, evidence=EVIDENCE) -> pl.DataFrame:
    frame = describe(passages_frame(passages), questions_frame(questions), evidence_frame(evidence), words)
    check(TABLES["dataset_statistics"], frame, "test", "test")
    assert frame.schema == TABLES["dataset_statistics"].empty().schema
    return frame


def row(frame: pl.DataFrame, statistic: str, of: str = "all") -> tuple:
    """n, mean, least, median, most."""
    (found,) = frame.filter(statistic=statistic, of=of).drop("statistic", "of").rows()
    return found


def test_groups_sessions_and_passages_are_counted_with_their_tokens():
    frame = described()
    assert row(frame, "passages_per_group") == (2, 2.0, 1, 2, 3)
    assert row(frame, "sessions_per_group") == (2, 1.5, 1, 1.5, 2)
    assert row(frame, "tokens_per_passage") == (4, 2.5, 1, 2.5, 4)
    assert row(frame, "tokens_per_session") == (3, pytest.approx(10 / 3), 2, 4, 4)
    assert row(frame, "candidates_per_question") == (3, pytest.approx(7 / 3), 1, 3, 3)


def test_evidence_is_counted_over_the_questions_whose_gold_resolves():
    frame = described()
    assert row(frame, "evidence_per_question") == (2, 1.5, 1, 1.5, 2)
    assert row(frame, "evidence_sessions_per_question") == (2, 1.5, 1, 1.5, 2)
    assert row(frame, "one_evidence")[:2] == (2, 0.5)
    assert row(described(evidence=EVIDENCE[3:]), "one_evidence")[:2] == (1, 1.0)


def test_a_types_share_is_of_all_questions_and_answers_are_measured_by_type():
    frame = described()
    assert row(frame, "questions", "x")[:2] == (3, pytest.approx(2 / 3))
    assert row(frame, "questions", "none")[:2] == (3, pytest.approx(1 / 3))
    assert row(frame, "answer_tokens") == row(frame, "answer_tokens", "x") == (2, 1.5, 1, 1.5, 2)
    assert frame.filter(statistic="answer_tokens", of="none").is_empty()


def test_what_a_data_set_does_not_have_has_no_row():
    passages, questions = [p | {"session_id": None} for p in PASSAGES], [q | {"answer": None} for q in QUESTIONS]
    expected = {"passages_per_group", "tokens_per_passage", "candidates_per_question", "questions"}
    assert set(described(passages, questions, EVIDENCE[2:3])["statistic"]) == expected


PUBLISHED = """\
ecs:
  source: "ECS, table 3"
  rows: []
  statistics:
    - {datasets: [mine, other], statistic: candidates_per_question, stated: "~400 turns"}
"""


def stated(tmp_path, text: str = PUBLISHED) -> pl.DataFrame:
    (tmp_path / "published.yaml").write_text(text, "utf-8")
    return published_statistics(tmp_path / "published.yaml", ["mine", "yours"])


def test_the_report_shows_each_statistic_and_what_is_published_beside_it(tmp_path):
    frame = described().with_columns(dataset=pl.lit("mine"))
    (part,) = statistics_part("mine", frame, stated(tmp_path))
    lines = part["table"].texts()
    assert part["table"].heads[-1] == "published"
    assert ["candidates of a question", "3", "2.33", "3.0", "1 to 3", "~400 turns"] in lines
    assert ["questions of a type, share: x", "3", "0.67", "", "", ""] in lines
    assert "ECS, table 3" in part["note"]
    assert len(lines) == frame.height
    assert set(LABELS) == set(frame["statistic"])


def test_without_published_figures_there_is_no_column_for_them_and_of_another_form_they_are_refused(tmp_path):
    (part,) = statistics_part("yours", described().with_columns(dataset=pl.lit("yours")), stated(tmp_path))
    assert "published" not in tidy(part["table"]).heads
    assert statistics_part("third", described().with_columns(dataset=pl.lit("yours")), stated(tmp_path)) == []
    with pytest.raises(SecateurError, match="ecs, statistics 0: keys missing or unknown: state, stated"):
        stated(tmp_path, PUBLISHED.replace("stated:", "state:"))


def metric(name: str, scorer: str, aware: bool, value: float, subset: str = "all") -> dict:
    row = {"name": f"sentences · {scorer}", "metric": name, "answer_aware": aware, "subset": subset, "value": value}
    return row | {"low": None, "high": None, "n": 9, "split": "all"}


def test_figures_at_cutoffs_stand_by_level_and_by_sight_of_the_answer():
    rows = [
        metric("recall_any@10", "bm25", False, 0.5),
        metric("recall_any@5", "bm25", False, 0.25),
        metric("recall_any@5", "zsum", False, 0.75),
        metric("ndcg_any@5", "zsum", False, 0.75),
        metric("session_recall_all@5", "zsum", False, 0.75),
        metric("recall_any@5", "zsum+answer", True, 1.0),
        metric("recall_any@5", "zsum", False, 0.1, subset="user"),
        metric("f1_at_gold", "zsum", False, 0.4),
    ]
    frame = pl.DataFrame(rows, schema_overrides={"low": pl.Float64, "high": pl.Float64})
    parts = list(cutoff_parts("mine", frame))
    assert [part["title"].split(",")[0].split()[-1] for part in parts] == ["passages", "sessions", "passages"]
    first = parts[0]["table"]
    assert first.heads == ["scorer", "recall_any@5", "recall_any@10", "ndcg_any@5"]
    assert first.texts() == [["sentences · zsum", "0.750", "", "0.750"], ["sentences · bm25", "0.250", "0.500", ""]]
    assert parts[1]["table"].heads == ["scorer", "recall_all@5"]
