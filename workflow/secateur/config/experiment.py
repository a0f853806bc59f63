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
    ranker: str | None = key("lexical: one ranker of the list; null: all of them, each in its own row")
    orders: tuple[Literal["blind", "aware"], ...] = key("options of conf/order, each with its own rows")
    rankers: str = key("option of conf/rankers, on documents")
    turns: str = key("option of conf/rankers, on dialogues")
    extractor: str = key("option of conf/extractor")
    embedder: str = key("option of conf/embedder")
    codebook: str = key("option of conf/codebook")
    consolidation: str = key("option of conf/consolidation")
    retriever: str = key("option of conf/retriever")
    peer: str = key("option of conf/peer, for family peer")
    service: str = key("option of conf/service: who answers the requests of a peer to a language model")
    reranker: str = key("option of conf/reranker")
    assembly: str = key("option of conf/assembly")
    reader: str = key(
        "option of conf/lm: the model whose tokens budgets count, that scores contexts and answers questions"
    )
    ecs: str = key("option of conf/ecs")
    memory: str = key("option of conf/memory")
    policy: str = key("option of conf/policy")
    answer: str = key("option of conf/answer, for answered questions")
    contexts: str | None = key("JSONL file of contexts made elsewhere, in place of a ranking")
    answers_only: bool = key("answer questions in every experiment, and report only the answers")
    plain: bool = key(
        "lexical: the row is a baseline of other systems; false: it is a method of Secateur, as the graph's rows"
    )
    yours: bool = key("your own: starred in leaderboards, with a finding; contexts made elsewhere are too")

    @property
    def varied(self) -> tuple[str, ...]:
        """Axes of an experiment that apply to this system."""
        if self.answers_only:
            return ()
        if self.contexts:
            return ("reader",)
        if self.family == "utility":
            return ("embedder", "reader", "ecs")
        written = ("assembly", "reader")
        if self.family == "peer":
            return ("peer", "service", "extractor", "embedder", "reranker", *written)
        if self.family == "lexical":
            return ("embedder", "rankers", *written, *(("reranker",) if self.ranker else ()))
        if self.memory != "none":
            return ("reader", "memory", "policy", "answer")
        return ("extractor", "embedder", "codebook", "consolidation", "retriever", "reranker", *written)


@dataclass(frozen=True)
class Study(System):
    """A measurement about a system with its own figures; it is no row among systems."""

    kind: Literal["policy", "sessions", "distractors"] = key("what is studied")

    @property
    def varied(self) -> tuple[str, ...]:
        """Axes of an experiment that apply to this study."""
        return {
            "policy": ("reader", "memory", "policy"),
            "sessions": ("memory",),
            "distractors": ("reader", "ecs"),
        }[self.kind]


@dataclass(frozen=True)
class Experiment:
    """A matrix of variants: data sets, systems and, for ablations, single options."""

    title: str = key("title of the report")
    datasets: tuple[str, ...] = key("options of conf/dataset")
    systems: tuple[str, ...] = key("options of conf/system")
    axes: dict[str, tuple[Any, ...]] = key(
        "axis: further options, each tried alone; a name, or changed keys of the system's option, e.g. {w_dense: 0}"
    )
    options: dict[str, dict[str, str]] = key(
        "options in place of those in the systems' files, by axis: of `all`, of a family, or of a system; the last wins",
        default={},
    )
    crossed: tuple[str, ...] = key("axes that are varied in every other variant too", default=())
    studies: tuple[str, ...] = key("options of conf/study", default=())
    exclude: tuple[dict[str, str], ...] = key(
        "combinations left out, e.g. {dataset: medical_v2, system: apr}", default=()
    )
    primary: tuple[dict[str, Any], ...] = key(
        "tests declared before a run, for which alone p is adjusted together: {row, minus, differs, metrics, under}",
        default=(),
    )
    gains: bool = key("measure answer gain, on the number of questions that each data set states", default=False)
    answers: bool = key("answer questions under every system", default=False)
    judges: tuple[str, ...] = key("options of conf/judge that judge the answers", default=())


@dataclass(frozen=True)
class Local:
    """Settings of one machine, in conf/local/local.yaml (ignored by git); they are in no params and no fingerprint."""

    mirror: str | None = key("folder searched for data files before their addresses (SECATEUR_MIRROR)", default=None)
    cache: str | None = key("folder of the caches (SECATEUR_CACHE)", default=None)
