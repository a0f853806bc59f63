"""What does not fit together in a variant, said before anything runs: a sweep takes hours."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from secateur.config import answers, judging, models, peers, plugins, ranking
from secateur.config.compose import names, option
from secateur.config.datasets import SPLITS, Dataset
from secateur.config.experiment import System
from secateur.core import layout
from secateur.core.errors import SecateurError, nearest
from secateur.core.fields import ConfigError
from secateur.ecs.columns import PROBES, check_backend
from secateur.ecs.names import PLAIN, SPEAKER, needed_features
from secateur.ecs.scoring.score import columns
from secateur.graph.triples import extraction

__all__ = ["answer_problems", "unseen", "variant_problems"]


class _Options:
    """The options of one variant, composed when they are asked for."""

    def __init__(self, conf: Path, variant, overrides: tuple[str, ...]) -> None:
        self.conf, self.variant, self.overrides = conf, variant, overrides

    def __call__(self, group: str, name: str | None = None) -> Any:
        name = name or self.variant.wildcards[group]
        return option(self.conf, group, name, self.overrides, f"system {self.variant.system}")

    def settings(self, family: str, group: str, spec: Any, path: str) -> list[str]:
        """What is wrong with the settings of a kind, in a clause."""
        try:
            plugins.settings(family, spec, f"conf/{group}/{self.variant.wildcards[group]}", path)
        except ConfigError as error:
            return [str(error)]
        return []


def variant_problems(conf: Path, dataset: Dataset, variant, system: System, overrides: tuple[str, ...]) -> list[str]:
    """Everything that a variant lacks, each in a clause."""
    of = _Options(conf, variant, overrides)
    for group in ("codebook", "embedder", "consolidation", "order", "retriever", "ecs", "memory", "policy", "answer"):
        of(group, variant.wildcards.get(group, "blind"))
    rankers = of("rankers")
    wrong = _family_problems(variant, system)
    wrong += ranking.rankers_problems(rankers, f"conf/rankers/{variant['rankers']}")
    if system.ranker and not wrong:
        free = [name for name in ranking.forms(rankers) if "+answer" not in name]  # no answer ever reaches a context
        if variant["pick"] not in free and system.ranker in free:
            wrong += [f"system.orders names aware, and ranker {system.ranker} is not made with +neighbour"]
        else:
            wrong += _unknown("system.ranker", [variant["pick"]], free)
    if variant["reranker"] != layout.NONE:
        wrong += of.settings("reranker", "reranker", of("reranker").spec, "reranker.spec")
        lm = of("reranker").spec.get("lm")
        wrong += models.lm_problems(of("lm", lm)) if lm else []
    if system.family == "utility" and variant.study is None and not wrong:
        wrong += _pool_problems(dataset, of("lm"), of("ecs"), rankers)
    if system.family == "peer":
        wrong += peers.service_problems(of("service"))
        wrong += of.settings("peer", "peer", of("peer").adapter, "peer.adapter")
    if system.family in ("graph", "peer") or variant["book"] != layout.TEXT:
        wrong += extraction.problems(of("extractor"), f"conf/extractor/{variant['extractor']}")
    measured = of("eval", "default")
    wrong += _metric_problems((*measured.metrics, *dataset.metrics))
    wrong += _gain_problems(dataset, measured) if variant.gained else []
    wrong += (
        _policy_problems(of, dataset, variant) if variant.study == "policy" or variant["memory"] != layout.NONE else []
    )
    return wrong + models.lm_problems(of("lm"))


def _metric_problems(metrics: tuple[Any, ...]) -> list[str]:
    """What is wrong with the metrics of eval and of a data set, each in a clause."""
    wrong = []
    for spec in metrics:
        try:
            plugins.settings("metric", spec, "conf/eval/default", "eval.metrics")
        except ConfigError as error:
            wrong.append(str(error))
    found = [name for spec in metrics for name in plugins.named([spec])]
    twice = sorted({name for name in found if found.count(name) > 1})
    return wrong + ([f"eval.metrics and dataset.metrics name {', '.join(twice)} more than once"] if twice else [])


def _family_problems(variant, system: System) -> list[str]:
    """What is asked of contexts that this family does not make, each in a clause."""
    wrong, family, memory = [], variant["family"], variant["memory"]
    if family != "graph" and (memory != layout.NONE or variant.study in ("policy", "sessions")):
        asked = f"study.kind is {variant.study}" if variant.study else f"memory is {memory}"
        wrong.append(f"{asked}, which goes over the contexts of family graph, not of {family}")
    if system.contexts and system.ranker:
        wrong.append(f"system.ranker is {system.ranker}; contexts made elsewhere (system.contexts) have none")
    if family == "lexical" and system.ranker is None:
        asked = "answers_only is true" if system.answers_only else ""
        asked = asked or (f"reranker is {variant['reranker']}" if variant["reranker"] != layout.NONE else "")
        wrong += [f"system.{asked}, which needs one ranker; system.ranker is null"] if asked else []
    return wrong


def _unknown(where: str, found: Iterable[Any], allowed: Iterable[Any]) -> list[str]:
    """Names that are not allowed, each in a clause."""
    known = list(map(str, allowed))
    said = ", ".join(known) or "none"
    return [
        f"{where} names {name}, allowed: {said}{nearest(str(name), known)}" for name in found if str(name) not in known
    ]


def _pool_problems(dataset: Dataset, lm, ecs, rankers) -> list[str]:
    """Names in what the utility under a language model needs that nothing has, each in a clause."""
    forms, subsets = ranking.forms(rankers), (dataset.scored, dataset.probed, dataset.grown_of)
    free = [name for name in forms if "+answer" not in name]  # the answer is seen by `ecs.pool_aware` alone
    wrong = _unknown("ecs.pooled_by", ecs.pooled_by, [*free, SPEAKER])
    if not any(weight for name, weight in ecs.pooled_by.items() if name != SPEAKER):
        wrong += [f"ecs.pooled_by names no ranking, allowed: {', '.join(free)}"]
    wrong += _unknown("ecs.probes", ecs.probes, PROBES)
    wrong += _unknown("ecs.grow_by", ecs.grow_by, [*free, "pmi_q", SPEAKER])
    known = [*forms, *rankers.scores, *PLAIN]
    wrong += _unknown("rankers.utilities", needed_features({}, rankers.utilities), known)
    wrong += _unknown("dataset.scored, probed or grown_of", filter(None, subsets), dataset.first)
    wrong += [] if rankers.scores else ["rankers.scores is empty"]
    if not wrong:
        try:
            read = {name: columns(spec) for name, spec in rankers.scores.items()}
            check_backend(lm, ecs, {name: [name] for name in ecs.probes} | read)
        except ConfigError:
            raise
        except SecateurError as error:
            raise ConfigError(str(error)) from error
    return wrong


def _gain_problems(dataset: Dataset, measured) -> list[str]:
    """Contexts are assembled within `budgets`."""
    return _unknown(
        "eval.gain_budgets or gain_control", (*measured.gain_budgets, measured.gain_control), measured.budgets
    )


def _policy_problems(of: _Options, dataset: Dataset, variant) -> list[str]:
    """What learning a policy, or answering as one chooses, lacks, each in a clause."""
    memory, policy, lm = of("memory"), of("policy"), of("lm")
    learns, acts, wrong = variant.study == "policy", variant.study is None and memory.policy_of, []
    if dataset.trained:
        wrong += _unknown("dataset.trained", dataset.trained, SPLITS)
        wrong += [f"dataset.trained names no {split}" for split in SPLITS if split not in dataset.trained]
    if policy.trained_on and (learns or acts):
        able = [known for known in names(of.conf, "dataset") if of("dataset", known).trained]
        wrong += _unknown("policy.trained_on", [policy.trained_on], able)
    if learns and memory.enabled and not models.in_process(lm):
        wrong += [
            f"lm.backend is {lm.backend}; the answers that memory {variant['memory']} keeps are written in process"
        ]
    if acts:
        wrong += _unknown("memory.policy_of", [memory.policy_of], names(of.conf, "memory"))
        if not unseen(dataset):
            wrong += [
                "a policy answers no question that it learnt from; allowed: data sets of split test with `trained`"
            ]
    return wrong


def unseen(dataset: Dataset) -> bool:
    """Whether its figures are of questions that no policy of its own learnt from."""
    return bool(dataset.trained) and dataset.split == "test"


def answer_problems(conf: Path, found: list, overrides: tuple[str, ...]) -> list[str]:
    """What those that answer, and those that judge, lack, each in a clause."""
    pairs = dict.fromkeys((variant["answer"], variant["lm"]) for variant in found if variant.answered)
    judges = dict.fromkeys(judge for variant in found for judge in variant.judges)
    wrong = [
        f"judge {name}: {problem}"
        for name in judges
        for problem in judging.judge_problems(option(conf, "judge", name, overrides))
    ]
    return wrong + [
        f"answer {answer} and lm {lm}: {problem}"
        for answer, lm in pairs
        for problem in answers.answer_problems(
            option(conf, "answer", answer, overrides), option(conf, "lm", lm, overrides)
        )
    ]
