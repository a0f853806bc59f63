"""HippoRAG's open IE results as triples of sentences."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from secateur.core.errors import SecateurError
from secateur.datasets.schema import passages_frame
from secateur.graph.triples.extractors import hipporag

SENTENCES = ["Ghent is a city.", "Ann Lee lives in Ghent."]
DOCUMENT = {
    "title": "Ghent",
    "passage": "Ghent\nGhent is a city. Ann Lee lives in Ghent.",
    "extracted_triples": [["Ann Lee", "lives in", "Ghent"], ["Ghent", "is", "city"], ["Ghent", "is"], ["x", "y", 3]],
}
PASSAGES = passages_frame(
    {"passage_id": f"g:{n}", "doc_id": "g", "group_id": "all", "position": n, "text": text}
    for n, text in enumerate(SENTENCES)
)


def write(path: Path, content) -> Path:
    path.write_text(json.dumps(content), "utf-8")
    return path


def test_a_triple_is_of_the_sentence_that_holds_its_words(tmp_path):
    facts, counts = hipporag.read([write(tmp_path / "o.json", {"docs": [DOCUMENT]})], PASSAGES)
    assert facts == {"g:1": [("Ann Lee", "lives in", "Ghent")], "g:0": [("Ghent", "is", "city")]}
    assert counts == {"facts_imported": 2, "facts_malformed": 2}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ([DOCUMENT], "expected an object with a list `docs`"),
        ({"docs": [{"passage": "Ghent"}]}, "docs 0: extracted_triples is missing"),
        ({"docs": [DOCUMENT | {"passage": "Elsewhere"}]}, "no triple of its 1 passages matches a passage"),
    ],
)
def test_a_file_of_another_form_or_of_another_corpus_is_refused(tmp_path, content, said):
    with pytest.raises(SecateurError, match=said):
        hipporag.read([write(tmp_path / "o.json", content)], PASSAGES)


LAME = {
    "null": DOCUMENT | {"extracted_triples": None},
    "none": {"passage": DOCUMENT["passage"]},
    "a text": DOCUMENT | {"extracted_triples": "[]"},
    "no passage": DOCUMENT | {"passage": None},
    "no object": 3,
}


@pytest.mark.parametrize("lame", LAME.values(), ids=LAME)
def test_a_malformed_document_is_dropped_and_counted_and_too_many_are_refused(tmp_path, lame):
    path = write(tmp_path / "o.json", {"docs": [lame, DOCUMENT], "avg_ent_chars": float("nan")})
    facts, counts = hipporag.read([path], PASSAGES)
    assert (sorted(facts), counts["records_malformed"]) == (["g:0", "g:1"], 1)
    write(path, {"docs": [lame, DOCUMENT, lame]})
    with pytest.raises(SecateurError, match=r"2 problems; docs 0: .*docs 2: .*extractor.max_malformed"):
        hipporag.read([path], PASSAGES)


def test_an_option_names_one_file_and_one_job():
    option = SimpleNamespace(shards=2, files=["a.csv"])
    expected = ["extractor.shards", "extractor.files"]
    assert [clause.split(" is ")[0] for clause in hipporag.problems(None, option)] == expected
