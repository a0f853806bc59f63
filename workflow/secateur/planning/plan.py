"""An experiment's matrix, resolved: which variants exist, and which options each of them uses.

A variant is one (data set, system, order). Its name in every table is the system's, followed by the options in which it
differs from that system: `secateur`, `secateur:lines`, `secateur:w_dense=0`.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import chain, product
from pathlib import Path
from typing import Any

from secateur.config import inline, plugins
from secateur.config.compose import literal, option
from secateur.config.datasets import Dataset
from secateur.config.experiment import Experiment, Study, System
from secateur.config.limits import unlimited
from secateur.core import layout
from secateur.core.artifacts import read_json
from secateur.core.errors import nearest
from secateur.core.fields import ConfigError
from secateur.planning.problems import answer_problems, unseen, variant_problems

__all__ = ["AXES", "Variant", "changes", "experiment", "of_folder", "variants"]

AXES = tuple(  # the options of a system that an experiment may vary
    f.name for f in fields(System) if f.name not in ("family", "ranker", "orders", "turns", "contexts", "answers_only")
)


@dataclass(frozen=True)
class Variant:
    """One row source of an experiment.

    base: its option in conf/system or conf/study; study: its kind, where it is one; order: None where the rows say it.
    """

    dataset: str
    corpus: str
    kind: str
    system: str
    base: str
    order: str | None
    options: tuple[tuple[str, str], ...]
    axes: tuple[tuple[str, str], ...] = ()
    study: str | None = None
    gained: bool = False
    answered: bool = False
    judges: tuple[str, ...] = ()

    def __getitem__(self, axis: str) -> str:
        """The option this variant uses on an axis."""
        return dict(self.options)[axis]

    @property
    def wildcards(self) -> dict[str, str]:
        """All options by name."""
        own = {"dataset": self.dataset, "corpus": self.corpus}
        return own | ({"order": self.order} if self.order else {}) | dict(self.options)


def experiment(conf: Path, name: str, overrides: tuple[str, ...] = ()) -> Experiment:
    """The experiment, validated; ConfigError names the nearest one where there is no such name."""
    return option(conf, "experiment", name, overrides, asked_by="experiment")


def of_folder(folder: str | Path | None) -> tuple[str, ...]:
    """The overrides that name a folder of one's own; none without one."""
    named = literal(str(Path(folder).resolve())) if folder else ""
    return tuple(f"{group}.folder={named}" for group in ("corpus", "dataset")) if folder else ()


def variants(conf: Path, name: str, overrides: tuple[str, ...] = ()) -> list[Variant]:
    """Every variant of an experiment, each of its options composed and validated.

    Raises ConfigError for unknown options and for axes that do not exist.
    """
    spec, where, found = experiment(conf, name, overrides), f"conf/experiment/{name}.yaml", []
    _check_axes(spec, where)
    for dataset_name in spec.datasets:
        dataset = option(conf, "dataset", dataset_name, overrides, where)
        option(conf, "corpus", dataset.corpus, overrides, f"conf/dataset/{dataset_name}.yaml")
        for group, names in (("system", spec.systems), ("study", spec.studies)):
            for one in names:
                made = _Resolved(
                    conf, overrides, spec, dataset_name, dataset, one, option(conf, group, one, overrides, where)
                )
                found += list(made.variants())
    found = list(dict.fromkeys(v for v in found if not _excluded(spec, v)))
    _check_names(found, where)
    wrong = answer_problems(conf, found, overrides)
    if wrong:
        raise ConfigError(
            f"{where}: {'; '.join(wrong)}. Fix: conf/answer, conf/judge, conf/lm, conf/eval/default.yaml, or the override that set it."
        )
    if not found:
        raise ConfigError(f"{where}: no variant is left. Fix: datasets, systems and exclude leave nothing to run.")
    return found


def changes(found: Iterable[Variant], earlier: Path) -> str:
    """What was added to the variants of an earlier run, by its record, and what was removed; nothing without one."""
    if not earlier.exists():
        return ""
    rows = read_json(earlier)["config"]["extra.variants"]
    before = dict.fromkeys(_named(row["dataset"], row["system"], row["order"]) for row in rows)
    now = dict.fromkeys(_named(one.dataset, one.system, one.order) for one in found)
    lists = {"adds": [name for name in now if name not in before], "removes": [n for n in before if n not in now]}
    return "; ".join(f"{what}: {', '.join(names)}" for what, names in lists.items() if names)


def _named(dataset: str, system: str, order: str | None) -> str:
    return " ".join(filter(None, (dataset, system, order)))


