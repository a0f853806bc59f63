"""Query likelihood as pointwise mutual information of question and candidate: log p(q | C,u) - log p(q | C).

It ranks as UPR does (Sachan et al., EMNLP 2022) and LongLLMLingua (Jiang et al., 2023); it is none of ECS's scores.
"""

import polars as pl

from secateur.config.plugins import NoSettings as Settings

__all__ = ["Settings", "score"]


def score(settings: Settings) -> pl.Expr:
    """Nats."""
    return pl.col("question_logprob") - pl.col("base_question_logprob")
