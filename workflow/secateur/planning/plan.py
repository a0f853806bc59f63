"""Resolves an experiment into its variants and their options.

A variant is a (data set, system, order). Tables name it by its system and the options that differ from it: `graph_zsum`,
`graph_zsum:lines`, `graph_zsum:w_dense=0`.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import chain, product
from pathlib import Path
from typing import Any

from secateur.config import inline, plugins
from secateur.config.compose import literal, names, option
from secateur.config.datasets import Dataset
from secateur.config.experiment import Experiment, Study, System
from secateur.config.limits import unlimited
from secateur.core import layout
from secateur.core.errors import nearest
from secateur.core.fields import ConfigError
from secateur.planning import problems as checks
from secateur.planning.primary import primary_tests
from secateur.planning.problems import variant_problems

__all__ = ["AXES", "Variant", "experiment", "variants"]

NARROWING = tuple(f"experiment.{key}" for key in ("systems", "axes", "exclude", "datasets"))  # overrides that drop rows
AXES = tuple(  # the options of a system that an experiment may vary
    f.name
    for f in fields(System)
    if f.name not in ("family", "ranker", "orders", "turns", "contexts", "answers_only", "plain", "yours")
)


@dataclass(frozen=True)
class Variant:
    """A source of rows in an experiment's tables.

    base: its option in conf/system or conf/study; order: None if the rows state it; axes: what two rows may differ in;
    study: the kind of a study; gained, answered: whether answer gain and answers are measured.
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
    plain: bool = True
    yours: bool = False

    def __getitem__(self, axis: str) -> str:
        """The option of an axis."""
        return dict(self.options)[axis]

    @property
    def wildcards(self) -> dict[str, str]:
        """All options by the name of their wildcard."""
        names = {"dataset": self.dataset, "corpus": self.corpus}
        return names | ({"order": self.order} if self.order else {}) | dict(self.options)


def experiment(conf: Path, name: str, overrides: tuple[str, ...] = ()) -> Experiment:
    """The validated experiment. Raises ConfigError, with the nearest name, for an unknown one."""
    return option(conf, "experiment", name, overrides, asked_by="experiment")


def variants(conf: Path, name: str, overrides: tuple[str, ...] = ()) -> list[Variant]:
    """The variants of an experiment, with all options composed and validated.

    Raises ConfigError for unknown options and axes, and for options that do not fit together.
    """
    spec, where, rows = experiment(conf, name, overrides), f"conf/experiment/{name}.yaml", []
    _check_axes(conf, spec, where)
    if problems := checks.group_problems(spec, overrides):
        raise ConfigError(f"{where}: {'; '.join(problems)}")
    for dataset_name in spec.datasets:
        dataset = option(conf, "dataset", dataset_name, overrides, where)
        option(conf, "corpus", dataset.corpus, overrides, f"conf/dataset/{dataset_name}.yaml")  # must be valid
        for group, listed in checks.OPTIONS.items():
            for system_name in getattr(spec, listed):
                system = _system(conf, spec, group, system_name, overrides, where)
                expanded = _Resolved(conf, overrides, spec, dataset_name, dataset, system_name, system).variants()
                rows += [(system_name, variant) for variant in expanded]
    kept = [(system, variant) for system, variant in rows if not _excluded(spec, variant)]
    resolved = list(dict.fromkeys(variant for _, variant in kept))
    # Whom `exclude` names is meant to go; whom an axis takes along, such as the order, is told.
    meant = {str(entry["system"]).partition(":")[0] for entry in spec.exclude if "system" in entry}
    if kept and (gone := {system for system, _ in rows} - {system for system, _ in kept} - meant):
        raise ConfigError(
            f"{where}: exclude leaves no row of {', '.join(sorted(gone))}. Fix: leave out these systems, or shorten experiment.exclude"
        )
    _check_names(resolved, where)
    if problems := checks.answer_problems(conf, resolved, overrides):
        raise ConfigError(
            f"{where}: {'; '.join(problems)}. Fix: correct conf/answer, conf/judge, conf/lm, conf/eval/default.yaml, or "
            "the override that set it."
        )
    is_whole = not any(text.lstrip("+~").startswith(NARROWING) for text in overrides)
    primary_tests(spec, resolved, lambda group, name: option(conf, group, name, overrides, where), where, is_whole)
    transfers = checks.transfer_problems(conf, spec.datasets, resolved, overrides)
    if problems := transfers + checks.switch_problems(spec, resolved, is_whole, overrides):
        raise ConfigError(f"{where}: {'; '.join(problems)}")
    if not resolved:
        raise ConfigError(f"{where}: no variant is left. Fix: add datasets or systems, or shorten exclude.")
    return resolved


def _system(conf: Path, spec: Experiment, group: str, name: str, overrides: tuple[str, ...], where: str) -> System:
    """A system with the options that the experiment gives it; the command line has the last word."""
    system = option(conf, group, name, overrides, where)
    if group != "system" or not spec.options:
        return system
    axes = {axis: value for whom in ("all", system.family, name) for axis, value in spec.options.get(whom, {}).items()}
    written = tuple(f"system.{axis}={literal(value)}" for axis, value in axes.items())
    return option(conf, group, name, (*written, *overrides), where)