def _check_axes(spec: Experiment, where: str) -> None:
    """Raise ConfigError for an axis that no system has, for one that is crossed and not there, and for values that are
    neither names nor changed keys."""
    for axis in spec.crossed:
        if axis not in spec.axes:
            raise ConfigError(
                f"{where}: crossed names {axis!r}, axes has {', '.join(spec.axes) or 'none'}{nearest(axis, spec.axes)}. "
                "Fix: list its options in axes."
            )
    places = {"": (spec.axes, AXES), "exclude: ": ({a for e in spec.exclude for a in e}, (*AXES, *EXCLUDABLE))}
    for said, (axes, allowed) in places.items():
        for axis in axes:
            if axis not in allowed:
                raise ConfigError(
                    f"{where}: {said}unknown axis {axis!r}; allowed: {', '.join(allowed)}{nearest(axis, allowed)}"
                )
    for axis, value in ((axis, value) for axis, values in spec.axes.items() for value in values):
        at = f"{where}: axes.{axis}"
        if isinstance(value, Mapping) and value:
            inline.changed("", value, at)
        elif not isinstance(value, str):
            raise ConfigError(f"{at} holds {value!r}; allowed: names of options, and changed keys, e.g. {{w_dense: 0}}")


EXCLUDABLE = ("dataset", "corpus", "system", "order")


def _excluded(spec: Experiment, variant: Variant) -> bool:
    """Whether an entry of `exclude` names the variant: an option by its name, or as rows name it."""
    have = variant.wildcards | {"system": variant.system, "dataset": unlimited(variant.dataset)[0]}

    def named(axis: str, value: str) -> bool:
        return axis in have and value in (have[axis], inline.label(have[axis]))

    return any(all(named(axis, value) for axis, value in entry.items()) for entry in spec.exclude)


def _check_names(found: list[Variant], where: str) -> None:
    """Raise ConfigError for two variants that would have the same name in tables."""
    rows: dict[tuple, Variant] = {}
    for variant in found:
        other = rows.setdefault((variant.dataset, variant.system, variant.order), variant)
        if other != variant:
            options = dict(other.options)
            differing = [
                f"{axis} {options.get(axis)} and {name}" for axis, name in variant.options if options.get(axis) != name
            ]
            raise ConfigError(
                f"{where}: two variants are named {variant.system}: {', '.join(differing)}. "
                "Fix: write one of them as an option file."
            )


