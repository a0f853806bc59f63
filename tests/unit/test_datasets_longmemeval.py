"""LongMemEval's loader on records that hold the traps of the real ones, and on the shipped synthetic file."""

import importlib.util
import json
from pathlib import Path

import pytest
from tests.support.loaded import conform

from secateur.core.errors import SecateurError
from secateur.datasets.loaders import load_corpus, load_questions

SYNTHETIC = Path(__file__).parents[2] / "data/toy/longmemeval_synthetic"
SESSIONS = {"kind": "longmemeval", "level": "session"}
LEVELS = ("longmemeval", SESSIONS)


def said(text: str, role: str = "user", **mark) -> dict:
    return {"role": role, "content": text} | mark


GOLD = [said("Hello.", has_answer=False), said("Hi.", "assistant", has_answer=False)]
GOLD += [said("I keep seven hens.", has_answer=True)]
FILLER = [said("Good day.", "assistant"), said("Why is the sky blue?"), said(" "), said("Scattering.", "assistant")]
FIRST, OTHER = "2023/05/01 (Mon) 10:00", "2023/05/02 (Tue) 10:00"
RECORD = {
    "question_id": "q1",
    "question_type": "single-session-user",
    "question": "How many hens?",
    "answer": 7,
    "question_date": "2023/05/30 (Tue) 18:10",
    "haystack_session_ids": ["answer_77", "sharegpt_1", "sharegpt_1", "ultra_2"],
    "haystack_dates": ["2023/06/20 (Tue) 02:21", FIRST, OTHER, FIRST],
    "haystack_sessions": [GOLD, FILLER, FILLER, []],
    "answer_session_ids": ["answer_77"],
}


def loaded(tmp_path, *records, kind: str = "longmemeval"):
    path = tmp_path / "histories.json"
    path.write_text(json.dumps(list(records)), "utf-8")
    corpus = load_corpus(kind, {"histories": path})
    found = load_questions(kind, "longmemeval", {"histories": path}, corpus.passages)
    conform(corpus.passages, found)
    return corpus, found


def refused(tmp_path, *records) -> str:
    with pytest.raises(SecateurError) as caught:
        loaded(tmp_path, *records)
    assert str(caught.value).startswith(str(tmp_path / "histories.json"))
    assert "Fix: " in str(caught.value)
    return str(caught.value)


def test_the_passages_are_the_users_turns_in_the_order_of_the_dates_keyed_by_place(tmp_path):
    passages = loaded(tmp_path, RECORD)[0].passages
    assert passages["passage_id"].to_list() == ["q1:1:1", "q1:2:1", "q1:0:0", "q1:0:2"]
    assert passages["text"].to_list() == ["Why is the sky blue?"] * 2 + ["Hello.", "I keep seven hens."]
    assert passages["session_id"].to_list() == ["session_1", "session_2", "session_0", "session_0"]
    assert passages["position"].to_list() == [0, 1, 2, 3]
    assert set(passages["speaker"]) == {"user"}
    assert passages["date"][2] == "2023/06/20 (Tue) 02:21"
    assert set(passages["group_id"]) == set(passages["doc_id"]) == {"q1"}


def test_by_session_the_users_turns_are_joined_by_a_blank_and_a_session_without_one_is_no_passage(tmp_path):
    passages = loaded(tmp_path, RECORD, kind=SESSIONS)[0].passages
    assert passages["passage_id"].to_list() == ["q1:1", "q1:2", "q1:0"]
    assert passages["text"].to_list() == ["Why is the sky blue?"] * 2 + ["Hello. I keep seven hens."]


def test_what_is_no_passage_is_counted_and_sessions_of_one_date_stay_in_the_order_of_the_file(tmp_path):
    expected = {"passages": 4, "documents": 1, "sessions": 4, "sessions_empty": 1}
    expected |= {"sessions_without_user_turn": 1, "sessions_begun_by_assistant": 2, "session_ids_repeated": 1}
    expected |= {"histories_reordered": 1, "assistant_turns": 5, "user_turns_empty": 2}
    assert loaded(tmp_path, RECORD)[0].counts == expected
    corpus = loaded(tmp_path, RECORD | {"haystack_dates": [FIRST] * 4})[0]
    assert corpus.passages["passage_id"].to_list() == ["q1:0:0", "q1:0:2", "q1:1:1", "q1:2:1"]
    assert corpus.counts["histories_reordered"] == 0


@pytest.mark.parametrize("kind", LEVELS)
def test_no_id_of_a_session_gets_out(tmp_path, kind):
    """Upstream's ids say which session holds the answer."""
    corpus, found = loaded(tmp_path, RECORD, kind=kind)
    texts = [value for frame in (corpus.passages, found.evidence) for row in frame.iter_rows() for value in row]
    assert not [t for t in texts if isinstance(t, str) and any(name in t for name in RECORD["haystack_session_ids"])]


def test_the_gold_is_what_is_marked_in_the_sessions_named(tmp_path):
    found = loaded(tmp_path, RECORD)[1]
    assert found.evidence.drop("hop", "grade").rows() == [("q1", 0, "I keep seven hens.", "q1:0:2")]
    expected = {"question_id": "q1", "group_id": "q1", "cluster_id": "q1", "position": 0}
    expected |= {"text": "How many hens?", "answer": "7", "aliases": None, "excluded": None}
    expected |= {"type": "single-session-user", "split": found.questions["split"][0]}
    assert found.questions.row(0, named=True) == expected
    assert loaded(tmp_path, RECORD | {"answer_session_ids": []})[1].evidence.is_empty()