def _check_axes(conf: Path, spec: Experiment, where: str) -> None:
    """Raises ConfigError for an unknown axis, a crossed axis that is not in `axes`, and invalid values of an axis."""
    for axis in spec.crossed:
        if axis not in spec.axes:
            raise ConfigError(
                f"{where}: crossed names {axis!r}, axes has {', '.join(spec.axes) or 'none'}{nearest(axis, spec.axes)}. "
                "Fix: list its options in axes."
            )
    places = {"": (spec.axes, AXES), "exclude: ": ({a for e in spec.exclude for a in e}, (*AXES, *EXCLUDABLE))}
    for place, (axes, allowed) in places.items():
        for axis in axes:
            if axis not in allowed:
                raise ConfigError(
                    f"{where}: {place}unknown axis {axis!r}; allowed: {', '.join(allowed)}{nearest(axis, allowed)}"
                )
    targets = (
        "all",
        "lexical",
        "graph",
        "utility",
        "peer",
        *names(conf, "system"),
    )  # the command line may name fewer systems
    for whom, options in spec.options.items():
        if whom not in targets:
            raise ConfigError(f"{where}: options names {whom!r}; allowed: {', '.join(targets)}{nearest(whom, targets)}")
        for axis in options:
            if axis not in AXES:
                raise ConfigError(
                    f"{where}: options.{whom}: unknown axis {axis!r}; allowed: {', '.join(AXES)}{nearest(axis, AXES)}"
                )
    for axis, value in ((axis, value) for axis, values in spec.axes.items() for value in values):
        at = f"{where}: axes.{axis}"
        if isinstance(value, Mapping) and value:
            inline.changed("", value, at)
        elif not isinstance(value, str):
            raise ConfigError(f"{at} has {value!r}; allowed: names of options, and changed keys, e.g. {{w_dense: 0}}")


TOLD = ("ranker", "reader", "memory", "answer")  # axes of contexts made elsewhere: how they are written is not known
EXCLUDABLE = ("dataset", "corpus", "system", "order")


def _excluded(spec: Experiment, variant: Variant) -> bool:
    """Whether an entry of `exclude` matches the variant: by the names of options, or by their names in rows."""
    names = variant.wildcards | {"system": variant.system, "dataset": unlimited(variant.dataset)[0]}

    def matches(axis: str, value: str) -> bool:
        return axis in names and value in (names[axis], inline.label(names[axis]))

    return any(all(matches(axis, value) for axis, value in entry.items()) for entry in spec.exclude)


