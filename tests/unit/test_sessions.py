"""Sessions: who is asked after whom, and which job asks them."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secateur.errors import SecateurError
from secateur.sessions import of_shard, sessions
from secateur.tables import TABLES


def passages(*rows) -> pl.DataFrame:
    """(passage_id, doc_id, group_id, speaker, session_id) rows."""
    names = ("passage_id", "doc_id", "group_id", "speaker", "session_id")
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


def questions(*rows) -> pl.DataFrame:
    """(question_id, group_id, position, split) rows."""
    schema = {"question_id": pl.String, "group_id": pl.String, "position": pl.Int32, "split": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


def evidence(**of) -> pl.DataFrame:
    """question: passages of its gold evidence, None for what resolves to none."""
    rows = [(q, n, "t", p) for q, ids in of.items() for n, p in enumerate(ids)]
    return pl.DataFrame(rows, schema=TABLES["evidence"].empty().schema, orient="row")


WRITTEN = passages(("a1", "a", "g", None, None), ("a2", "a", "g", None, None), ("b1", "b", "g", None, None))


def found(*args) -> dict[str, tuple[str, int]]:
    return {q: (s, n) for q, s, n in sessions(*args).iter_rows()}


def test_questions_on_one_document_are_a_session_in_file_order():
    asked = questions(("q3", "g", 2, "test"), ("q1", "g", 0, "test"), ("q2", "g", 1, "test"))
    by = found(asked, evidence(q1=["a1"], q2=["b1"], q3=["a1", "a2"]), WRITTEN)
    assert by["q1"] == ("test document a", 0)
    assert by["q3"] == ("test document a", 1)
    assert by["q2"] == ("test document b", 0)


def test_a_question_on_several_documents_or_none_is_alone():
    asked = questions(*((f"q{n}", "g", n, "test") for n in range(3)))
    by = found(asked, evidence(q0=["a1", "b1"], q1=[None]), WRITTEN)
    assert by == {f"q{n}": (f"test question q{n}", 0) for n in range(3)}


@pytest.mark.parametrize("own", [("Ann", None), (None, "s1")])
def test_a_dialogue_is_one_session_whatever_its_questions_rest_on(own):
    spoken = passages(("a1", "a", "g", *own), ("b1", "b", "g", *own), ("c1", "c", "h", *own))
    asked = questions(("q0", "g", 0, "test"), ("q1", "g", 1, "test"), ("q2", "h", 2, "test"))
    by = found(asked, evidence(q0=["a1"], q1=["a1", "b1"], q2=["c1"]), spoken)
    assert by == {"q0": ("test dialogue g", 0), "q1": ("test dialogue g", 1), "q2": ("test dialogue h", 0)}


def test_no_session_spans_splits():
    asked = questions(("q0", "g", 0, "train"), ("q1", "g", 1, "test"), ("q2", "g", 2, "train"))
    by = found(asked, evidence(q0=["a1"], q1=["a1"], q2=["a2"]), WRITTEN)
    assert by == {"q0": ("train document a", 0), "q1": ("test document a", 0), "q2": ("train document a", 1)}


@given(sizes=st.lists(st.integers(1, 9), max_size=12), count=st.integers(1, 6))
def test_shards_hold_every_question_once_and_no_half_session(sizes, count):
    rows = [(f"q{s}-{n}", f"s{s}", n) for s, size in enumerate(sizes) for n in range(size)]
    schema = {"question_id": pl.String, "session_id": pl.String, "n": pl.Int32}
    asked = pl.DataFrame(rows, schema=schema, orient="row")
    parts = [of_shard(asked, f"{n}of{count}") for n in range(count)]
    assert pl.concat(parts).equals(asked)
    assert sum(part["session_id"].n_unique() for part in parts) == len(sizes)
    assert max(part.height for part in parts) <= asked.height / count + max(sizes, default=0)


@pytest.mark.parametrize("shard", ["2of2", "of2", "x", "-1of2"])
def test_a_shard_that_is_none_is_refused(shard):
    with pytest.raises(SecateurError, match=r"Fix: NofCOUNT"):
        of_shard(sessions(questions(), evidence(), WRITTEN), shard)