@dataclass(frozen=True)
class _Resolved:
    """One system (or study) on one data set."""

    conf: Path
    overrides: tuple[str, ...]
    spec: Experiment
    dataset_name: str
    dataset: Dataset
    name: str
    system: System

    def variants(self) -> Iterator[Variant]:
        """The system as it is, then with one axis changed at a time, in each order that it has rows in."""
        if not self._applies():
            return
        base = {axis: inline.canonical(getattr(self.system, axis)) for axis in AXES}
        if self.dataset.kind == "dialogue" and not isinstance(self.system, Study):
            base["rankers"] = self.system.turns
        for changed in self._changes(base):
            said = {"service": base["service"]} | changed if self.system.family == "peer" else changed
            full = ":".join([self.name, "+".join(map(inline.label, said.values()))]) if said else self.name
            for order in self._orders():
                yield self._variant(full, order, base | changed)

    @property
    def _selects(self) -> bool:
        """Whether it has a list of rankers select turns: nothing is written there, and nothing read."""
        return (
            self.dataset.kind == "dialogue" and self.system.family == "lexical" and not isinstance(self.system, Study)
        )

    def _changes(self, base: dict[str, str]) -> Iterator[dict[str, str]]:
        """Nothing, one axis at a time, and both again under each combination of the crossed ones."""
        others = {
            axis: [{axis: name} for name in self._named(axis, values, base[axis]) if self._can(axis, name)]
            for axis, values in self.spec.axes.items()
            if axis in self.system.varied and not (self._selects and axis in ("assembly", "reader", "reranker"))
        }
        crossed = [[{}, *others.pop(axis)] for axis in self.spec.crossed if axis in others]
        for under in product(*crossed):
            for changed in ({}, *chain.from_iterable(others.values())):
                yield changed | dict(chain.from_iterable(one.items() for one in under))

    def _named(self, axis: str, values: Iterable[Any], base: str) -> Iterator[str]:
        """The options of an axis but the system's own; a mapping changes keys of that."""
        for value in values:
            name = inline.canonical(value) if isinstance(value, str) else inline.changed(base, value, f"axes.{axis}")
            if name != base:
                yield name

    def _can(self, axis: str, value: str) -> bool:
        """Whether an option of an axis is one for this system: a peer's own settings are of its kind, and only a peer has
        a text of its own that it sent."""
        if axis == "peer":
            kind, own = (
                plugins.named(option(self.conf, axis, one, self.overrides).adapter) for one in (value, self.system.peer)
            )
            return kind == own
        if axis != "assembly" or self.system.family == "peer":
            return True
        form = option(self.conf, axis, value, self.overrides).form["kind"]
        return not plugins.load("form", form).NEEDS_SENT

    def _orders(self) -> tuple[str | None, ...]:
        """A list of rankers says the order row by row; of contexts made elsewhere nobody knows it."""
        said = self.system.contexts or (self.system.family not in ("graph", "peer") and self.system.ranker is None)
        return (None,) if said else self.system.orders

    def _applies(self) -> bool:
        """Whether the system has figures on the data set."""
        system, dataset = self.system, self.dataset
        if isinstance(system, Study):
            needs = {
                "distractors": plugins.load("format", *plugins.named(dataset.format)).LABELLED,
                "policy": bool(dataset.trained),
            }
            return needs.get(system.kind, True)
        if dataset.kind == "dialogue":
            return system.family in ("lexical", "utility") and system.ranker is None and not system.contexts
        if system.family == "utility":
            return False
        recalls = system.memory != layout.NONE
        if recalls and option(self.conf, "memory", system.memory, self.overrides).policy_of:
            return dataset.answered > 0 and unseen(dataset)
        return dataset.answered > 0 if recalls or system.answers_only else True

    def _variant(self, name: str, order: str | None, options: dict[str, str]) -> Variant:
        system, dataset = self.system, self.dataset
        assembly = option(self.conf, "assembly", options["assembly"], self.overrides, f"system {name}")
        plugins.settings("form", assembly.form, f"conf/assembly/{options['assembly']}", "assembly.form")
        kind = plugins.load("form", assembly.form["kind"])
        own = options | {"family": layout.IMPORTED if system.contexts else system.family, "lm": options["reader"]}
        own |= {"pick": self._pick(order), "imported": self.name, "order": order or "blind"}
        own["book"] = layout.book(own) if kind.NEEDS_GRAPH and not system.contexts else layout.TEXT
        own = {axis: value for axis, value in own.items() if value is not None}
        study = system.kind if isinstance(system, Study) else None
        listed = own["pick"] == layout.ALL
        read = not (study or listed) and dataset.kind == "documents"
        remembers = options["memory"] != layout.NONE
        gains = self.spec.gains and not (remembers or system.answers_only)
        answers = self.spec.answers or remembers or system.answers_only
        made = Variant(
            dataset=self.dataset_name,
            corpus=dataset.corpus,
            kind=dataset.kind,
            system=name,
            base=self.name,
            order=order,
            options=tuple(sorted(own.items())),
            axes=tuple(sorted(self._row_axes(own, assembly).items())),
            study=study,
            gained=read and gains and dataset.gain > 0,
            answered=read and answers and dataset.answered > 0,
            judges=self.spec.judges if read and answers and dataset.answered > 0 else (),
        )
        wrong = variant_problems(self.conf, dataset, made, system, self.overrides)
        if wrong:
            raise ConfigError(
                f"system {name}: {'; '.join(wrong)}. Fix: conf/system/{self.name}.yaml, the options that it names, "
                "conf/dataset, conf/eval, or the override that set it."
            )
        return made

    def _pick(self, order: str | None) -> str:
        """The scorer of its ranking: the graph's own, one of a list in this order, or all; none of contexts made elsewhere."""
        if self.system.contexts:
            return layout.IMPORTED
        if self.system.family in ("graph", "peer"):
            return self.system.family
        if self.system.ranker is None:
            return layout.ALL
        return self.system.ranker + ("+neighbour" if order == "aware" else "")

    def _row_axes(self, own: dict[str, str], assembly) -> dict[str, str]:
        """In what two rows may differ: who ranks, who reranks, how it is written, for whom, what is known of the order."""
        told = [own[axis] for axis in layout.FAMILIES.get(own["family"], ()) if axis not in ("order", "lm")]
        ranker = [own["family"], ".".join(told) or own["imported"], own["pick"].removesuffix("+neighbour")]
        written = own["book"] not in (layout.TEXT, layout.OWN)  # from a graph that is not the ranking's own
        form = {"form": assembly.form, "book": layout.book(own | {"order": ""}) if written else ""}
        form |= {"titles": True} if assembly.titles else {}
        return {
            "ranker": ":".join(ranker),
            "reranker": own["reranker"],
            "form": repr(form),
            "packing": assembly.packing,
            "placement": assembly.placement,
            "reader": own["reader"] + assembly.counter,
            "memory": own["memory"],
        }
