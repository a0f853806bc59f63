"""Lists the files and rows that compare_variants and build_report read."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import combinations, islice
from pathlib import Path
from typing import Any

from secateur.config import inline
from secateur.core import layout
from secateur.ecs.names import matched_baselines
from secateur.planning.plan import Variant
from secateur.planning.primary import primary_tests
from secateur.report.browser import SYSTEMS
from secateur.report.contents import Contents, Row
from secateur.report.finding import CONTROL, YOURS

__all__ = ["Planned", "indexed_options"]

CONTROLS = "controls"  # the option of conf/rankers with gold, nothing and everything
DATASET_KEYS = ("kind", "split", "types", "first", "unanswerable", "metrics")  # that compare_variants reads
Options = Callable[[str, str], Any]  # (group, name) -> option


def indexed_options(option: Options, wildcards: Mapping[str, str]) -> dict[str, str]:
    """The options of a peer's index, which may be another peer's (`peer.indexed_by`)."""
    return {**wildcards, "peer": option("peer", wildcards["peer"]).indexed_by or wildcards["peer"]}


def _labels(variant: Variant) -> Row:
    return {"dataset": variant.dataset, "system": variant.system, "order": variant.order}


def _family(variant: Variant) -> str:
    """Who ranks; policies, controls (gold, nothing, everything) and the user's systems are families of their own."""
    if variant.study == "policy":
        return "policy"
    if variant.yours and not variant.study and variant["family"] != layout.IMPORTED:
        return YOURS
    if variant["family"] == "lexical" and not variant.plain:
        return "graph"
    controls = variant["family"] == "lexical" and variant["rankers"] == CONTROLS
    return CONTROL if controls else variant["family"]


def _tables(folder: str | Path, *names: str) -> dict[str, str]:
    """Tables of a folder by name."""
    return {name: f"{folder}/{name}.parquet" for name in names}


def _first(rows: Iterable[tuple[str, Row]]) -> list[Row]:
    """The first row of each key."""
    unique: dict[str, Row] = {}
    for key, row in rows:
        unique.setdefault(key, row)
    return list(unique.values())


