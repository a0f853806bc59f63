"""Extraction as stages: imported graphs, questions asked of them, and documents that give nothing."""

import logging
from types import SimpleNamespace

import polars as pl
import pytest
from scripts import encode_questions, extract_triples

from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.datasets.schema import passages_frame
from secateur.graph.embedding import codebook_of
from secateur.stage.contract import Context

TEXTS = ["The mill employs the people.", "It is big.", "Nothing."]


@pytest.fixture
def context(tmp_path):
    return Context(logging.getLogger("test"), tmp_path / "cache", {"shard": "0of1"}, "c1")


class Inputs(dict):
    """Tables by name, and the files that are none."""

    files: tuple = ()

    def paths(self, name):
        return self.files


def passages() -> pl.DataFrame:
    return passages_frame(
        {"doc_id": doc, "position": 0, "passage_id": f"{doc}:0", "group_id": "g", "text": text}
        for doc, text in zip("abc", TEXTS, strict=True)
    )


def config(kind: str = "imported") -> SimpleNamespace:
    extractor = SimpleNamespace(kind=kind, block=2, settings={"batch": 8}, max_malformed=0.5)
    return SimpleNamespace(extractor=extractor)


def test_imported_triples_pass_through_the_rules_and_losses_are_warned_of(tmp_path, context):
    rows = ["head,relation,tail,passage_id", "the Mill,Employs,40 people,a:0", "40 people,work in,Mill,a:0"]
    rows += ["it,is,big,b:0", "mill,is,old,z:9"]
    (tmp_path / "t.csv").write_text("\n".join(rows))
    inputs, outputs = Inputs(passages=passages()), {}
    inputs.files = (tmp_path / "t.csv",)
    metrics = extract_triples.run(config(), inputs, outputs, context)
    assert outputs["triples"].select("passage_id", "n", "head", "relation", "tail", "head_original").rows() == [
        ("a:0", 0, "Mill", "employs", "40 people", "the Mill")
    ]
    assert metrics == {"passages": 3, "triples": 1, "resolved": 0}
    expected = {"dropped_inverse": 1, "dropped_pronoun": 1, "facts_imported": 3}
    expected |= {"facts_without_passage": 1, "passages_without_triple": 2}
    assert context.counts == expected
    assert context.warnings == ["facts_without_passage: 1"]


def test_questions_asked_of_an_imported_graph_are_read_by_the_rules(context):
    questions = pl.DataFrame({"question_id": ["q1"], "text": ["Who employs the people of the mill?"]})
    found: dict[str, dict] = {"imported": {}, "openie": {}}
    for kind, outputs in found.items():
        encode_questions.run(config(kind), Inputs(questions=questions), outputs, context)
    assert found["imported"]["triples"].height > 0
    assert found["imported"]["triples"].equals(found["openie"]["triples"])


def triples(*documents) -> pl.DataFrame:
    parts = [f"{part}{of}" for part in ("head", "relation", "tail") for of in ("", "_original")]
    same = dict.fromkeys(parts, "x") | {"position": 0, "n": 0, "resolved": False}
    return TABLES["triples"].frame([same | {"doc_id": doc, "passage_id": f"{doc}:0"} for doc in documents])


@pytest.mark.parametrize(
    ("speak", "silent", "warnings"), [("b", 2, ["2 of 3 documents have no triple: a, c"]), ("abc", 0, [])]
)
def test_documents_that_gave_no_triple_are_named_and_counted(context, speak, silent, warnings):
    codebook_of(passages(), triples(*speak), context)
    assert context.counts == {"documents_without_triple": silent}
    assert context.warnings == warnings


def test_a_corpus_without_a_triple_stops_with_what_happened(context):
    with pytest.raises(SecateurError, match=r"no triple was extracted from 3 passages of 3 documents.*Fix: "):
        codebook_of(passages(), triples(), context)
