"""Tables with a map of columns: the forms in which data sets stand on hubs, and what is wrong with them."""

from pathlib import Path

import polars as pl
import pytest

from secateur.core.errors import SecateurError
from secateur.datasets.loaders import load_corpus, load_questions

SQUAD = {
    "id": ["5a", "5b", "5c"],
    "title": ["Mill", "Mill", "Rain"],
    "context": ["The mill stands in Leeds.", "The mill stands in Leeds.", "It rains in May."],
    "question": ["Where is the mill?", "What is in Leeds?", "When?"],
    "answers": [
        {"text": ["Leeds", "in Leeds"], "answer_start": [19, 16]},
        {"text": ["the mill"], "answer_start": [0]},
        {"text": [], "answer_start": []},
    ],
}
READ_AS = {"text": "context", "title": "title", "doc": "title"}
ASKED_AS = {"id": "id", "question": "question", "answer": "answers.text", "evidence_text": "context"}


def table(path: Path, values: dict) -> Path:
    frame = pl.DataFrame(values, strict=False)
    {".parquet": frame.write_parquet, ".jsonl": frame.write_ndjson, ".csv": frame.write_csv}[path.suffix](path)
    return path


def corpus(path: Path, **columns: str):
    return load_corpus({"kind": "hf", "columns": columns}, {"table": path})


def asked(path: Path, passages: pl.DataFrame, **columns: str):
    return load_questions({"kind": "hf", "columns": columns}, "mine", {"table": path}, passages)


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_questions_that_carry_their_context_share_its_passage(tmp_path, ending):
    path = table(tmp_path / f"validation-00000-of-00001.{ending}", SQUAD)
    passages = corpus(path, **READ_AS).passages
    assert passages.select("passage_id", "doc_id", "title", "text").rows() == [
        ("p0", "Mill", "Mill", "The mill stands in Leeds."),
        ("p1", "Rain", "Rain", "It rains in May."),
    ]
    found = asked(path, passages, **ASKED_AS)
    expected = [("5a", "Leeds", "dev"), ("5b", "the mill", "dev"), ("5c", None, "dev")]
    assert found.questions.select("question_id", "answer", "split").rows() == expected
    assert found.evidence.select("question_id", "passage_id").rows() == [("5a", "p0"), ("5b", "p0"), ("5c", "p1")]


def test_passages_in_a_table_of_their_own_are_named_by_number_and_keep_their_grades(tmp_path):
    texts = {"pid": [7, 8, 9], "passage": ["One.", "Two.", "Three."]}
    passages = corpus(table(tmp_path / "corpus.csv", texts), id="pid", text="passage").passages
    asks = {"q": ["Which?"], "a": [3], "relevant": [[8, 6]], "judged": [[7, 8, 9]], "score": [[1, 0, 2]]}
    path = table(tmp_path / "qa.parquet", asks)
    found = asked(path, passages, question="q", answer="a", evidence="relevant")
    assert found.questions.select("question_id", "answer").rows() == [("q0", "3")]
    assert found.evidence.select("passage_id", "text").rows() == [("8", "Two.")]
    assert found.counts["evidence_unresolved"] == 1  # passage 6
    found = asked(path, passages, question="q", evidence="judged", grades="score")
    assert found.evidence.select("passage_id", "grade").rows() == [("7", 1), ("9", 2)]


def test_a_list_of_texts_holds_as_many_passages_and_a_list_of_lists_their_sentences(tmp_path):
    context = [{"title": ["A", "B"], "sentences": [["One.", " Two."], ["Three."]]}]
    path = table(tmp_path / "train.parquet", {"context": context})
    found = corpus(path, text="context.sentences", doc="context.title")
    assert found.passages.select("doc_id", "text").rows() == [("A", "One. Two."), ("B", "Three.")]


@pytest.mark.parametrize(
    ("name", "columns", "said"),
    [
        ("a.parquet", {"text": "contex"}, "a.parquet: no column 'contex'; did you mean 'context'.*name one of id, title, con"),
        ("a.parquet", {"text": "answers.txt"}, "column 'answers' has no field 'txt'.*answers.text, answers.answer_start"),
        ("a.parquet", {"text": "title.of"}, "column 'title' has no field 'of'"),
        ("a.parquet", {"texts": "context"}, "texts is unknown"),
        ("a.parquet", {"title": "title"}, "text is missing"),
        ("a.parquet", {"text": "context", "id": "title"}, "row 1: id 'Mill' is already used in a.parquet row 0"),
        ("a.parquet", {"text": "answers"}, "a.parquet row 0: text must be a text that is not empty"),
        ("a.txt", {"text": "context"}, "a.txt: not a table"),
        ("broken.parquet", {"text": "context"}, "broken.parquet: not readable as a table"),
        ("absent.jsonl", {"text": "context"}, "absent.jsonl: not readable"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(tmp_path, name, columns, said):
    table(tmp_path / "a.parquet", SQUAD)
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 no")
    (tmp_path / "a.txt").write_text("x")
    with pytest.raises(SecateurError, match=said):
        corpus(tmp_path / name, **columns)


def test_several_questions_of_a_row_are_refused_and_one_is_read(tmp_path):
    asks, path = [{"q": "Who?", "a": "Ann"}, {"q": "When?", "a": "1990"}], tmp_path / "a.jsonl"
    passages = corpus(table(path, [{"text": "Ann founded Apollo in 1990.", "qas": asks}]), text="text").passages
    with pytest.raises(SecateurError, match=r"a.jsonl row 0: question must be .*'Who\?', 'When\?'"):
        asked(path, passages, question="qas.q", answer="qas.a")
    table(path, [{"text": "Ann founded Apollo in 1990.", "qas": asks[:1]}])
    found = asked(path, passages, question="qas.q", answer="qas.a").questions
    assert found.select("text", "answer").rows() == [("Who?", "Ann")]
