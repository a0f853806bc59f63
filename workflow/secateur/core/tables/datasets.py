"""Tables of data sets: passages, questions, gold evidence."""

import polars as pl

from secateur.core.tables.table import I32, Column, S, Table

__all__ = ["DECLARED", "KNOWN_SPLIT"]

NOT_EMPTY = {"text not empty": pl.col("text").str.strip_chars().str.len_chars() > 0}
KNOWN_SPLIT = {"split in train, dev, test": pl.col("split").is_in(["train", "dev", "test"])}

DECLARED = (
    Table(
        "passages",
        1,
        "The smallest citable pieces of source text: a dialogue turn, a sentence.",
        "prepare_corpus",
        ("doc_id", "position"),
        {
            "passage_id": Column(S, "unique id"),
            "doc_id": Column(S, "document or conversation the passage stands in"),
            "title": Column(S, "the document's title, where the source has one", True),
            "group_id": Column(S, "what a question may look at: a conversation, a book, a corpus"),
            "session_id": Column(S, "dialogue session", True),
            "position": Column(I32, "place in the document's reading order, from 0"),
            "text": Column(S, "the passage as written"),
            "speaker": Column(S, "who says it", True),
            "date": Column(S, "when it was said or written, as the source puts it", True),
            "start": Column(I32, "first character in the document, where the source is one text", True),
            "end": Column(I32, "one past the last character", True),
        },
        NOT_EMPTY | {"passage_id unique": ("passage_id",)},
    ),
    Table(
        "questions",
        1,
        "The questions of one data set.",
        "prepare_dataset",
        ("question_id",),
        {
            "question_id": Column(S, "unique id"),
            "group_id": Column(S, "the group of passages it is asked of"),
            "cluster_id": Column(S, "unit of resampling: conversation, book, or article of the first gold evidence"),
            "position": Column(I32, "place in the file, from 0"),
            "text": Column(S, "the question"),
            "answer": Column(S, "gold answer as text", True),
            "type": Column(S, "the source's category", True),
            "split": Column(S, "train, dev or test"),
        },
        NOT_EMPTY | KNOWN_SPLIT,
    ),
    Table(
        "evidence",
        3,
        "Gold evidence: one row for each text or passage that a question's answer rests on.",
        "prepare_dataset",
        ("question_id", "n"),
        {
            "question_id": Column(S, "the question"),
            "n": Column(I32, "place in the question's evidence, from 0"),
            "text": Column(
                S, "the evidence as the source states it; the passage's text where only an id is given", True
            ),
            "passage_id": Column(S, "the passage it resolves to, null where it does not", True),
            "hop": Column(S, "at which step of the question it is found, where the source says so", True),
            "grade": Column(I32, "how relevant it is, where the source grades it; null counts as 1", True),
        },
        {
            "text or passage_id": pl.col("text").is_not_null() | pl.col("passage_id").is_not_null(),
            "grade above 0": pl.col("grade") > 0,
        },
    ),
)
