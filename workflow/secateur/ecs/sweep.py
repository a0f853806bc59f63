"""The table of statistics: every question with every candidate of its group, swept in blocks of bounded memory.

A block is so many questions of a group and so many of its passages. Its rows are cached under all they depend on, so a
killed job resumes with the first block it has not finished.
"""

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl

from secateur.cache import RequestCache, digest
from secateur.ecs.engine import Reading, read
from secateur.ecs.statistics import of_base, of_pair
from secateur.ecs.template import Passage, Question, answer_text, passage_line, prompt
from secateur.errors import SecateurError
from secateur.models.causal import CausalLM
from secateur.models.encoding import Encoded
from secateur.tables import TABLES

__all__ = ["Base", "base_readings", "encode", "estimate", "frame_of", "pair_rows", "statistics"]

Base = list[tuple[Encoded, Reading]]  # one of each question
LOG = logging.getLogger(__name__)


def encode(
    lm: CausalLM, cfg, questions: Sequence[Question], shown: Sequence[Sequence[Passage]], answered: bool = True
) -> list[Encoded]:
    """Each question with the passages shown to it, and its answer where it is known and wanted."""
    texts = [prompt(q, passages, cfg.layout) for q, passages in zip(questions, shown, strict=True)]
    answers = [answer_text(q) if answered else "" for q in questions]
    names = [f"question {q.id}" for q in questions]
    return lm.encoder.encode([text for text, _ in texts], answers, [span for _, span in texts], names)


def base_readings(lm: CausalLM, cfg, questions: Sequence[Question], context: Sequence[Passage] = ()) -> Base:
    """What the model says of each question without a candidate: under the context C alone."""
    sequences = encode(lm, cfg, questions, [context] * len(questions))
    readings = dict(read(lm, sequences, [0] * len(sequences), cfg.horizon))
    return [(one, readings[n]) for n, one in enumerate(sequences)]


def pair_rows(
    lm: CausalLM,
    cfg,
    questions: Sequence[Question],
    passages: Sequence[Passage],
    pairs: Sequence[tuple[int, int]],
    base: Base,
    context: Sequence[Passage] = (),
) -> list[dict[str, Any]]:
    """Statistics of pairs (question, passage, by place), in their order, for candidates that are added to C."""
    sequences = encode(lm, cfg, [questions[q] for q, _ in pairs], [[*context, passages[p]] for _, p in pairs])
    by_passage = cfg.layout == "passage_first" and len(questions) > 1
    families = [p if by_passage else q for q, p in pairs]
    lengths = lm.encoder.count([p.text.strip() for p in passages])
    found: list[dict[str, Any]] = [{}] * len(pairs)
    for n, reading in read(lm, sequences, families, cfg.horizon):
        q, p = pairs[n]
        ids = {"question_id": questions[q].id, "passage_id": passages[p].id, "tokens": lengths[p]}
        found[n] = ids | of_pair(sequences[n], reading, *base[q], cfg.top_k, cfg.epsilon)
    return found


def _base_rows(questions: Sequence[Question], base: Base) -> list[dict[str, Any]]:
    return [
        {"question_id": q.id, "passage_id": None, "tokens": 0} | of_base(one, reading)
        for q, (one, reading) in zip(questions, base, strict=True)
    ]


