"""The contexts table, which every evaluation reads."""

import polars as pl
import pyarrow as pa

from secateur.core.tables.table import I32, B, Column, S, Table

__all__ = ["DECLARED"]

DECLARED = (
    Table(
        "contexts",
        2,
        "The text that a reader gets for each question within each budget, row by row: the texts of the rows, joined in "
        "order, are sent.",
        "assemble_contexts, recall_context, import_contexts",
        ("question_id", "scorer", "budget", "place"),
        {
            "question_id": Column(S, "question"),
            "scorer": Column(S, "ranker with its suffixes; or graph, recalled, imported"),
            "answer_aware": Column(B, "whether the scorer sees the gold answer"),
            "budget": Column(
                I32,
                "maximum tokens of the whole text as sent; recalled: of its new part, since the reader still has the rest; "
                "0: as long as a context made elsewhere",
            ),
            "place": Column(I32, "row, from 0"),
            "form": Column(S, "form of the text (assembly.form)"),
            "passage_id": Column(
                S, "passage of the row; null if it comes from no passage or its passage is unknown", True
            ),
            "whole": Column(B, "whether the row is the passage word for word"),
            "edge_ids": Column(pa.list_(I32), "edges in the row; empty for text"),
            "text": Column(S, "the row as sent, with its separator from the next row"),
            "says": Column(S, "the row in words, if the text is symbols", True),
            "tokens": Column(I32, "tokens of the whole text as sent, the same in each of its rows"),
        },
        {
            "tokens within the budget": (pl.col("tokens") <= pl.col("budget"))
            | (pl.col("budget") == 0)
            | (pl.col("scorer") == "recalled")
        },
    ),
)
