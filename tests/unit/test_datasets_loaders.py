"""Each loader on small files that hold the traps of the real ones."""

import json
from pathlib import Path

import polars as pl
import pytest
from tests.support.loaded import conform, holders

from secateur.core.errors import SecateurError
from secateur.datasets.containment import Quotable
from secateur.datasets.loaders import load_corpus, load_questions
from secateur.datasets.schema import (
    Questions,
    evidence_frame,
    passages_frame,
    questions_frame,
    sample_documents,
    sample_questions,
    shuffle_passages,
    split_of,
)


def write(path: Path, value) -> Path:
    path.write_text(json.dumps(value), "utf-8")
    return path


# --- splits, quotations --------------------------------------------------------------------------


def test_the_split_follows_the_hash_and_two_sets_are_test_only():

    assert {split_of(name, f"q{n}") for name in ("locomo", "stem_dev") for n in range(50)} == {"test"}
    shares = [split_of("novel_v1", f"q{n}") for n in range(5000)]
    assert [round(shares.count(split) / 5000, 1) for split in ("train", "dev", "test")] == [0.6, 0.2, 0.2]


def test_a_quotation_counts_only_where_one_passage_holds_it_in_whole_words():
    passages = Quotable(["a", "b", "c"], ["The brown\u2011bear, sleeps.", "Bears sleep!", "Bears sleep; bears sleep."])
    assert passages.only_holder("brown bear sleeps") == "a"
    assert passages.only_holder("Bears sleep") is None
    assert passages.only_holder("bears sleep bears") == "c"
    assert passages.only_holder("rown bear") is None
    assert passages.only_holder("...") is None


# --- LoCoMo --------------------------------------------------------------------------------------


def turn(name: str, text: str) -> dict:
    return {"speaker": "Ann", "dia_id": name, "text": text, "blip_caption": "a photo of a dog"}


BODY = {
    "session_10_date_time": "later",
    "session_10": [turn("D10:1", "Ten.")],
    "session_2_date_time": "1 May",
    "session_2": [turn("D2:1", "Hello."), turn("D2:2", "I ran.")],
    "session_11_date_time": "never took place",
}
QA = [
    {"question": "When?", "answer": 2022, "evidence": ["D2:1; D10:1"], "category": 2},
    {"question": "Why?", "adversarial_answer": "x", "evidence": ["D:2:2", "D2:02", "D2:2"], "category": 5},
    {"question": "Who?", "answer": "Ann", "evidence": ["D", "D9:9"], "category": 1},
    {"question": "What?", "answer": "x", "evidence": [], "category": 3},
]


@pytest.fixture
def locomo(tmp_path):
    files = {"conversations": write(tmp_path / "l.json", [{"sample_id": "conv-1", "conversation": BODY, "qa": QA}])}
    corpus = load_corpus("locomo", files)
    found = load_questions("locomo", "locomo", files, corpus.passages)
    conform(corpus.passages, found)
    return corpus, found


def test_locomo_sessions_are_read_in_order_and_turns_without_their_caption(locomo):
    corpus, _ = locomo
    read = ["passage_id", "position", "doc_id", "group_id", "session_id", "text", "speaker", "date"]
    assert corpus.passages.select(read).rows() == [
        ("conv-1:D2:1", 0, "conv-1", "conv-1", "session_2", "Hello.", "Ann", "1 May"),
        ("conv-1:D2:2", 1, "conv-1", "conv-1", "session_2", "I ran.", "Ann", "1 May"),
        ("conv-1:D10:1", 2, "conv-1", "conv-1", "session_10", "Ten.", "Ann", "later"),
    ]
    assert corpus.counts == {"passages": 3, "documents": 1, "sessions": 2, "session_dates_without_session": 1}


def test_locomo_evidence_is_repaired_and_what_does_not_resolve_is_kept_and_counted(locomo):
    _, found = locomo
    assert holders(found, "conv-1:q0") == ["conv-1:D2:1", "conv-1:D10:1"]
    assert holders(found, "conv-1:q1") == ["conv-1:D2:2"]
    assert found.evidence.filter(question_id="conv-1:q1")["text"].to_list() == ["I ran."]
    assert found.evidence.filter(question_id="conv-1:q2")["text"].to_list() == ["D", "D9:9"]
    expected = [("2022", "2"), (None, "5"), ("Ann", "1"), ("x", "3")]
    assert found.questions.select("answer", "type").rows() == expected
    assert found.questions["cluster_id"].unique().to_list() == ["conv-1"]
    expected = {"questions": 4, "questions_without_answer": 1, "questions_without_evidence": 1, "evidence": 5}
    expected |= {"evidence_repeated": 2, "evidence_unresolved": 2, "evidence_strings_repaired": 4}
    assert found.counts == expected


