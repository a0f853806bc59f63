"""Tables of rankings: who stands where, and what is selected."""

import polars as pl

from secateur.core.tables.table import F32, I32, B, Column, S, Table

__all__ = ["DECLARED"]

DECLARED = (
    Table(
        "rankings",
        1,
        "Passages, or lines of them, best first; ties to the earlier passage. Every system begins here.",
        "rank_passages, rank_by_graph, ask_peer, combine_scores, rerank_passages",
        ("question_id", "scorer", "rank"),
        {
            "question_id": Column(S, "question"),
            "scorer": Column(S, "name of the ranker with its suffixes; graph"),
            "rank": Column(I32, "from 0"),
            "passage_id": Column(S, "passage"),
            "edge_id": Column(I32, "the one line of it that is ranked; null for all of the passage", True),
            "value": Column(F32, "score"),
            "answer_aware": Column(B, "whether the scorer sees the gold answer"),
        },
        {"value finite": pl.col("value").is_finite()},
    ),
    Table(
        "selections",
        2,
        "The selected context of each question and scorer.",
        "select_context, combine_scores, select_greedily",
        ("question_id", "scorer", "rank"),
        {
            "question_id": Column(S, "question"),
            "scorer": Column(S, "scorer"),
            "rank": Column(I32, "from 0; -1 where nothing was selected"),
            "passage_id": Column(S, "passage; null where nothing was selected", True),
            "answer_aware": Column(B, "whether the scorer sees the gold answer"),
        },
    ),
)
