"""What a prompt shows under each configuration, and the tables of preferences as arrays."""

import numpy as np
import polars as pl
import pytest

from secateur.contexts.piece import Query, text_of
from secateur.contexts.session import Textual, Unit
from secateur.core.errors import SecateurError
from secateur.policy.actions import kept_units, lattice, name
from secateur.policy.measured import measured
from secateur.policy.shown import Shown, contexts

EYE = np.eye(3, dtype=np.float32)
CHANNELS = {
    "question": Shown((Unit("question", "who?"),), EYE[:1]),
    "answer": Shown((), EYE[:0]),
    "facts": Shown(tuple(Unit("facts", text) for text in ("a", "b", "again a")), EYE[[0, 1, 0]]),
}


def by_name() -> dict[str, str]:
    shown = contexts(CHANNELS, lattice(3, 3), 0.93, lambda units: text_of(Textual()(Query("?"), units)))
    return {name(c): text for c, text in zip(lattice(3, 3), shown, strict=True)}


def test_a_configuration_shows_facts_first_then_what_was_asked():
    found = by_name()
    assert found["include_all/include_all/include_all"] == "a\nb\nagain a\nAsked before: who?"
    assert found["not_include/not_include/unique"] in ("a\nb", "b\nagain a")  # one of equal units, in their order
    assert found["not_include/not_include/not_include"] == ""
    # An empty channel is the same under every action.
    assert len({found[f"unique/{action}/unique"] for action in ("include_all", "unique", "not_include")}) == 1


def test_configurations_with_the_same_facts_share_their_beginning():
    found = by_name()
    assert all(text.startswith("a\nb\nagain a") for own, text in found.items() if own.endswith("/include_all"))


def tables() -> tuple[pl.DataFrame, pl.DataFrame]:
    terms = [
        (q, split, name(c), float(n), 0.5, 0.5, 10 - n, 5, 64)
        for q, split in (("q2", "train"), ("q1", "train"), ("q3", "dev"))
        for n, c in enumerate(lattice(0, 0))
    ]
    schema = ["question_id", "split", "configuration", "answer_gain"]
    schema += ["token_f1", "faithfulness", "tokens", "written", "budget"]
    seen = [
        (q, s, n, f, float(ord(q[1]) + n))
        for q, s in (("q2", "train"), ("q1", "train"), ("q3", "dev"))
        for n, f in enumerate("fg")
    ]
    return (
        pl.DataFrame(terms, schema=schema, orient="row"),
        pl.DataFrame(seen, schema=["question_id", "split", "n", "feature", "value"], orient="row"),
    )


def test_questions_and_features_stand_in_the_same_order():
    found = measured(*tables(), "train", lattice(0, 0))
    assert found.terms.questions == ("q1", "q2")
    assert found.names == ("f", "g")
    np.testing.assert_array_equal(found.x, [[ord("1"), ord("1") + 1], [ord("2"), ord("2") + 1]])


def test_a_question_without_a_readable_verdict_is_left_out():
    preferences, seen = tables()
    unread = (pl.col("question_id") == "q1") & (pl.col("tokens") == 10)
    preferences = preferences.with_columns(faithfulness=pl.when(~unread).then("faithfulness"))
    found = measured(preferences, seen, "train", lattice(0, 0))
    assert found.terms.questions == ("q2",) and found.x.tolist() == [[ord("2"), ord("2") + 1]]


def test_unique_keeps_one_of_all_earlier_questions_and_one_of_each_cluster_of_others():
    assert len(kept_units("question", "unique", EYE, 0.93)) == 1
    assert kept_units("facts", "unique", EYE, 0.93) == [0, 1, 2]


def test_a_split_without_a_question_is_named():
    with pytest.raises(SecateurError, match=r"no question of the split test.*dataset\.trained"):
        measured(*tables(), "test", lattice(0, 0))