def _check_names(resolved: list[Variant], where: str) -> None:
    """Raises ConfigError for two variants with the same name in tables."""
    rows: dict[tuple, Variant] = {}
    for variant in resolved:
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
    """A system or study on a data set."""

    conf: Path
    overrides: tuple[str, ...]
    spec: Experiment
    dataset_name: str
    dataset: Dataset
    name: str
    system: System

    def variants(self) -> Iterator[Variant]:
        """The system without changes, then with one axis changed at a time, in each of its orders."""
        if not self._applies():
            return
        base = {axis: inline.canonical(getattr(self.system, axis)) for axis in AXES}
        if self.dataset.kind == "dialogue" and not isinstance(self.system, Study):
            base["rankers"] = self.system.turns
        for changed in self._changes(base):
            shown = {"service": base["service"]} | changed if self.system.family == "peer" else changed
            row_name = ":".join([self.name, "+".join(map(inline.label, shown.values()))]) if shown else self.name
            for order in self._orders():
                yield self._variant(row_name, order, base | changed)

    @property
    def _selects(self) -> bool:
        """Whether a list of rankers selects turns: then no context is written, and none is read."""
        return (
            self.dataset.kind == "dialogue" and self.system.family == "lexical" and not isinstance(self.system, Study)
        )

    def _changes(self, base: dict[str, str]) -> Iterator[dict[str, str]]:
        """No change, then each change of one axis; both for every combination of the crossed axes."""
        others = {
            axis: [{axis: name} for name in self._named(axis, values, base[axis]) if self._can(axis, name)]
            for axis, values in self.spec.axes.items()
            if axis in self.system.varied and not (self._selects and axis in ("assembly", "reader", "reranker"))
        }
        crossed = [[{}, *others.pop(axis)] for axis in self.spec.crossed if axis in others]
        for under in product(*crossed):
            for changed in ({}, *chain.from_iterable(others.values())):
                yield changed | dict(chain.from_iterable(change.items() for change in under))

    def _named(self, axis: str, values: Iterable[Any], base: str) -> Iterator[str]:
        """The options of an axis other than the system's; a mapping changes keys of the system's option."""
        for value in values:
            name = inline.canonical(value) if isinstance(value, str) else inline.changed(base, value, f"axes.{axis}")
            if name != base:
                yield name

    def _can(self, axis: str, value: str) -> bool:
        """Whether the system can use an option: a peer only those of its adapter, and only peers forms of sent texts."""
        if axis == "peer":
            specs = (option(self.conf, axis, name, self.overrides).adapter for name in (value, self.system.peer))
            return len(set(map(plugins.names_in, specs))) == 1
        if axis != "assembly" or self.system.family == "peer":
            return True
        form = option(self.conf, axis, value, self.overrides).form["kind"]
        return not plugins.load("form", form).NEEDS_SENT

    def _orders(self) -> tuple[str | None, ...]:
        """The orders of the rows; None for a list of rankers, whose rows state theirs. Imported contexts have the first."""
        if self.system.contexts:
            return self.system.orders[:1]
        is_list = self.system.family not in ("graph", "peer") and self.system.ranker is None
        return (None,) if is_list else self.system.orders

    def _applies(self) -> bool:
        """Whether the system has figures on the data set."""
        system, dataset = self.system, self.dataset
        if isinstance(system, Study):
            needs = {
                "distractors": plugins.load("format", *plugins.names_in(dataset.format)).LABELLED,
                "policy": bool(dataset.trained),
            }
            return needs.get(system.kind, True)
        if dataset.kind == "dialogue":
            return system.family in ("lexical", "utility") and system.ranker is None and not system.contexts
        if system.family == "utility":
            return False
        recalls = system.memory != layout.NONE
        if recalls and option(self.conf, "memory", system.memory, self.overrides).policy_of:
            return dataset.answered > 0 and checks.has_untrained_questions(dataset)
        return dataset.answered > 0 if recalls or system.answers_only else True

    def _variant(self, name: str, order: str | None, options: dict[str, str]) -> Variant:
        system, dataset = self.system, self.dataset
        assembly = option(self.conf, "assembly", options["assembly"], self.overrides, f"system {name}")
        plugins.settings("form", assembly.form, f"conf/assembly/{options['assembly']}", "assembly.form")
        form = plugins.load("form", assembly.form["kind"])
        options = options | {"family": layout.IMPORTED if system.contexts else system.family, "lm": options["reader"]}
        options |= {"pick": self._pick(order), "imported": self.name, "order": order or "blind"}
        options["book"] = layout.book(options) if form.NEEDS_GRAPH and not system.contexts else layout.TEXT
        options = {axis: value for axis, value in options.items() if value is not None}
        study = system.kind if isinstance(system, Study) else None
        has_contexts = not study and options["pick"] != layout.ALL and dataset.kind == "documents"
        recalls = options["memory"] != layout.NONE
        gained = self.spec.gains and not (recalls or system.answers_only) and dataset.gain > 0
        answered = (self.spec.answers or recalls or system.answers_only) and dataset.answered > 0
        variant = Variant(
            dataset=self.dataset_name,
            corpus=dataset.corpus,
            kind=dataset.kind,
            system=name,
            base=self.name,
            order=order,
            options=tuple(sorted(options.items())),
            axes=tuple(sorted(self._row_axes(options, assembly, has_contexts and answered).items())),
            study=study,
            gained=has_contexts and gained,
            answered=has_contexts and answered,
            judges=self.spec.judges if has_contexts and answered else (),
            plain=self.system.plain,
            yours=self.system.yours or bool(self.system.contexts),
        )
        if problems := variant_problems(self.conf, dataset, variant, system, self.overrides):
            raise ConfigError(
                f"system {name}: {'; '.join(problems)}. Fix: correct conf/system/{self.name}.yaml, the options that it "
                "names, conf/dataset, conf/eval, or the override that set it."
            )
        return variant

    def _pick(self, order: str | None) -> str:
        """The scorer that is picked from the ranking: graph, peer, one of a list in this order, or all."""
        if self.system.contexts:
            return layout.IMPORTED
        if self.system.family in ("graph", "peer"):
            return self.system.family
        if self.system.ranker is None:
            return layout.ALL
        suffixed = order == "aware" and layout.scorer_order(self.system.ranker) == "blind"
        return self.system.ranker + "+neighbour" * suffixed

    def _row_axes(self, options: dict[str, str], assembly, is_answered: bool) -> dict[str, str]:
        """The axes in which two rows may differ, besides the order, by name (`comparison.AXES`)."""
        ranked = [options[axis] for axis in layout.FAMILIES[options["family"]] if axis not in ("order", "lm")]
        ranker = [options["family"], ".".join(ranked), options["pick"].removesuffix("+neighbour")]
        other_graph = options["book"] not in (layout.TEXT, layout.OWN)  # the form writes from another graph
        form = {"form": assembly.form, "book": layout.book(options | {"order": ""}) if other_graph else ""}
        form |= {"titles": True} if assembly.titles else {}
        is_imported = options["family"] == layout.IMPORTED
        length = f"the tokens of {self.name}" if is_imported else f"{assembly.budget} tokens"
        axes = {
            "ranker": ":".join(ranker),
            "reranker": options["reranker"],
            "form": repr(form),
            "packing": assembly.packs,
            "placement": assembly.placement,
            "reader": options["reader"] + assembly.counter,
            "memory": options["memory"],
            "answer": f"{options['answer']}, {length}" if is_answered else "",
        }
        return {axis: text for axis, text in axes.items() if not is_imported or axis in TOLD}
