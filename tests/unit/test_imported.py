"""Imported graphs: each edge finds the sentence that holds it, and hostile files are refused."""

import json
import os
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from xml.sax.saxutils import quoteattr

import polars as pl
import pytest

from secateur.core.errors import SecateurError
from secateur.datasets.schema import passages_frame
from secateur.graph.triples.extractors import hipporag, imported

TEXTS = ["About the river", "The Rhine rises near Chur.", "Basel lies on the Rhine.", "Ships reach Basel from the sea."]


def passages_of(doc: str, texts: list[str]) -> pl.DataFrame:
    return passages_frame(
        {"passage_id": f"{doc}:{n}", "doc_id": doc, "group_id": "all", "position": n, "text": text}
        for n, text in enumerate(texts)
    )


PASSAGES = passages_of("d", TEXTS)
SEP = "&lt;SEP&gt;"
HEAD = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
KEYS = "".join(
    f'<key id="{i}" for="edge" attr.name="{name}" attr.type="string"/>'
    for i, name in (("a", "description"), ("b", "keywords"), ("c", "source_id"))
)
NODES = "".join(f'<node id="{name}"/>' for name in ("Rhine", "Chur", "City of Basel (Basel)", "Ship"))


def edge(source="Rhine", target="Chur", description="The Rhine rises near Chur.", keywords="origin,river", chunk="c1"):
    values = zip("abc", (description, keywords, chunk), strict=True)
    data = "".join(f'<data key="{key}">{value}</data>' for key, value in values if value is not None)
    return f"<edge source={quoteattr(source)} target={quoteattr(target)}>{data}</edge>"


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


BY_KEYWORD = ("Rhine", "origin", "Chur")
BASEL = "City of Basel (Basel)"


@pytest.mark.parametrize(
    ("ends", "description", "fact"),
    [
        (("Rhine", "Chur"), "Chur is where the Rhine rises.", ("Chur", "is where", "Rhine")),  # the description's order
        (("Rhine", "Chur"), "Rhines rise near chur", ("Rhine", "rise near", "Chur")),
        (("Rhine", "Chur"), "The Rhine and Chur belong together.", BY_KEYWORD),  # "and" relates nothing
        (("Rhine", "Chur"), "The Rhineland is near Chur.", BY_KEYWORD),  # another word
        (("Rhine", "Chur"), "The Rhine, which is a long one and, as many say, the finest, is at Chur.", BY_KEYWORD),
        (("Rhine", "Chur"), "It rises there.", BY_KEYWORD),
        ((BASEL, "Rhine"), "Basel lies on the Rhine.", (BASEL, "lies on", "Rhine")),  # what its bracket holds
    ],
)
def test_a_relation_stands_between_the_names_or_is_the_first_keyword(files, ends, description, fact):
    facts, _ = imported.read(files(graph(edge(*ends, description))), PASSAGES)
    assert [found for held in facts.values() for found in held] == [fact]


def test_every_description_of_a_merged_edge_is_a_fact_of_its_own(files):
    both = f"Ships reach Basel.{SEP}Basel builds a ship."
    one = edge("Ship", BASEL, both, chunk=f"c1{SEP}c2")
    facts, counts = imported.read(files(graph(one)), PASSAGES)
    assert sorted(fact[1] for held in facts.values() for fact in held) == ["builds", "reach"]
    assert counts == {"facts_imported": 2}


def test_only_sentences_of_the_edges_own_chunks_are_asked_and_ties_go_to_the_earliest(files):
    one = edge("Ship", "Rhine", "Ships reach Basel from the sea by the Rhine.", chunk="c1")
    facts, _ = imported.read(files(graph(one)), PASSAGES)
    assert list(facts) == ["d:2"]
    tie = edge("Rhine", "Rhine", "The Rhine.", chunk="c1")
    assert list(imported.read(files(graph(tie)), PASSAGES)[0]) == ["d:1"]


def test_a_fact_without_a_passage_is_counted(files):
    paths = files(graph(edge(), edge(chunk="c3")), {"c1": {"content": TEXTS[1]}, "c3": {"content": "Elsewhere."}})
    facts, counts = imported.read(paths, PASSAGES)
    assert facts == {"d:1": [("Rhine", "rises near", "Chur")]}
    assert counts == Counter(facts_imported=1, facts_without_passage=1)


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
        (b"\xff\xfe\x00", "malformed XML"),
        ("", "malformed XML"),
        ("<html/>", "its root is <html>"),
        ("<graphml><graph/></graphml>", "not GraphML"),
        (graph(), "has no edge"),
        (graph(edge(description=None, keywords="")), "has no description; .*has no keywords"),
        (graph(edge(chunk=f"c8{SEP}c9")), "chunk 'c9' is not in chunks.json"),
    ],
)
def test_a_hostile_or_broken_graph_is_refused(files, text, match):
    refused(files(text), match)


