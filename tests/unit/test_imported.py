"""Imported graphs: each edge finds the sentence that holds it, and hostile files are refused."""

import json
import os
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from secateur.core.errors import SecateurError
from secateur.datasets.schema import passages_frame
from secateur.graph.triples.extractors import hipporag, imported

TEXTS = ["About the river", "The Rhine rises near Chur.", "Basel lies on the Rhine.", "Ships reach Basel from the sea."]
PASSAGES = passages_frame(
    {"passage_id": f"d:{n}", "doc_id": "d", "group_id": "all", "position": n, "text": text}
    for n, text in enumerate(TEXTS)
)
HEAD = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
KEYS = "".join(
    f'<key id="{i}" for="edge" attr.name="{name}" attr.type="string"/>'
    for i, name in (("a", "description"), ("b", "keywords"), ("c", "source_id"))
)
NODES = "".join(f'<node id="{name}"/>' for name in ("Rhine", "Chur", "City of Basel (Basel)", "Ship"))


def edge(source="Rhine", target="Chur", description="The Rhine rises near Chur.", keywords="origin,river", chunk="c1"):
    values = (("a", description), ("b", keywords), ("c", chunk))
    data = "".join(f'<data key="{key}">{value}</data>' for key, value in values if value is not None)
    return f'<edge source="{source}" target="{target}">{data}</edge>'


def graph(*edges: str, before: str = "") -> str:
    return f'{before}{HEAD}{KEYS}<graph edgedefault="undirected">{NODES}{"".join(edges)}</graph></graphml>'


@pytest.fixture
def files(tmp_path):
    """Writes a graph and returns it with its chunks."""

    def write(text: str | bytes, chunks: object = None):
        paths = [tmp_path / "g.graphml", tmp_path / "chunks.json"]
        paths[0].write_bytes(text if isinstance(text, bytes) else text.encode())
        own = {"c1": {"content": " ".join(TEXTS[:3])}, "c2": {"content": TEXTS[2] + "\n" + TEXTS[3]}}
        paths[1].write_text(json.dumps(own if chunks is None else chunks))
        return paths

    return write


def refused(paths, match: str) -> None:
    with pytest.raises(SecateurError, match=match) as raised:
        imported.read(paths, PASSAGES)
    assert str(paths[0].parent) in str(raised.value)
    assert "Fix: " in str(raised.value)


# --- LightRAG ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("description", "fact"),
    [
        ("Chur is where the Rhine rises.", ("Chur", "is where", "Rhine")),  # the description's order
        ("Rhines rise near chur", ("Rhine", "rise near", "Chur")),
        ("The Rhine and Chur belong together.", ("Rhine", "origin", "Chur")),  # "and" relates nothing
        ("The Rhineland is near Chur.", ("Rhine", "origin", "Chur")),  # another word
        ("The Rhine, which is a long one and, as many say, the finest, is at Chur.", ("Rhine", "origin", "Chur")),
        ("It rises there.", ("Rhine", "origin", "Chur")),
    ],
)
def test_a_relation_stands_between_the_names_or_is_the_first_keyword(files, description, fact):
    facts, _ = imported.read(files(graph(edge(description=description))), PASSAGES)
    assert [found for held in facts.values() for found in held] == [fact]


def test_a_name_may_stand_without_its_bracket_or_as_what_the_bracket_holds(files):
    one = edge("City of Basel (Basel)", "Rhine", "Basel lies on the Rhine.")
    facts, _ = imported.read(files(graph(one)), PASSAGES)
    assert facts == {"d:2": [("City of Basel (Basel)", "lies on", "Rhine")]}


def test_every_description_of_a_merged_edge_is_a_fact_of_its_own(files):
    both = "Ships reach Basel.&lt;SEP&gt;Basel builds a ship."
    one = edge("Ship", "City of Basel (Basel)", both, chunk="c1&lt;SEP&gt;c2")
    facts, counts = imported.read(files(graph(one)), PASSAGES)
    assert sorted(fact[1] for held in facts.values() for fact in held) == ["builds", "reach"]
    assert counts == {"facts_imported": 2}


def test_only_sentences_of_the_edges_own_chunks_are_asked_and_ties_go_to_the_earliest(files):
    one = edge("Ship", "Rhine", "Ships reach Basel from the sea by the Rhine.", chunk="c1")
    facts, _ = imported.read(files(graph(one)), PASSAGES)
    assert list(facts) == ["d:2"]
    tie = edge("Rhine", "Rhine", "The Rhine.", chunk="c1")
    assert list(imported.read(files(graph(tie)), PASSAGES)[0]) == ["d:1"]


def test_a_fact_without_a_passage_is_counted_and_a_graph_of_another_corpus_refused(files):
    paths = files(graph(edge(), edge(chunk="c3")), {"c1": {"content": TEXTS[1]}, "c3": {"content": "Elsewhere."}})
    facts, counts = imported.read(paths, PASSAGES)
    assert facts == {"d:1": [("Rhine", "rises near", "Chur")]}
    assert counts == Counter(facts_imported=1, facts_without_passage=1)
    refused(files(graph(edge()), {"c1": {"content": "Elsewhere."}}), "none of its 1 triples matches a passage")


