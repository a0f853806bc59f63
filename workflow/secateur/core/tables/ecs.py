"""Tables of context utility: the candidates that a language model reads, and its statistics of them."""

import polars as pl
import pyarrow as pa

from secateur.core.tables.table import F64, I32, B, Column, S, Table

__all__ = ["DECLARED"]

DECLARED = (
    Table(
        "pool",
        2,
        "Passages that a language model reads for each question: candidates, and random passages for the null distribution.",
        "propose_passages",
        ("question_id", "passage_id"),
        {
            "question_id": Column(S, "question"),
            "passage_id": Column(S, "passage"),
            "rank": Column(I32, "place among the candidates, from 0; null for a random passage", True),
            "free": Column(B, "whether it is a candidate found without the answer"),
            "probed": Column(B, "whether costly statistics are computed for the pair"),
            "quartile": Column(
                I32, "quartile of the passage's length in its group; null without a null distribution", True
            ),
            "turn": Column(I32, "place among the random passages of its quartile, from 0; null for a candidate", True),
        },
        {"a candidate or drawn": pl.col("rank").is_not_null() | pl.col("turn").is_not_null()},
    ),
    Table(
        "statistics",
        4,
        "Sufficient statistics of a question with a candidate under one language model; every model-based scorer is a "
        "function of them. A question's base row, without a candidate, has no passage_id. Nats, fp32 log-softmax.",
        "score_candidates, check_red_herrings",
        ("question_id", "passage_id"),
        {
            "question_id": Column(S, "question"),
            "passage_id": Column(S, "candidate; null in the base row", True),
            "tokens": Column(I32, "tokens of the candidate's text, without speaker and date"),
            "prompt_tokens": Column(I32, "tokens before the answer, as read"),
            "cut": Column(I32, "tokens of the context that did not fit the window, from the left"),
            "answer_tokens": Column(I32, "tokens of the answer; null without an answer", True),
            "answer_logprob": Column(F64, "log p(answer), summed over its tokens", True),
            "answer_first": Column(F64, "log p of the answer's first token", True),
            "question_tokens": Column(I32, "tokens of the question; null if its probability is undefined", True),
            "question_logprob": Column(F64, "log p(question), under the candidate or alone", True),
            "entropy": Column(F64, "entropy at the first answer position; null from a server", True),
            "kl": Column(F64, "KL from the base at the first answer position, full vocabulary", True),
            "js": Column(F64, "Jensen-Shannon divergence from the base at the first answer position", True),
            "kl_tail": Column(F64, "KL over the top k tokens and one bucket for the rest", True),
            "kl_paper": Column(F64, "the paper's top-k KL, with its fill", True),
            "kl_path": Column(pa.list_(F64), "KL at each step along the gold answer", True),
            "trajectory_ctx": Column(F64, "sum of KL along the greedy path under the candidate", True),
            "trajectory_base": Column(F64, "sum of KL along the greedy path of the base", True),
            "judge_helpful_answer": Column(F64, "p(yes) that the passage helps, given the answer", True),
            "judge_factual": Column(F64, "p(yes) that the passage is accurate, by the model's knowledge", True),
            "rival_share": Column(F64, "largest share of a wrong answer's surprise that the candidate explains", True),
        },
        {
            "rival_share at most 1": pl.col("rival_share") <= 1,
            "kl at least 0": pl.col("kl") >= 0,
            "js in [0, log 2]": pl.col("js").is_between(0, 0.6932),
            "statistics finite": pl.all_horizontal(pl.col("entropy", "kl", "js", "kl_tail", "kl_paper").is_finite()),
        },
    ),
)