@pytest.mark.parametrize(
    ("lame", "said"),
    [
        (edge(keywords=""), "has no keywords"),
        (edge(description=" "), "has no description"),
        (edge(chunk=None), "has no source_id"),
        (edge(chunk="UNKNOWN"), "chunk 'UNKNOWN' is not in chunks.json"),
        (edge(target="Nowhere"), r"\(Rhine - Nowhere\): 'Nowhere' is not a node"),
    ],
)
def test_a_malformed_edge_is_dropped_and_counted_and_too_many_are_refused(files, lame, said):
    paths = files(graph(edge(), lame))
    facts, counts = imported.read(paths, PASSAGES)
    assert facts == {"d:1": [("Rhine", "rises near", "Chur")]}
    assert (counts["facts_imported"], counts["records_malformed"]) == (1, 1)
    with pytest.raises(SecateurError, match=r"1 problem; edge 1 .*raise extractor.max_malformed.* \(0.25\)"):
        imported.read(paths, PASSAGES, 0.25)
    refused(files(graph(edge(), lame, lame)), f"2 problems; edge 1 .*{said}.*edge 2 .*{said}")


def test_a_chunk_that_was_deleted_is_left_out_of_its_edges(files):
    for chunk in (f"c1{SEP}c9", f"c9{SEP}c1"):
        facts, counts = imported.read(files(graph(edge(chunk=chunk))), PASSAGES)
        assert (list(facts), counts) == (["d:1"], Counter(facts_imported=1, chunks_missing=1))
    broken = {"c1": {"content": " ".join(TEXTS[:3])}, "c2": {"content": None}, "c3": "text"}
    _, counts = imported.read(files(graph(edge(chunk=f"c1{SEP}c2{SEP}c3")), broken), PASSAGES)
    assert counts["chunks_missing"] == 2


def test_a_graph_without_keywords_gives_the_relations_that_stand_between_names(files):
    quoted = [edge('"RHINE"', '"CHUR"', f'"{text}"', None) for text in (TEXTS[1], "It rises there.")]
    plain = graph(*quoted).replace('<key id="b" for="edge" attr.name="keywords" attr.type="string"/>', "")
    nodes = "<node id='\"RHINE\"'/><node id='\"CHUR\"'/>"
    facts, counts = imported.read(files(plain.replace(NODES, nodes)), PASSAGES)
    assert facts == {"d:1": [("RHINE", "rises near", "CHUR")]}
    assert counts["records_malformed"] == 1


def test_a_row_of_a_table_with_an_empty_cell_or_an_unknown_passage_is_dropped_and_counted(tmp_path):
    for name in ROWS:
        frame = NAMED.with_columns(pl.Series(name, [None, ROWS[name][1]]))
        facts, counts = imported.read(write(tmp_path, frame, ".parquet"), PASSAGES)
        assert (list(facts), counts["records_malformed"]) == (["d:2"], 1)
    facts, counts = imported.read(write(tmp_path, NAMED.with_columns(passage_id=pl.Series(["d:1", "d:9"]))), PASSAGES)
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
NAMED = pl.DataFrame(ROWS | {"passage_id": ["d:1", "d:2"]})
EXPECTED = {"d:1": [("Rhine", "rises near", "Chur")], "d:2": [("Basel", "lies on", "Rhine")]}


def write(tmp_path, frame: pl.DataFrame, suffix: str = ".csv"):
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
GHENT = passages_of("g", SENTENCES)


def results(tmp_path, *documents) -> list[Path]:
    path = tmp_path / "openie.json"
    path.write_text(json.dumps({"docs": documents, "avg_ent_chars": float("nan")}), "utf-8")
    return [path]


def test_a_triple_is_of_the_sentence_that_holds_its_words(tmp_path):
    facts, counts = hipporag.read(results(tmp_path, DOCUMENT), GHENT)
    assert facts == {"g:1": [("Ann Lee", "lives in", "Ghent")], "g:0": [("Ghent", "is", "city")]}
    assert counts == {"facts_imported": 2, "facts_malformed": 2}


def test_a_file_of_another_form_or_of_another_corpus_is_refused(tmp_path):
    with pytest.raises(SecateurError, match="docs 0: extracted_triples is missing"):
        hipporag.read(results(tmp_path, {"passage": "Ghent"}), GHENT)
    paths = results(tmp_path, DOCUMENT | {"passage": "Elsewhere"})
    with pytest.raises(SecateurError, match="no triple of its 1 passages matches a passage"):
        hipporag.read(paths, GHENT)
    paths[0].write_text("[]")
    with pytest.raises(SecateurError, match="expected an object with a list `docs`"):
        hipporag.read(paths, GHENT)


@pytest.mark.parametrize("lame", [DOCUMENT | {"extracted_triples": None}, DOCUMENT | {"passage": None}, 3])
def test_a_malformed_document_is_dropped_and_counted_and_too_many_are_refused(tmp_path, lame):
    facts, counts = hipporag.read(results(tmp_path, lame, DOCUMENT), GHENT)
    assert (sorted(facts), counts["records_malformed"]) == (["g:0", "g:1"], 1)
    with pytest.raises(SecateurError, match=r"2 problems; docs 0: .*docs 2: .*extractor.max_malformed"):
        hipporag.read(results(tmp_path, lame, DOCUMENT, lame), GHENT)


def test_an_option_names_one_file_and_one_job():
    option = SimpleNamespace(shards=2, files=["a.csv"])
    expected = ["extractor.shards", "extractor.files"]
    assert [clause.split(" is ")[0] for clause in hipporag.problems(None, option)] == expected
