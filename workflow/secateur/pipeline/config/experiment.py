"""Options of systems and experiments, and the settings of one machine."""

from dataclasses import dataclass
from typing import Literal

from secateur.pipeline.config.fields import key

__all__ = ["CONTEXTS", "Experiment", "Local", "System"]


@dataclass(frozen=True)
class System:
    """A named way from question to context: which option of each axis it uses."""

    path: Literal["graph", "sentences", "utility", "herrings", "context", "policy", "sessions", "recall"] = key(
        "which path of the DAG it takes"
    )
    tracks: tuple[str, ...] = key("options of conf/track it has rows in")
    extractor: str = key("option of conf/extractor")
    embedder: str = key("option of conf/embedder")
    codebook: str = key("option of conf/codebook")
    consolidation: str = key("option of conf/consolidation")
    retriever: str = key("option of conf/retriever")
    prompt: str = key("option of conf/prompt")
    lm: str = key("option of conf/lm")
    ecs: str = key("option of conf/ecs")
    memory: str = key("option of conf/memory")
    policy: str = key("option of conf/policy")
    scorer: str = key("option of conf/scorer, for sentence rankings on documents")
    selection_scorer: str = key("option of conf/scorer, for dialogues")
    answer: str = key("option of conf/answer, where questions are answered")
    context: str | None = key(
        "path context: what a question is answered with: closed_book, full_context, oracle_evidence, or the best "
        "passages of a scorer of `scorer`, by its name",
    )


CONTEXTS = ("closed_book", "full_context", "oracle_evidence")  # that no scorer makes


@dataclass(frozen=True)
class Experiment:
    """A matrix of variants: data sets, systems and, for ablations, single options."""

    title: str = key("one line for the report")
    datasets: tuple[str, ...] = key("options of conf/dataset")
    systems: tuple[str, ...] = key("options of conf/system")
    axes: dict[str, tuple[str, ...]] = key("further options of a system's axes, each varied by itself")
    exclude: tuple[dict[str, str], ...] = key("combinations left out, e.g. {dataset: medical_v2, system: apr}")
    answers: bool = key("graph systems answer questions too; those of path context always do", default=False)


@dataclass(frozen=True)
class Local:
    """Settings of one machine, in conf/local/local.yaml (git-ignored); in no params and no fingerprint."""

    mirror: str | None = key("folder asked for data files before their addresses (SECATEUR_MIRROR)", default=None)
    cache: str | None = key("folder of the caches (SECATEUR_CACHE)", default=None)
