"""Tables of figures: questions, experiments, graphs, data sets, and samples that the report draws."""

import polars as pl
import pyarrow as pa

from secateur.core.tables.table import F64, I32, I64, B, Column, S, Table

__all__ = ["DECLARED"]

PAIRED = {
    "dataset": Column(S, "data set"),
    "order": Column(S, "blind or aware; null if neither", True),
    "answer_aware": Column(B, "whether the scorer sees the gold answer"),
    "subset": Column(S, "subset of the questions"),
    "metric": Column(S, "name"),
    "system": Column(S, "system"),
    "scorer": Column(S, "scorer, if the system has several", True),
    "baseline": Column(S, "system on the other side"),
    "baseline_scorer": Column(S, "scorer, if the system has several", True),
    "axis": Column(
        S,
        "axis of the difference: ranker, reranker, form, packing, placement, reader, memory; language_model: the same "
        "combination of scorers without a language model, or with query likelihood alone of its scores; strongest, named: the best plain scorer, or one of eval.against; best: the best row; primary: a test of "
        "the primary family",
    ),
    "difference": Column(F64, "mean paired difference"),
    "low": Column(F64, "lower end of the 95 % interval; null if there are too few units", True),
    "high": Column(F64, "upper end; null if there are too few units", True),
    "p": Column(F64, "two-sided p-value, from sign flips over the resampling units of the interval"),
    "p_holm": Column(
        F64,
        "p after Holm over the pairs of the same data set, subset, metric and order; primary: over the primary family",
    ),
    "n": Column(I32, "questions"),
    "units": Column(I32, "resampling units"),
    "split": Column(S, "train, dev, test or all"),
}
TWO_ROWS = {
    "p in (0, 1]": pl.col("p").is_between(0, 1, closed="right"),
    "p_holm at least p": pl.col("p_holm") >= pl.col("p") - 1e-12,
    "two rows": pl.col("system").ne(pl.col("baseline")) | pl.col("scorer").ne_missing(pl.col("baseline_scorer")),
}