# --- STEM ----------------------------------------------------------------------------------------


def stem_corpus(tmp_path):
    text = (
        "Bear A bear sleeps in winter. It eats fish. It eats fish. They are big, i.e. Very big indeed.\n\n"
        "Spacetime A clock ticks. It eats fish. It curves near mass."
    )
    (tmp_path / "titles.yaml").write_text("- Bear\n- Spacetime\n")
    corpus = write(tmp_path / "corpus.json", [{"corpus_name": "STEM", "context": text}])
    return load_corpus("stem", {"corpus": corpus, "titles": tmp_path / "titles.yaml"})


def stem_question(name: str, *evidence: str) -> dict:
    keys = {"source": "STEM", "question": "Why?", "answer": "x", "question_type": "Complex Reasoning"}
    return {"id": name, "evidence": list(evidence), "evidence_relations": []} | keys


STEM_QUESTIONS = [
    stem_question("one", "They are big, i.e.", "very big INDEED"),
    stem_question("two", "It curves near mass.", "Nobody wrote this."),
    stem_question("none", "Nobody wrote this."),
    stem_question("joined", "a bear sleeps", "sleeps in winter"),
]


def stem_questions(tmp_path, dataset: str) -> Questions:
    passages = stem_corpus(tmp_path).passages
    found = load_questions("stem", dataset, {"questions": write(tmp_path / "q.json", STEM_QUESTIONS)}, passages)
    conform(passages, found)
    return found


def test_stem_keeps_the_first_of_equal_sentences_and_numbers_them_in_their_article(tmp_path):
    corpus = stem_corpus(tmp_path)
    expected = [("Bear:0", "Bear A bear sleeps in winter."), ("Bear:1", "It eats fish.")]
    expected += [("Bear:2", "They are big, i.e."), ("Bear:3", "Very big indeed.")]
    expected += [("Spacetime:0", "Spacetime A clock ticks."), ("Spacetime:1", "It curves near mass.")]
    assert corpus.passages.select("passage_id", "text").rows() == expected
    assert corpus.passages["title"].to_list() == corpus.passages["doc_id"].to_list()
    assert corpus.counts == {"passages": 6, "documents": 2, "repeated_sentences_dropped": 2}


def test_stem_drops_nothing_and_gold_inside_one_sentence_counts_once_with_all_its_words(tmp_path):
    found = stem_questions(tmp_path, "stem")
    expected = [["Bear:2", "Bear:3"], ["Spacetime:1", None], [None], ["Bear:0"]]
    assert [holders(found, name) for name in ("one", "two", "none", "joined")] == expected
    assert found.evidence.filter(question_id="joined")["text"].to_list() == ["a bear sleeps sleeps in winter"]
    assert found.questions["cluster_id"].to_list() == ["Bear", "Spacetime", "none", "Bear"]
    assert (found.counts["evidence_repeated"], found.counts["evidence_unresolved"]) == (1, 2)


def test_stem_old_drops_what_is_not_verbatim_and_the_questions_left_without(tmp_path):
    found = stem_questions(tmp_path, "stem_old")
    assert found.questions["question_id"].to_list() == ["one", "two", "joined"]
    assert found.evidence["passage_id"].null_count() == 0
    assert (found.counts["evidence_dropped"], found.counts["questions_dropped"]) == (2, 1)


# --- GraphRAG-Bench ------------------------------------------------------------------------------

BOOKS = [
    {"corpus_name": "Novel-1", "context": "Produced by Ann. The cave has water. The cave has water. It rained."},
    {"corpus_name": "Novel-2", "context": "The cave has water.\nThe ship sank"},
]


def novel_question(name: str, source: str, **keys) -> dict:
    return {"id": name, "source": source, "question": "Why?", "answer": "x", "question_type": "Fact Retrieval"} | keys


def graphrag_bench(tmp_path, dataset: str, books: list[dict], questions: list[dict], **settings) -> Questions:
    passages = load_corpus("graphrag_bench", {"corpus": write(tmp_path / "c.json", books)}).passages
    files = {"questions": write(tmp_path / "q.json", questions)}
    found = load_questions("graphrag_bench", dataset, files, passages, **settings)
    conform(passages, found)
    return found


