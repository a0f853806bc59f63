"""An experiment's matrix, resolved: which variants exist, and which options each of them uses.

A variant is one (data set, system, track). Its name in every table is the system's, followed by the
options in which it differs from that system: `secateur`, `secateur:dense`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from secateur.datasets.loaders import format_of
from secateur.ecs import backends
from secateur.ecs.names import LENGTH, PROBES, SCORER_NAMES, SPEAKER, needed
from secateur.pipeline.config import (
    CONTEXTS,
    SPLITS,
    ConfigError,
    Dataset,
    Ecs,
    Experiment,
    Lm,
    Scorers,
    System,
    answer_problems,
    extractor_problems,
    lm_problems,
    names,
    option,
    scorer_problems,
)
from secateur.pipeline.errors import nearest
from secateur.pipeline.kinds import settings

__all__ = ["AXES", "Variant", "experiment", "variants"]

AXES = (
    "extractor",
    "embedder",
    "codebook",
    "consolidation",
    "retriever",
    "prompt",
    "lm",
    "ecs",
    "memory",
    "policy",
    "scorer",
    "answer",
)
VARIED = {  # system: the axes an experiment may vary of it
    "graph": AXES[:7],
    "secateur": AXES[:7],
    "ecs": ("embedder", "lm", "ecs"),
    "herrings": ("lm", "ecs"),
    "policy": ("lm", "memory", "policy"),
    "sessions": ("memory",),
    "remembered": ("lm", "memory", "answer"),
    "compressed": ("lm", "memory", "policy", "answer"),
}
TRACKED = ("graph", "policy", "sessions", "recall")  # paths over the graph, with a row for each track


@dataclass(frozen=True)
class Variant:
    """One row source of an experiment."""

    dataset: str
    corpus: str
    kind: str
    system: str
    path: str
    track: str | None
    options: tuple[tuple[str, str], ...]
    context: str | None = None
    answered: bool = False

    def __getitem__(self, axis: str) -> str:
        """The option this variant uses on an axis."""
        return dict(self.options)[axis]

    @property
    def wildcards(self) -> dict[str, str]:
        """All axes by name."""
        own = {"dataset": self.dataset, "corpus": self.corpus, "track": self.track or "blind"}
        return own | {"context": self.context or "none"} | dict(self.options)


def _system_name(name: str, changed: dict[str, str]) -> str:
    return ":".join([name, "+".join(changed.values())]) if changed else name


def _ablations(spec: Experiment, name: str) -> Iterator[dict[str, str]]:
    """The system as it is, then one axis at a time; axes speak of the systems in VARIED."""
    yield {}
    for axis in VARIED.get(name, ()):
        yield from ({axis: value} for value in spec.axes.get(axis, ()))


def experiment(conf: Path, name: str, overrides: tuple[str, ...] = ()) -> Experiment:
    """The experiment, validated; ConfigError names the nearest one where there is no such name."""
    return option(conf, "experiment", name, overrides, asked_by="experiment")


def variants(conf: Path, name: str, overrides: tuple[str, ...] = ()) -> list[Variant]:
    """Every variant of an experiment, each of its options composed and validated.

    Raises ConfigError for unknown options, for axes that do not exist, and for data sets without a corpus.
    """
    spec, where, found = experiment(conf, name, overrides), f"conf/experiment/{name}.yaml", []
    for axis in spec.axes:
        if axis not in AXES:
            raise ConfigError(f"{where}: unknown axis {axis!r}; allowed: {', '.join(AXES)}{nearest(axis, AXES)}")
    for axis in dict.fromkeys(axis for entry in spec.exclude for axis in entry):
        allowed = ("dataset", "corpus", "system", "track", *AXES)
        if axis not in allowed:
            raise ConfigError(
                f"{where}: exclude: unknown axis {axis!r}; allowed: {', '.join(allowed)}{nearest(axis, allowed)}"
            )
    for dataset_name in spec.datasets:
        dataset = option(conf, "dataset", dataset_name, overrides, where)
        corpus = option(conf, "corpus", dataset.corpus, overrides, f"conf/dataset/{dataset_name}.yaml")
        settings("format", corpus.format, f"conf/corpus/{dataset.corpus}", "corpus.format")
        settings("format", dataset.format, f"conf/dataset/{dataset_name}", "dataset.format")
        if not getattr(format_of(corpus.format), "CORPUS", True):
            raise ConfigError(
                f"{where}: dataset {dataset_name!r} has questions only, its corpus cannot be obtained; "
                f"only its questions can be prepared: snakemake results/{dataset.corpus}/{dataset_name}/questions/run.json"
            )
        for system_name in spec.systems:
            system = option(conf, "system", system_name, overrides, where)
            found += list(_of(conf, spec, dataset_name, dataset, system_name, system, overrides))
    found = list(dict.fromkeys(v for v in found if not _excluded(spec, v)))
    _check_answers(conf, where, found, overrides)
    if not found:
        raise ConfigError(f"{where}: no variant is left. Fix: datasets, systems and exclude leave nothing to run.")
    return found


def _of(
    conf: Path,
    spec: Experiment,
    dataset_name: str,
    dataset: Dataset,
    name: str,
    system: System,
    overrides: tuple[str, ...],
) -> Iterator[Variant]:
    base = {axis: getattr(system, axis) for axis in AXES}
    if system.path == "herrings" and not getattr(format_of(dataset.format), "LABELLED", False):
        return  # no other data says of what kind a passage is
    if dataset.kind == "dialogue" and system.path != "sessions":
        if system.path not in (*TRACKED, "context"):  # the selection path; track is null there
            base["scorer"] = system.selection_scorer
            path = "selection" if system.path == "sentences" else system.path
            for changed in _ablations(spec, name):
                full = _system_name(name, changed)
                yield _variant(conf, dataset_name, dataset, full, path, None, base | changed, overrides)
        return
    missing = {"policy": not dataset.trained, "utility": True}
    missing |= dict.fromkeys(("context", "recall"), not dataset.answered)
    if system.path == "recall" and option(conf, "memory", system.memory, overrides).policy_of:
        missing["recall"] |= not _unseen(dataset)
    if missing.get(system.path):  # a context has no figures but those of its answers
        return
    if wrong := _context_problems(conf, name, system, overrides):
        raise ConfigError(
            f"system {name}: {'; '.join(wrong)}. Fix: conf/system/{name}.yaml, or the override that set it."
        )
    tracked = system.path in TRACKED
    for changed in _ablations(spec, name) if tracked else [{}]:
        options = base | changed
        differing = {axis: value for axis, value in changed.items() if value != base[axis]}
        for track in system.tracks if tracked else ("blind",):
            full = _system_name(name, differing)
            one = _variant(conf, dataset_name, dataset, full, system.path, track, options, overrides)
            answered = system.path in ("context", "recall") or (
                system.path == "graph" and spec.answers and dataset.answered > 0
            )
            yield replace(one, context=system.context, answered=answered)


def _context_problems(conf: Path, name: str, system: System, overrides: tuple[str, ...]) -> list[str]:
    """A context that nothing makes, or that belongs to another path, in a clause."""
    if system.path != "context":
        return [f"system.context is {system.context}, path {system.path} has none"] if system.context else []
    scorer = option(conf, "scorer", system.scorer, overrides, f"system {name}")
    free = [form for form in _forms(scorer) if "+answer" not in form]  # no answer ever reaches a context
    return _unknown("system.context", [system.context], [*CONTEXTS, *free])


def _check_answers(conf: Path, where: str, found: list[Variant], overrides: tuple[str, ...]) -> None:
    """Raise ConfigError where the systems that answer, or those they are compared with, lack something."""
    wrong, answered = [], [variant for variant in found if variant.answered]
    for answer, lm in dict.fromkeys((variant["answer"], variant["lm"]) for variant in answered):
        parts = option(conf, "answer", answer, overrides), option(conf, "lm", lm, overrides)
        wrong += [f"answer {answer} and lm {lm}: {problem}" for problem in answer_problems(*parts)]
    if answered:
        against = option(conf, "eval", "default", overrides).answers_against
        wrong += _unknown("eval.answers_against", against, names(conf, "system"))
    if wrong:
        raise ConfigError(
            f"{where}: {'; '.join(wrong)}. Fix: conf/answer, conf/lm, conf/eval/default.yaml, "
            "or the override that set it."
        )


def _unknown(where: str, names: Iterable[Any], allowed: Iterable[Any]) -> list[str]:
    """Names that are not allowed, each in a clause."""
    known = list(map(str, allowed))
    said = ", ".join(known) or "none"
    return [
        f"{where} names {name}, allowed: {said}{nearest(str(name), known)}" for name in names if str(name) not in known
    ]


def _forms(scorer: Scorers) -> list[str]:
    """The names of scorers without a language model, with their suffixes."""
    return [name + suffix for name in scorer.scorers for suffix in ("", *scorer.suffixes)]


def _pool_problems(dataset: Dataset, lm: Lm, ecs: Ecs, scorer: Scorers) -> list[str]:
    """Names in what the utility under a language model needs that nothing has, each in a clause: a sweep takes hours."""
    forms, subsets = _forms(scorer), (dataset.scored, dataset.probed, dataset.grown_of)
    free = [name for name in forms if "+answer" not in name]  # the answer is seen by `ecs.pool_aware` alone
    wrong = _unknown("ecs.pooled_by", [ecs.pooled_by], free)
    wrong += _unknown("ecs.probes", ecs.probes, PROBES)
    wrong += _unknown("ecs.grow_by", ecs.grow_by, [*free, "pmi_q", SPEAKER])
    wrong += _unknown("scorer.utilities", needed(scorer.utilities), [*forms, *SCORER_NAMES, LENGTH, SPEAKER])
    wrong += _unknown("dataset.scored, probed or grown_of", filter(None, subsets), dataset.first)
    wrong += [] if scorer.utilities else ["scorer.utilities is empty"]
    if not wrong:
        passes = [name.replace("trajectory_", "trajectory:") for name in ecs.probes]
        backends.check(lm, ecs, [name for name in (*needed(scorer.utilities), *passes) if name in SCORER_NAMES])
    return wrong


def _graph_problems(conf: Path, dataset: Dataset, track: str, name: str, overrides: tuple[str, ...]) -> list[str]:
    """What a retriever, a track and the measures of a graph variant lack, each in a clause."""
    retriever, measured = option(conf, "retriever", name, overrides), option(conf, "eval", "default", overrides)
    wrong = [] if track in retriever.calibration else [f"retriever.calibration has no entry for track {track}"]
    if retriever.reader:
        wrong += lm_problems(option(conf, "lm", retriever.reader, overrides, f"conf/retriever/{name}.yaml"))
    if dataset.trained:
        wrong += _unknown("dataset.trained", dataset.trained, SPLITS)
        wrong += [f"dataset.trained names no {split}" for split in SPLITS if split not in dataset.trained]
    if dataset.lift:  # blocks are built at `budgets`
        lifted = (*measured.lift_budgets, measured.lift_control)
        wrong += _unknown("eval.lift_budgets or lift_control", lifted, measured.budgets)
    return wrong


def _unseen(dataset: Dataset) -> bool:
    """Whether its figures are of questions that no policy of its own learnt from."""
    return bool(dataset.trained) and dataset.split == "test"


def _policy_problems(
    conf: Path, dataset: Dataset, path: str, options: dict[str, str], overrides: tuple[str, ...]
) -> list[str]:
    """What learning a policy, or answering as one chooses, lacks, each in a clause."""
    memory, policy, lm = (option(conf, group, options[group], overrides) for group in ("memory", "policy", "lm"))
    acts, wrong = path == "recall" and memory.policy_of, []
    if policy.trained_on and (path == "policy" or acts):
        able = [known for known in names(conf, "dataset") if option(conf, "dataset", known, overrides).trained]
        wrong += _unknown("policy.trained_on", [policy.trained_on], able)
    if policy.without and (path == "policy" or acts):
        from secateur.policy.actions import CHANNELS
        from secateur.policy.features import feature_names  # loads scipy, which planning can do without

        wrong += _unknown("policy.without", policy.without, feature_names(CHANNELS))
    if path == "policy" and memory.enabled and lm.backend != "transformers":
        wrong += [
            f"lm.backend is {lm.backend}; the answers that memory {options['memory']} keeps are written in process"
        ]
    if acts:
        wrong += _unknown("memory.policy_of", [memory.policy_of], names(conf, "memory"))
        if not _unseen(dataset):
            wrong += [
                "a policy answers no question that it learnt from; allowed: data sets of split test with `trained`"
            ]
    return wrong


def _variant(
    conf: Path,
    dataset_name: str,
    dataset: Dataset,
    system: str,
    path: str,
    track: str | None,
    options: dict[str, str],
    overrides: tuple[str, ...],
) -> Variant:
    for axis, value in options.items():
        option(conf, axis, value, overrides, f"system {system}")
    option(conf, "track", track or "blind", overrides, f"system {system}")
    scorer = option(conf, "scorer", options["scorer"], overrides)
    wrong = scorer_problems(scorer)
    if path == "utility" and not wrong:
        wrong += _pool_problems(
            dataset, *(option(conf, group, options[group], overrides) for group in ("lm", "ecs")), scorer
        )
    if path == "sentences":  # lift is of what sees no answer
        wrong += _unknown("scorer.lifted", scorer.lifted, [name for name in _forms(scorer) if "+answer" not in name])
    if path in TRACKED:
        wrong += _graph_problems(conf, dataset, track, options["retriever"], overrides)
    wrong += _policy_problems(conf, dataset, path, options, overrides)
    wrong += extractor_problems(option(conf, "extractor", options["extractor"], overrides))
    wrong += lm_problems(option(conf, "lm", options["lm"], overrides))
    if wrong:
        raise ConfigError(
            f"system {system}: {'; '.join(wrong)}. Fix: conf/scorer/{options['scorer']}.yaml, "
            f"conf/extractor/{options['extractor']}.yaml, conf/lm/{options['lm']}.yaml, conf/ecs/{options['ecs']}.yaml, "
            f"conf/policy/{options['policy']}.yaml, conf/memory/{options['memory']}.yaml, conf/retriever, conf/dataset, "
            "conf/eval, or the override that set it."
        )
    track = track if path in TRACKED else None
    return Variant(dataset_name, dataset.corpus, dataset.kind, system, path, track, tuple(sorted(options.items())))


def _excluded(spec: Experiment, variant: Variant) -> bool:
    have = variant.wildcards | {"system": variant.system}
    return any(all(have.get(axis) == value for axis, value in entry.items()) for entry in spec.exclude)


def all_names(conf: Path) -> dict[str, list[str]]:
    """Options by axis, for wildcard constraints."""
    return {group: names(conf, group) for group in ("corpus", "dataset", "track", *AXES)}
