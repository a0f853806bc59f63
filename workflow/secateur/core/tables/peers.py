"""Tables of other systems: the contexts that they send, and the costs of their index."""

import polars as pl

from secateur.core.tables.table import F64, I32, I64, Column, S, Table

__all__ = ["DECLARED"]

DECLARED = (
    Table(
        "sent",
        1,
        "Parts of a peer's answering prompt, in its order; a part that is a passage word for word names it.",
        "ask_peer",
        ("question_id", "place"),
        {
            "question_id": Column(S, "question"),
            "place": Column(I32, "part, from 0"),
            "text": Column(S, "the part as the peer sends it"),
            "passage_id": Column(S, "passage that the part equals; null for other text", True),
        },
        {"text not empty": pl.col("text").str.len_chars() > 0},
    ),
    Table(
        "peer_costs",
        1,
        "Costs of a peer's index; measured, so that seconds and bytes differ from run to run.",
        "index_peer",
        (),
        {
            "peer": Column(S, "option of conf/peer"),
            "service": Column(S, "option of conf/service"),
            "documents": Column(I64, "indexed documents"),
            "corpus_tokens": Column(I64, "tokens of the documents under the reader's tokenizer"),
            "calls": Column(I64, "calls of a language model"),
            "tokens_in": Column(I64, "tokens of all prompts"),
            "tokens_out": Column(I64, "tokens of all replies"),
            "embedded_tokens": Column(I64, "tokens of all embedded strings"),
            "bytes": Column(I64, "bytes of its folder"),
            "seconds": Column(F64, "seconds of indexing, extraction and embedder included"),
            "failure": Column(S, "why there is no index; null if there is one", True),
        },
    ),
    Table(
        "peer_asked",
        1,
        "Outcome of asking a peer.",
        "ask_peer",
        (),
        {
            "questions": Column(I64, "questions with a context"),
            "failed": Column(I64, "questions at which it failed; each counts as an empty context"),
            "traced": Column(F64, "share of all context characters that are passages word for word", True),
            "failure": Column(S, "why asking stopped and there are no rows; null if there are rows", True),
        },
    ),
)
