"""Your own folder as a data set: defaults, groups, hops."""

import gzip
from pathlib import Path

import pytest
from tests.support.loaded import conform, holders, lines

from secateur.core.errors import SecateurError
from secateur.datasets.formats._objects import TAKEN
from secateur.datasets.loaders import load_corpus, load_questions
from secateur.datasets.schema import split_of
from secateur.evaluation.subsets import MAIN

PASSAGES = [
    {"id": "p1", "text": "Acme bought Bolt.", "doc": "d1", "title": "Deals", "date": "2020"},
    {"id": "p2", "text": "Bolt makes screws.", "doc": "d2"},
    {"id": "p3", "text": "Bolt is in Kent.", "doc": "d1"},
    {"id": "p4", "text": "Hello.", "group": "talk", "session": "s1", "speaker": "Ann", "doc": None},
]
QUESTIONS = [
    {"id": "q1", "question": "Where?", "answer": 3, "evidence": ["p3", "p1"], "evidence_text": ["bolt is in kent"]},
    {"id": "q2", "question": "What?", "answer": None, "evidence": ["p9", "p4"], "split": "dev"},
    {"id": "q3", "question": "Who?", "group": "talk", "answer": "Ann", "type": "one hop"},
]


def custom(tmp_path, questions=QUESTIONS) -> dict[str, Path]:
    (tmp_path / "passages.jsonl").write_text(lines(PASSAGES))
    with gzip.open(tmp_path / "questions.jsonl.gz", "wt") as stream:
        stream.write(lines(questions))
    return {"folder": tmp_path}


def read(tmp_path, questions=QUESTIONS, **settings):
    files = custom(tmp_path, questions)
    passages = load_corpus("folder", files).passages
    found = load_questions("folder", "custom", files, passages, **settings)
    conform(passages, found)
    return found


def test_custom_defaults_and_reading_order(tmp_path):
    corpus = load_corpus("folder", custom(tmp_path))
    rows = corpus.passages.select("passage_id", "doc_id", "group_id", "position").rows()
    assert rows == [("p1", "d1", "all", 0), ("p2", "d2", "all", 0), ("p3", "d1", "all", 1), ("p4", "talk", "talk", 0)]


def test_a_question_without_evidence_shares_no_cluster_with_a_document_of_its_name(tmp_path):
    asked = [{"id": name, "question": "Who?", "evidence": [of]} for name, of in (("d1", "gone"), ("d2", "p1"))]
    assert read(tmp_path, asked).questions["cluster_id"].to_list() == ["question d1", "d1"]


def test_custom_evidence_resolves_inside_the_questions_group_only(tmp_path):
    found = read(tmp_path)
    assert [holders(found, name) for name in ("q1", "q2", "q3")] == [["p3", "p1"], [], []]
    assert found.questions["answer"].to_list() == ["3", None, "Ann"]
    assert found.questions["split"].to_list() == [split_of("custom", "q1"), "dev", split_of("custom", "q3")]
    assert found.questions["cluster_id"].to_list() == ["d1", "q2", "q3"]
    expected = {"questions": 3, "questions_without_answer": 1, "questions_without_evidence": 2}
    expected |= {"evidence": 2, "evidence_repeated": 1, "evidence_unresolved": 2}
    assert found.counts == expected
    grouped = read(tmp_path, cluster="group")  # a dialogue is resampled by group
    assert grouped.questions["cluster_id"].to_list() == ["all", "all", "talk"]


def asked(tmp_path, **keys):
    return read(tmp_path, [QUESTIONS[0] | {"evidence_text": None} | keys])


def test_custom_evidence_may_be_graded_and_what_is_graded_0_is_none(tmp_path):
    graded = asked(tmp_path, evidence=["p1", "p3", "p2", "gone"], grades=[2, 0, 1, 3], hops=["a", "b", "c", "d"])
    assert graded.evidence.select("passage_id", "grade", "hop").rows() == [("p1", 2, "a"), ("p2", 1, "c")]
    assert graded.counts["evidence_unresolved"] == 1  # "gone", which is no gold text whose words could be looked for
    twice = asked(tmp_path, evidence=["p1", "p1", "p2"], grades=[0, 1, 0], hops=["a", "b", "c"])
    assert twice.evidence.select("passage_id", "grade", "hop").rows() == [("p1", 1, "b")]
    twice = asked(tmp_path, evidence=["p1", "p1"], grades=[3, 1])
    assert twice.evidence.select("passage_id", "grade").rows() == [("p1", 3)]
    assert twice.counts["evidence_repeated"] == 1
    assert asked(tmp_path, evidence=["p1"], grades=[0]).counts["questions_without_evidence"] == 1
    assert asked(tmp_path, evidence=["p1"], grades=None).evidence["grade"].to_list() == [None]


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"evidence": ["p1"], "grades": [1, 2]}, "grades has 2 entries, evidence 1"),
        ({"evidence": ["p1"], "grades": [-1]}, "grades must be .* from 0"),
        ({"evidence": ["p1"], "grades": [True]}, "grades must be"),
        ({"hops": ["named"]}, "hops has 1 entries, evidence 2"),
        ({"hops": ["all", "bridge"]}, "hop 'all' is the name of a part"),
    ],
)
def test_grades_and_hops_that_do_not_belong_to_the_evidence_are_refused(tmp_path, keys, said):
    with pytest.raises(SecateurError, match=f"line 1: {said}"):
        asked(tmp_path, **keys)
    assert set(MAIN) == TAKEN
