"""REBEL's path from sentence to triple, with a tiny BART that was made to know three sentences by heart."""

import logging
from types import SimpleNamespace

import polars as pl
import pytest
from scripts import encode_questions
from tests.support.stand_ins import tiny_rebel

from secateur.core.errors import SecateurError
from secateur.graph.triples.extractors.rebel import FrontEnd, Settings, parse
from secateur.stage.contract import Context

SETTINGS = {"beams": 3, "length_penalty": 0.0, "max_tokens": 64, "batch": 2}
LEARNT = {
    "The Rhine leaves Chur for Basel.": "<triplet> The Rhine <subj> Chur <obj> leaves <subj> Basel <obj> flows to",
    "Alder bought the mill.": "<triplet> Alder <subj> the mill <obj> Bought",
    "Well, it rained and rained, and then it rained again.": "<triplet> it <subj>",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("rebel")
    tiny_rebel(place, LEARNT)
    return place


def front(folder, **changes) -> FrontEnd:
    return FrontEnd(Settings(**SETTINGS | {"model": str(folder)} | changes), SimpleNamespace(device="cpu"))


def facts(found) -> list[list[tuple[str, str, str]]]:
    return [[(t.head, t.relation, t.tail) for t in triples] for triples in found.triples]


def test_sentences_become_triples_in_their_order_whatever_the_batch_and_the_beams(folder):
    river, mill, rain = LEARNT
    expected = [[("Rhine", "leaves", "Chur"), ("Rhine", "flows to", "Basel")], [], [("Alder", "bought", "mill")]]
    for settings in ({"batch": 1}, {"batch": 2}, {"batch": 3}, {"beams": 1}):
        found = front(folder, **settings)([river, rain, mill], None)
        assert facts(found) == expected
        assert found.counts == {"malformed_pieces": 1, "unparsed_passages": 1}
    assert [t.head_original for t in found.triples[0]] == ["The Rhine", "The Rhine"]


def test_questions_share_batches_and_each_keeps_its_own_triples(folder, tmp_path):
    river, mill, rain = LEARNT
    questions = pl.DataFrame({"question_id": ["q3", "q1", "q2"], "text": [river, rain, mill]})
    context, outputs = Context(logging.getLogger("test"), tmp_path / "cache", {}, "c1"), {}
    extractor = SimpleNamespace(kind="rebel", block=128, settings=SETTINGS | {"model": str(folder)})
    metrics = encode_questions.run(SimpleNamespace(extractor=extractor), {"questions": questions}, outputs, context)
    rows = outputs["triples"].select("doc_id", "position", "n", "passage_id", "tail").rows()
    assert rows == [("q3", 0, 0, "q3", "Chur"), ("q3", 0, 1, "q3", "Basel"), ("q2", 0, 0, "q2", "mill")]
    assert (metrics, context.counts["cache_misses"]) == ({"questions": 3, "triples": 3}, 1)
    assert context.counts["questions_without_triple"] == 1


def test_a_sentence_longer_than_the_window_is_cut_and_counted(folder):
    found = front(folder, max_tokens=16)([" ".join(["The Rhine flows"] * 20)], None)
    assert found.counts["cut_passages"] == 1


def test_the_identity_tells_weights_and_parameters_apart(folder, tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"other")
    known = {front(folder).identity, front(folder, beams=1).identity, front(tmp_path).identity, front("a/b").identity}
    assert len(known) == 4
    assert front(folder).identity == front(folder).identity


@pytest.mark.parametrize("content", [None, '{"model_type": "bert"}'])
def test_what_is_no_such_model_is_refused_with_a_fix(tmp_path, content):
    if content:
        (tmp_path / "config.json").write_text(content)
    with pytest.raises(SecateurError, match=r"extractor\.settings\.model .*cannot be loaded.*Fix: "):
        front(tmp_path)(["A sentence."], None)


@pytest.mark.parametrize(
    ("text", "expected", "malformed"),
    [
        ("<triplet> s <subj> o <obj> r <triplet> t <subj> o <obj> r", [("s", "r", "o"), ("t", "r", "o")], 0),
        ("", [], 0),
        ("stray <triplet> s <subj> o <obj> r", [("s", "r", "o")], 1),
        ("<triplet> s", [], 1),
        ("<triplet> s <subj> o <obj> r <obj> r", [], 1),
        ("<triplet> <subj> o <obj> r", [], 1),
        ("<triplet> s <obj> x <subj> o <obj> r", [], 1),
        ("<triplet> s <subj> <obj> r <subj> o <obj> r", [("s", "r", "o")], 1),
    ],
)
def test_well_formed_pieces_are_read_and_the_others_counted(text, expected, malformed):
    assert parse(text) == (expected, malformed)
