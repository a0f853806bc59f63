"""Checks that the options of a variant fit together before anything runs, since a sweep takes hours."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from secateur.config import answers, models, peers, plugins, ranking
from secateur.config.compose import names, option
from secateur.config.datasets import SPLITS, Dataset
from secateur.config.experiment import System
from secateur.config.limits import unlimited
from secateur.core import layout
from secateur.core.errors import SecateurError, nearest
from secateur.core.fields import ConfigError
from secateur.ecs.columns import JUDGED, PROBES, check_backend
from secateur.ecs.names import PLAIN, SPEAKER, needed_features
from secateur.ecs.scoring.score import columns
from secateur.graph.triples import extraction

__all__ = [
    "OPTIONS",
    "answer_problems",
    "group_problems",
    "has_untrained_questions",
    "switch_problems",
    "transfer_problems",
    "variant_problems",
]

OPTIONS = {"system": "systems", "study": "studies"}  # group -> the key of an experiment that names its options

COMPOSED = ("codebook", "embedder", "consolidation", "order", "retriever", "ecs", "memory", "policy", "answer")


def variant_problems(conf: Path, dataset: Dataset, variant, system: System, overrides: tuple[str, ...]) -> list[str]:
    """Every problem of a variant, each a clause. Raises ConfigError for an option that cannot be composed."""
    return _Checks(conf, dataset, variant, system, overrides).problems()


def has_untrained_questions(dataset: Dataset) -> bool:
    """Whether the evaluated questions of a data set are apart from those that its policies are trained on."""
    return bool(dataset.trained) and dataset.split == "test"


def answer_problems(conf: Path, variants: list, overrides: tuple[str, ...]) -> list[str]:
    """Every problem of the answering models and the judges, each a clause."""
    problems = []
    for name in dict.fromkeys(judge for variant in variants for judge in variant.judges):
        judge = option(conf, "judge", name, overrides)
        problems += [f"judge {name}: {problem}" for problem in answers.judge_problems(judge)]
    for name, lm in dict.fromkeys((v["answer"], v["lm"]) for v in variants if v.answered):
        answer = option(conf, "answer", name, overrides)
        clauses = answers.answer_problems(answer, option(conf, "lm", lm, overrides))
        problems += [f"answer {name} and lm {lm}: {problem}" for problem in clauses]
    return problems


def group_problems(spec, overrides: tuple[str, ...]) -> list[str]:
    """Every override of systems where there are studies alone, and the other way round, each a clause."""
    problems = []
    for (group, listed), other in zip(OPTIONS.items(), reversed(OPTIONS), strict=True):
        group_overrides = [text for text in overrides if text.lstrip("+~").startswith(f"{group}.")]
        if group_overrides and not getattr(spec, listed):
            fix = f"Fix: {group_overrides[0].replace(group, other, 1)}"
            problems.append(f"{group_overrides[0]} changes nothing, as experiment.{listed} is empty. {fix}")
    return problems


def switch_problems(spec, variants: list, is_whole: bool, overrides: tuple[str, ...]) -> list[str]:
    """Every switch of an experiment that measures nothing, each a clause. is_whole: no override has left out rows."""
    problems = []
    is_file = is_whole and not any(text.lstrip("+~").startswith("dataset.") for text in overrides)
    for switch, measured, key in (("gains", "gained", "gain"), ("answers", "answered", "answered")):
        asked = is_file or any(text.startswith(f"experiment.{switch}=") for text in overrides)
        if asked and getattr(spec, switch) and not any(getattr(variant, measured) for variant in variants):
            problems.append(
                f"experiment.{switch} measures nothing, as dataset.{key} is 0 where contexts are written. "
                f"Fix: dataset.{key}=40, on questions with answers; or experiment.{switch}=false"
            )
    return problems


def transfer_problems(conf: Path, datasets: Iterable[str], variants: list, overrides: tuple[str, ...]) -> list[str]:
    """Every problem of the data sets whose weights others take (`rankers.fitted_on`), each a clause."""
    problems, scored = [], [v for v in variants if v["family"] == "utility" and not v.study]
    allowed = [unlimited(name)[0] for name in datasets if any(v.dataset == name for v in scored)]
    for name in dict.fromkeys(v["rankers"] for v in scored):
        where, listed = f"conf/rankers/{name}: rankers.fitted_on", option(conf, "rankers", name, overrides).fitted_on
        unknown = _unknown(where, listed, allowed)
        problems += unknown
        options = [] if unknown else [(dataset, option(conf, "dataset", dataset, overrides)) for dataset in listed]
        texts = {of.corpus for _, of in options}
        asked = {of.control_of or dataset for dataset, of in options}
        if min(len(texts), len(asked)) < len(options):
            problems.append(f"{where} names {', '.join(listed)}, two of which share their text or their questions")
    if problems:
        problems[-1] += ". Fix: name dialogues of the experiment, each text once."
    return problems


def _unknown(where: str, values: Iterable[Any], allowed: Iterable[Any]) -> list[str]:
    """Values that are not allowed, each a clause."""
    choices = list(map(str, allowed))
    texts = [str(value) for value in values]
    return [
        f"{where} names {text}, allowed: {', '.join(choices) or 'none'}{nearest(text, choices)}"
        for text in texts
        if text not in choices
    ]


def _settings_problems(family: str, spec: Any, where: str, path: str) -> list[str]:
    try:
        plugins.settings(family, spec, where, path)
    except ConfigError as error:
        return [str(error)]
    return []


@dataclass(frozen=True)
class _Checks:
    """The checks of one variant; each yields its problems as clauses."""

    conf: Path
    dataset: Dataset
    variant: Any
    system: System
    overrides: tuple[str, ...]

    def option(self, group: str, name: str | None = None) -> Any:
        """The variant's option of a group, or the named one."""
        name = name or self.variant.wildcards[group]
        return option(self.conf, group, name, self.overrides, f"system {self.variant.system}")

    def problems(self) -> list[str]:
        variant, study = self.variant, self.variant.study
        for group in COMPOSED:
            self.option(group, variant.wildcards.get(group, "blind"))
        rankers, family = self.option("rankers"), self.system.family
        problems = [*self._family(), *ranking.rankers_problems(rankers, f"conf/rankers/{variant['rankers']}")]
        if self.system.ranker and not problems:
            problems += self._ranker(rankers)
        if not problems:
            problems += self._price(rankers)
        if variant["reranker"] != layout.NONE:
            problems += self._reranker()
        if family == "utility" and study is None and not problems:
            problems += self._pool(rankers)
        if study == "distractors":
            problems += self._rules()
        if family == "peer":
            problems += self._peer()
        if family in ("graph", "peer") or variant["book"] != layout.TEXT:
            problems += extraction.problems(self.option("extractor"), f"conf/extractor/{variant['extractor']}")
        problems += self._evaluation()
        if study == "policy" or variant["memory"] != layout.NONE:
            problems += self._policy()
        problems += models.device_problems("embedder", self.option("embedder"))
        return problems + models.lm_problems(self.option("lm"))

    def _family(self) -> Iterator[str]:
        """Requests that the system's family of rankings does not support."""
        system, variant = self.system, self.variant
        family, memory = variant["family"], variant["memory"]
        if family != "graph" and (memory != layout.NONE or variant.study in ("policy", "sessions")):
            request = f"study.kind is {variant.study}" if variant.study else f"memory is {memory}"
            yield f"{request}, which needs contexts of family graph; the family is {family}"
        if variant.study == "sessions" and (placement := self.option("assembly").placement) == "as_written":
            yield f"assembly.placement is {placement}, which tells no ranking; allowed for study sessions: best_first, best_last"
        if system.contexts and (self.variant.base.isdigit() or self.variant.base == "claim"):
            yield f"system {self.variant.base} has contexts made elsewhere, and the name of a budget; another is needed"
        if system.contexts and self.option("assembly").counter == "word_pieces":
            yield "assembly.counter is word_pieces; contexts made elsewhere are counted in the reader's tokens"
        if system.contexts and system.ranker:
            yield f"system.ranker is {system.ranker}; imported contexts (system.contexts) have no ranker"
        if family == "lexical" and system.ranker is None:
            if system.answers_only:
                yield "system.answers_only is true, which needs one ranker; system.ranker is null"
            elif variant["reranker"] != layout.NONE:
                yield f"system.reranker is {variant['reranker']}, which needs one ranker; system.ranker is null"

    def _ranker(self, rankers) -> list[str]:
        allowed = [name for name in ranking.forms(rankers) if "+answer" not in name]  # no context may see the answer
        pick, ranker = self.variant["pick"], self.system.ranker
        if pick == ranker and self.variant["order"] != layout.scorer_order(ranker):
            return [
                f"system.orders names {self.variant['order']}, but ranker {ranker} is order-aware; allowed: [aware]"
            ]
        if pick not in allowed and ranker in allowed:
            return [f"system.orders names aware, but ranker {ranker} has no form with +neighbour"]
        return _unknown("system.ranker", [pick], allowed)

    def _price(self, rankers) -> Iterator[str]:
        """Problems of an assembly that sends passages by a price for tokens."""
        assembly, variant = self.option("assembly"), self.variant
        keys = [f"assembly.{key}" for key in ("price", "mean_tokens") if getattr(assembly, key) is not None]
        if len(keys) > 1:
            yield "assembly.price and assembly.mean_tokens are both set; allowed: one of them, the other null"
        elif keys:
            scorers = rankers.scorers if variant["family"] == "lexical" else {}
            pick = variant["pick"] if self.system.ranker else f"of family {variant['family']}, by no single ranker"
            yield from ranking.price_problems(keys[0], scorers, pick, variant["reranker"])

    def _reranker(self) -> list[str]:
        spec = self.option("reranker").spec
        problems = _settings_problems("reranker", spec, f"conf/reranker/{self.variant['reranker']}", "reranker.spec")
        if spec.get("names"):
            self.option("consolidation", spec["names"])  # raises for an unknown one
        return problems + (models.lm_problems(self.option("lm", spec["lm"])) if spec.get("lm") else [])

    def _peer(self) -> list[str]:
        peer, where = self.option("peer"), f"conf/peer/{self.variant['peer']}"
        problems = peers.service_problems(self.option("service"))
        problems += _settings_problems("peer", peer.adapter, where, "peer.adapter")
        index = peer.indexed_by
        problems += _unknown("peer.indexed_by", [index] if index else [], allowed := names(self.conf, "peer"))
        if index in allowed and plugins.names_in(self.option("peer", index).adapter) != plugins.names_in(peer.adapter):
            problems.append(f"peer.indexed_by is {index}, which has another adapter than {self.variant['peer']}")
        return problems

    def _has_scorers(self) -> bool:
        family = self.variant["family"]
        return family == "utility" or (family == "lexical" and self.system.ranker is None)

    def _evaluation(self) -> Iterator[str]:
        """Problems of metrics, and of budgets of the answer gain, which must be budgets of contexts."""
        measured = self.option("eval", "default")
        metrics = (*measured.metrics, *self.dataset.metrics)
        for spec in metrics:
            yield from _settings_problems("metric", spec, "conf/eval/default", "eval.metrics")
        metric_names = [name for spec in metrics for name in plugins.names_in([spec])]
        if twice := sorted({name for name in metric_names if metric_names.count(name) > 1}):
            yield f"eval.metrics and dataset.metrics name {', '.join(twice)} more than once"
        lacking = [str(budget) for budget in measured.claim if budget not in measured.budgets]
        if lacking and self.dataset.kind == "documents":
            there = ", ".join(str(budget) for budget in measured.claim if str(budget) not in lacking)
            yield f"eval.claim has budgets that eval.budgets lacks: {', '.join(lacking)}. Fix: eval.claim=[{there}]"
        if self.variant.system == measured.reference and self._has_scorers():
            yield f"eval.reference is {measured.reference}, which has several scorers; allowed: a system with one ranking"
        if self.variant.gained:
            budgets = (*measured.gain_budgets, measured.gain_control)
            yield from _unknown("eval.gain_budgets or gain_control", budgets, measured.budgets)
            yield from _unknown("dataset.gain_at", self.dataset.gain_at, measured.budgets)

    def _pool(self, rankers) -> list[str]:
        """Unknown names in the settings of the utility under a language model, and scores that its backend lacks."""
        dataset, ecs = self.dataset, self.option("ecs")
        forms, subsets = ranking.forms(rankers), (dataset.scored, dataset.probed, dataset.grown_of)
        plain = [name for name in forms if "+answer" not in name]  # `ecs.pool_aware` alone sees the answer
        problems = []
        if ecs.pool is not None:  # else every passage is a candidate
            problems += _unknown("ecs.pooled_by", ecs.pooled_by, [*plain, SPEAKER])
            if not any(weight for name, weight in ecs.pooled_by.items() if name != SPEAKER):
                problems += [f"ecs.pooled_by names no ranking, allowed: {', '.join(plain)}"]
        problems += _unknown("ecs.probes", ecs.probes, PROBES)
        problems += _unknown("ecs.grow_by", (dataset.grown and ecs.grow_by) or (), [*plain, "pmi_q", SPEAKER])
        scores = [*forms, *rankers.scores, *PLAIN]
        arrival = ecs.arrival if dataset.grown else {}
        for name, spec in arrival.items():
            problems += _settings_problems("score", spec, f"conf/ecs/{self.variant['ecs']}", f"ecs.arrival.{name}")
        problems += _unknown("rankers.utilities", needed_features({}, rankers.utilities), scores)
        problems += _unknown("dataset.scored, probed or grown_of", filter(None, subsets), dataset.first)
        problems += [] if rankers.scores else ["rankers.scores is empty"]
        if not problems:
            try:
                read = {name: columns(spec) for name, spec in rankers.scores.items()}
                arriving = {f"ecs.arrival.{name}": columns(spec) for name, spec in arrival.items()}
                for name, needed in arriving.items():
                    alone = [column for column in needed if column in PROBES and column not in JUDGED]
                    problems += [f"{name} reads {column}, which no growing context has" for column in alone]
                check_backend(self.option("lm"), ecs, {name: [name] for name in ecs.probes} | read | arriving)
            except ConfigError:
                raise
            except SecateurError as error:
                raise ConfigError(str(error)) from error
        return problems

    def _rules(self) -> Iterator[str]:
        """Problems of the acceptance rules, of the list that the study reads."""
        rankers = self.option("rankers", "utility")
        for name, scores in rankers.rules.items():
            yield from _unknown(f"rankers.rules.{name}", scores, rankers.scores)
            if name in rankers.scores:
                yield f"rankers.rules.{name}: a score has that name"
            if len(set(scores)) < 2:
                yield f"rankers.rules.{name} needs at least two different scores, found {', '.join(scores) or 'none'}"

    def _policy(self) -> Iterator[str]:
        """Problems of training a policy, or of answering with a trained one."""
        dataset, memory, policy, lm = self.dataset, self.option("memory"), self.option("policy"), self.option("lm")
        trains, acts = self.variant.study == "policy", self.variant.study is None and memory.policy_of
        if dataset.trained:
            yield from _unknown("dataset.trained", dataset.trained, SPLITS)
            yield from (f"dataset.trained names no {split}" for split in SPLITS if split not in dataset.trained)
        if policy.trained_on and (trains or acts):
            trainable = [name for name in names(self.conf, "dataset") if self.option("dataset", name).trained]
            yield from _unknown("policy.trained_on", [policy.trained_on], trainable)
        if trains and not models.in_process(lm):
            yield f"lm.backend is {lm.backend}; the answers that a policy is taught by are written in process"
        if trains and policy.gamma and not lm.seconds:
            yield f"policy.gamma is {policy.gamma:g} and lm.seconds is null; {models.FIT}, or set policy.gamma=0"
        if trains:
            judge, judges = self.option("ecs").policy_judge, names(self.conf, "judge")
            yield from _unknown("ecs.policy_judge", [judge] if judge else [], judges)
            if judge in judges:
                yield from (f"judge {judge}: {p}" for p in answers.judge_problems(self.option("judge", judge)))
            budgets = (*self.option("eval", "default").budgets, self.option("assembly").budget)
            yield from _unknown("ecs.policy_budgets", self.option("ecs").policy_budgets, dict.fromkeys(budgets))
        if acts and policy.budget:
            yield (
                f"policy.budget is {policy.budget:g}; a price on tokens is part of study policy alone, and a policy that "
                "answers takes its most probable configuration; allowed: null"
            )
        if acts:
            yield from _unknown("memory.policy_of", [memory.policy_of], names(self.conf, "memory"))
            if not has_untrained_questions(dataset):
                yield "a policy answers no question that it was trained on; allowed: data sets of split test with `trained`"
