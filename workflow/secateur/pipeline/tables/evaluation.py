"""Tables of figures: of questions, of experiments, of graphs and data sets, and what the report draws."""

import polars as pl
import pyarrow as pa

from secateur.pipeline.tables.table import F64, I32, I64, B, Column, S, Table

__all__ = ["DECLARED"]

DECLARED = (
    Table(
        "dataset_statistics",
        1,
        "What a data set looks like: sizes, lengths in word pieces, evidence.",
        "describe_dataset",
        ("statistic", "of"),
        {
            "statistic": Column(
                S,
                "passages_per_group, sessions_per_group, candidates_per_question, evidence_per_question, "
                "evidence_sessions_per_question, one_evidence (a share), questions (the share of a type), "
                "tokens_per_passage, tokens_per_session or answer_tokens",
            ),
            "of": Column(S, "a question type; none: questions without one; all: everything"),
            "n": Column(I64, "groups, sessions, passages, questions or answers behind the row"),
            "mean": Column(F64, "mean; a share where the statistic is one"),
            "least": Column(F64, "smallest value"),
            "median": Column(F64, "median"),
            "most": Column(F64, "largest value"),
        },
        {"n at least 1": pl.col("n") >= 1},
    ),
    Table(
        "question_metrics",
        1,
        "One figure of one question under one variant.",
        "evaluate_contexts, measure_answer_gain, evaluate_selection, evaluate_answers, evaluate_policy, replay_sessions, "
        "check_red_herrings",
        (),
        {
            "question_id": Column(S, "question"),
            "order": Column(S, "blind or aware (of document order); null where neither", True),
            "scorer": Column(S, "scorer; null for systems without one", True),
            "answer_aware": Column(B, "whether the scorer sees the gold answer"),
            "metric": Column(S, "name"),
            "value": Column(F64, "fraction, tokens or nats"),
        },
        {"value finite": pl.col("value").is_finite()},
    ),
    Table(
        "score_quantiles",
        1,
        "How a scorer's values are distributed over passages of each kind (theorem 1, measured, where they are random).",
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
        "metrics",
        1,
        "The experiment's figures: means over questions with intervals.",
        "compare_variants",
        ("dataset", "system", "order", "scorer", "subset", "metric", "split", "published"),
        {
            "dataset": Column(S, "data set"),
            "system": Column(S, "system or variant"),
            "order": Column(S, "blind or aware; null where neither", True),
            "scorer": Column(S, "scorer; null for graph systems", True),
            "answer_aware": Column(B, "whether the gold answer is seen"),
            "subset": Column(S, "which questions"),
            "metric": Column(S, "name"),
            "value": Column(F64, "mean over questions"),
            "low": Column(F64, "lower end of the 95 % interval", True),
            "high": Column(F64, "upper end", True),
            "n": Column(I32, "questions"),
            "units": Column(I32, "resampling units behind the interval; null in published rows", True),
            "split": Column(S, "train, dev, test or all"),
            "published": Column(B, "taken from a publication, not computed here"),
        },
    ),
    Table(
        "comparisons",
        3,
        "Matched differences: two rows of one data set, order and metric that differ in one axis, paired by question.",
        "compare_variants",
        (),
        {
            "dataset": Column(S, "data set"),
            "order": Column(S, "blind or aware; null where neither", True),
            "answer_aware": Column(B, "whether the gold answer is seen"),
            "subset": Column(S, "which questions"),
            "metric": Column(S, "name"),
            "system": Column(S, "system"),
            "scorer": Column(S, "its scorer, where it has several", True),
            "baseline": Column(S, "the system it is compared with"),
            "baseline_scorer": Column(S, "its scorer, where it has several", True),
            "axis": Column(
                S,
                "what they differ in: ranker, reranker, form, packing, placement, reader, memory; language_model: the same "
                "join of scorers without a language model; strongest, named: a plain scorer, the best here or one of eval.against",
            ),
            "difference": Column(F64, "mean paired difference"),
            "low": Column(F64, "lower end of the 95 % interval; null where too few units bound it", True),
            "high": Column(F64, "upper end; null where too few units bound it", True),
            "p": Column(F64, "two-sided, of the same sign flips over resampling units as the interval"),
            "p_holm": Column(F64, "adjusted over the pairs of the same data set, subset, metric and order (Holm)"),
            "n": Column(I32, "questions"),
            "units": Column(I32, "resampling units"),
            "split": Column(S, "train, dev, test or all"),
        },
        {
            "p in (0, 1]": pl.col("p").is_between(0, 1, closed="right"),
            "p_holm at least p": pl.col("p_holm") >= pl.col("p") - 1e-12,
            "two rows": pl.col("system").ne(pl.col("baseline"))
            | pl.col("scorer").ne_missing(pl.col("baseline_scorer")),
        },
    ),
    Table(
        "graph_measures",
        1,
        "What the paper's lemmas claim, measured on one graph; each row says over how many.",
        "measure_graph",
        ("measure", "at"),
        {
            "measure": Column(S, "bytes_*, growth_*, exponent_*, cover_*, touched*, survived, tau_* or window*"),
            "at": Column(F64, "what it is measured over: a share, a number of runs, a threshold, a width; else 1"),
            "value": Column(F64, "bytes, counts, shares or cosines"),
            "n": Column(I64, "rows, passages, mentions, questions, runs or sentences behind the value"),
        },
        {"value finite": pl.col("value").is_finite()},
    ),
    Table(
        "samples",
        1,
        "The questions that the report draws, with their figures at one budget.",
        "sample_questions",
        ("n",),
        {
            "n": Column(I32, "place on the page, from 0"),
            "question_id": Column(S, "question"),
            "text": Column(S, "the question"),
            "answer": Column(S, "gold answer as text", True),
            "evidence": Column(pa.list_(S), "gold evidence texts"),
            "present": Column(pa.list_(S), "whole, lines, absent or unresolved: each evidence text in the context"),
            "budget": Column(I32, "tokens of the context"),
            "evidence_recall": Column(F64, "evidence_recall@budget of the question", True),
            "token_recall": Column(F64, "token_recall@budget", True),
            "evidence_coverage": Column(F64, "evidence_coverage@budget", True),
            "edges": Column(I32, "edges the block holds, drawn or not"),
        },
    ),
    Table(
        "subgraphs",
        1,
        "The edges that are drawn for a sampled question.",
        "sample_questions",
        ("question_id", "n"),
        {
            "question_id": Column(S, "question"),
            "n": Column(I32, "in the order of the block, from 0"),
            "head": Column(S, "entity"),
            "relation": Column(S, "relation"),
            "tail": Column(S, "entity"),
            "passage_id": Column(S, "where the edge stands"),
            "gold": Column(B, "whether that is gold evidence"),
            "whole": Column(B, "whether the block shows its sentence whole instead of the line"),
            "head_asked": Column(B, "whether the head shares a content word with an entity of the question"),
            "tail_asked": Column(B, "whether the tail does"),
        },
    ),
)
