"""The table of statistics: every question with every candidate of its group, swept in blocks of bounded memory.

A block is so many questions of a group and so many of its passages. Its rows are cached under all they depend on, so a
killed job resumes with the first block it has not finished.
"""

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from secateur.core.cache import RequestCache, digest
from secateur.core.errors import SecateurError, nearest
from secateur.core.tables.catalog import TABLES
from secateur.ecs import backends
from secateur.ecs.columns import PROBES
from secateur.ecs.reading.decode import follow, greedily
from secateur.ecs.reading.judge import JUDGES, judge
from secateur.ecs.reading.pairs import Base, Pairs, base_readings, base_rows, encode, pair_rows
from secateur.ecs.reading.rivals import rival_share
from secateur.ecs.reading.template import Passage, Question, passage_line
from secateur.ecs.reading.trajectory import along_base, along_context
from secateur.ecs.reading.trunk import trunk_of
from secateur.models.causal import CausalLM
from secateur.models.served import Served

__all__ = ["estimate", "frame_of", "statistics"]

GOING_ON = CONTEXT, BASE = "trajectory_ctx", "trajectory_base"  # from a pair's context
READ = ("layout", "horizon", "top_k", "epsilon")  # settings a row depends on
HELD = 64  # pairs whose contexts are held at once while probes go on from them: some 2 MB each with SmolLM2
LOG = logging.getLogger(__name__)


