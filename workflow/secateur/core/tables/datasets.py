"""Tables of data sets: passages, questions, gold evidence."""

import polars as pl
import pyarrow as pa

from secateur.core.tables.table import I32, Column, S, Table

__all__ = ["DECLARED", "KNOWN_SPLIT"]

NOT_EMPTY = {"text not empty": pl.col("text").str.strip_chars().str.len_chars() > 0}
KNOWN_SPLIT = {"split in train, dev, test": pl.col("split").is_in(["train", "dev", "test"])}

DECLARED = (
    Table(
        "passages",
        1,
        "Smallest citable pieces of source text: dialogue turns or sentences.",
        "prepare_corpus",
        ("doc_id", "position"),
        {
            "passage_id": Column(S, "unique id"),
            "doc_id": Column(S, "document or conversation of the passage"),
            "title": Column(S, "title of the document, if the source has one", True),
            "group_id": Column(S, "passages that a question may use: a conversation, a book, a corpus"),
            "session_id": Column(S, "dialogue session", True),
            "position": Column(I32, "place in the document's reading order, from 0"),
            "text": Column(S, "the passage as written"),
            "speaker": Column(S, "speaker of the turn", True),
            "date": Column(S, "date of the passage, as the source writes it", True),
            "start": Column(I32, "first character in the document, if the source is a single text", True),
            "end": Column(I32, "one past the last character", True),
        },
        NOT_EMPTY | {"passage_id unique": ("passage_id",)},
    ),
    Table(
        "questions",
        2,
        "Questions of a data set.",
        "prepare_dataset",
        ("question_id",),
        {
            "question_id": Column(S, "unique id"),
            "group_id": Column(S, "group of passages that the question may use"),
            "cluster_id": Column(S, "unit of resampling: conversation, book, or article of the first gold evidence"),
            "position": Column(I32, "place in the file, from 0"),
            "text": Column(S, "question"),
            "answer": Column(S, "gold answer as text; the first of several", True),
            "aliases": Column(pa.list_(S), "further gold answers; null for none", True),
            "excluded": Column(S, "passage that no ranking of the question holds, as it is the question itself", True),
            "type": Column(S, "question type in the source", True),
            "split": Column(S, "train, dev or test"),
        },
        NOT_EMPTY | KNOWN_SPLIT,
    ),
    Table(
        "evidence",
        3,
        "Gold evidence: a row for each text or passage that supports a question's answer.",
        "prepare_dataset",
        ("question_id", "n"),
        {
            "question_id": Column(S, "question"),
            "n": Column(I32, "place in the question's evidence, from 0"),
            "text": Column(
                S, "evidence as the source states it, or the text of the passage if the source names only an id", True
            ),
            "passage_id": Column(
                S, "passage that holds the evidence; null for a quotation that does not resolve", True
            ),
            "hop": Column(S, "step of the question that needs the evidence, if the source states it", True),
            "grade": Column(I32, "relevance grade of the source; null counts as 1", True),
        },
        {
            "text or passage_id": pl.col("text").is_not_null() | pl.col("passage_id").is_not_null(),
            "grade above 0": pl.col("grade") > 0,
        },
    ),
)
