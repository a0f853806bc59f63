"""From an experiment's variants to the files of their figures, and to the contents of its report."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

from secateur.core import layout
from secateur.planning.plan import Variant
from secateur.report.browser import SYSTEMS
from secateur.report.contents import Contents, Row
from secateur.report.finding import CONTROL

__all__ = ["Planned"]

CONTROLS = "controls"  # the option of conf/rankers with gold, nothing and everything


def _labels(variant: Variant) -> dict[str, str | None]:
    return {"dataset": variant.dataset, "system": variant.system, "order": variant.order}


def _family(variant: Variant) -> str:
    """Who ranks; policies and controls (gold, nothing, everything) are families of their own."""
    if variant.study == "policy":
        return "policy"
    controls = variant["family"] == "lexical" and variant["rankers"] == CONTROLS
    return CONTROL if controls else variant["family"]


@dataclass(frozen=True)
class Planned:
    """The files of an experiment's figures.

    option: (group, name) -> option; indexed_by: the options of a peer's index; unfinished: only files that exist count.
    """

    variants: Sequence[Variant]
    option: Callable[[str, str], Any]
    indexed_by: Callable[[Mapping[str, str]], Mapping[str, str]]
    unfinished: bool = False

    def figures(self, variant: Variant) -> list[str]:
        """The tables of figures of a variant: evidence or selection, answer gain, answers, judges."""
        options = variant.wildcards
        if variant.study:
            return [layout.figures(options, variant.study)]
        if variant.kind == "dialogue":
            return [layout.selection(options)]
        answers_only = self.option("system", variant.base).answers_only or variant["memory"] != layout.NONE
        cutoffs = variant["family"] != layout.IMPORTED and self.option("dataset", variant.dataset).cutoffs
        paths = [] if answers_only else [layout.figures(options, None)]
        paths += [layout.answered(options)] if variant.answered else []
        paths += [layout.judged(options, judge) for judge in variant.judges]
        paths += [layout.agreed(options, pair) for pair in combinations(variant.judges, 2)]
        paths += layout.gains(options, self.option("eval", "default").gain_shards) if variant.gained else []
        paths += [layout.asked(options)] if variant["family"] == "peer" else []
        paths += [layout.retrieved(options)] if cutoffs and not answers_only else []
        return list(dict.fromkeys(paths))

    def exist(self, *paths: str) -> bool:
        """Whether the report can show these files; of an experiment that runs to its end it can."""
        return not self.unfinished or all(Path(path).exists() for path in paths)

    def existing(self, variant: Variant) -> list[str]:
        """The figures of a variant that exist, or all where the experiment runs to its end."""
        return [path for path in self.figures(variant) if self.exist(path)]

    @cached_property
    def shown(self) -> list[Variant]:
        """The variants with a figure."""
        return [v for v in self.variants if self.existing(v)]

    def rows(self) -> list[Row]:
        """A row a variant: labels and all files of its figures."""
        return [_labels(v) | {"files": self.existing(v)} for v in self.shown]

    def contents(self, name: str) -> Contents:
        """The contents of the report. name: of the experiment."""
        return Contents(
            name=name,
            families={v.system: _family(v) for v in self.shown},
            variants=self.rows(),
            missing=list(self._missing()),
            graphs=self._graphs(),
            datasets=self._datasets(),
            drawn=self._drawn(),
            distractors=[self._beside(v, "score_quantiles", "acceptance") for v in self._of_study("distractors")],
            policies=[self._beside(v, "frontier") for v in self._of_study("policy")],
            peers=self._peers(),
            browsed=(browsed := list(self._browsed())),
            browsed_sets=self._browsed_sets({row["dataset"] for row in browsed}),
        )

    def _missing(self) -> Iterator[Row]:
        for v in self.variants:
            absent = [path.split("/")[3] for path in self.figures(v) if not self.exist(path)]
            if absent:
                yield _labels(v) | {"absent": absent}

    def _of_study(self, kind: str) -> list[Variant]:
        return [v for v in self.shown if v.study == kind]

    def _beside(self, variant: Variant, *names: str) -> Row:
        """Tables beside the figures of a study."""
        figures = layout.figures(variant.wildcards, variant.study)
        return _labels(variant) | {name: layout.beside(figures, f"{name}.parquet") for name in names}

    def _by_graph(self) -> list[Variant]:
        """The systems on documents that rank by the graph."""
        return [v for v in self.shown if v["family"] == "graph" and v.study is None and v["memory"] == layout.NONE]

    def _graphs(self) -> list[Row]:
        """The graphs of whole systems, not of ablations, each under the first system that uses it."""
        rows: dict[str, Row] = {}
        for v in self._by_graph():
            path = layout.growth(v.wildcards)
            if ":" not in v.system and self.exist(path):
                rows.setdefault(path, {"corpus": v.corpus, "system": v.system, "order": v.order, "growth": path})
        return list(rows.values())

    def _datasets(self) -> list[Row]:
        paths = {v.dataset: f"{layout.folder(v.wildcards)}/description/dataset_statistics.parquet" for v in self.shown}
        return [{"dataset": d, "dataset_statistics": path} for d, path in paths.items() if self.exist(path)]

    def _drawn(self) -> list[Row]:
        """The sampled questions of the first graph variant of each data set."""
        rows: dict[str, Row] = {}
        for v in self._by_graph():
            folder = f"{layout.folder(v.wildcards)}/samples/{layout.source(v.wildcards)}"
            paths = {name: f"{folder}/{name}.parquet" for name in ("samples", "subgraphs")}
            rows.setdefault(v.dataset, _labels(v) | paths)
        return [row for row in rows.values() if self.exist(row["samples"])]

    def _peers(self) -> list[Row]:
        """The peers, once each."""
        rows: dict[str, Row] = {}
        for v in self.shown:
            if v["family"] == "peer":
                asked = layout.beside(layout.asked(v.wildcards), "peer_asked.parquet")
                costs = layout.indexed(self.indexed_by(v.wildcards), "peer_costs.parquet")
                rows.setdefault(asked, _labels(v) | {"peer_costs": costs, "peer_asked": asked})
        return list(rows.values())

    def _browsed(self) -> Iterator[Row]:
        """The rows of the question browser, at most SYSTEMS a data set: systems as they are before their ablations; of a
        dialogue, those that select turns."""
        shown: dict[str, dict[str, Row]] = {}
        for v in sorted(self.shown, key=lambda v: v.system != v.base and v["family"] != "peer"):
            turns = v.kind == "dialogue"
            if v.study is None and v["memory"] == layout.NONE and (turns or v["pick"] != layout.ALL):
                rows, path, answers = (
                    shown.setdefault(v.dataset, {}),
                    layout.shown(v.wildcards, turns),
                    self._answers(v),
                )
                if len(rows) < SYSTEMS and self.exist(path, *answers):
                    files = {"question_metrics": self.existing(v), "answers": answers}
                    rows.setdefault(path, _labels(v) | {"selections" if turns else "contexts": path} | files)
        for rows in shown.values():
            yield from rows.values()

    def _answers(self, variant: Variant) -> list[str]:
        """The answers under a variant's contexts, shard by shard."""
        if not variant.answered:
            return []
        options, name = variant.wildcards, variant["answer"]
        shards = self.option("answer", name).shards
        return layout.answers(layout.folder(options), layout.source(options), name, shards)

    def _browsed_sets(self, datasets: set[str]) -> list[Row]:
        """The data sets of the question browser."""
        rows = {}
        for v in self.shown:
            if v.dataset in datasets:
                row = {"dataset": v.dataset, "split": self.option("dataset", v.dataset).split}
                names = ("questions", "evidence")
                row |= {name: f"{layout.folder(v.wildcards)}/questions/{name}.parquet" for name in names}
                row |= {"passages": layout.passages(v.wildcards)} if v.kind == "dialogue" else {}
                rows[v.dataset] = row
        return list(rows.values())
