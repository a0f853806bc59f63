"""pmi_q of pairs of a question and a passage, each read once: the tracks and weights of a retriever share them."""

import logging
from pathlib import Path

import polars as pl

from secateur.cache import RequestCache, digest
from secateur.ecs.scorers import score
from secateur.ecs.sweep import statistics
from secateur.ecs.template import Passage, passage_line
from secateur.models.causal import CausalLM

__all__ = ["pmi_q"]

PAIR = ["question_id", "passage_id"]


def pmi_q(
    lm: CausalLM,
    questions: pl.DataFrame,
    passages: pl.DataFrame,
    cfg,
    pool: pl.DataFrame,
    cache: Path,
    log: logging.Logger,
) -> pl.DataFrame:
    """(question_id, passage_id, value) of the pairs of a pool, in its order; tables as for `statistics`.

    What was read before lies under `cache` by what was read: a file for each question, a digest for each passage.
    """
    known = RequestCache(cache / "pmi_q")
    own = passages.join(pool, on="passage_id", how="semi").select("passage_id", "text", "speaker", "date")
    line = {row[0]: digest(passage_line(Passage(*row))) for row in own.iter_rows()}
    asked = questions.join(pool, on="question_id", how="semi", maintain_order="left")
    keys = {qid: digest(lm.identity, cfg.layout, text) for qid, text in asked.select("question_id", "text").iter_rows()}
    read = {qid: known.get(key) or {} for qid, key in keys.items()}
    fresh = [line[p] not in read[q] for q, p in pool.select(PAIR).iter_rows()]
    if any(fresh):
        missing = pool.filter(pl.Series(fresh))
        left = asked.join(missing, on="question_id", how="semi", maintain_order="left")
        found = score(pl.concat(statistics(lm, left, passages, cfg, missing, cache=cache, log=log)), "pmi_q")
        for qid, pid, value in found.select(*PAIR, "value").iter_rows():
            read[qid][line[pid]] = value
        for qid in left["question_id"]:
            known.put(keys[qid], read[qid])
    values = [read[q][line[p]] for q, p in pool.select(PAIR).iter_rows()]
    return pool.select(*PAIR, value=pl.Series(values, dtype=pl.Float64))
