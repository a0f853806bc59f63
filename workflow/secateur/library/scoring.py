"""Candidates of a question by how far each moves the answer."""

from collections.abc import Iterable
from functools import cache
from typing import Any

import polars as pl

from secateur.ecs.adhoc import rank
from secateur.ecs.reading.template import Passage, Question
from secateur.library.options import cache_folder, chosen
from secateur.models.reader import load

__all__ = ["score"]


@cache
def _model(lm: str) -> Any:
    return load(chosen("lm", lm), cache_folder())


def score(question: str, answer: str | None, candidates: Iterable[str], lm: str = "smollm2") -> pl.DataFrame:
    """Candidates, best first: rank, text, signed shift of the answer's log-probability (nats), and other scores.

    Without an answer, candidates are ranked by `pmi_q`, the query likelihood. lm: an option of conf/lm. Source: Entropic
    Context Shaping, equation 3. Raises SecateurError for an empty question, and for no candidate.
    """
    passages = (Passage(str(n), text, None, None) for n, text in enumerate(candidates))
    ranked = rank(_model(lm), chosen("ecs", "default"), Question("asked", question, answer), passages)
    return ranked.rename({"passage_id": "candidate"}).with_columns(pl.col("candidate").cast(pl.Int64))