@dataclass(frozen=True)
class Planned:
    """The figures of an experiment. pending: of an unfinished one, the records to make anew; only other existing files count."""

    name: str
    variants: Sequence[Variant]
    option: Options
    pending: Collection[str] | None = None

    def _all_figures(self, variant: Variant) -> list[str]:
        options = variant.wildcards
        if variant.study:
            return [layout.figures(options, variant.study)]
        if variant.kind == "dialogue":
            return [layout.selection(options)]
        answers_only = self.option("system", variant.base).answers_only or variant["memory"] != layout.NONE
        cutoffs = variant["family"] != layout.IMPORTED and self.option("dataset", variant.dataset).cutoffs
        written = [] if answers_only else self._at_lengths(variant)
        paths = [layout.figures(each, None) for each in written]
        paths += [layout.answered(options)] if variant.answered else []
        paths += [layout.judged(options, judge) for judge in variant.judges]
        paths += [layout.agreed(options, pair) for pair in combinations(variant.judges, 2)]
        shards = self.option("eval", "default").gain_shards
        paths += [path for each in written * variant.gained for path in layout.gains(each, shards)]
        paths += [layout.asked(options)] if variant["family"] == "peer" else []
        paths += [layout.retrieved(options)] if cutoffs and not answers_only else []
        return list(dict.fromkeys(paths))

    def _imported(self, variant: Variant) -> list[str]:
        """The systems made elsewhere of a variant's data set and reader."""
        reader = dict(variant.axes)["reader"]
        imported = (v for v in self.variants if v["family"] == layout.IMPORTED and v.dataset == variant.dataset)
        return list(dict.fromkeys(v["imported"] for v in imported if dict(v.axes)["reader"] == reader))

    def _at_lengths(self, variant: Variant) -> list[dict[str, str]]:
        """The options of a variant's contexts: within budgets, and as long as those of each other system made elsewhere."""
        others = [name for name in self._imported(variant) if name != variant["imported"]]
        return [variant.wildcards, *(variant.wildcards | {layout.LENGTH: name} for name in others)]

    def _exist(self, *paths: str) -> bool:
        """Whether the report can show the files; a finished experiment has them all."""
        if self.pending is None:
            return True
        return all(Path(p).exists() and layout.beside(p, "run.json") not in self.pending for p in paths)

    def figures(self, variant: Variant) -> list[str]:
        """The tables of question metrics of a variant: of evidence or selection, gain, answers, judges."""
        return [path for path in self._all_figures(variant) if self._exist(path)]

    @cached_property
    def shown(self) -> list[Variant]:
        """The variants with figures."""
        return [v for v in self.variants if self.figures(v)]

    def rows(self) -> list[Row]:
        """A row for each variant: its labels and the files of its figures."""
        return [_labels(v) | {"files": self.figures(v)} for v in self.shown]

    def figure_rows(self) -> list[Row]:
        """A row for each file of figures: labels, axes of comparison, and the suffix of rows of a list of rankers."""

        def suffix(v: Variant) -> str:
            listed = v.study is None and v["pick"] == layout.ALL and v["family"] == "lexical"
            return f":{layout.ALL}" if listed else ""

        curves: dict[tuple, str] = {}
        return [
            _labels(v)
            | {"file": path, "axes": dict(v.axes), "listed": suffix(v), "ranks": _family(v) != CONTROL}
            | {"curve": curves.setdefault(self._curve(v), v.system)}
            | {"budget": self.option("assembly", v["assembly"]).budget}
            for v in self.shown
            for path in self.figures(v)
        ]

    @staticmethod
    def _curve(variant: Variant) -> tuple:
        """Equal for variants that differ only in the budget under which they answer."""
        base, changes = inline.split(variant["assembly"])
        kept = {key: value for key, value in changes.items() if key != "budget"}
        options = {**dict(variant.options), "assembly": inline.changed(base, kept)}
        return variant.dataset, variant.base, variant.order, tuple(sorted(options.items()))

    def figure_files(self) -> list[str]:
        """The files of all figures."""
        return list(dict.fromkeys(row["file"] for row in self.figure_rows()))

    def dataset_rows(self) -> list[Row]:
        """A row for each data set: its name and the keys that compare_variants reads."""
        names = dict.fromkeys(v.dataset for v in self.shown)
        datasets = {name: self.option("dataset", name) for name in names}
        return [{"name": name} | {key: getattr(d, key) for key in DATASET_KEYS} for name, d in datasets.items()]

    def dataset_files(self, table: str) -> list[str]:
        """The table of every data set, questions or evidence."""
        return list(dict.fromkeys(f"{layout.folder(v.wildcards)}/questions/{table}.parquet" for v in self.shown))

    def matched_baselines(self) -> dict[str, list[str]]:
        """Joined scorer -> its matched baselines: the same join without scores of a language model."""
        lists = [self.option("rankers", v["rankers"]) for v in self.shown if v["family"] == "utility"]
        return {k: b for rankers in lists for k, b in matched_baselines(rankers.scores, rankers.utilities).items()}

    def prices(self) -> list[float]:
        """The prices at which utility is measured: those of `eval.prices` where any row is assembled by a price."""
        priced = any(self.option("assembly", v["assembly"]).is_priced for v in self.shown)
        return list(self.option("eval", "default").prices) if priced else []

    def primary(self) -> list[Row]:
        """The tests of the primary family: row, minus, metric."""
        where = f"conf/experiment/{self.name}.yaml"
        return primary_tests(self.option("experiment", self.name), self.variants, self.option, where, is_whole=False)

    def report_files(self) -> list[str]:
        """The tables that the report reads, besides metrics and comparisons."""
        return self.contents().files

    def report_rows(self) -> dict[str, Any]:
        """The contents of the report, as plain data."""
        return asdict(self.contents())

    def contents(self) -> Contents:
        """The contents of the report."""
        browsed = self._browsed()
        return Contents(
            name=self.name,
            families={v.system: _family(v) for v in self.shown},
            variants=self.rows(),
            missing=self._missing(),
            graphs=self._graphs(),
            datasets=self._datasets(),
            drawn=self._drawn(),
            distractors=self._study("distractors", "score_quantiles", "acceptance"),
            policies=self._study("policy", "frontier"),
            peers=self._peers(),
            browsed=browsed,
            browsed_sets=self._browsed_sets({row["dataset"] for row in browsed}),
        )

    def _missing(self) -> list[Row]:
        """The variants that lack figures, with the folders of these."""
        absent = [
            (v, [layout.data_of(path)[2][0] for path in self._all_figures(v) if not self._exist(path)])
            for v in self.variants
        ]
        return [_labels(v) | {"absent": folders} for v, folders in absent if folders]

    def _study(self, kind: str, *tables: str) -> list[Row]:
        """The variants of a study, with the tables beside their figures."""
        folders = [(v, Path(layout.figures(v.wildcards, kind)).parent) for v in self.shown if v.study == kind]
        return [_labels(v) | _tables(folder, *tables) for v, folder in folders]

    def _graph_systems(self) -> list[Variant]:
        """The systems on documents that rank by the graph."""
        return [v for v in self.shown if v["family"] == "graph" and v.study is None and v["memory"] == layout.NONE]

    def _graphs(self) -> list[Row]:
        """The graphs of systems without ablations, each with the first system that uses it."""
        systems = [v for v in self._graph_systems() if ":" not in v.system]
        labels = [{"corpus": v.corpus, "system": v.system, "order": v.order} for v in systems]
        rows = [row | {"growth": layout.growth(v.wildcards)} for row, v in zip(labels, systems, strict=True)]
        return _first((row["growth"], row) for row in rows if self._exist(row["growth"]))

    def _datasets(self) -> list[Row]:
        paths = {v.dataset: f"{layout.folder(v.wildcards)}/description/dataset_statistics.parquet" for v in self.shown}
        return [{"dataset": d, "dataset_statistics": path} for d, path in paths.items() if self._exist(path)]

    def _drawn(self) -> list[Row]:
        """The sampled questions of the first graph system of each data set."""
        folders = [
            (v, f"{layout.folder(v.wildcards)}/samples/{layout.source(v.wildcards)}") for v in self._graph_systems()
        ]
        rows = _first((v.dataset, _labels(v) | _tables(folder, "samples", "subgraphs")) for v, folder in folders)
        return [row for row in rows if self._exist(row["samples"])]

    def _peers(self) -> list[Row]:
        """The peers, once each."""
        rows = []
        for v in self.shown:
            if v["family"] == "peer":
                costs = layout.indexed(indexed_options(self.option, v.wildcards), "peer_costs.parquet")
                asked = layout.beside(layout.asked(v.wildcards), "peer_asked.parquet")
                rows.append(_labels(v) | {"peer_costs": costs, "peer_asked": asked})
        return _first((row["peer_asked"], row) for row in rows)

    def _browsed(self) -> list[Row]:
        """The rows of the question browser: at most SYSTEMS a data set, ablations last; in a dialogue those that select
        turns."""
        rows = []
        for v in sorted(self.shown, key=lambda v: v.system != v.base and v["family"] != "peer"):
            turns = v.kind == "dialogue"
            # All are shown at one length, but for answers, which were given at another.
            length = next(iter(self._imported(v)), None) if not (turns or v.answered) else None
            wildcards = v.wildcards if length in (None, v["imported"]) else v.wildcards | {layout.LENGTH: length}
            path = layout.shown(wildcards, turns)
            answers = self._answers(v)
            shows_texts = turns or v["pick"] != layout.ALL
            if v.study is None and v["memory"] == layout.NONE and shows_texts and self._exist(path, *answers):
                table = "selections" if turns else "contexts"
                row = _labels(v) | {table: path, "question_metrics": self.figures(v), "answers": answers}
                rows.append(row | {"length": length})
        unique = _first((row.get("selections") or row["contexts"], row) for row in rows)
        by_dataset = {row["dataset"]: [r for r in unique if r["dataset"] == row["dataset"]] for row in unique}
        return [row for rows in by_dataset.values() for row in islice(rows, SYSTEMS)]

    def _answers(self, variant: Variant) -> list[str]:
        """The answers under a variant's contexts, one file per shard."""
        if not variant.answered:
            return []
        options, name = variant.wildcards, variant["answer"]
        shards = self.option("answer", name).shards
        return layout.answers(layout.folder(options), layout.source(options), name, shards)

    def _browsed_sets(self, datasets: set[str]) -> list[Row]:
        """The data sets of the question browser."""
        rows = []
        for v in self.shown:
            if v.dataset in datasets:
                row = {"dataset": v.dataset, "split": self.option("dataset", v.dataset).split}
                row |= _tables(f"{layout.folder(v.wildcards)}/questions", "questions", "evidence")
                rows.append(row | ({"passages": layout.passages(v.wildcards)} if v.kind == "dialogue" else {}))
        return _first((row["dataset"], row) for row in rows)
