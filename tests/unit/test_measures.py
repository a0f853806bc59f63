"""What the evaluation stages share."""

import polars as pl

from secateur.core.layout import scorer_order
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import check
from secateur.evaluation.evidence import gold_of
from secateur.evaluation.rows import long_rows

PASSAGES = pl.DataFrame({"passage_id": ["p1", "p2"], "text": ["One.", "Two."]})
QUESTIONS = pl.DataFrame({"question_id": ["q2", "q1", "q3"], "text": ["B?", "A?", "C?"], "position": [1, 0, 2]})
EVIDENCE = pl.DataFrame(
    {
        "question_id": ["q1", "q2", "q1"],
        "n": [1, 0, 0],
        "text": ["two, as stated", "Lost.", None],
        "passage_id": ["p2", None, "p1"],
    }
)


def test_gold_stands_in_file_order_and_only_where_there_is_evidence():
    assert list(gold_of(QUESTIONS, EVIDENCE, PASSAGES)) == ["q1", "q2"]


def test_evidence_reads_as_stated_and_as_its_passage_where_only_an_id_is_given():
    gold = gold_of(QUESTIONS, EVIDENCE, PASSAGES)["q1"]
    assert gold.question == "A?"
    assert list(gold.passages.items()) == [("p1", "One."), ("p2", "Two.")]
    assert gold.texts == ("One.", "two, as stated")


def test_unresolved_evidence_keeps_its_text_and_has_no_passage():
    gold = gold_of(QUESTIONS, EVIDENCE, PASSAGES)["q2"]
    assert gold.passages == {}
    assert gold.texts == ("Lost.",)


def test_long_rows_fit_their_table():
    for rows in ([], [("q1", "blind", None, False, "token_recall@64", 0.5), ("q1", None, "s", True, "rouge_l", 0.5)]):
        check(TABLES["question_metrics"], long_rows(rows), "here", "none")


def test_a_scorer_that_looks_at_neighbours_knows_the_order_of_the_text():
    expected = ["blind", "aware", "aware"]
    assert [scorer_order(name) for name in ("bm25", "bm25+neighbour", "zsum+neighbour+answer")] == expected
