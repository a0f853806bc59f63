"""Every model-based scorer as a function of the table `statistics` (ECS, sections 3.2 to 3.5).

A scorer is a Polars expression over `paired` rows: one row a candidate, with its question's base in columns `base_*`.
It is null where what it needs was not computed or does not exist, as for an answer-aware scorer without an answer.
"""

from collections.abc import Callable

import polars as pl

from secateur.ecs.names import JUDGES
from secateur.pipeline.errors import SecateurError, nearest

__all__ = ["SCORERS", "paired", "score"]

BASE = ("answer_logprob", "answer_first", "question_logprob", "entropy")


def paired(statistics: pl.DataFrame) -> pl.DataFrame:
    """The candidates' rows with `base_*` columns of their questions' base rows.

    Raises SecateurError where a question has no base row.
    """
    base = statistics.filter(pl.col("passage_id").is_null())
    base = base.select("question_id", *(pl.col(c).alias(f"base_{c}") for c in BASE))
    candidates = statistics.filter(pl.col("passage_id").is_not_null())
    alone = candidates.join(base, on="question_id", how="anti")["question_id"]
    if len(alone):
        raise SecateurError(f"statistics: question {alone[0]} has no base row. Fix: keep the rows without passage_id.")
    return candidates.join(base, on="question_id", how="left", maintain_order="left")


def signed(length_penalty: float = 0.0) -> pl.Expr:
    """Definition 1, equation 2: log P_{C,u}(a) - log P_C(a) - lambda |u|."""
    return pl.col("answer_logprob") - pl.col("base_answer_logprob") - length_penalty * pl.col("tokens")


def signed_mean() -> pl.Expr:
    """Equation 2 with lambda 0, for each token of the answer."""
    return signed() / pl.col("answer_tokens")


def signed_first() -> pl.Expr:
    """Equation 2 with lambda 0, over the first token of the answer."""
    return pl.col("answer_first") - pl.col("base_answer_first")


def kl_first() -> pl.Expr:
    """KL(P_{C,u} || P_C) at the first answer position (section 3.2)."""
    return pl.col("kl")


def signed_kl() -> pl.Expr:
    """The divergence with the direction of equation 2 (the "direction problem", section 3.1)."""
    return signed().sign() * kl_first()


def entropy_drop() -> pl.Expr:
    """H(P_C) - H(P_{C,u}) at the first answer position."""
    return pl.col("base_entropy") - pl.col("entropy")


def pmi_q() -> pl.Expr:
    """log p(q | C,u) - log p(q | C): pointwise mutual information of question and candidate."""
    return pl.col("question_logprob") - pl.col("base_question_logprob")


def binary(judge: str) -> pl.Expr:
    """A judge's verdict: 1 where p(yes) is above .5 (appendix C)."""
    return (pl.col(judge) > 0.5).cast(pl.Float64)


# Name -> expression of a penalty lambda, which only `signed` takes.
SCORERS: dict[str, Callable[[float], pl.Expr]] = {
    "signed": signed,
    "signed_mean": lambda _: signed_mean(),
    "signed_first": lambda _: signed_first(),
    "signed_kl": lambda _: signed_kl(),
    "kl_first": lambda _: kl_first(),
    "kl_topk:tail": lambda _: pl.col("kl_tail"),
    "kl_topk:paper": lambda _: pl.col("kl_paper"),
    "trajectory:gold": lambda _: pl.col("kl_path").list.sum(),  # definition 2, equation 4
    "trajectory:ctx": lambda _: pl.col("trajectory_ctx"),
    "trajectory:base": lambda _: pl.col("trajectory_base"),
    "js": lambda _: pl.col("js"),
    "entropy_drop": lambda _: entropy_drop(),
    "pmi_q": lambda _: pmi_q(),
    **{judge: lambda _, judge=judge: pl.col(judge) for judge in JUDGES},
    **{f"{judge}_binary": lambda _, judge=judge: binary(judge) for judge in JUDGES},
    "expected_shift": lambda _: pl.col("expected_shift"),
}


def score(statistics: pl.DataFrame, scorer: str, length_penalty: float = 0.0) -> pl.DataFrame:
    """(question_id, passage_id, value) of every candidate, in the table's order; null where the scorer is undefined.

    Raises SecateurError for an unknown scorer.
    """
    if scorer not in SCORERS:
        raise SecateurError(f"scorer {scorer!r} is not known; allowed: {', '.join(SCORERS)}{nearest(scorer, SCORERS)}")
    value = SCORERS[scorer](length_penalty).cast(pl.Float64)
    return paired(statistics).select("question_id", "passage_id", value.alias("value"))
