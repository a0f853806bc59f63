"""Sessions: who is asked after whom, and which job asks them."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secateur.core.errors import SecateurError
from secateur.memory.sessions import of_shard, sessions


def questions(*rows: tuple[str, str, str, int]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["question_id", "group_id", "cluster_id", "position"], orient="row")


def passages(groups: list[str], documents: list[str]) -> pl.DataFrame:
    return pl.DataFrame({"group_id": groups, "doc_id": documents})


def test_a_session_is_a_document_in_file_order_or_a_group_that_is_one_document():
    asked = questions(("q2", "g", "a", 2), ("q1", "g", "b", 1), ("q0", "g", "a", 0))
    assert sessions(asked, passages(["g", "g"], ["a", "b"])).rows() == [("q0", "a", 0), ("q2", "a", 1), ("q1", "b", 0)]
    asked = questions(("q0", "g", "q0", 0), ("q1", "g", "q1", 1))
    assert sessions(asked, passages(["g", "g"], ["book", "book"])).rows() == [("q0", "g", 0), ("q1", "g", 1)]
    asked = questions(("q0", "A", "d1", 0), ("q1", "A", "d2", 1), ("q2", "d1", "book", 2))
    found = sessions(asked, passages(["A", "A", "d1"], ["d1", "d2", "book"]))
    assert found["session_id"].n_unique() == 3  # a document shares none with a group of its name


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
    with pytest.raises(SecateurError, match="allowed: NofCOUNT"):
        of_shard(pl.DataFrame({"question_id": ["q"], "session_id": ["s"], "n": [0]}), shard)