BILLION = '<!DOCTYPE l [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'
XXE = '<!DOCTYPE l [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
UTF16 = (f'<?xml version="1.0" encoding="utf-16"?>{BILLION}' + graph(edge(description="&b;"))).encode("utf-16")


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (graph(edge(description="&b;"), before=BILLION), "declares a document type or entities"),
        (graph(edge(description="&a;"), before=XXE), "declares a document type or entities"),
        (UTF16, "declares a document type or entities"),
        (graph(edge(), before='<!DOCTYPE l SYSTEM "http://127.0.0.1:9/x.dtd">'), "declares a document type"),
        (graph(edge(description="&b;")), "malformed XML"),
        (graph(edge())[:-9], "malformed XML"),
        (graph(edge(description="bell \x07")), "malformed XML"),
        (b"\xff\xfe\x00", "malformed XML"),
        ("", "malformed XML"),
        ("<html/>", "its root is <html>"),
        ("<graphml><graph/></graphml>", "not GraphML"),
        (graph(), "has no edge"),
        (graph(edge(description=None, keywords="")), "has no description; .*has no keywords"),
        (graph(edge(target="X"), edge(keywords="")), "2 problems; .*'X' is not a node; .*has no keywords"),
        (graph(edge(chunk="c8&lt;SEP&gt;c9")), "chunk 'c9' is not in chunks.json"),
    ],
)
def test_a_hostile_or_broken_graph_is_refused(files, text, match):
    refused(files(text), match)


LAME = {
    "no keywords": (edge(keywords=""), "has no keywords"),
    "no description": (edge(description=None), "has no description"),
    "an empty description": (edge(description=" "), "has no description"),
    "no source": (edge(chunk=None), "has no source_id"),
    "a source that is no chunk": (edge(chunk="UNKNOWN"), "chunk 'UNKNOWN' is not in chunks.json"),
    "a node that is not there": (edge(target="Nowhere"), r"\(Rhine - Nowhere\): 'Nowhere' is not a node"),
}


@pytest.mark.parametrize(("lame", "said"), LAME.values(), ids=LAME)
def test_a_malformed_edge_is_dropped_and_counted_and_too_many_are_refused(files, lame, said):
    paths = files(graph(edge(), lame))
    facts, counts = imported.read(paths, PASSAGES)
    assert facts == {"d:1": [("Rhine", "rises near", "Chur")]}
    assert (counts["facts_imported"], counts["records_malformed"]) == (1, 1)
    with pytest.raises(SecateurError, match=r"1 problem; edge 1 .*raise extractor.max_malformed.* \(0.25\)"):
        imported.read(paths, PASSAGES, 0.25)
    refused(files(graph(edge(), lame, lame)), f"2 problems; edge 1 .*{said}.*edge 2 .*{said}")


def test_a_chunk_that_was_deleted_is_left_out_of_its_edges(files):
    for chunk in ("c1&lt;SEP&gt;c9", "c9&lt;SEP&gt;c1", "UNKNOWN&lt;SEP&gt;c1"):
        facts, counts = imported.read(files(graph(edge(chunk=chunk))), PASSAGES)
        assert (list(facts), counts) == (["d:1"], Counter(facts_imported=1, chunks_missing=1))
    broken = {"c1": {"content": " ".join(TEXTS[:3])}, "c2": {"content": None}, "c3": "text"}
    _, counts = imported.read(files(graph(edge(chunk="c1&lt;SEP&gt;c2&lt;SEP&gt;c3")), broken), PASSAGES)
    assert counts["chunks_missing"] == 2


def test_a_graph_without_keywords_gives_the_relations_that_stand_between_names(files):
    quoted = [
        edge("&quot;RHINE&quot;", "&quot;CHUR&quot;", "&quot;The Rhine rises near Chur.&quot;", None),
        edge("&quot;RHINE&quot;", "&quot;CHUR&quot;", "&quot;It rises there.&quot;", None),
    ]
    plain = graph(*quoted).replace('<key id="b" for="edge" attr.name="keywords" attr.type="string"/>', "")
    nodes = '<node id="&quot;RHINE&quot;"/><node id="&quot;CHUR&quot;"/>'
    facts, counts = imported.read(files(plain.replace(NODES, nodes)), PASSAGES)
    assert facts == {"d:1": [("RHINE", "rises near", "CHUR")]}
    assert counts["records_malformed"] == 1


def test_a_row_of_a_table_with_an_empty_cell_or_an_unknown_passage_is_dropped_and_counted(tmp_path):
    for name in ROWS:
        frame = pl.DataFrame(ROWS | {"passage_id": ["d:1", "d:2"], name: [None, ROWS[name][1]]})
        facts, counts = imported.read(write(tmp_path, frame, ".parquet"), PASSAGES)
        assert (list(facts), counts["records_malformed"]) == (["d:2"], 1)
    paths = write(tmp_path, pl.DataFrame(ROWS | {"passage_id": ["d:1", "d:9"]}), ".csv")
    facts, counts = imported.read(paths, PASSAGES)
    assert (list(facts), counts["facts_without_passage"]) == (["d:1"], 1)


