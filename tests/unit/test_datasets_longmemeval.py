"""LongMemEval's loader on records that hold the traps of the real ones, and on the shipped synthetic file."""

import importlib.util
import json
from pathlib import Path

import pytest
from tests.support.loaded import conform
from tests.support.refusals import message

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
FIRST, OTHER, LATE = "2023/05/01 (Mon) 10:00", "2023/05/02 (Tue) 10:00", "2023/06/20 (Tue) 02:21"
RECORD = {"question_id": "q1", "question_type": "single-session-user", "question": "How many hens?", "answer": 7}
RECORD |= {"question_date": "2023/05/30 (Tue) 18:10", "haystack_dates": [LATE, FIRST, OTHER, FIRST]}
RECORD |= {"haystack_session_ids": ["answer_77", "sharegpt_1", "sharegpt_1", "ultra_2"]}
RECORD |= {"haystack_sessions": [GOLD, FILLER, FILLER, []], "answer_session_ids": ["answer_77"]}


def sessions(*turns) -> dict:
    return {"haystack_sessions": [*turns, [], [], []][:4]}


def loaded(tmp_path, *records, kind: str = "longmemeval"):
    path = tmp_path / "histories.json"
    path.write_text(json.dumps(list(records)), "utf-8")
    corpus = load_corpus(kind, {"histories": path})
    found = load_questions(kind, "longmemeval", {"histories": path}, corpus.passages)
    conform(corpus.passages, found)
    return corpus, found


def refused(tmp_path, *records) -> str:
    said = message(loaded, tmp_path, *records)
    assert said.startswith(str(tmp_path / "histories.json"))
    return said


def test_the_passages_are_the_users_turns_in_the_order_of_the_dates_keyed_by_place(tmp_path):
    passages = loaded(tmp_path, RECORD)[0].passages
    assert passages.select("passage_id", "session_id", "position", "text").rows() == [
        ("q1:1:1", "session_1", 0, "Why is the sky blue?"),
        ("q1:2:1", "session_2", 1, "Why is the sky blue?"),
        ("q1:0:0", "session_0", 2, "Hello."),
        ("q1:0:2", "session_0", 3, "I keep seven hens."),
    ]
    same = passages.select("speaker", "group_id", "doc_id").unique().rows()
    assert (same, passages["date"][2]) == ([("user", "q1", "q1")], LATE)


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
    told = str([frame.rows() for frame in (corpus.passages, found.evidence, found.questions)])
    assert not [name for name in RECORD["haystack_session_ids"] if name in told]


def test_the_gold_is_what_is_marked_in_the_sessions_named(tmp_path):
    found = loaded(tmp_path, RECORD)[1]
    assert found.evidence.drop("hop", "grade").rows() == [("q1", 0, "I keep seven hens.", "q1:0:2")]
    expected = {"question_id": "q1", "group_id": "q1", "cluster_id": "q1", "position": 0}
    expected |= {"text": "How many hens?", "answer": "7", "aliases": None, "excluded": None}
    expected |= {"type": "single-session-user", "split": found.questions["split"][0]}
    assert found.questions.row(0, named=True) == expected
    assert loaded(tmp_path, RECORD | {"answer_session_ids": []})[1].evidence.is_empty()


def test_by_session_two_marks_in_one_session_are_one_gold_passage(tmp_path):
    twice = RECORD | sessions([*GOLD, said("Brown ones.", has_answer=True)])
    assert loaded(tmp_path, twice)[1].evidence["passage_id"].to_list() == ["q1:0:2", "q1:0:3"]
    (row,) = loaded(tmp_path, twice, kind=SESSIONS)[1].evidence.drop("hop", "grade").rows()
    assert row == ("q1", 0, "I keep seven hens. Brown ones.", "q1:0")


@pytest.mark.parametrize("kind", LEVELS)
def test_evidence_in_an_assistants_turn_is_kept_as_text_and_is_no_target(tmp_path, kind):
    spoken = [said("What is cold soup called?"), said("Vichyssoise.", "assistant", has_answer=True)]
    found = loaded(tmp_path, RECORD | sessions(spoken), kind=kind)[1]
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
    counts = loaded(tmp_path, RECORD | {"question_date": LATE, "answer": "7"})[1].counts
    assert counts["questions_before_their_evidence"] == counts["answers_that_are_numbers"] == 0


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"question": " "}, "object 0 (q1): question is empty"),
        ({"answer": None}, "object 0: answer must be a text or a number, found None"),
        ({"answer": True}, "object 0: answer must be a text or a number, found True"),
        ({"question_date": "May 2023"}, "question_date must be like '2023/05/20 (Sat) 02:21', found 'May 2023'"),
        ({"haystack_dates": [FIRST]}, "haystack_session_ids 4, haystack_dates 1"),
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


def test_a_field_that_is_missing_an_id_that_comes_twice_and_a_question_without_passages(tmp_path):
    without = {k: v for k, v in RECORD.items() if k != "haystack_dates"}
    assert "object 0: haystack_dates is missing" in refused(tmp_path, without)
    assert "object 1 (q1): question_id is already used by object 0" in refused(tmp_path, RECORD, RECORD)
    corpus, _ = loaded(tmp_path, RECORD)
    loaded(tmp_path, RECORD | {"question_id": "q2"})
    with pytest.raises(SecateurError, match=r"1 questions \(e.g. q2\) without passages"):
        load_questions("longmemeval", "longmemeval", {"histories": tmp_path / "histories.json"}, corpus.passages)


def test_the_synthetic_file_is_what_its_script_writes():
    spec = importlib.util.spec_from_file_location("make", SYNTHETIC / "make.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    assert (SYNTHETIC / "histories.json").read_text("utf-8") == make.histories()