def frame_of(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Rows as the table `statistics`, with nulls where a column was not asked for."""
    empty = TABLES["statistics"].empty()
    return pl.DataFrame([{c: row.get(c) for c in empty.columns} for row in rows], schema=empty.schema)


def statistics(
    lm: CausalLM | Served,
    questions: pl.DataFrame,
    passages: pl.DataFrame,
    cfg,
    pool: pl.DataFrame | None = None,
    probes: Sequence[str] = (),
    cache: Path | None = None,
    log: logging.Logger = LOG,
) -> Iterator[pl.DataFrame]:
    """The table `statistics` in pieces: for each question a base row, and a row for each candidate.

    questions: question_id, group_id, text, answer; passages: passage_id, group_id, text, speaker, date; pool:
    question_id, passage_id, all passages of the group where there is none. cfg: an `ecs` option. probes: which of
    PROBES to add, each by passes of its own, for the rows that a column `probed` of the pool names, where it has one.
    Raises SecateurError for an empty question, a question without candidates, and a probe that is unknown or that the
    model's backend cannot give.
    """
    _check(questions, passages, pool, probes)
    backends.check(lm, cfg, {name: [name] for name in probes})
    known, probed = RequestCache(cache / "statistics") if cache else None, _probed(pool)
    watch = _Watch(*estimate(lm, questions, passages, pool, cfg), isinstance(lm, Served), log)
    for asked, blocks in _sweeps(questions, passages, pool, cfg):
        block = _Block(lm, cfg, asked)
        key = (lm.identity, lm.pack, *(getattr(cfg, name) for name in READ), [asdict(q) for q in asked])
        yield frame_of(_cached(known, (*key, "base"), block.alone))
        waiting = _Waiting()
        for own, pairs in blocks:
            part = (*key, _described(own), pairs)
            rows = _cached(known, part, watch, pairs, block.rows, own, pairs)
            these = [n for n, (q, p) in enumerate(pairs) if probed is None or (asked[q].id, own[p].id) in probed]
            waiting.add(rows, own, pairs, these if probes else [])
            if not 0 < len(waiting.pairs) < HELD:
                yield _filled(known, key, block, probes, waiting)
                waiting = _Waiting()
        yield _filled(known, key, block, probes, waiting)


class _Waiting:
    """Rows of some blocks of passages that wait for probes: of a few pairs at a time each costs several times as much."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.probed: list[int] = []  # places of rows
        self.passages: list[Passage] = []
        self.pairs: list[tuple[int, int]] = []

    def add(self, rows, own: Sequence[Passage], pairs: Pairs, these: Sequence[int]) -> None:
        """The rows of the pairs of a block, of which the probes read `these`."""
        used = sorted({pairs[n][1] for n in these})
        place = {p: len(self.passages) + n for n, p in enumerate(used)}
        self.probed += [len(self.rows) + n for n in these]
        self.pairs += [(pairs[n][0], place[pairs[n][1]]) for n in these]
        self.passages += [own[p] for p in used]
        self.rows += rows


def _filled(known: RequestCache | None, key: Sequence[Any], block: "_Block", probes, waiting: _Waiting) -> pl.DataFrame:
    """What waits, with the columns that the probes give."""
    for names in _together(probes) if waiting.pairs else ():
        own = (*key, _described(waiting.passages), waiting.pairs, *names)
        values = _cached(known, own, block.probe, names, waiting.passages, waiting.pairs)
        for n, value in zip(waiting.probed, values, strict=True):
            waiting.rows[n] = waiting.rows[n] | value
    return frame_of(waiting.rows)


def _described(passages: Sequence[Passage]) -> list[tuple[str, str, str]]:
    """All of some passages that their rows depend on."""
    return [(p.id, passage_line(p), p.text) for p in passages]


class _Block:
    """Some questions of a group, with what is computed once for all their candidates."""

    def __init__(self, lm: CausalLM | Served, cfg, asked: Sequence[Question]) -> None:
        self.lm, self.cfg, self.asked = lm, cfg, asked

    @cached_property
    def base(self) -> Base:
        """The questions without a candidate; read when the first block is not in the cache."""
        return base_readings(self.lm, self.cfg, self.asked)

    def alone(self) -> list[dict[str, Any]]:
        """The base rows."""
        return base_rows(self.asked, self.base)

    def rows(self, own: Sequence[Passage], pairs: Pairs) -> list[dict[str, Any]]:
        """The statistics that one pass gives."""
        return pair_rows(self.lm, self.cfg, self.asked, own, pairs, self.base)

    def probe(self, names: Sequence[str], own: Sequence[Passage], pairs: Pairs) -> list[dict[str, float | None]]:
        """Columns more. Only the questions of the pairs are read: a block has many, and few of them are probed."""
        used = sorted({q for q, _ in pairs})
        asked, place = [self.asked[q] for q in used], {q: n for n, q in enumerate(used)}
        pairs = [(place[q], p) for q, p in pairs]
        (name, *_) = names
        if name in JUDGES:
            return judge(self.lm, names, asked, own, pairs)
        if name == "rival_share":
            return [{name: value} for value in rival_share(self.lm, self.cfg, asked, own, pairs)]
        return self._going_on(names, asked, own, pairs)

    def _going_on(
        self, names: Sequence[str], asked: Sequence[Question], own: Sequence[Passage], pairs: Pairs
    ) -> list[dict[str, float | None]]:
        """Columns that are read on from the pairs' contexts."""
        lm, cfg, rows = self.lm, self.cfg, []
        alone = encode(lm, cfg, asked, [()] * len(asked), answered=False)
        paths = follow(lm, [one.ids for one in alone], cfg.horizon, greedily) if BASE in names else []
        for part in _parts(pairs, HELD):
            trunk = trunk_of(lm, cfg, asked, own, part)
            found = {}
            if CONTEXT in names:
                found[CONTEXT] = along_context(lm, cfg, alone, trunk)
            if BASE in names:
                found[BASE] = along_base(lm, cfg, paths, trunk)
            rows += [dict(zip(found, row, strict=True)) for row in zip(*found.values(), strict=True)]
        return rows


def _together(probes: Sequence[str]) -> list[list[str]]:
    """The probes, those in one list that read the same of a pair: judges its question, others its context."""
    judges = [name for name in probes if name in JUDGES]
    going_on = [name for name in probes if name in GOING_ON]
    alone = [[name] for name in probes if name not in (*judges, *going_on)]
    return [names for names in (judges, going_on, *alone) if names]


def _cached(known: RequestCache | None, key: Sequence[Any], make: Callable[..., list], *args: Any) -> list:
    """What is stored under a key, else made and stored."""
    name = digest(*key)
    rows = known.get(name) if known else None
    if rows is None:
        rows = make(*args)
        if known:
            known.put(name, rows)
    return rows


def _check(questions: pl.DataFrame, passages: pl.DataFrame, pool: pl.DataFrame | None, probes) -> None:
    for name in probes:
        if name not in PROBES:
            raise SecateurError(f"probe {name!r} is not known; allowed: {', '.join(PROBES)}{nearest(name, PROBES)}")
    empty = questions.filter(pl.col("text").str.strip_chars().str.len_chars() == 0)["question_id"].to_list()
    if empty:
        raise SecateurError(f"question {empty[0]}: its text is empty. Fix: give it a text, or leave it out.")
    if pool is not None:
        lost = pool.join(passages, on="passage_id", how="anti")["passage_id"].to_list()
        if lost:
            raise SecateurError(
                f"pool: {len(lost)} rows name no passage (e.g. {lost[0]}). Fix: a pool of these passages."
            )
    on = ("question_id", pool) if pool is not None else ("group_id", passages)
    alone = questions.join(on[1], on=on[0], how="anti")["question_id"].to_list()
    if alone:
        raise SecateurError(
            f"{len(alone)} questions have no candidate (e.g. {alone[0]}). "
            "Fix: passages of their group, or rows in the pool; or leave them out."
        )


def _probed(pool: pl.DataFrame | None) -> set[tuple[str, str]] | None:
    """The pairs that get the probes; None for all."""
    if pool is None or "probed" not in pool.columns:
        return None
    return set(pool.filter("probed").select("question_id", "passage_id").iter_rows())


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


def estimate(lm: CausalLM | Served, questions, passages, pool, cfg) -> tuple[int, int]:
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

    def __init__(self, pairs: int, tokens: int, waits: bool, log: logging.Logger) -> None:
        self.pairs, self.log, self.said = pairs, log, False
        self.clock, self.unit = (time.perf_counter, "seconds") if waits else (time.process_time, "CPU seconds")
        log.info("%d pairs of question and candidate, about %d tokens to read", pairs, tokens)

    def __call__(self, wanted: Sequence[Any], call, *args) -> list[dict[str, Any]]:
        started = self.clock()
        rows = call(*args)
        if not self.said:
            rate, unit = (self.clock() - started) / len(wanted), self.unit
            self.log.info("%.4f %s a pair; about %.0f for all that is not cached", rate, unit, rate * self.pairs)
            self.said = True
        return rows