def test_by_session_two_marks_in_one_session_are_one_gold_passage(tmp_path):
    twice = RECORD | {"haystack_sessions": [[*GOLD, said("Brown ones.", has_answer=True)], [], [], []]}
    assert loaded(tmp_path, twice)[1].evidence["passage_id"].to_list() == ["q1:0:2", "q1:0:3"]
    assert loaded(tmp_path, twice, kind=SESSIONS)[1].evidence.drop("hop", "grade").rows() == [
        ("q1", 0, "I keep seven hens. Brown ones.", "q1:0")
    ]


@pytest.mark.parametrize("kind", LEVELS)
def test_evidence_in_an_assistants_turn_is_kept_as_text_and_is_no_target(tmp_path, kind):
    spoken = [said("What is cold soup called?"), said("Vichyssoise.", "assistant", has_answer=True)]
    found = loaded(tmp_path, RECORD | {"haystack_sessions": [spoken, [], [], []]}, kind=kind)[1]
    assert found.evidence.drop("hop", "grade").rows() == [("q1", 0, "Vichyssoise.", None)]
    assert found.counts["questions_without_target"] == found.counts["evidence_unresolved"] == 1


def test_an_abstention_is_a_type_of_its_own_and_its_marks_are_no_evidence(tmp_path):
    found = loaded(tmp_path, RECORD, RECORD | {"question_id": "q1_abs"})[1]
    assert found.questions["type"].to_list() == ["single-session-user", "abstention"]
    assert set(found.evidence["question_id"]) == {"q1"}
    assert found.counts["questions_abstention"] == found.counts["questions_abstention_with_marks"] == 1
    assert found.counts["questions_without_target"] == 0


def test_what_is_doubtful_about_questions_is_counted(tmp_path):
    counts = loaded(tmp_path, RECORD | {"answer_session_ids": ["answer_77", "answer_78"]})[1].counts
    assert counts["questions_before_their_evidence"] == 1
    assert counts["questions_with_answer_session_missing"] == 1
    assert counts["answers_that_are_numbers"] == 1
    counts = loaded(tmp_path, RECORD | {"question_date": "2023/06/20 (Tue) 02:21", "answer": "7"})[1].counts
    assert counts["questions_before_their_evidence"] == counts["answers_that_are_numbers"] == 0


def sessions(*turns) -> dict:
    return {"haystack_sessions": [*turns, [], [], []][:4]}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"question": " "}, "object 0 (q1): question is empty"),
        ({"answer": None}, "object 0: answer must be a text or a number, found None"),
        ({"answer": True}, "object 0: answer must be a text or a number, found True"),
        ({"question_date": "May 2023"}, "question_date must be like '2023/05/20 (Sat) 02:21', found 'May 2023'"),
        ({"haystack_dates": ["2023/05/01 (Mon) 10:00"]}, "haystack_session_ids 4, haystack_dates 1"),
        ({"haystack_dates": [3] * 4}, "haystack_dates[0] must be like '2023/05/20 (Sat) 02:21', found 3"),
        ({"haystack_session_ids": [1, 2, 3, 4]}, "haystack_session_ids holds 1, texts are needed"),
        (sessions(3), "session 0 must be a list of turns, found 3"),
        (sessions([{"role": "user"}]), "session 0 turn 0: content is missing"),
        (sessions([said("x", "system")]), "role must be user or assistant, found 'system'"),
        (sessions([], [said("x", has_answer="yes")]), "session 1 turn 0: has_answer must be true or false, found 'yes'"),
    ],
)  # fmt: skip
def test_a_record_of_another_form_is_named_with_what_is_wrong(tmp_path, changed, message):
    assert message in refused(tmp_path, RECORD | changed)


def test_a_field_that_is_missing_and_an_id_that_comes_twice(tmp_path):
    without = {k: v for k, v in RECORD.items() if k != "haystack_dates"}
    assert "object 0: haystack_dates is missing" in refused(tmp_path, without)
    assert "object 1 (q1): question_id is already used by object 0" in refused(tmp_path, RECORD, RECORD)


def test_questions_without_their_passages(tmp_path):
    corpus, _ = loaded(tmp_path, RECORD)
    (tmp_path / "histories.json").write_text(json.dumps([RECORD | {"question_id": "q2"}]))
    with pytest.raises(SecateurError, match=r"1 questions \(e.g. q2\) without passages"):
        load_questions("longmemeval", "longmemeval", {"histories": tmp_path / "histories.json"}, corpus.passages)


def test_the_synthetic_file_is_what_its_script_writes():
    spec = importlib.util.spec_from_file_location("make", SYNTHETIC / "make.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    assert (SYNTHETIC / "histories.json").read_text("utf-8") == make.histories()


@pytest.mark.parametrize("kind", LEVELS)
def test_the_synthetic_histories_hold_every_trap(kind):
    files = {"histories": SYNTHETIC / "histories.json"}
    corpus = load_corpus(kind, files)
    found = load_questions(kind, "toy_longmemeval", files, corpus.passages)
    traps = {**corpus.counts, **found.counts}
    never = {"questions_without_answer", "evidence_repeated", "questions_with_answer_session_missing"}
    assert {name for name, count in traps.items() if not count} == never
    assert found.questions["type"].n_unique() == 7
    assert found.questions.height == 16
