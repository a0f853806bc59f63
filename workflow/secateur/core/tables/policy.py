"""Tables of the compression policy: preferences, features, training, frontier."""

import polars as pl

from secateur.core.tables.datasets import KNOWN_SPLIT
from secateur.core.tables.table import F64, I32, Column, S, Table

__all__ = ["DECLARED"]

DECLARED = (
    Table(
        "preferences",
        3,
        "Costs and gains of each question's prompt under every configuration of its channels: the unweighted terms of a "
        "utility.",
        "build_preferences",
        ("question_id", "configuration"),
        {
            "question_id": Column(S, "question"),
            "split": Column(S, "train, dev or test"),
            "model": Column(S, "digest of the reading language model, the same in every row"),
            "configuration": Column(S, "actions on questions, answers and facts, as question/answer/facts"),
            "answer_gain": Column(F64, "answer gain in nats per token of the gold answer"),
            "token_f1": Column(F64, "token F1 of the written answer, the highest over gold answers"),
            "faithfulness": Column(
                F64, "faithfulness of the written answer to the context, 0 to 1; null: unreadable verdict", True
            ),
            "measure": Column(
                S, "measure of faithfulness, the same in every row: lm (the reader's log-probability), or the judge"
            ),
            "tokens": Column(I32, "tokens of the whole prompt as sent, under the reader's tokenizer"),
            "written": Column(I32, "tokens of the written answer"),
            "budget": Column(I32, "tokens that the question's evidence may take"),
        },
        KNOWN_SPLIT
        | {
            "one model": pl.col("model") == pl.col("model").first(),
            "one measure": pl.col("measure") == pl.col("measure").first(),
            "shares": pl.col("token_f1").is_between(0, 1) & pl.col("faithfulness").is_between(0, 1),
        },
    ),
    Table(
        "features",
        1,
        "Features of a question that the compression policy sees.",
        "build_preferences",
        ("question_id", "feature"),
        {
            "question_id": Column(S, "question"),
            "split": Column(S, "train, dev or test"),
            "n": Column(I32, "place of the feature, from 0"),
            "feature": Column(S, "name"),
            "value": Column(F64, "value as measured, not standardised"),
        },
        KNOWN_SPLIT,
    ),
    Table(
        "curves",
        1,
        "Training curves of the compression policy, under TRL's names.",
        "train_policy",
        ("epoch", "metric"),
        {
            "epoch": Column(I32, "epoch, from 1"),
            "metric": Column(S, "name; eval_ for dev questions"),
            "value": Column(F64, "mean over the pairs, or over the questions"),
        },
    ),
    Table(
        "frontier",
        2,
        "Utility, accuracy and tokens of the policy on test questions at prices that hold dev questions to a budget (lemma 13).",
        "evaluate_policy",
        ("share",),
        {
            "share": Column(F64, "place of the budget between the cheapest prompts (0) and no budget (1)"),
            "budget": Column(F64, "mean prompt tokens allowed on dev questions"),
            "eta": Column(F64, "price of a token that keeps dev questions within the budget"),
            "tokens": Column(F64, "mean prompt tokens"),
            "accuracy": Column(F64, "mean accuracy term"),
            "utility": Column(F64, "mean utility"),
            "n": Column(I32, "questions"),
        },
    ),
)