def test_a_huge_graph_is_refused_before_it_is_read_and_a_missing_one_named(files):
    paths = files(graph(edge()))
    os.truncate(paths[0], imported.MAX_BYTES + 1)
    refused(paths, "above the limit of 1073741824")
    paths[0].unlink()
    refused(paths, "not readable")


@pytest.mark.parametrize("chunks", [{}, [], {"c1": "text"}, {"c1": {"content": 3}}])
def test_chunks_of_another_form_are_refused(files, chunks):
    refused(files(graph(edge()), chunks), "expected an object of chunks by id")


# --- a table of triples --------------------------------------------------------------------------

ROWS = {"head": ["Rhine", "Basel"], "relation": ["rises near", "lies on"], "tail": ["Chur", "Rhine"]}
EXPECTED = {"d:1": [("Rhine", "rises near", "Chur")], "d:2": [("Basel", "lies on", "Rhine")]}


def write(tmp_path, frame: pl.DataFrame, suffix: str):
    path = tmp_path / f"t{suffix}"
    (frame.write_csv if suffix == ".csv" else frame.write_parquet)(path)
    return [path]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("place", [{"passage_id": ["d:1", "d:2"]}, {"doc_id": ["d", "d"], "position": [1, 2]}])
def test_a_table_gives_its_triples_to_the_passages_it_names(tmp_path, suffix, place):
    facts, counts = imported.read(write(tmp_path, pl.DataFrame(ROWS | place), suffix), PASSAGES)
    assert (facts, counts["facts_imported"], counts["facts_without_passage"]) == (EXPECTED, 2, 0)


@pytest.mark.parametrize(
    ("frame", "match"),
    [
        (pl.DataFrame({"head": ["a"]}), "no column relation, tail, doc_id, position; it has head"),
        (pl.DataFrame(ROWS | {"doc_id": ["d", "d"]}), "no column position"),
        (pl.DataFrame(ROWS | {"passage_id": [None, None]}), "passage_id: empty in 2 rows, the first is row 1"),
        (pl.DataFrame(ROWS | {"passage_id": ["x", "y"]}), "none of its 2 triples matches a passage"),
        (pl.DataFrame(ROWS | {"passage_id": ["x", "y"]}).clear(), "none of its 0 triples matches a passage"),
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_table_that_lacks_something_says_what(tmp_path, frame, match, suffix):
    refused(write(tmp_path, frame, suffix), match)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_file_that_is_no_table_is_refused(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"head,relation\n\xff\xfe,1,2,3\n")
    refused([path], "not a readable|no column")
    path.unlink()
    refused([path], "not a readable")


# --- HippoRAG's open IE results ----------------------------------------------------------------------------

SENTENCES = ["Ghent is a city.", "Ann Lee lives in Ghent."]
DOCUMENT = {
    "title": "Ghent",
    "passage": "Ghent\nGhent is a city. Ann Lee lives in Ghent.",
    "extracted_triples": [["Ann Lee", "lives in", "Ghent"], ["Ghent", "is", "city"], ["Ghent", "is"], ["x", "y", 3]],
}
GHENT = passages_frame(
    {"passage_id": f"g:{n}", "doc_id": "g", "group_id": "all", "position": n, "text": text}
    for n, text in enumerate(SENTENCES)
)


def written(path: Path, content) -> Path:
    path.write_text(json.dumps(content), "utf-8")
    return path


def test_a_triple_is_of_the_sentence_that_holds_its_words(tmp_path):
    facts, counts = hipporag.read([written(tmp_path / "o.json", {"docs": [DOCUMENT]})], GHENT)
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
        hipporag.read([written(tmp_path / "o.json", content)], GHENT)


LAME_DOCUMENTS = {
    "null": DOCUMENT | {"extracted_triples": None},
    "none": {"passage": DOCUMENT["passage"]},
    "a text": DOCUMENT | {"extracted_triples": "[]"},
    "no passage": DOCUMENT | {"passage": None},
    "no object": 3,
}


@pytest.mark.parametrize("lame", LAME_DOCUMENTS.values(), ids=LAME_DOCUMENTS)
def test_a_malformed_document_is_dropped_and_counted_and_too_many_are_refused(tmp_path, lame):
    path = written(tmp_path / "o.json", {"docs": [lame, DOCUMENT], "avg_ent_chars": float("nan")})
    facts, counts = hipporag.read([path], GHENT)
    assert (sorted(facts), counts["records_malformed"]) == (["g:0", "g:1"], 1)
    written(path, {"docs": [lame, DOCUMENT, lame]})
    with pytest.raises(SecateurError, match=r"2 problems; docs 0: .*docs 2: .*extractor.max_malformed"):
        hipporag.read([path], GHENT)


def test_an_option_names_one_file_and_one_job():
    option = SimpleNamespace(shards=2, files=["a.csv"])
    expected = ["extractor.shards", "extractor.files"]
    assert [clause.split(" is ")[0] for clause in hipporag.problems(None, option)] == expected
