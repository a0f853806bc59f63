"""A folder in the form of BEIR: what is read, and what is wrong with it."""

import json
from pathlib import Path

import pytest

from secateur.core.errors import SecateurError
from secateur.datasets.loaders import load_corpus, load_questions

CORPUS = [{"_id": "d1", "title": "Mill", "text": "The mill stands in Leeds."}, {"_id": "d2", "text": "It rains."}]
QUERIES = [{"_id": "q1", "text": "Where is the mill?"}]
QUERIES += [{"_id": "q2", "text": "Does it rain?"}, {"_id": "q3", "text": "Who?"}]
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td2\t1\nq2\tgone\t1\n"


def folder(path: Path, corpus=CORPUS, queries=QUERIES, qrels: str = QRELS) -> Path:
    for name, rows in (("corpus", corpus), ("queries", queries)):
        lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        (path / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    (path / "qrels").mkdir()
    (path / "qrels" / "test.tsv").write_text(qrels)
    return path


def read(path: Path):
    corpus = load_corpus("beir", {"folder": path})
    files = {"folder": path, "folder2": path / "qrels/test.tsv"}
    return corpus, load_questions("beir", "mine", files, corpus.passages)


def test_documents_are_passages_and_judged_ones_are_evidence(tmp_path):
    corpus, found = read(folder(tmp_path, [*CORPUS, {"_id": "d3", "title": "", "text": " "}]))
    assert corpus.passages.select("passage_id", "title").rows() == [("d1", "Mill"), ("d2", None)]
    assert corpus.counts["documents_empty"] == 1
    assert found.questions.select("question_id", "split").rows() == [("q1", "test"), ("q2", "test")]  # q3 is not judged
    evidence = found.evidence.select("question_id", "passage_id", "text").rows()
    assert evidence == [("q1", "d1", CORPUS[0]["text"]), ("q2", "d2", "It rains.")]
    assert found.counts["evidence_unresolved"] == 1
    assert found.evidence["grade"].to_list() == [2, 1]  # a judgement of 0 is none


def test_a_query_is_judged_in_one_split(tmp_path):
    path = folder(tmp_path)
    files = {"folder": path, "folder2": path / "qrels/dev.tsv", "folder3": path / "qrels/test.tsv"}
    passages = load_corpus("beir", {"folder": path}).passages
    files["folder2"].write_text("q3\td1\t1\n")
    found = load_questions("beir", "mine", files, passages).questions
    assert found.select("question_id", "split").rows() == [("q1", "test"), ("q2", "test"), ("q3", "dev")]
    files["folder2"].write_text("q1\td2\t1\n")
    with pytest.raises(SecateurError, match=r"test.tsv: query 'q1' is judged in dev, too"):
        load_questions("beir", "mine", files, passages)


def test_a_query_without_known_documents_shares_no_cluster_with_a_document_of_its_name(tmp_path):
    queries = [{"_id": "d1", "text": "Who?"}, *QUERIES]
    _, found = read(folder(tmp_path, queries=queries, qrels="d1\tgone\t1\nq1\td1\t1\n"))
    assert found.questions.select("question_id", "cluster_id").rows() == [("d1", "question d1"), ("q1", "d1")]


def test_a_document_judged_twice_has_the_higher_grade(tmp_path):
    _, found = read(folder(tmp_path, qrels="q1\td1\t1\nq1\td2\t-1\nq1\td1\t3\nq1\td1\t2\nq2\td2\t0\n"))
    assert found.evidence.select("question_id", "passage_id", "grade").rows() == [("q1", "d1", 3)]
    assert found.questions["question_id"].to_list() == ["q1"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"corpus": [{"_id": "d1"}]}, "corpus.jsonl: .*line 1: text is missing"),
        ({"corpus": ['{"_id": ']}, "line 1: malformed JSON"),
        ({"queries": [{"_id": "q1", "text": " "}]}, "text"),
        ({"qrels": "q1\td1\n"}, "test.tsv: 1 problem; line 1: .* is not three columns"),
        ({"qrels": f"q1\td1\t{10**9}\n"}, "line 1: .*nine digits at most"),
        ({"qrels": "q9\td1\t1\n"}, "no query of queries.jsonl is judged above 0"),
    ],
)
def test_what_is_wrong_is_named_by_file_and_line(tmp_path, changed, said):
    with pytest.raises(SecateurError, match=said):
        read(folder(tmp_path, **changed))