DECLARED = (
    Table(
        "dataset_statistics",
        1,
        "Statistics of a data set: sizes, lengths in word pieces, evidence.",
        "describe_dataset",
        ("statistic", "of"),
        {
            "statistic": Column(
                S,
                "passages_per_group, sessions_per_group, candidates_per_question, evidence_per_question, "
                "evidence_sessions_per_question, one_evidence (a share), questions (the share of a type), "
                "tokens_per_passage, tokens_per_session, answer_tokens or letters_outside_latin (a share)",
            ),
            "of": Column(S, "a question type; none: questions without one; all: everything"),
            "n": Column(I64, "groups, sessions, passages, questions or answers behind the row"),
            "mean": Column(F64, "mean, or the share"),
            "least": Column(F64, "smallest value"),
            "median": Column(F64, "median"),
            "most": Column(F64, "largest value"),
        },
        {"n at least 1": pl.col("n") >= 1},
    ),
    Table(
        "question_metrics",
        2,
        "Figures of each question under one variant.",
        "evaluate_contexts, evaluate_rankings, ask_peer, measure_answer_gain, evaluate_selection, evaluate_answers, evaluate_policy, replay_sessions, "
        "check_red_herrings",
        (),
        {
            "question_id": Column(S, "question"),
            "order": Column(S, "blind or aware (of document order); null if neither", True),
            "scorer": Column(S, "scorer; null for systems without one", True),
            "answer_aware": Column(B, "whether the scorer sees the gold answer"),
            "metric": Column(S, "name"),
            "hop": Column(S, "hop of the measured evidence; null for all evidence", True),
            "value": Column(F64, "value: fraction, tokens or nats"),
        },
        {"value finite": pl.col("value").is_finite()},
    ),
    Table(
        "score_quantiles",
        1,
        "Distribution of a scorer's values over passages of each kind (random passages: theorem 1, measured).",
        "check_red_herrings",
        ("scorer", "kind", "at"),
        {
            "scorer": Column(S, "scorer"),
            "answer_aware": Column(B, "whether the scorer sees the gold answer"),
            "kind": Column(S, "correct, counterfactual, irrelevant, or random: a passage of another question"),
            "at": Column(F64, "share of the values that are at most this one"),
            "value": Column(F64, "score"),
            "n": Column(I32, "pairs of question and passage"),
        },
        {"value finite": pl.col("value").is_finite()},
    ),
    Table(
        "acceptance",
        1,
        "Shares of correct and wrong passages that a scorer accepts at each threshold set by its random passages.",
        "check_red_herrings",
        ("scorer", "kind", "at"),
        {
            "scorer": Column(S, "scorer"),
            "answer_aware": Column(B, "whether the scorer sees the gold answer"),
            "kind": Column(S, "correct, counterfactual, irrelevant, or random: a passage of another question"),
            "at": Column(F64, "percentile of the random passages' scores, as a share"),
            "threshold": Column(F64, "score at that percentile"),
            "value": Column(F64, "share of a question's passages of the kind that score above it, mean over questions"),
            "n": Column(I32, "questions"),
        },
        {"value in [0, 1]": pl.col("value").is_between(0, 1)},
    ),
    Table(
        "metrics",
        1,
        "Figures of an experiment: means over questions with intervals.",
        "compare_variants",
        ("dataset", "system", "order", "scorer", "subset", "metric", "split", "published"),
        {
            "dataset": Column(S, "data set"),
            "system": Column(S, "system or variant"),
            "order": Column(S, "blind or aware; null if neither", True),
            "scorer": Column(S, "scorer; null for graph systems", True),
            "answer_aware": Column(B, "whether the scorer sees the gold answer"),
            "subset": Column(S, "subset of the questions"),
            "metric": Column(S, "name"),
            "value": Column(F64, "mean over questions"),
            "low": Column(F64, "lower end of the 95 % interval", True),
            "high": Column(F64, "upper end", True),
            "n": Column(I32, "questions"),
            "units": Column(I32, "resampling units behind the interval; null in published rows", True),
            "split": Column(S, "train, dev, test or all"),
            "published": Column(B, "whether the row is from a publication, not computed here"),
        },
    ),
    Table(
        "comparisons",
        3,
        "Paired differences: two rows of one data set, order and metric that differ in one axis, paired by question.",
        "compare_variants",
        (),
        PAIRED,
        TWO_ROWS,
    ),
    Table(
        "leaders",
        1,
        "Paired differences of each row to the best one of its data set, order and metric, whatever they differ in.",
        "compare_variants",
        (),
        PAIRED,
        TWO_ROWS,
    ),
    Table(
        "equal_quality",
        1,
        "Tokens at equal quality: the fewest tokens at which each system is as good as a reference's context.",
        "compare_variants",
        ("dataset", "system", "order", "scorer", "metric"),
        {
            "dataset": Column(S, "data set"),
            "system": Column(S, "system or variant"),
            "order": Column(S, "blind or aware; null if neither", True),
            "scorer": Column(S, "scorer; null for systems with one", True),
            "answer_aware": Column(B, "whether the scorer sees the gold answer"),
            "metric": Column(S, "evidence_recall, token_recall or token_f1"),
            "reference": Column(S, "system whose quality is to be reached (eval.reference)"),
            "level": Column(F64, "its quality, mean over questions"),
            "reference_tokens": Column(F64, "its tokens, mean over questions"),
            "tokens": Column(
                F64, "fewest tokens that reach the level, interpolated between budgets; null: never", True
            ),
            "ratio": Column(F64, "the same over the reference's tokens; null: never", True),
            "low": Column(F64, "lower end of the ratio's 95 % interval; null: never", True),
            "high": Column(F64, "upper end; null: never", True),
            "reached": Column(F64, "share of resamples in which the level is reached"),
            "at_most": Column(B, "whether the smallest budget already reaches it, so that the tokens are a bound"),
            "n": Column(I32, "questions"),
            "units": Column(I32, "resampling units"),
        },
        {"reached in [0, 1]": pl.col("reached").is_between(0, 1)},
    ),
    Table(
        "growth",
        1,
        "Growth of a graph with the passages read, in text order (paper, figure 6).",
        "measure_growth",
        ("kind", "share"),
        {
            "kind": Column(
                S, "entities, relations, edges or runs; or bytes of the Parquet files, for all passages only"
            ),
            "share": Column(F64, "share of the passages read"),
            "passages": Column(I64, "passages read"),
            "count": Column(I64, "distinct items in these passages after consolidation, or bytes"),
        },
        {"count at least 0": pl.col("count") >= 0},
    ),
    Table(
        "samples",
        1,
        "Questions that the report draws, with their figures at one budget.",
        "sample_questions",
        ("n",),
        {
            "n": Column(I32, "place on the page, from 0"),
            "question_id": Column(S, "question"),
            "text": Column(S, "the question"),
            "answer": Column(S, "gold answer as text", True),
            "evidence": Column(pa.list_(S), "gold evidence texts"),
            "present": Column(
                pa.list_(S), "how the context holds each evidence text: whole, lines, absent or unresolved"
            ),
            "budget": Column(I32, "tokens of the context"),
            "evidence_recall": Column(F64, "evidence_recall@budget of the question", True),
            "token_recall": Column(F64, "token_recall@budget", True),
            "evidence_coverage": Column(F64, "evidence_coverage@budget", True),
            "edges": Column(I32, "edges in the context, drawn or not"),
        },
    ),
    Table(
        "subgraphs",
        1,
        "Drawn edges of a sampled question.",
        "sample_questions",
        ("question_id", "n"),
        {
            "question_id": Column(S, "question"),
            "n": Column(I32, "place in the context, from 0"),
            "head": Column(S, "entity"),
            "relation": Column(S, "relation"),
            "tail": Column(S, "entity"),
            "passage_id": Column(S, "passage of the edge"),
            "gold": Column(B, "whether the passage is gold evidence"),
            "whole": Column(B, "whether the context shows the whole sentence in place of the line"),
            "head_asked": Column(B, "whether the head shares a content word with an entity of the question"),
            "tail_asked": Column(B, "whether the tail shares a content word with an entity of the question"),
        },
    ),
)
