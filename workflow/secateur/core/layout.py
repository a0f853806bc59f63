"""Where results stand: every path once, written from a variant's options and read back from a job's wildcards.

A path has one segment a stage, which joins with dots just the options that stage depends on:

    results/CORPUS/graph/openie.minilm.default.blind.default/edges.parquet
    results/CORPUS/DATASET/rankings/graph/openie.minilm.default.blind.default.default/rankings.parquet
    results/CORPUS/DATASET/contexts/lexical/minilm.sentences/title_zsum/none/text/default.smollm2/contexts.parquet

A context's path says, in this order: the family and options of its ranking, the scorer that was picked of it, the
reranker, the graph that its form writes from, and how it is written and for whom.
"""

from collections.abc import Callable, Mapping, Sequence

Options = Mapping[str, str]

BOOK = ("extractor", "embedder")
GRAPH = (*BOOK, "codebook", "order", "consolidation")
FAMILIES: dict[str, tuple[str, ...]] = {  # who ranks: the options that a ranking depends on
    "lexical": ("embedder", "rankers"),
    "graph": (*GRAPH, "retriever"),
    "utility": ("embedder", "rankers", "lm", "ecs"),
    "peer": ("peer", "service", "extractor", "embedder"),
}
IMPORTED = "imported"  # the family of contexts that were made elsewhere
PEER = "peer"  # the scorer of another system's ranking
ALL = "all"  # every scorer of a ranking, instead of one that is picked
TEXT = "text"  # in the place of a graph: the form writes from the text alone
OWN = "own"  # the graph that ranks is the graph that is written from
NONE = "none"  # the reranker that changes nothing
RECALLED = ("memory", "ecs", "policy", "answer")
WRITTEN = ("assembly", "lm")
LEARNT = ("ecs", "memory")  # what a policy's preferences depend on besides the contexts
CONTEXTS, MEMORIES = "contexts", "recalled"
SOURCE = r"(contexts|recalled)(/[^/]+){6,7}"  # wildcard `source`: a path below results/CORPUS/DATASET


def pattern(axes: Sequence[str]) -> str:
    """A segment with a wildcard for each option."""
    return ".".join(f"{{{axis}}}" for axis in axes)


def _joined(axes: Sequence[str], options: Options) -> str:
    return ".".join(options[axis] for axis in axes)


def _split(axes: Sequence[str], segment: str) -> dict[str, str]:
    return dict(zip(axes, segment.split("."), strict=True))


def folder(options: Options) -> str:
    """The folder of a data set."""
    return f"results/{options['corpus']}/{options['dataset']}"


def passages(options: Options) -> str:
    """The passages of a corpus."""
    return f"results/{options['corpus']}/passages/passages.parquet"


def ranking(options: Options) -> str:
    """FAMILY/OPTIONS of the ranking a variant begins with."""
    family = options["family"]
    return f"{family}/{_joined(FAMILIES[family], options)}"


def source(options: Options) -> str:
    """The path of a variant's contexts below its data set's folder."""
    if options["family"] == IMPORTED:
        return "/".join([CONTEXTS, IMPORTED, options["imported"], IMPORTED, NONE, TEXT, _joined(WRITTEN, options)])
    shared = [ranking(options), options["pick"], options["reranker"], options["book"]]
    if options["memory"] == NONE:
        return "/".join([CONTEXTS, *shared, _joined(WRITTEN, options)])
    return "/".join([MEMORIES, *shared, _joined(RECALLED, options), _joined(WRITTEN, options)])


def book(options: Options) -> str:
    """Which graph a form that needs one writes from."""
    return OWN if options["family"] == "graph" else _joined(GRAPH, options)


def ranked_file(options: Options) -> str:
    """The rankings that contexts are assembled from: reranked ones, where a reranker changes something."""
    stage, own = (
        ("rankings", "") if options["reranker"] == NONE else ("reranked", f"/{options['pick']}/{options['reranker']}")
    )
    return f"{folder(options)}/{stage}/{options['ranking']}{own}/rankings.parquet"


def policies(options: Options) -> str:
    """The folder of a policy learnt on a source."""
    learnt = source(options | {"memory": NONE})
    return f"{folder(options)}/policies/{learnt}/{_joined(LEARNT, options)}/{options['policy']}"


def question_triples(options: Options) -> str:
    """The triples of the questions, of the front end of the graph."""
    return f"{folder(options)}/triples/{options['extractor']}/triples.parquet"


def candidates(options: Options) -> str:
    """The candidate runs of a ranking by the graph."""
    return f"{folder(options)}/rankings/{ranking(options)}/candidates.parquet"


def graph_folder(table: str, options: Options) -> str:
    """The folder below results/CORPUS of a table of a graph, of its codebook, or of a question's triples."""
    if table == "triples":
        return f"{options['dataset']}/triples/{options['extractor']}"
    if table in ("entities", "relations", "lines"):
        return f"codebook/{_joined(BOOK, options)}"
    return f"graph/{_joined(GRAPH, options)}"


def table_of_graph(table: str) -> Callable[[Options], str]:
    """Where a table of the graph stands, as a function of a job's options."""
    return lambda options: f"results/{options['corpus']}/{graph_folder(table, options)}/{table}.parquet"


