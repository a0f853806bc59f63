"""Options of systems, studies and experiments, and the settings of one machine."""

from dataclasses import dataclass
from typing import Any, Literal

from secateur.core.fields import key

__all__ = ["Experiment", "Local", "Study", "System"]


@dataclass(frozen=True)
class System:
    """A named way from question to context: a ranker, a reranker, an assembly, a reader."""

    family: Literal["lexical", "graph", "utility", "peer"] = key(
        "who ranks: a list of rankers, the graph, a language model's utilities (dialogues), or another system"
    )
    ranker: str | None = key("lexical: one ranker of the list; every one of it, each a row of its own, where null")
    orders: tuple[Literal["blind", "aware"], ...] = key("options of conf/order it has rows in")
    rankers: str = key("option of conf/rankers, on documents")
    turns: str = key("option of conf/rankers, on dialogues")
    extractor: str = key("option of conf/extractor")
    embedder: str = key("option of conf/embedder")
    codebook: str = key("option of conf/codebook")
    consolidation: str = key("option of conf/consolidation")
    retriever: str = key("option of conf/retriever")
    peer: str = key("option of conf/peer, where another system ranks")
    service: str = key("option of conf/service: who answers what a peer asks a language model")
    reranker: str = key("option of conf/reranker")
    assembly: str = key("option of conf/assembly")
    reader: str = key(
        "option of conf/lm: whose tokens budgets count, who is asked what a context is worth, who answers"
    )
    ecs: str = key("option of conf/ecs")
    memory: str = key("option of conf/memory")
    policy: str = key("option of conf/policy")
    answer: str = key("option of conf/answer, where questions are answered")
    contexts: str | None = key("a JSONL file of contexts that were made elsewhere, instead of a ranking")
    answers_only: bool = key("it has no figures but those of its answers, and it always answers")

    @property
    def varied(self) -> tuple[str, ...]:
        """The options that an experiment's axes change in it."""
        if self.answers_only:
            return ()
        written = ("assembly", "reader")
        if self.contexts:
            return ("reader",)
        if self.family == "utility":
            return ("embedder", "reader", "ecs")
        if self.family == "peer":
            return ("peer", "service", "extractor", "embedder", "reranker", *written)
        picked = ("embedder", "rankers", *written)
        if self.family == "lexical":
            return picked if self.ranker is None else (*picked, "reranker")
        graph = ("extractor", "embedder", "codebook", "consolidation", "retriever", "reranker", *written)
        return graph if self.memory == "none" else ("reader", "memory", "policy", "answer")


@dataclass(frozen=True)
class Study(System):
    """What is learnt about a system, with figures of its own: no row among systems."""

    kind: Literal["policy", "sessions", "distractors"] = key("what is studied")

    @property
    def varied(self) -> tuple[str, ...]:
        """The options that an experiment's axes change in it."""
        return {
            "policy": ("reader", "memory", "policy"),
            "sessions": ("memory",),
            "distractors": ("reader", "ecs"),
        }[self.kind]


@dataclass(frozen=True)
class Experiment:
    """A matrix of variants: data sets, systems and, for ablations, single options."""

    title: str = key("one line for the report")
    datasets: tuple[str, ...] = key("options of conf/dataset")
    systems: tuple[str, ...] = key("options of conf/system")
    axes: dict[str, tuple[Any, ...]] = key(
        "further options of the systems, each varied by itself: a name, or keys changed in the system's own, {w_dense: 0}"
    )
    crossed: tuple[str, ...] = key("axes of these that are varied in every other variant too", default=())
    studies: tuple[str, ...] = key("options of conf/study", default=())
    exclude: tuple[dict[str, str], ...] = key(
        "combinations left out, e.g. {dataset: medical_v2, system: apr}", default=()
    )
    gains: bool = key("answer gain is measured, where a data set says on how many questions", default=False)
    answers: bool = key("every system answers questions too", default=False)
    judges: tuple[str, ...] = key("options of conf/judge that judge the answers", default=())


@dataclass(frozen=True)
class Local:
    """Settings of one machine, in conf/local/local.yaml (git-ignored); in no params and no fingerprint."""

    mirror: str | None = key("folder asked for data files before their addresses (SECATEUR_MIRROR)", default=None)
    cache: str | None = key("folder of the caches (SECATEUR_CACHE)", default=None)
