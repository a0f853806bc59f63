"""Compute the table `statistics`: every question with every candidate of its group, in blocks of bounded memory.

A block is `cfg.questions` questions of a group with `cfg.passages` of its passages. Its rows are cached by everything they
depend on, so that a killed job resumes at the first unfinished block.
"""

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from secateur.config.code import plugin_digest
from secateur.core.cache import RequestCache, digest
from secateur.core.errors import SecateurError, nearest
from secateur.core.tables.catalog import TABLES
from secateur.ecs.columns import PROBES, check_backend
from secateur.ecs.reading.decode import generate, greedily
from secateur.ecs.reading.judge import JUDGES, judge, prompt_form
from secateur.ecs.reading.pairs import Base, Pairs, base_readings, base_rows, encode, pair_rows
from secateur.ecs.reading.rivals import rival_share
from secateur.ecs.reading.template import Passage, Question, passage_line
from secateur.ecs.reading.trajectory import along_base, along_context, prefilled_prompts
from secateur.models.causal import CausalLM
from secateur.models.served import Served

__all__ = ["estimate", "statistics", "statistics_frame"]

TRAJECTORIES = CONTEXT, BASE = "trajectory_ctx", "trajectory_base"  # probes that continue a pair's prompt
SETTINGS = ("layout", "horizon", "top_k", "epsilon")  # settings that a row depends on
BATCH = 64  # pairs whose prompts are held at once while probes continue them: some 2 MB each with SmolLM2
LOG = logging.getLogger(__name__)


