"""Tables of memory: the runs and evidence that sessions store."""

import polars as pl
import pyarrow as pa

from secateur.core.tables.table import F64, I32, B, Column, S, Table

__all__ = ["DECLARED"]

DECLARED = (
    Table(
        "memories",
        3,
        "Contents of memory: a run of each question and of each answer, and the evidence shown for it.",
        "build_preferences, recall_context",
        ("session_id", "n", "channel", "place"),
        {
            "session_id": Column(S, "session"),
            "n": Column(I32, "place of the question in its session, from 0"),
            "question_id": Column(S, "question"),
            "channel": Column(S, "question, answer or facts"),
            "place": Column(I32, "place among the question's rows of the channel, from 0"),
            "text": Column(S, "stored text"),
            "verified": Column(B, "answers: whether it is a gold answer, which only training questions store", True),
            "source": Column(S, "answers: gold, or the model that wrote it; facts: the passage", True),
            "utility": Column(
                F64, "facts: answer gain of the stored answer from this unit alone, nats per token", True
            ),
            "edge_ids": Column(
                pa.list_(I32),
                "the sequences Q, A and F: stored edges of the graph or of `session_edges`; facts have them if the form "
                "names its edges",
            ),
        },
        {"channel in question, answer, facts": pl.col("channel").is_in(["question", "answer", "facts"])},
    ),
    Table(
        "session_edges",
        1,
        "Edges that questions and answers add to the codebook; ids of edges and new symbols continue those of the graph.",
        "build_preferences, recall_context",
        ("edge_id",),
        {
            "edge_id": Column(I32, "edge"),
            "h": Column(I32, "head entity"),
            "r": Column(I32, "relation"),
            "t": Column(I32, "tail entity"),
            "head": Column(S, "text of the head"),
            "relation": Column(S, "text of the relation"),
            "tail": Column(S, "text of the tail"),
        },
        {"h, r, t unique": ("h", "r", "t")},
    ),
)
