"""Candidates of a question by how far each moves the answer."""

from collections.abc import Iterable
from functools import cache
from typing import Any

import polars as pl

from secateur.ecs.adhoc import rank
from secateur.ecs.reading.template import Passage, Question
from secateur.library.arguments import as_texts, check, is_text, reported
from secateur.library.options import cache_folder, chosen
from secateur.models.reader import load

__all__ = ["score"]


@cache
def _model(lm: str) -> Any:
    return load(chosen("lm", lm), cache_folder())


@reported()
def score(question: str, answer: str | None, candidates: Iterable[str], lm: str = "smollm2") -> pl.DataFrame:
    """Candidates, best first: rank, place in the input (`candidate`), start of the text, signed shift and other scores (nats).

    Without an answer, candidates are ranked by `pmi_q`, the query likelihood, and columns that need an answer are left out.
    lm: an option of conf/lm. Source: Entropic Context Shaping, equation 2. Raises SecateurError for an empty question, for no
    candidate, and for what is no text.
    """
    example = "score('Who bought the mill?', 'Alder Ltd', ['Alder Ltd bought it.'])"
    check(is_text(question) and question.strip() != "", "question", question, "a text with words", example)
    check(answer is None or is_text(answer), "answer", answer, "a text, or None", example)
    check(is_text(lm) and lm != "", "lm", lm, "an option of conf/lm", "lm='smollm2'")
    texts = as_texts("candidates", candidates, "a list of texts", example)
    check(len(texts) > 0, "candidates", candidates, "a list of one text or more", example)
    passages = (Passage(str(n), text, None, None) for n, text in enumerate(texts))
    ranked = rank(_model(lm), chosen("ecs", "default"), Question("asked", question, answer), passages)
    return ranked.rename({"passage_id": "candidate"}).with_columns(pl.col("candidate").cast(pl.Int64))
