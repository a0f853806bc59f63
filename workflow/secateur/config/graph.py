"""Options of the graph: extraction, codebook, consolidation, orders, retrieval."""

from dataclasses import dataclass
from typing import Any, Literal

from secateur.core.fields import key

__all__ = ["MAX_MALFORMED", "Codebook", "Consolidation", "Extractor", "Order", "Retriever"]

MAX_MALFORMED = 0.5  # default of extractor.max_malformed


@dataclass(frozen=True)
class Extractor:
    """From text to triples, by a plug-in with its own settings."""

    kind: str = key("plug-in that extracts (graph/triples/extractors)", family="extractor")
    shards: int = key("jobs that share the documents", low=1, high=1000)
    block: int = key("sentences of a document extracted and cached together; for llm, in one request", low=1)
    settings: dict[str, Any] = key("settings of the plug-in")
    files: tuple[str, ...] = key(
        "files that the plug-in reads besides passages: names in data/registry, or paths with a slash", default=()
    )
    max_malformed: float = key(
        "imports: largest share of malformed records; these are dropped and counted, above it the import stops",
        low=0,
        high=1,
        default=MAX_MALFORMED,
    )


@dataclass(frozen=True)
class Codebook:
    """From triples to runs (paper 2.2, 2.3)."""

    bonus_path: float = key("fit bonus for a head that equals the previous tail", low=0, high=1)
    bonus_node: float = key("fit bonus for a head or tail that occurs in the run", low=0, high=1)
    refine: bool = key("re-segment across boundaries until nothing changes")


@dataclass(frozen=True)
class Consolidation:
    """Alias groups of entities, a budget of entities, and pruning of edges (paper 2.7)."""

    merge: bool = key("join aliases")
    tau: float = key("cosine from which two entities may be aliases", low=0, high=1)
    slack: float = key("every pair of a group has cosine >= tau - slack (complete link)", low=0, high=1)
    guarded: bool = key("keep apart numbers, dates, polarity, direction, markers; join acronyms and equal normal forms")
    apart: tuple[str, ...] = key("words on which two names must agree, beside those of the guards")
    aliases: str | None = key("YAML file with `force` and `forbid` lists of surface forms")
    exact_limit: int = key("entities up to which all pairs are compared; above, only those of near cells", low=0)
    probes: int = key("above exact_limit: cells that each entity is compared with", low=1)
    budget: float = key("maximum entities, below 1 as a share; above it close ones merge further (layer 2)", low=0.001)
    floor: float = key("cosine below which layer 2 merges nothing, even if the budget is missed", low=0, high=1)
    iterations: int = key("iterations of k-means", low=1)
    seed: int = key("seed of k-means and of prune `random`", low=0)
    prune: Literal["none", "frequency", "links", "random"] = key(
        "edges that go, and mentions of names: none, rare ones, those that link fewest articles, or any"
    )
    min_mentions: int = key("prune `frequency`: mentions from which an edge is kept", low=1)
    keep: float = key("prune `links` and `random`: share of edges and of names' mentions that is kept", low=0, high=1)
    joins: tuple[str, ...] = key("walks: small words that join two capitalised words to a name")
    skipped: tuple[str, ...] = key("walks: words that begin no name, capitalised or not")
    longest: int = key("walks: maximum words of a name in a text", low=1)


@dataclass(frozen=True)
class Order:
    """What a ranking may know of document order."""

    runs: Literal["sentence", "document"] = key("where runs are cut: at sentence ends, or only where the fit fails")
    neighbour: float = key("share of the better neighbouring sentence's z-score that is added", low=0, high=2)


@dataclass(frozen=True)
class Retriever:
    """Coarse-to-fine path retrieval (paper 2.4, A.3) and the ranking of passages."""

    coarse: Literal["maxpair", "idf_maxpair", "ere"] = key(
        "symbol-space score of a run: best pairs of symbols, the same weighted by idf, or its best edge (proposition 16)"
    )
    w_ent: float = key("weight of the best entity pair", low=0)
    w_rel: float = key("weight of the best relation pair", low=0)
    w_text: float = key("hybrid: weight of BM25 over the run's text (z-score) in the coarse score", low=0)
    top_k: int = key("runs that survive the coarse stage", low=1)
    top_m: int = key("runs that survive the fine stage", low=1)
    top_t: int = key("entries averaged in RelTopT", low=1)
    coverage: Literal["share", "count"] = key("Coverage as a share of the query lines, or the paper's count")
    w_coverage: float = key("weight of Coverage", low=0)
    tau_coverage: float = key("cosine from which a query line is covered", low=-1, high=1)
    w_pairs: float = key("weight of ManyToMany", low=0)
    tau_pairs: float = key("centre of ManyToMany's sigmoid", low=-1, high=1)
    t_pairs: float = key("width of ManyToMany's sigmoid", low=0.001)
    w_distinct: float = key("weight of Distinct1to1", low=0)
    tau_distinct: float = key("cosine from which a 1:1 match counts", low=-1, high=1)
    w_whole: float = key("weight of WholeChunk", low=0)
    tau_whole: float = key("centre of WholeChunk's gate", low=-1, high=1)
    t_whole: float = key("width of WholeChunk's gate", low=0.001)
    passages: int = key("passages kept per question", low=1)
    w_bm25: float = key("weight of BM25 over title and sentence (z-score) in the ranking of passages", low=0)
    w_dense: float = key("weight of the sentence's cosine (z-score) in the ranking of passages", low=0)
    w_run: float = key("weight of the best coarse run score (z-score) in the ranking of passages", low=0)
    w_line: float = key("weight of the best line's cosine (z-score) in the ranking of passages", low=0)
    title: bool = key("include the document's title in the sentence's BM25 text")
    k1: float = key("BM25 term saturation over title and sentence", low=0)
    b: float = key("BM25 length normalisation over title and sentence", low=0, high=1)
    units: Literal["passages", "runs"] = key("what is ranked: passages, or the lines of the best runs (the paper)")
    facts: Literal["include_all", "unique", "not_include"] = key("runs: action on the facts channel (paper 2.5)")
    theta: float = key("runs: cosine from which they are one cluster under `unique`", low=-1, high=1)
    phrases: bool = key("walk over heads and tails of triples too, besides names and article titles")
    walk: Any = key(
        "steps over the graph from the best passages: none, or {kind: NAME, its settings} (graph/walks)", family="walk"
    )
    shards: int = key("jobs that share the questions of a data set; raise it on a cluster", low=1, high=1000, default=1)
