"""Sizes of the data that a job reads: what its CPU time is proportional to.

job        1 for every job
passages   passages of the corpus
documents  documents of the corpus
characters characters of these passages
unseen     the same for the first job of a rule on a corpus, which embeds them; 0 for later ones, which find them in the cache
bytes      bytes of the passages, in UTF-8
questions  questions of the data set
compared   pairs of a question and a passage of its group
rankings   questions times the scorers whose rankings a job reads: all of a list, or one
requeries  questions times the rankers of a list that ask again (`ASKS_AGAIN`), of the job that ranks with it
token_characters
           characters of these passages where a ranker of the list embeds their tokens (`EMBEDS_TOKENS`), which are kept nowhere
answered, gain, trained, grown
           questions that a language model reads in answers, answer gain, the policy and greedy selection
pairs      pairs of question and passage that a language model reads, of red herrings too
rivals     wrong answers from the words of these passages, each read with its pair (`rival_share`), of red herrings
probes     passes of the probes of ECS: probed pairs times probes
reread     questions times the passages of each that a reranker reads
variants   variants of the experiment
paired     pairs of its systems on the same data set, in the same order

A shard reads its share of each, and a job that joins the shards of its rule none. Sizes of data that is neither prepared nor in a file here are unknown.
"""

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from secateur.config.compose import local, option
from secateur.config.limits import unlimited
from secateur.config.plugins import rankers_that
from secateur.core import layout
from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import DAMAGED, read_table
from secateur.datasets import stages
from secateur.datasets.fetch import fetch
from secateur.datasets.loaders import reads_folder
from secateur.datasets.registry import load_registry
from secateur.ecs.reading.rivals import count_rivals
from secateur.ecs.scoring.null import QUARTILES
from secateur.ecs.scoring.score import columns
from secateur.ecs.selection.pool import max_pairs
from secateur.evaluation.subsets import answered, members, scored_questions
from secateur.planning.plan import Variant
from secateur.planning.sources import folder_files, listed_files

__all__ = ["READ", "SHARD", "Data", "Sizes", "joining", "pairs_of"]

Sizes = dict[str, float]
Texts = tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]  # passages, questions, evidence

READ = ("answered", "gain", "trained", "grown")  # counted in questions that a language model reads
LISTED = re.compile(r"/lexical/\w+\.([^/]+)/all/")  # a job that reads the rankings of all scorers of a list
RANKED = re.compile(r"/rankings/lexical/\w+\.([^/]+)/run\.json$")  # the job that ranks with a list
RERANKED = re.compile(r"/reranked/.+/([^/]+)/run\.json$")  # the option of a reranker
SHARD = re.compile(r"/\d+of(\d+)/")


def joining(records: Iterable[str]) -> set[str]:
    """The records of jobs that only join what the shards of their own rule made: their sizes are 0.

    >>> joining(["results/stem/codebook/a.b/0of2/run.json", "results/stem/codebook/a.b/run.json"])
    {'results/stem/codebook/a.b/run.json'}
    """
    records = set(records)
    return records & {SHARD.sub("/", record) for record in records if SHARD.search(record)}


