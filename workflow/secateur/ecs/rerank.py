"""Ranked passages read by a language model: those move up that make the question likelier (pmi_q), each alone or given
those that were chosen before it (ECS, algorithm 1)."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import polars as pl

from secateur.core.cache import RequestCache, digest
from secateur.ecs.reading.engine import SHAPE, apart
from secateur.ecs.reading.pairs import encode
from secateur.ecs.reading.template import Passage, Question, passage_line
from secateur.models.causal import CausalLM
from secateur.models.served import Served

__all__ = ["chosen_in_turn", "moved", "pmi_q"]

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
    given: Mapping[str, Sequence[str]] | None = None,
) -> pl.DataFrame:
    """(question_id, passage_id, value) of the pairs of a pool, in its order; tables as for `statistics`. given: question ->
    passages C that stand before each candidate; its gain is then log p(q | C, passage) - log p(q | C).

    A pair is read once: rankings of either order and any weight share what lies under `cache`, a file for each question
    and in it a digest for each passage. A value is that of its pair alone, whatever else was asked, and when.
    """
    known = RequestCache(cache / "pmi_q")
    wanted = {
        qid: part["passage_id"].to_list() for (qid,), part in pool.partition_by("question_id", as_dict=True).items()
    }
    before = {qid: (given or {}).get(qid, ()) for qid in wanted}
    read_at_all = pl.Series([*pool["passage_id"], *(p for own in before.values() for p in own)], dtype=pl.String)
    own = passages.filter(pl.col("passage_id").is_in(read_at_all.unique().to_list()))
    shown = {row[0]: Passage(*row) for row in own.select("passage_id", "text", "speaker", "date").iter_rows()}
    asked = questions.join(pool, on="question_id", how="semi", maintain_order="left").select("question_id", "text")
    line = {passage: digest(passage_line(own)) for passage, own in shown.items()}
    keys = {
        qid: digest(lm.identity, SHAPE, cfg.layout, text, *(line[p] for p in before[qid]))
        for qid, text in asked.iter_rows()
    }
    read = {qid: known.get(key) or {} for qid, key in keys.items()}
    missing = [
        (
            Question(qid, text),
            [shown[p] for p in before[qid]],
            {line[p]: shown[p] for p in wanted[qid] if line[p] not in read[qid]},
        )
        for qid, text in asked.iter_rows()
    ]
    missing = [one for one in missing if one[2]]
    for start in range(0, len(missing), TOGETHER):
        part = missing[start : start + TOGETHER]
        asking = [(question, context, [*own.values()]) for question, context, own in part]
        for (question, _, passages), gains in zip(part, _gains(lm, cfg, asking), strict=True):
            read[question.id] |= zip(passages, gains, strict=True)
            # With what another job has read meanwhile: rankings of either order run side by side.
            known.put(keys[question.id], (known.get(keys[question.id]) or {}) | read[question.id])
        log.info("passages of %d questions of %d were read again", start + len(part), len(missing))
    values = [read[q][line[p]] for q, p in pool.select(PAIR).iter_rows()]
    return pool.select(*PAIR, value=pl.Series(values, dtype=pl.Float64))


def _gains(
    lm: CausalLM | Served, cfg, asked: Sequence[tuple[Question, Sequence[Passage], Sequence[Passage]]]
) -> list[list[float]]:
    """log p(q | C, passage) - log p(q | C) of each passage of each question. asked: question, C, passages."""
    shown = [(q, [*before, *one]) for q, before, passages in asked for one in ([], *([p] for p in passages))]
    whole = encode(lm, cfg, [question for question, _ in shown], [one for _, one in shown], answered=False)
    ends = [one.asked[1] for one in whole]  # nothing after the question matters
    said = dict(
        apart(lm, [replace(one, ids=one.ids[:end], start=end) for one, end in zip(whole, ends, strict=True)], 1)
    )
    sums = iter([float(said[n].asked.double().sum()) for n in range(len(said))])
    return [[value - prior for value in islice(sums, len(own))] for *_, own in asked for prior in islice(sums, 1)]


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
    return _placed(joined.with_columns(value=score)).select(rankings.columns)


def chosen_in_turn(
    rankings: pl.DataFrame, pool: pl.DataFrame, steps: int, weight: float, read: Callable[..., pl.DataFrame]
) -> pl.DataFrame:
    """The table `rankings` after `steps` readings. After each but the last the best passage by score and gain is put after
    those chosen before it, given which the others of the pool are read again; the last orders what is left.

    read: (pairs, chosen) -> question_id, passage_id, value. With one step it is the order that `moved` gives.
    """
    chosen: dict[str, list[str]] = {qid: [] for qid in pool["question_id"].unique(maintain_order=True)}
    left = pool
    for _ in range(steps - 1):
        ordered = moved(rankings, read(left, chosen), weight)
        best = ordered.join(left, on=PAIR, how="semi", maintain_order="left").unique("question_id", keep="first")
        for question, passage in best.select(PAIR).iter_rows():
            chosen[question].append(passage)
        left = left.join(best, on=PAIR, how="anti", maintain_order="left")
    ordered = moved(rankings, read(left, chosen), weight)
    turns = [(q, p, len(own) - n) for q, own in chosen.items() for n, p in enumerate(own)]
    first = pl.DataFrame(
        turns, schema={"question_id": pl.String, "passage_id": pl.String, "turn": pl.Int32}, orient="row"
    )
    joined = ordered.join(first, on=PAIR, how="left", maintain_order="left")
    highest = pl.col("value").max().over("question_id", "scorer")
    value = pl.when(pl.col("turn").is_null()).then("value").otherwise(highest + pl.col("turn")).cast(pl.Float32)
    return _placed(joined.with_columns(value=value)).select(rankings.columns)


def _placed(rankings: pl.DataFrame) -> pl.DataFrame:
    """Ranked anew by value, ties as they stood."""
    best = rankings.sort("question_id", "scorer", "value", "rank", descending=[False, False, True, False])
    return best.with_columns(rank=pl.int_range(pl.len(), dtype=pl.Int32).over("question_id", "scorer"))
