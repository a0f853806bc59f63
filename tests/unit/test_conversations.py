"""The order in which a conversation is read: by its dates, else as its file has it."""

import polars as pl
import pytest

from secateur.core.errors import SecateurError
from secateur.datasets.conversations import joined
from secateur.datasets.corpus_warnings import corpus_warnings
from secateur.datasets.formats._objects import corpus_of
from secateur.datasets.reading import Problems


def corpus(path, *rows):
    """rows: (document, date, speaker), all of one group."""
    objects = []
    for n, (doc, date, speaker) in enumerate(rows):
        objects.append({"id": f"p{n}", "text": "Hello.", "group": "g", "doc": doc, "date": date, "speaker": speaker})
    return corpus_of([("line", one) for one in objects], Problems(path, ""))


def test_documents_in_which_people_speak_are_sessions_of_one_conversation_in_the_order_of_the_file(tmp_path):
    found = corpus(tmp_path, ("s2", None, "Ann"), ("s2", None, None), ("s10", None, "Ben"), ("s2", None, "Ann"))
    read = found.passages.sort("doc_id", "position").select("passage_id", "doc_id", "session_id", "position")
    assert read.rows() == [("p0", "g", "s2", 0), ("p1", "g", "s2", 1), ("p3", "g", "s2", 2), ("p2", "g", "s10", 3)]
    assert found.counts["documents_read_as_sessions"] == found.counts["conversations_not_read_as_in_the_file"] == 1


@pytest.mark.parametrize(
    ("dates", "order"),
    [
        (("2024-03-02", "2024-03-01"), ["p1", "p0"]),
        (("2 March 2024", "March 1, 2024"), ["p1", "p0"]),
        (("2024-03-01 10:00", "2024-03-01 09:30"), ["p1", "p0"]),
        (("2024-03-02 08:00", "2024-03-01 09:30"), ["p1", "p0"]),
        (("2024-03-02", None), ["p0", "p1"]),
        (("second of March", "first of March"), ["p0", "p1"]),
    ],
)
def test_sessions_follow_their_dates_where_each_states_one(tmp_path, dates, order):
    found = corpus(tmp_path, ("b", dates[0], "Ann"), ("a", dates[1], "Ann"))
    assert found.passages.sort("doc_id", "position")["passage_id"].to_list() == order
    assert found.counts.get("conversations_not_read_as_in_the_file", 0) == (order == ["p1", "p0"])


def test_documents_and_dialogues_without_a_group_stay_what_they_are(tmp_path):
    rows = [("a", None, "Ann"), ("b", None, None), ("c", None, "Ben")]
    mixed = corpus(tmp_path, *rows).passages
    assert mixed["doc_id"].to_list() == ["a", "b", "c"]
    assert [head for head, text in corpus_warnings(mixed) if "in the order of their ids" in text] == ["order"]
    alone = mixed.filter(pl.col("speaker").is_not_null()).with_columns(group_id=pl.lit("all"))
    assert joined(alone).equals(alone)
    assert not [head for head, _ in corpus_warnings(alone) if head == "order"]


def test_a_document_that_has_the_name_of_a_conversation_elsewhere_is_refused(tmp_path):
    said = [("a", "s1", "Ann"), ("a", "s2", "Ben"), ("b", "a", None)]
    rows = [{"id": f"p{n}", "text": "Hello.", "group": g, "doc": d, "speaker": s} for n, (g, d, s) in enumerate(said)]
    with pytest.raises(SecateurError, match="doc 'a' has the name of a conversation, group 'a': another is needed"):
        corpus_of([("line", row) for row in rows], Problems(tmp_path, ""))
