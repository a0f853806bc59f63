"""The table that every evaluation reads: contexts as a reader gets them."""

import polars as pl
import pyarrow as pa

from secateur.core.tables.table import I32, B, Column, S, Table

__all__ = ["DECLARED"]

DECLARED = (
    Table(
        "contexts",
        1,
        "What a reader gets for each question within each budget, row by row: the texts of the rows, one behind the other, "
        "are what is sent. Whatever chose it, whatever says what it is worth.",
        "assemble_contexts, recall_context, import_contexts",
        ("question_id", "scorer", "budget", "place"),
        {
            "question_id": Column(S, "question"),
            "scorer": Column(S, "the ranker it was assembled from, with its suffixes; graph, recalled or imported"),
            "answer_aware": Column(B, "whether that sees the gold answer"),
            "budget": Column(
                I32,
                "tokens allowed, of the whole text as sent; recalled: of what is new, the reader still has the rest",
            ),
            "place": Column(I32, "row, from 0"),
            "form": Column(S, "how it is written (assembly.form)"),
            "passage_id": Column(S, "where the row comes from; null where that is no passage, or not known", True),
            "whole": Column(B, "whether the row is that passage, word for word"),
            "edge_ids": Column(pa.list_(I32), "the edges a row states; none for text"),
            "text": Column(S, "the row as it is sent, with what separates it from the next"),
            "says": Column(S, "the words it stands for, where the text is symbols", True),
            "tokens": Column(I32, "tokens of the whole text as sent, the same in every row of it"),
        },
        {"tokens within the budget": (pl.col("tokens") <= pl.col("budget")) | (pl.col("scorer") == "recalled")},
    ),
)
