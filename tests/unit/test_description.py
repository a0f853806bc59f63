"""The sizes of a data set on one small enough to count by hand, and how the report shows them."""

import numpy as np
import polars as pl
import pytest
from tests.support.report_rows import metric

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


TEXTS = [
    ("a:0", "s1", "one"),
    ("a:1", "s1", "one two three"),
    ("a:2", "s2", "one two"),
    ("b:0", "s1", "one two three four"),
]
PASSAGES = [
    {"passage_id": name, "doc_id": name[0], "group_id": name[0], "session_id": session, "position": n, "text": text}
    for n, (name, session, text) in enumerate(TEXTS)
]
ASKED = [("a", "x", "yes sir"), ("a", None, None), ("b", "x", "no")]
QUESTIONS = [
    {"question_id": f"q{n}", "group_id": group, "cluster_id": group, "position": n, "text": "Why?", "split": "test"}
    | {"type": kind, "answer": answer}
    for n, (group, kind, answer) in enumerate(ASKED)
]
HELD = [("q0", 0, "one", "a:0"), ("q0", 1, "one two", "a:2"), ("q1", 0, "lost", None), ("q2", 0, "one", "b:0")]
EVIDENCE = [dict(zip(("question_id", "n", "text", "passage_id"), row, strict=True)) for row in HELD]


def described(passages=PASSAGES, questions=QUESTIONS, evidence=EVIDENCE) -> pl.DataFrame:
    frame = describe(passages_frame(passages), questions_frame(questions), evidence_frame(evidence), words)
    check(TABLES["dataset_statistics"], frame, "test", "test")
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


def test_figures_at_cutoffs_stand_by_level_and_by_sight_of_the_answer():
    rows = [("recall_any@10", 0.5, "bm25"), ("recall_any@5", 0.25, "bm25"), ("recall_any@5", 0.75, "zsum")]
    rows += [("ndcg_any@5", 0.75, "zsum"), ("session_recall_all@5", 0.75, "zsum"), ("f1_at_gold", 0.4, "zsum")]
    made = [metric("sentences", *row) | {"name": f"sentences · {row[2]}"} for row in rows]
    made += [made[2] | {"value": 0.1, "subset": "user"}, made[2] | {"answer_aware": True, "value": 1.0}]
    parts = list(cutoff_parts("mine", pl.DataFrame(made)))
    assert [part["title"].split(",")[0].split()[-1] for part in parts] == ["passages", "sessions", "passages"]
    first = parts[0]["table"]
    assert first.heads == ["scorer", "recall_any@5", "recall_any@10", "ndcg_any@5"]
    assert first.texts() == [["sentences · zsum", "0.750", "", "0.750"], ["sentences · bm25", "0.250", "0.500", ""]]
    assert parts[1]["table"].heads == ["scorer", "recall_all@5"]
