"""Tables of rankings: source sentences in order, scores of passages, selected contexts."""

import polars as pl

from secateur.pipeline.tables.table import F32, I32, B, Column, S, Table

__all__ = ["DECLARED"]

DECLARED = (
    Table(
        "ranked",
        1,
        "Source sentences by ranking score.",
        "propose_candidates",
        ("question_id", "rank"),
        {
            "question_id": Column(S, "question"),
            "rank": Column(I32, "from 0"),
            "passage_id": Column(S, "sentence"),
            "score": Column(F32, "ranking score"),
        },
    ),
    Table(
        "sources",
        1,
        "Source sentences in the order in which a prompt draws on them.",
        "calibrate_sources",
        ("question_id", "rank"),
        {
            "question_id": Column(S, "question"),
            "rank": Column(I32, "from 0"),
            "passage_id": Column(S, "sentence"),
            "score": Column(F32, "ranking score"),
            "p": Column(F32, "calibrated probability of being evidence"),
        },
        {"p in [0, 1]": pl.col("p").is_between(0, 1)},
    ),
    Table(
        "utilities",
        2,
        "Scores of passages, best first; ties to the earlier passage.",
        "rank_passages, combine_scores",
        ("question_id", "scorer", "rank"),
        {
            "question_id": Column(S, "question"),
            "scorer": Column(S, "name of the scorer with its suffixes"),
            "rank": Column(I32, "from 0"),
            "passage_id": Column(S, "passage"),
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