def pairs_of(rows: Iterable[tuple[str, str, str | None]]) -> int:
    """The pairs of systems on the same data set in the same order. rows: data set, system, order.

    >>> pairs_of([("toy", "a", "blind"), ("toy", "b", "blind"), ("toy", "b", "blind"), ("toy", "c", "aware")])
    1
    """
    groups = Counter((dataset, order) for dataset, _, order in set(rows))
    return sum(count * (count - 1) // 2 for count in groups.values())


class Data:
    """Corpora and data sets, each read once.

    unprepared: (corpus, data set or None) whose tables in results/ are not current. Then the files that they are made from
    are read, as far as they are here: those of the user's folder, fetched ones, or the mirror's. conf: None for records,
    which count themselves what options limit.
    """

    def __init__(
        self,
        conf: Path | None = None,
        overrides: tuple[str, ...] = (),
        unprepared: Collection[tuple[str | None, str | None]] = (),
    ) -> None:
        self.conf, self.overrides, self.unprepared = conf, overrides, unprepared
        self.texts, self._sizes = cache(self._texts), cache(self._sizes_of)

    def sizes(self, record: str) -> Sizes | None:
        """Sizes of what a job reads, by the path of its record; None if unknown. A shard reads its share."""
        sizes = self._sizes(*layout.data_of(record)[:2])
        shard = SHARD.search(record)
        if sizes is None:
            return None
        if "questions" in sizes:
            each = {"rankings": self._scorers(record), "reread": self._depth(record)}
            sizes = (
                sizes | {name: sizes["questions"] * count for name, count in each.items()} | self._ranked(record, sizes)
            )
        return {name: size / int(shard[1]) if shard else size for name, size in sizes.items()} | {"job": 1}

    def _depth(self, record: str) -> int:
        """The passages of a question that a job's reranker reads; 0 for other jobs."""
        reranked = RERANKED.search(record)
        if self.conf is None or not reranked:
            return 0
        return option(self.conf, "reranker", reranked[1], self.overrides).spec.get("top", 0)

    def _scorers(self, record: str) -> int:
        listed = LISTED.search(record)
        if self.conf is None or not listed:
            return 1
        rankers = option(self.conf, "rankers", listed[1], self.overrides)
        return len(rankers.scorers) * (1 + len(rankers.suffixes))

    def _ranked(self, record: str, sizes: Sizes) -> Sizes:
        """What some rankers of a job's list embed besides the questions and the passages."""
        if self.conf is None or not (ranked := RANKED.search(record)):
            return {"requeries": 0, "token_characters": 0}
        scorers = option(self.conf, "rankers", ranked[1], self.overrides).scorers
        return {
            "requeries": sizes["questions"] * rankers_that("ASKS_AGAIN", scorers),
            "token_characters": sizes["characters"] * (rankers_that("EMBEDS_TOKENS", scorers) > 0),
        }

    def _sizes_of(self, corpus: str | None, dataset: str | None) -> Sizes | None:
        if corpus is None:
            return {"job": 1}
        if (texts := self.texts(corpus, dataset)) is None:
            return None
        passages, questions, evidence = texts
        text = passages["text"].str
        sizes = {"passages": passages.height, "documents": passages["doc_id"].n_unique()}
        sizes |= {"characters": text.len_chars().sum(), "bytes": text.len_bytes().sum()}
        if dataset is None:
            return sizes
        groups = passages.group_by("group_id").len()
        sizes |= {"questions": questions.height, "compared": questions.join(groups, on="group_id")["len"].sum()}
        return sizes | self._read(dataset, questions, evidence)

    def _read(self, name: str, questions: pl.DataFrame, evidence: pl.DataFrame) -> Sizes:
        """Questions of a data set that a language model reads."""
        if self.conf is None:
            return {}
        dataset = option(self.conf, "dataset", name, self.overrides)
        subsets = members(questions, evidence, {"types": {}, "first": dataset.first})
        grown = questions.filter(pl.col("type").is_in(list(dataset.grown)))["question_id"]
        return {
            "answered": answered(questions, dataset.split, dataset.answered).height,
            "gain": answered(questions, dataset.split, dataset.gain).height,
            "trained": sum(answered(questions, split, count).height for split, count in dataset.trained.items()),
            "grown": len(subsets[dataset.grown_of or "all"].intersection(grown)),
        }

    def _texts(self, corpus: str, dataset: str | None) -> Texts | None:
        """Passages, questions and evidence; no questions without a data set. None if they are not here."""
        try:
            if self.unprepared and not {(corpus, None), (corpus, dataset)}.isdisjoint(self.unprepared):
                with TemporaryDirectory() as folder:
                    return self._from_files(corpus, dataset, Path(folder))
            return self._from_tables(corpus, dataset)
        except (SecateurError, *DAMAGED):
            return None  # the stage that reads them reports all errors

    def _from_tables(self, corpus: str, dataset: str | None) -> Texts:
        options = {"corpus": corpus, "dataset": dataset or ""}
        passages = read_table(TABLES["passages"], Path(layout.passages(options)))
        return passages, *(
            read_table(TABLES[name], Path(layout.question_table(options, name))) if dataset else TABLES[name].empty()
            for name in ("questions", "evidence")
        )

    def _from_files(self, corpus: str, dataset: str | None, folder: Path) -> Texts:
        spec = option(self.conf, "corpus", corpus, self.overrides)
        paths = [*_here(self.conf, spec, "corpus", folder), *map(Path, spec.extra)]
        passages = stages.corpus(spec, paths).passages
        if dataset is None:
            return passages, TABLES["questions"].empty(), TABLES["evidence"].empty()
        asked = option(self.conf, "dataset", dataset, self.overrides)
        first = {"split": asked.split, "count": asked.limit} if asked.limit else None
        files, name = _here(self.conf, asked, "questions", folder), unlimited(dataset)[0]
        loaded = stages.questions(asked, files, name, passages, spec.documents is not None, first)
        return passages, loaded.questions, loaded.evidence

    def pairs(self, variants: Sequence[Variant]) -> dict[str, Sizes]:
        """Pairs and probes that a language model reads at most, by the record of the job; none if unknown."""
        read: dict[str, Sizes] = {}
        for variant in variants:
            if variant["family"] == "utility" and variant.study is None:
                ecs = option(self.conf, "ecs", variant["ecs"], self.overrides)
                counts = self._pairs(variant)
                records = [layout.beside(path, "run.json") for path in layout.statistics(variant.wildcards, ecs.shards)]
                read |= {path: {name: count / ecs.shards for name, count in counts.items()} for path in records}
            elif variant.study == "distractors" and (texts := self.texts(variant.corpus, variant.dataset)):
                record = layout.beside(layout.figures(variant.wildcards, variant.study), "run.json")
                read[record] = self._red_herrings(variant, texts)
        return read

    def _red_herrings(self, variant: Variant, texts: Texts) -> Sizes:
        """Random passages are taken to hold as many rivals as the passages of the question before."""
        passages, questions, _ = texts
        ecs = option(self.conf, "ecs", variant["ecs"], self.overrides)
        scores = option(self.conf, "rankers", "utility", self.overrides).scores  # those that check_red_herrings reads
        before = questions.with_columns(group_id=pl.concat([questions["group_id"].tail(1), questions["group_id"][:-1]]))
        in_group, others = (rows.join(passages, on="group_id", suffix="_shown") for rows in (questions, before))
        random = questions.height * -(-ecs.draws // QUARTILES) * QUARTILES
        sizes = {"pairs": in_group.height + random, "rivals": 0.0}
        if any("rival_share" in columns(spec) for spec in scores.values()):
            rivals, drawn = (
                count_rivals(rows["text", "answer", "text_shown"].iter_rows()) for rows in (in_group, others)
            )
            sizes["rivals"] = rivals + drawn / others.height * random
        return sizes

    def _pairs(self, variant: Variant) -> Sizes:
        if (texts := self.texts(variant.corpus, variant.dataset)) is None:
            return {}
        passages, questions, evidence = texts
        groups = ("dataset", "ecs")
        dataset, ecs = (option(self.conf, group, variant.wildcards[group], self.overrides) for group in groups)
        answerable, probed = scored_questions(questions, evidence, dataset)
        asked = answerable.filter(pl.col("question_id").is_in(list(probed)))
        pairs = max_pairs(answerable, passages, probed, ecs.pool, ecs.pool_aware, ecs.draws)
        probes = max_pairs(asked, passages, (), ecs.pool, ecs.pool_aware, 0)  # of ranked passages, not of drawn ones
        return {"pairs": pairs, "probes": probes * len(ecs.probes)}


def _here(conf: Path, spec: Any, part: str, folder: Path) -> list[Path]:
    """The files of a corpus or data set; what is not fetched yet is copied from the mirror, never downloaded."""
    if reads_folder(spec.format):
        return [Path(path) for path in folder_files(spec.format, spec.folder, part, "")]
    return [path if path.exists() else _mirrored(conf, path, folder) for path in map(Path, listed_files(spec.files))]


def _mirrored(conf: Path, path: Path, folder: Path) -> Path:
    """A copy of a registered file of the mirror. Raises SecateurError if there is none."""
    entry = load_registry(conf.parent / "data/registry").get(path.name)
    mirror = os.environ.get("SECATEUR_MIRROR") or local(conf).mirror
    if entry is None or not mirror:
        raise SecateurError(f"{path}: not here")
    fetch(replace(entry, url=None), folder / path.name, Path(mirror))
    return folder / path.name