def frame_of(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Rows as the table `statistics`, with nulls where a column was not asked for."""
    empty = TABLES["statistics"].empty()
    return pl.DataFrame([{c: row.get(c) for c in empty.columns} for row in rows], schema=empty.schema)


def statistics(
    lm: CausalLM,
    questions: pl.DataFrame,
    passages: pl.DataFrame,
    cfg,
    pool: pl.DataFrame | None = None,
    cache: Path | None = None,
    log: logging.Logger = LOG,
) -> Iterator[pl.DataFrame]:
    """The table `statistics` in pieces: for each question a base row, and a row for each candidate.

    questions: question_id, group_id, text, answer; passages: passage_id, group_id, text, speaker, date; pool:
    question_id, passage_id, all passages of the group where there is none. cfg: an `ecs` option.
    Raises SecateurError for an empty question and for a question without candidates.
    """
    _check(questions, passages, pool)
    known = RequestCache(cache / "statistics") if cache else None
    watch = _Watch(*estimate(lm, questions, passages, pool, cfg), log)
    for asked, blocks in _sweeps(questions, passages, pool, cfg):
        base: Base = []

        def bases(asked=asked, base=base) -> Base:
            if not base:
                base.extend(base_readings(lm, cfg, asked))
            return base

        key = (lm.identity, asdict(cfg), [asdict(q) for q in asked])
        yield frame_of(_cached(known, (*key, "base"), lambda asked=asked, bases=bases: _base_rows(asked, bases())))
        for own, pairs in blocks:
            part = (*key, [(p.id, passage_line(p), p.text) for p in own], pairs)
            rows = _cached(
                known, part, lambda a=asked, o=own, p=pairs, b=bases: watch(p, pair_rows, lm, cfg, a, o, p, b())
            )
            yield frame_of(rows)


def _cached(known: RequestCache | None, key: Sequence[Any], make) -> list[dict[str, Any]]:
    if known is None:
        return make()
    name = digest(*key)
    rows = known.get(name)
    if rows is None:
        rows = make()
        known.put(name, rows)
    return rows


def _check(questions: pl.DataFrame, passages: pl.DataFrame, pool: pl.DataFrame | None) -> None:
    empty = questions.filter(pl.col("text").str.strip_chars().str.len_chars() == 0)["question_id"].to_list()
    if empty:
        raise SecateurError(f"question {empty[0]}: its text is empty. Fix: give it a text, or leave it out.")
    on = ("question_id", pool) if pool is not None else ("group_id", passages)
    alone = questions.join(on[1], on=on[0], how="anti")["question_id"].to_list()
    if alone:
        raise SecateurError(
            f"{len(alone)} questions have no candidate (e.g. {alone[0]}). "
            "Fix: passages of their group, or rows in the pool; or leave them out."
        )


def _people(frame: pl.DataFrame) -> list[Passage]:
    return [Passage(*row) for row in frame.select("passage_id", "text", "speaker", "date").iter_rows()]


def _parts(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def _sweeps(questions, passages, pool, cfg) -> Iterator[tuple[list[Question], Iterator]]:
    """(questions, blocks of (passages, pairs of places)), group by group, in the order given."""
    allowed = (
        None if pool is None else {q: set(p) for q, p in pool.group_by("question_id").agg("passage_id").iter_rows()}
    )
    by_group = passages.partition_by("group_id", as_dict=True, maintain_order=True)
    for (group,), rows in questions.partition_by("group_id", as_dict=True, maintain_order=True).items():
        own = _people(by_group[(group,)])
        everyone = [Question(*row) for row in rows.select("question_id", "text", "answer").iter_rows()]
        for asked in _parts(everyone, cfg.questions):
            yield asked, _blocks(asked, own, allowed, cfg.passages)


def _blocks(asked, own, allowed, size: int) -> Iterator[tuple[list[Passage], list[tuple[int, int]]]]:
    if allowed is not None:
        wanted = set().union(*(allowed[q.id] for q in asked))
        own = [p for p in own if p.id in wanted]
    for part in _parts(own, size):
        pairs = [
            (q, p)
            for p, passage in enumerate(part)
            for q, question in enumerate(asked)
            if allowed is None or passage.id in allowed[question.id]
        ]
        yield part, pairs


def estimate(lm: CausalLM, questions, passages, pool, cfg) -> tuple[int, int]:
    """(pairs, tokens to compute, about): what a sweep will cost, from a look at the texts alone."""
    pairs = tokens = 0
    for asked, blocks in _sweeps(questions, passages, pool, cfg):
        alone = encode(lm, cfg, asked, [()] * len(asked))
        own = sum(len(one.read) for one in alone) / len(alone)
        for part, wanted in blocks:
            shown = sum(lm.encoder.count([passage_line(p) for p in part]))
            if cfg.layout == "question_first":
                shown = shown / len(part) * len(wanted)
            pairs, tokens = pairs + len(wanted), tokens + shown + own * len(wanted)
    return pairs, round(tokens)


class _Watch:
    """Says what a sweep will cost: before it starts, and in time once its first block is done."""

    def __init__(self, pairs: int, tokens: int, log: logging.Logger) -> None:
        self.pairs, self.log, self.said = pairs, log, False
        log.info("%d pairs of question and candidate, about %d tokens to read", pairs, tokens)

    def __call__(self, wanted: Sequence[Any], call, *args) -> list[dict[str, Any]]:
        started = time.process_time()
        rows = call(*args)
        if not self.said:
            rate = (time.process_time() - started) / len(wanted)
            self.log.info("%.4f CPU seconds a pair; about %.0f for all that is not cached", rate, rate * self.pairs)
            self.said = True
        return rows