def figures(options: Options, study: str | None) -> str:
    """The per-question figures of what a variant selects, holds, or is studied for; those of gain and of answers have
    files of their own."""
    own = folder(options)
    if study == "distractors":
        return f"{own}/distractors/{_joined(('lm', 'ecs'), options)}/question_metrics.parquet"
    if study == "policy":
        return f"{policies(options)}/test/question_metrics.parquet"
    if study == "sessions":
        return f"{own}/sessions/{source(options | {'memory': NONE})}/{options['memory']}/question_metrics.parquet"
    return f"{own}/evidence/{source(options)}/question_metrics.parquet"


def selection(options: Options) -> str:
    """The per-question figures of what a ranking of a dialogue selects."""
    return f"{folder(options)}/selection/{ranking(options)}/question_metrics.parquet"


def shown(options: Options, turns: bool) -> str:
    """What a variant gives the reader: the turns that a ranking of a dialogue selects, or its contexts."""
    own = f"selections/{ranking(options)}/selections" if turns else f"{source(options)}/contexts"
    return f"{folder(options)}/{own}.parquet"


def retrieved(options: Options) -> str:
    """What a variant's ranking has of the gold articles among its first."""
    own = f"{ranking(options)}/{options['pick']}/{options['reranker']}"
    return f"{folder(options)}/retrieved/{own}/question_metrics.parquet"


def triples(options: Options, shards: int) -> list[str]:
    """The triples of a corpus, shard by shard."""
    folder = f"results/{options['corpus']}/triples/{options['extractor']}"
    return [f"{folder}/{n}of{shards}/triples.parquet" for n in range(shards)]


def indexed(options: Options, name: str) -> str:
    """What a peer made of a corpus."""
    return f"results/{options['corpus']}/peers/{_joined(FAMILIES['peer'], options)}/{name}"


def sent(options: Options) -> str:
    """What a peer gave its reader, part by part."""
    return f"{folder(options)}/rankings/{ranking(options)}/sent.parquet"


def asked(options: Options) -> str:
    """What a peer's questions cost."""
    return f"{folder(options)}/rankings/{ranking(options)}/question_metrics.parquet"


def gained(options: Options) -> str:
    """The folder of the answer gains of a source."""
    return f"{folder(options)}/answer_gain/{source(options)}/{options['ecs']}"


def gains(options: Options, shards: int) -> list[str]:
    """The answer gains of a source, shard by shard."""
    return [f"{gained(options)}/{n}of{shards}/question_metrics.parquet" for n in range(shards)]


def answers(folder: str, source: str, answer: str, shards: int) -> list[str]:
    """The answers under a source, shard by shard. folder: of the data set."""
    own = f"{folder}/answers/{source}/{answer}"
    return [f"{own}/{n}of{shards}/answers.parquet" for n in range(shards)]


def answered(options: Options) -> str:
    """The figures of the answers under a source."""
    return f"{folder(options)}/answered/{source(options)}/{options['answer']}/question_metrics.parquet"


def judged(options: Options, judge: str) -> str:
    """What a judge says of the answers under a source."""
    own = f"{source(options)}/{options['answer']}.{judge}"
    return f"{folder(options)}/judged/{own}/question_metrics.parquet"


def agreed(options: Options, judges: Sequence[str]) -> str:
    """How far two judges of the answers under a source are apart."""
    own = f"{source(options)}/{options['answer']}.{'.'.join(judges)}"
    return f"{folder(options)}/agreed/{own}/question_metrics.parquet"


def beside(path: str, name: str) -> str:
    """Another file of the same folder."""
    return f"{path.rpartition('/')[0]}/{name}"


def options_of(wildcards: Options) -> dict[str, str]:
    """Every option that a job's wildcards name, those inside `source`, `ranking` and `book` included."""
    found = dict(wildcards)
    if "source" in found:
        stage, family, ranked, pick, reranker, own_book, *rest = found["source"].split("/")
        found |= {"stage": stage, "ranking": f"{family}/{ranked}", "pick": pick, "reranker": reranker, "book": own_book}
        recalled = _split(RECALLED, rest[0]) if stage == MEMORIES else {"memory": NONE}
        found = recalled | found  # what a study names by itself stands
        found |= _split(WRITTEN, rest[-1])
    if "ranking" in found:
        family, segment = found["ranking"].split("/")
        found["family"] = family
        if family == IMPORTED:
            found["imported"] = segment
        else:
            lm = found.get("lm")
            reader = {"lm": lm} if lm else {}  # of a source: who reads, not who scored
            found |= _split(FAMILIES[family], segment) | reader
    if found.get("book", TEXT) not in (TEXT, OWN):
        found |= _split(GRAPH, found["book"])
    return found


def order_of(options: Options) -> str | None:
    """What the rows of a source may know of the order of the text; None where each scorer of a list says it itself."""
    if options["family"] == "lexical":
        return None if options["pick"] == ALL else "aware" if "+neighbour" in options["pick"] else "blind"
    return "aware" if options["family"] == PEER else options.get("order")  # a peer is given documents
