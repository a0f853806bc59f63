"""Rerank passages by query likelihood: those move up that make the question more probable.

A passage is read alone (UPR, Sachan et al. 2022), or after the passages chosen before it, as in ECS's algorithm 1.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import polars as pl

from secateur.config.code import plugin_digest
from secateur.core.cache import RequestCache, digest
from secateur.ecs.reading.independent import SHAPE, read_independently
from secateur.ecs.reading.pairs import encode
from secateur.ecs.reading.template import Passage, Question, passage_line
from secateur.models.causal import CausalLM
from secateur.models.served import Served

__all__ = ["choose_in_turn", "pmi_q", "pool_of", "reranked"]

PAIR = ["question_id", "passage_id"]
BLOCK = 8  # questions of one batch, which a killed job repeats at most
LOG = logging.getLogger("secateur")
Request = tuple[Question, Sequence[Passage], Sequence[Passage]]  # question, context C, candidates


def pool_of(rankings: pl.DataFrame, top: int) -> pl.DataFrame:
    """(question_id, passage_id) of the passages in the first `top` rows of each question, each once: edges share them."""
    return rankings.filter(pl.col("rank") < top).select(PAIR).unique(maintain_order=True)


def pmi_q(
    lm: CausalLM | Served,
    questions: pl.DataFrame,
    passages: pl.DataFrame,
    cfg,
    pool: pl.DataFrame,
    cache: Path,
    log: logging.Logger,
    chosen: Mapping[str, Sequence[str]] | None = None,
) -> pl.DataFrame:
    """(question_id, passage_id, value) of the pairs of a pool, in its order: log p(q | C, u) - log p(q | C), in nats.

    A value depends on its pair and C alone, so that all rankings and weights share the values under `cache`: a file for
    each question and C, with a value by digest of the passage.

    questions, passages: columns as for `statistics`. chosen: question id -> ids of the passages C before each candidate.
    """
    store = RequestCache(cache / "pmi_q")
    candidates = {
        qid: part["passage_id"].to_list() for (qid,), part in pool.partition_by("question_id", as_dict=True).items()
    }
    before = {qid: (chosen or {}).get(qid, ()) for qid in candidates}
    needed = pl.Series([*pool["passage_id"], *(p for context in before.values() for p in context)], dtype=pl.String)
    needed_passages = passages.filter(pl.col("passage_id").is_in(needed.unique().to_list()))
    by_id = {
        row[0]: Passage(*row) for row in needed_passages.select("passage_id", "text", "speaker", "date").iter_rows()
    }
    pooled = questions.join(pool, on="question_id", how="semi", maintain_order="left").select("question_id", "text")
    digests = {passage_id: digest(passage_line(passage)) for passage_id, passage in by_id.items()}
    keys = {
        qid: digest(plugin_digest(__name__), lm.identity, SHAPE, cfg.layout, text, *(digests[p] for p in before[qid]))
        for qid, text in pooled.iter_rows()
    }
    values = {qid: store.get(key) or {} for qid, key in keys.items()}
    missing = [
        (
            Question(qid, text),
            [by_id[p] for p in before[qid]],
            {digests[p]: by_id[p] for p in candidates[qid] if digests[p] not in values[qid]},
        )
        for qid, text in pooled.iter_rows()
    ]
    missing = [request for request in missing if request[2]]
    for start in range(0, len(missing), BLOCK):
        block = missing[start : start + BLOCK]
        requests = [(question, context, [*unread.values()]) for question, context, unread in block]
        for (question, _, unread), gains in zip(block, _gains(lm, cfg, requests), strict=True):
            values[question.id] |= zip(unread, gains, strict=True)
            # Rankings of either order run side by side: keep the values that another job has stored meanwhile.
            store.put(keys[question.id], (store.get(keys[question.id]) or {}) | values[question.id])
        log.info("read the passages of %d of %d questions", start + len(block), len(missing))
    column = [values[qid][digests[p]] for qid, p in pool.select(PAIR).iter_rows()]
    return pool.select(*PAIR, value=pl.Series(column, dtype=pl.Float64))


def _gains(lm: CausalLM | Served, cfg, requests: Sequence[Request]) -> list[list[float]]:
    """log p(q | C, u) - log p(q | C) of each candidate of each request."""
    shown = [
        (q, [*context, *added]) for q, context, candidates in requests for added in ([], *([p] for p in candidates))
    ]
    sequences = encode(lm, cfg, [question for question, _ in shown], [texts for _, texts in shown], answered=False)
    if beyond := sum(sequence.cut for sequence in sequences):
        LOG.warning("%d tokens of passages did not fit the reader's window and were cut", beyond)
    ends = [sequence.asked[1] for sequence in sequences]  # tokens after the question change nothing
    cut = [replace(sequence, ids=sequence.ids[:end], start=end) for sequence, end in zip(sequences, ends, strict=True)]
    readings = dict(read_independently(lm, cut, 1))
    logprobs = iter([float(readings[n].asked.double().sum()) for n in range(len(readings))])
    gains = []
    for *_, candidates in requests:
        prior = next(logprobs)
        gains.append([logprob - prior for logprob in islice(logprobs, len(candidates))])
    return gains


def reranked(rankings: pl.DataFrame, pmi_q: pl.DataFrame, weight: float) -> pl.DataFrame:
    """The table `rankings` with weight x z(pmi_q) added to the scores of the passages that were read.

    z is over a question's passages that were read, minus its minimum, so that none of them falls behind a passage that
    was not read. pmi_q: question_id, passage_id, value; a pair once.
    """
    value = pl.col("value")
    z = (value - value.min()) / (value.std(ddof=0) + 1e-9)  # a constant pmi_q changes nothing
    gain = pmi_q.with_columns(gain=z.over("question_id")).select(*PAIR, "gain")
    with_gain = rankings.join(gain, on=PAIR, how="left", maintain_order="left")
    score = (pl.col("value") + weight * pl.col("gain").fill_null(0)).cast(pl.Float32)
    return _ranked(with_gain.with_columns(value=score)).select(rankings.columns)


def choose_in_turn(
    rankings: pl.DataFrame, pool: pl.DataFrame, steps: int, weight: float, read: Callable[..., pl.DataFrame]
) -> pl.DataFrame:
    """The table `rankings` after passages were chosen one by one (ECS, algorithm 1).

    Each step but the last chooses the best passage by score and gain; the remaining ones of the pool are read again after
    those chosen. The last step orders the rest. With one step this is `reranked`.

    read: (pairs, question id -> chosen passage ids) -> question_id, passage_id, value.
    """
    chosen: dict[str, list[str]] = {qid: [] for qid in pool["question_id"].unique(maintain_order=True)}
    remaining = pool
    for _ in range(steps - 1):
        ordered = reranked(rankings, read(remaining, chosen), weight)
        best = ordered.join(remaining, on=PAIR, how="semi", maintain_order="left").unique("question_id", keep="first")
        for question, passage in best.select(PAIR).iter_rows():
            chosen[question].append(passage)
        remaining = remaining.join(best, on=PAIR, how="anti", maintain_order="left")
    ordered = reranked(rankings, read(remaining, chosen), weight)
    turns = [(qid, p, len(passages) - n) for qid, passages in chosen.items() for n, p in enumerate(passages)]
    schema = {"question_id": pl.String, "passage_id": pl.String, "turn": pl.Int32}
    with_turn = ordered.join(
        pl.DataFrame(turns, schema=schema, orient="row"), on=PAIR, how="left", maintain_order="left"
    )
    with_turn = with_turn.sort(
        "question_id", "scorer", "turn", "rank", descending=[False, False, True, False], nulls_last=True
    ).with_columns(rank=pl.int_range(pl.len(), dtype=pl.Int32).over("question_id", "scorer"))
    highest = (
        pl.col("value").max().over("question_id", "scorer")
    )  # where a turn more makes no other float32, ranks decide
    value = pl.when(pl.col("turn").is_null()).then("value").otherwise(highest + pl.col("turn")).cast(pl.Float32)
    return _ranked(with_turn.with_columns(value=value)).select(rankings.columns)


def _ranked(rankings: pl.DataFrame) -> pl.DataFrame:
    """Rankings with new ranks by value; ties keep their order."""
    best = rankings.sort("question_id", "scorer", "value", "rank", descending=[False, False, True, False])
    return best.with_columns(rank=pl.int_range(pl.len(), dtype=pl.Int32).over("question_id", "scorer"))
