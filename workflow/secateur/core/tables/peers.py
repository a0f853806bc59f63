"""Tables of other systems: what they give their reader, and what their index costs."""

import polars as pl

from secateur.core.tables.table import F64, I32, I64, Column, S, Table

__all__ = ["DECLARED"]

DECLARED = (
    Table(
        "sent",
        1,
        "What a peer's answering prompt holds, part by part in its order; parts that are a passage word for word name it.",
        "ask_peer",
        ("question_id", "place"),
        {
            "question_id": Column(S, "question"),
            "place": Column(I32, "part, from 0"),
            "text": Column(S, "the part as the peer sends it"),
            "passage_id": Column(S, "the passage that it is; null for words of the peer's own", True),
        },
        {"text not empty": pl.col("text").str.len_chars() > 0},
    ),
    Table(
        "peer_costs",
        1,
        "What the index of a peer cost; measured, so that seconds and bytes differ from run to run.",
        "index_peer",
        (),
        {
            "peer": Column(S, "option of conf/peer"),
            "service": Column(S, "option of conf/service"),
            "documents": Column(I64, "documents it was given"),
            "corpus_tokens": Column(I64, "their tokens, under the tokenizer of the reader"),
            "calls": Column(I64, "calls of a language model"),
            "tokens_in": Column(I64, "tokens of all prompts"),
            "tokens_out": Column(I64, "tokens of all replies"),
            "embedded_tokens": Column(I64, "tokens of all strings that it had embedded"),
            "bytes": Column(I64, "of its folder"),
            "seconds": Column(F64, "that indexing took, the extraction and the embedder included"),
            "failure": Column(S, "why there is no index; null where there is one", True),
        },
    ),
    Table(
        "peer_asked",
        1,
        "How a peer took the questions.",
        "ask_peer",
        (),
        {
            "questions": Column(I64, "questions with a context"),
            "failed": Column(I64, "questions without one, because it failed at them; they count as an empty context"),
            "traced": Column(F64, "share of the characters of all contexts that are passages word for word", True),
            "failure": Column(S, "why it was asked no further and has no rows; null where it has", True),
        },
    ),
)
