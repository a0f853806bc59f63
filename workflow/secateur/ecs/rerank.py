"""Ranked passages read by a language model: those move up that make the question likelier (pmi_q)."""

import logging
from pathlib import Path

import polars as pl

from secateur.ecs.reading.sweep import statistics
from secateur.ecs.reading.template import Passage, passage_line
from secateur.ecs.scoring.scorers import score
from secateur.models.causal import CausalLM
from secateur.pipeline.cache import RequestCache, digest

__all__ = ["moved", "pmi_q"]

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

    A pair is read once: rankings of either order and any weight share what lies under `cache`, a file for each question
    and in it a digest for each passage. A killed reading goes on from the sweep's own blocks.
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


def moved(rankings: pl.DataFrame, pmi_q: pl.DataFrame, weight: float) -> pl.DataFrame:
    """The table `rankings` with weight x z(pmi_q) added to the scores of the passages that were read.

    pmi_q: question_id, passage_id, value. z is over a question's passages that were read and counted from its least, so
    that one that was read never falls behind one that was not.
    """
    value = pl.col("value")
    z = (value - value.min()) / (value.std(ddof=0) + 1e-9)  # a constant pmi_q moves nothing
    gain = pmi_q.with_columns(gain=z.over("question_id")).select("question_id", "passage_id", "gain")
    joined = rankings.join(gain, on=["question_id", "passage_id"], how="left", maintain_order="left")
    score = (pl.col("value") + weight * pl.col("gain").fill_null(0)).cast(pl.Float32)
    keys = ["question_id", "scorer", "value", "rank"]
    best = joined.with_columns(value=score).sort(keys, descending=[False, False, True, False])
    place = pl.int_range(pl.len(), dtype=pl.Int32).over("question_id", "scorer")
    return best.with_columns(rank=place).select(rankings.columns)
