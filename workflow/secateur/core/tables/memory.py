"""Tables of memory: what sessions stored."""

import polars as pl
import pyarrow as pa

from secateur.core.tables.table import F64, I32, B, Column, S, Table

__all__ = ["DECLARED"]

DECLARED = (
    Table(
        "memories",
        3,
        "What sessions stored: a run of each question and of each answer, and the evidence shown for it. "
        "No earlier stage reads it.",
        "build_preferences, recall_context",
        ("session_id", "n", "channel", "place"),
        {
            "session_id": Column(S, "session"),
            "n": Column(I32, "place of the question in its session, from 0"),
            "question_id": Column(S, "question"),
            "channel": Column(S, "question, answer or facts"),
            "place": Column(I32, "place among the question's rows of the channel, from 0"),
            "text": Column(S, "what was stored"),
            "verified": Column(B, "answers: whether it is gold, which only training questions store", True),
            "source": Column(S, "answers: gold, or the model that gave it; facts: the passage", True),
            "utility": Column(
                F64, "facts: answer gain that the unit alone gives the stored answer, nats per token", True
            ),
            "edge_ids": Column(
                pa.list_(I32),
                "the sequences Q, A and F: what was stored as edges, of the graph or of `session_edges`; of facts where the "
                "form says which",
            ),
        },
        {"channel in question, answer, facts": pl.col("channel").is_in(["question", "answer", "facts"])},
    ),
    Table(
        "session_edges",
        1,
        "The edges that questions and answers add to the codebook; ids, of new symbols too, go on from the graph's.",
        "build_preferences, recall_context",
        ("edge_id",),
        {
            "edge_id": Column(I32, "edge"),
            "h": Column(I32, "head entity"),
            "r": Column(I32, "relation"),
            "t": Column(I32, "tail entity"),
            "head": Column(S, "its text"),
            "relation": Column(S, "its text"),
            "tail": Column(S, "its text"),
        },
        {"h, r, t unique": ("h", "r", "t")},
    ),
)
