"""Tables of contexts: evidence blocks and whole prompts."""

import polars as pl
import pyarrow as pa

from secateur.pipeline.tables.table import I32, B, Column, S, Table

__all__ = ["DECLARED"]

DECLARED = (
    Table(
        "blocks",
        1,
        "The evidence block of each question at each budget, line by line; of path context at `prompt.budget` alone.",
        "build_prompts, gather_context",
        ("question_id", "budget", "n"),
        {
            "question_id": Column(S, "question"),
            "budget": Column(I32, "word pieces allowed"),
            "n": Column(I32, "line, from 0"),
            "kind": Column(S, "line or sentence"),
            "passage_id": Column(
                S, "where the line comes from; `QUESTION evidence N` for evidence that resolves to no passage"
            ),
            "edge_ids": Column(pa.list_(I32), "the edges a line shows; none for a sentence"),
            "text": Column(S, "the line as it stands in the block"),
            "tokens": Column(I32, "its word pieces"),
        },
        {"kind in line, sentence": pl.col("kind").is_in(["line", "sentence"])},
    ),
    Table(
        "prompts",
        1,
        "The prompt as used, in every encoding, with its cost under the answering model's tokenizer.",
        "build_prompts",
        ("question_id", "encoding"),
        {
            "question_id": Column(S, "question"),
            "encoding": Column(S, "words, ids, matrix or lines"),
            "facts": Column(S, "action on the facts channel"),
            "edges": Column(I32, "edges shown"),
            "tokens": Column(I32, "tokens of the whole prompt"),
            "chosen": Column(B, "the one that is sent"),
            "text": Column(S, "the whole prompt"),
        },
    ),
)
