"""Ranked passages read by a language model: those move up that make the question likelier (pmi_q)."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import polars as pl

from secateur.ecs.reading.engine import SHAPE, apart
from secateur.ecs.reading.pairs import encode
from secateur.ecs.reading.template import Passage, Question, passage_line
from secateur.models.causal import CausalLM
from secateur.models.served import Served
from secateur.pipeline.cache import RequestCache, digest

__all__ = ["moved", "pmi_q"]

PAIR = ["question_id", "passage_id"]
TOGETHER = 8  # questions read at once: a killed job repeats so many at most


def pmi_q(
    lm: CausalLM | Served,
    questions: pl.DataFrame,
    passages: pl.DataFrame,
    cfg,
    pool: pl.DataFrame,
    cache: Path,
    log: logging.Logger,
) -> pl.DataFrame:
    """(question_id, passage_id, value) of the pairs of a pool, in its order; tables as for `statistics`.

    A pair is read once: rankings of either order and any weight share what lies under `cache`, a file for each question
    and in it a digest for each passage. A value is that of its pair alone, whatever else was asked, and when.
    """
    known = RequestCache(cache / "pmi_q")
    wanted = {
        qid: part["passage_id"].to_list() for (qid,), part in pool.partition_by("question_id", as_dict=True).items()
    }
    own = passages.join(pool, on="passage_id", how="semi").select("passage_id", "text", "speaker", "date")
    shown = {row[0]: Passage(*row) for row in own.iter_rows()}
    asked = questions.join(pool, on="question_id", how="semi", maintain_order="left").select("question_id", "text")
    line = {passage: digest(passage_line(own)) for passage, own in shown.items()}
    keys = {qid: digest(lm.identity, SHAPE, cfg.layout, text) for qid, text in asked.iter_rows()}
    read = {qid: known.get(key) or {} for qid, key in keys.items()}
    missing = [
        (Question(qid, text), {line[p]: shown[p] for p in wanted[qid] if line[p] not in read[qid]})
        for qid, text in asked.iter_rows()
    ]
    missing = [(question, passages) for question, passages in missing if passages]
    for start in range(0, len(missing), TOGETHER):
        part = missing[start : start + TOGETHER]
        for (question, passages), gains in zip(
            part, _gains(lm, cfg, [(q, [*p.values()]) for q, p in part]), strict=True
        ):
            read[question.id] |= zip(passages, gains, strict=True)
            # With what another job has read meanwhile: rankings of either order run side by side.
            known.put(keys[question.id], (known.get(keys[question.id]) or {}) | read[question.id])
        log.info("passages of %d questions of %d were read again", start + len(part), len(missing))
    values = [read[q][line[p]] for q, p in pool.select(PAIR).iter_rows()]
    return pool.select(*PAIR, value=pl.Series(values, dtype=pl.Float64))


def _gains(lm: CausalLM | Served, cfg, asked: Sequence[tuple[Question, Sequence[Passage]]]) -> list[list[float]]:
    """log p(q | passage) - log p(q) of each passage of each question."""
    shown = [(question, one) for question, passages in asked for one in ([], *([p] for p in passages))]
    whole = encode(lm, cfg, [question for question, _ in shown], [one for _, one in shown], answered=False)
    ends = [one.asked[1] for one in whole]  # nothing after the question matters
    said = dict(
        apart(lm, [replace(one, ids=one.ids[:end], start=end) for one, end in zip(whole, ends, strict=True)], 1)
    )
    sums = iter([float(said[n].asked.double().sum()) for n in range(len(said))])
    return [[value - prior for value in islice(sums, len(own))] for _, own in asked for prior in islice(sums, 1)]


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
