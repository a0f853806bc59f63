"""Tables of rankings and selections."""

import polars as pl

from secateur.core.tables.table import F32, I32, B, Column, S, Table

__all__ = ["DECLARED"]

DECLARED = (
    Table(
        "rankings",
        1,
        "Passages, or lines of them, best first; a tie goes to the earlier passage. Every system starts from a ranking.",
        "rank_passages, rank_by_graph, ask_peer, combine_scores, rerank_passages",
        ("question_id", "scorer", "rank"),
        {
            "question_id": Column(S, "question"),
            "scorer": Column(S, "ranker with its suffixes; or graph"),
            "rank": Column(I32, "from 0"),
            "passage_id": Column(S, "passage"),
            "edge_id": Column(I32, "the ranked line of the passage; null for the whole passage", True),
            "value": Column(F32, "score"),
            "answer_aware": Column(B, "whether the scorer sees the gold answer"),
        },
        {"value finite": pl.col("value").is_finite()},
    ),
    Table(
        "selections",
        2,
        "Selected context of each question and scorer.",
        "select_context, combine_scores, select_greedily",
        ("question_id", "scorer", "rank"),
        {
            "question_id": Column(S, "question"),
            "scorer": Column(S, "scorer"),
            "rank": Column(I32, "from 0; -1 if nothing was selected"),
            "passage_id": Column(S, "passage; null if nothing was selected", True),
            "answer_aware": Column(B, "whether the scorer sees the gold answer"),
        },
    ),
)