def test_graphrag_bench_parquet_and_json_give_the_same_passages(tmp_path):
    pl.DataFrame(BOOKS).write_parquet(tmp_path / "c.parquet")
    parquet = load_corpus("graphrag_bench", {"corpus": tmp_path / "c.parquet"})
    plain = load_corpus("graphrag_bench", {"corpus": write(tmp_path / "c.json", BOOKS)})
    assert parquet.passages.equals(plain.passages)
    assert plain.passages["passage_id"].to_list() == ["Novel-1:0", "Novel-1:1", "Novel-1:2", "Novel-2:0", "Novel-2:1"]
    assert plain.counts["repeated_sentences_dropped"] == 1


def test_graphrag_bench_evidence_is_split_into_parts_and_the_known_repeated_id_renamed(tmp_path):
    quoting = novel_question("Novel-55f0c0e2", "Novel-1", evidence="The cave has water.; Somebody drank it.")
    found = graphrag_bench(tmp_path, "novel_v2", BOOKS, [quoting, novel_question("Novel-55f0c0e2", "Novel-2")])
    assert found.questions["question_id"].to_list() == ["Novel-55f0c0e2", "Novel-55f0c0e2#2"]
    assert found.questions["cluster_id"].to_list() == ["Novel-1", "Novel-2"]
    assert holders(found, "Novel-55f0c0e2") == ["Novel-1:1", None]
    assert found.counts["duplicate_question_ids_renamed"] == 1
    assert found.counts["questions_without_evidence"] == 1


def test_questions_about_a_single_corpus_are_their_own_clusters(tmp_path):
    found = graphrag_bench(tmp_path, "medical_v1", BOOKS[:1], [novel_question(n, "Novel-1") for n in "ab"])
    assert found.questions["cluster_id"].to_list() == ["a", "b"]


# --- all ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["locomo", "stem", "graphrag_bench", "folder"])
def test_an_unnamed_file_is_reported_by_its_name(kind):
    with pytest.raises(Exception, match=f"format {kind}: no file for"):
        load_corpus(kind, {})


def documents(names: str, count: int) -> pl.DataFrame:
    """So many passages of each document."""
    rows = [
        {"doc_id": doc, "group_id": "g", "position": n, "text": f"{doc} {n}"} for doc in names for n in range(count)
    ]
    return passages_frame(row | {"passage_id": f"{row['doc_id']}:{row['position']}"} for row in rows)


def test_shuffling_moves_passages_inside_their_documents_only():
    passages = documents("ab", 20)
    found = shuffle_passages(passages, 7)
    assert found.sort("passage_id").drop("position").equals(passages.sort("passage_id").drop("position"))
    for doc in "ab":
        own = found.filter(pl.col("doc_id") == doc).sort("position")
        assert own["position"].to_list() == list(range(20))
        assert own["passage_id"].to_list() != [f"{doc}:{n}" for n in range(20)]
    assert found.equals(shuffle_passages(passages, 7))
    assert not found.equals(shuffle_passages(passages, 8))


def test_a_sample_of_documents_holds_every_smaller_sample_and_whole_documents():
    passages = documents("abcdefgh", 3)
    samples = [sample_documents(passages, n) for n in (2, 5, 100)]
    assert [s["doc_id"].n_unique() for s in samples] == [2, 5, 8]
    assert set(samples[0]["doc_id"]) < set(samples[1]["doc_id"])
    assert samples[0].height == 6 and samples[2].equals(passages)


def test_a_sample_of_questions_takes_so_many_of_each_named_split_and_all_others_with_their_evidence():
    rows = [{"question_id": f"{s}{n}", "split": s} for s in ("train", "dev", "test") for n in range(9)]
    evidence = evidence_frame({"question_id": row["question_id"], "n": 0, "text": "x"} for row in rows)
    found = sample_questions(Questions(questions_frame(rows), evidence, {}), {"train": 4, "dev": 20})
    assert found.questions.group_by("split").len().sort("split").rows() == [("dev", 9), ("test", 9), ("train", 4)]
    assert found.evidence["question_id"].to_list() == found.questions["question_id"].to_list()
    assert found.counts["questions_sampled"] == 22
    assert sample_questions(Questions(questions_frame(rows), evidence, {}), {}).questions.equals(questions_frame(rows))


def test_questions_about_texts_outside_a_sample_are_left_out_where_the_loader_knows_them(tmp_path):
    questions = [novel_question(f"q{n}", f"Novel-{n}") for n in (1, 2)]
    found = graphrag_bench(tmp_path, "novel_v2", BOOKS[:1], questions, sampled=True)
    assert found.questions["question_id"].to_list() == ["q1"]
    with pytest.raises(SecateurError, match=r"corpus\.documents is set, but format stem"):
        load_questions("stem", "stem_dev", {"questions": tmp_path / "q.json"}, passages_frame([]), sampled=True)