def statistics_frame(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Rows as the table `statistics`, with null for missing columns."""
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
    """Yield parts of the table `statistics`: a base row for each question, and a row for each candidate.

    Args:
        questions: question_id, group_id, text, answer.
        passages: passage_id, group_id, text, speaker, date.
        cfg: an `ecs` option.
        pool: question_id, passage_id of the candidates; None: all passages of a question's group.
        probes: columns of PROBES to add by additional passes. If the pool has a column `probed`, only for its true rows.

    Raises SecateurError for an empty question, a question without candidates, and a probe that is unknown or not
    available on the model's backend.
    """
    _check(questions, passages, pool, probes)
    check_backend(lm, cfg, {name: [name] for name in probes})
    store = RequestCache(cache / "statistics") if cache else None
    probed = _probed_pairs(pool)
    progress = _Progress(*estimate(lm, questions, passages, pool, cfg), isinstance(lm, Served), log)
    for batch, blocks in _blocks(questions, passages, pool, cfg):
        reader = _Reader(lm, cfg, batch)
        key = (
            plugin_digest(__name__),
            lm.identity,
            lm.pack,
            *(getattr(cfg, name) for name in SETTINGS),
            [asdict(q) for q in batch],
        )
        yield statistics_frame(_cached(store, (*key, "base"), reader.base_rows))
        pending = _Pending()
        for shown, pairs in blocks:
            rows = _cached(store, (*key, _identified(shown), pairs), progress, pairs, reader.pair_rows, shown, pairs)
            places = [n for n, (q, p) in enumerate(pairs) if probed is None or (batch[q].id, shown[p].id) in probed]
            pending.add(rows, shown, pairs, places if probes else [])
            if not 0 < len(pending.pairs) < BATCH:
                yield _with_probes(store, key, reader, probes, pending)
                pending = _Pending()
        yield _with_probes(store, key, reader, probes, pending)


class _Pending:
    """Rows of consecutive blocks that wait for probes, since probing a few pairs at a time costs several times as much."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.probed: list[int] = []  # places of rows
        self.passages: list[Passage] = []
        self.pairs: list[tuple[int, int]] = []

    def add(self, rows, passages: Sequence[Passage], pairs: Pairs, probed: Sequence[int]) -> None:
        """Add the rows of a block; probed: places of the pairs to probe."""
        used = sorted({pairs[n][1] for n in probed})
        place = {p: len(self.passages) + n for n, p in enumerate(used)}
        self.probed += [len(self.rows) + n for n in probed]
        self.pairs += [(pairs[n][0], place[pairs[n][1]]) for n in probed]
        self.passages += [passages[p] for p in used]
        self.rows += rows


def _with_probes(
    store: RequestCache | None, key: Sequence[Any], reader: "_Reader", probes, pending: _Pending
) -> pl.DataFrame:
    """The pending rows with the columns of the probes."""
    for names in _grouped(probes) if pending.pairs else ():
        form = prompt_form(reader.lm) if names[0] in JUDGES else ()
        probe_key = (*key, _identified(pending.passages), pending.pairs, *names, *form)
        values = _cached(store, probe_key, reader.probe, names, pending.passages, pending.pairs)
        for n, value in zip(pending.probed, values, strict=True):
            pending.rows[n] = pending.rows[n] | value
    return statistics_frame(pending.rows)


def _identified(passages: Sequence[Passage]) -> list[tuple[str, str, str]]:
    """Everything of some passages that their rows depend on."""
    return [(p.id, passage_line(p), p.text) for p in passages]


class _Reader:
    """Reads some questions of a group; their base is read once for all candidates."""

    def __init__(self, lm: CausalLM | Served, cfg, questions: Sequence[Question]) -> None:
        self.lm, self.cfg, self.questions = lm, cfg, questions

    @cached_property
    def base(self) -> Base:
        """The questions without a candidate; read only if some block is not cached."""
        return base_readings(self.lm, self.cfg, self.questions)

    def base_rows(self) -> list[dict[str, Any]]:
        """The base rows of the questions."""
        return base_rows(self.questions, self.base)

    def pair_rows(self, passages: Sequence[Passage], pairs: Pairs) -> list[dict[str, Any]]:
        """The rows of some pairs, without probes."""
        return pair_rows(self.lm, self.cfg, self.questions, passages, pairs, self.base)

    def probe(self, names: Sequence[str], passages: Sequence[Passage], pairs: Pairs) -> list[dict[str, float | None]]:
        """The columns of some probes. Of a block's many questions, only the few of the pairs are read."""
        used = sorted({q for q, _ in pairs})
        questions = [self.questions[q] for q in used]
        place = {q: n for n, q in enumerate(used)}
        local = [(place[q], p) for q, p in pairs]
        if names[0] in JUDGES:
            return judge(self.lm, names, questions, passages, local)
        if names[0] == "rival_share":
            shares = rival_share(self.lm, self.cfg, questions, passages, local)
            return [{"rival_share": share} for share in shares]
        return self._trajectories(names, questions, passages, local)

    def _trajectories(
        self, names: Sequence[str], questions: Sequence[Question], passages: Sequence[Passage], pairs: Pairs
    ) -> list[dict[str, float | None]]:
        """The columns of probes that continue the pairs' prompts."""
        lm, cfg, rows = self.lm, self.cfg, []
        base = encode(lm, cfg, questions, [()] * len(questions), answered=False)
        answers = generate(lm, [prompt.ids for prompt in base], cfg.horizon, greedily) if BASE in names else []
        for part in _slices(pairs, BATCH):
            prompts = prefilled_prompts(lm, cfg, questions, passages, part)
            columns = {}
            if CONTEXT in names:
                columns[CONTEXT] = along_context(lm, cfg, base, prompts)
            if BASE in names:
                columns[BASE] = along_base(lm, cfg, answers, prompts)
            rows += [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return rows


def _grouped(probes: Sequence[str]) -> list[list[str]]:
    """The probes, grouped by what they read of a pair: judges share its question, trajectories its prompt."""
    judges = [name for name in probes if name in JUDGES]
    trajectories = [name for name in probes if name in TRAJECTORIES]
    others = [[name] for name in probes if name not in (*judges, *trajectories)]
    return [names for names in (judges, trajectories, *others) if names]


def _cached(store: RequestCache | None, key: Sequence[Any], compute: Callable[..., list], *args: Any) -> list:
    """The rows stored under a key, else computed and stored."""
    name = digest(*key)
    rows = store.get(name) if store else None
    if rows is None:
        rows = compute(*args)
        if store:
            store.put(name, rows)
    return rows


def _check(questions: pl.DataFrame, passages: pl.DataFrame, pool: pl.DataFrame | None, probes) -> None:
    for name in probes:
        if name not in PROBES:
            raise SecateurError(f"probe {name!r} is not known; allowed: {', '.join(PROBES)}{nearest(name, PROBES)}")
    empty = questions.filter(pl.col("text").str.strip_chars().str.len_chars() == 0)["question_id"].to_list()
    if empty:
        raise SecateurError(f"question {empty[0]}: its text is empty. Fix: give it a text, or leave it out.")
    if pool is not None:
        unknown = pool.join(passages, on="passage_id", how="anti")["passage_id"].to_list()
        if unknown:
            raise SecateurError(
                f"pool: {len(unknown)} rows name no passage (e.g. {unknown[0]}). Fix: a pool of these passages."
            )
    key, candidates = ("question_id", pool) if pool is not None else ("group_id", passages)
    without = questions.join(candidates, on=key, how="anti")["question_id"].to_list()
    if without:
        raise SecateurError(
            f"{len(without)} questions have no candidate (e.g. {without[0]}). "
            "Fix: passages of their group, or rows in the pool; or leave them out."
        )


def _probed_pairs(pool: pl.DataFrame | None) -> set[tuple[str, str]] | None:
    """The pairs that get the probes; None: all."""
    if pool is None or "probed" not in pool.columns:
        return None
    return set(pool.filter("probed").select("question_id", "passage_id").iter_rows())


def _slices(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def _blocks(questions, passages, pool, cfg) -> Iterator[tuple[list[Question], Iterator]]:
    """Yield (questions, blocks of (passages, pairs)), group by group, in the order of the tables."""
    allowed = (
        None if pool is None else {q: set(p) for q, p in pool.group_by("question_id").agg("passage_id").iter_rows()}
    )
    by_group = passages.partition_by("group_id", as_dict=True, maintain_order=True)
    for (group,), rows in questions.partition_by("group_id", as_dict=True, maintain_order=True).items():
        columns = by_group[(group,)].select("passage_id", "text", "speaker", "date")
        candidates = [Passage(*row) for row in columns.iter_rows()]
        in_group = [Question(*row) for row in rows.select("question_id", "text", "answer").iter_rows()]
        for batch in _slices(in_group, cfg.questions):
            yield batch, _passage_blocks(batch, candidates, allowed, cfg.passages)


def _passage_blocks(batch, candidates, allowed, size: int) -> Iterator[tuple[list[Passage], list[tuple[int, int]]]]:
    if allowed is not None:
        pooled = set().union(*(allowed[q.id] for q in batch))
        candidates = [p for p in candidates if p.id in pooled]
    for block in _slices(candidates, size):
        pairs = [
            (q, p)
            for p, passage in enumerate(block)
            for q, question in enumerate(batch)
            if allowed is None or passage.id in allowed[question.id]
        ]
        yield block, pairs


def estimate(lm: CausalLM | Served, questions, passages, pool, cfg) -> tuple[int, int]:
    """(pairs, tokens to compute) of `statistics`, estimated from the texts alone."""
    pairs = tokens = 0
    for batch, blocks in _blocks(questions, passages, pool, cfg):
        base = encode(lm, cfg, batch, [()] * len(batch))
        question_tokens = sum(len(sequence.read) for sequence in base) / len(base)
        for block, block_pairs in blocks:
            passage_tokens = sum(lm.encoder.count([passage_line(p) for p in block]))
            if cfg.layout == "question_first":
                passage_tokens = passage_tokens / len(block) * len(block_pairs)
            pairs += len(block_pairs)
            tokens += passage_tokens + question_tokens * len(block_pairs)
    return pairs, round(tokens)


class _Progress:
    """Logs the number of pairs and tokens at the start, and the time they will take after the first block."""

    def __init__(self, pairs: int, tokens: int, served: bool, log: logging.Logger) -> None:
        self.pairs, self.log, self.first = pairs, log, True
        self.clock, self.unit = (time.perf_counter, "seconds") if served else (time.process_time, "CPU seconds")
        log.info("%d pairs of question and candidate, about %d tokens to read", pairs, tokens)

    def __call__(self, pairs: Sequence[Any], compute: Callable[..., list], *args: Any) -> list[dict[str, Any]]:
        started = self.clock()
        rows = compute(*args)
        if self.first:
            rate = (self.clock() - started) / len(pairs)
            self.log.info(
                "%.4f %s a pair; about %.0f for all pairs that are not cached", rate, self.unit, rate * self.pairs
            )
            self.first = False
        return rows
