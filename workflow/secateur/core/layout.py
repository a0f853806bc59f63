"""Paths of results: each defined once, written from a variant's options and read back from a job's wildcards.

A path has one segment per stage, which joins with dots the options that the stage depends on:

    results/CORPUS/graph/openie.minilm.default.blind.default/edges.parquet
    results/CORPUS/DATASET/rankings/graph/openie.minilm.default.blind.default.default/rankings.parquet
    results/CORPUS/DATASET/contexts/lexical/minilm.sentences/title_zsum/none/text/default.smollm2/contexts.parquet

The path of contexts names, in this order: family and options of the ranking, the scorer picked from it, the reranker,
the graph that the form writes from, and assembly with reader; `default.smollm2.myrag` are contexts of as many tokens as
those of the system `myrag`, which were made elsewhere.
"""

from collections.abc import Callable, Mapping, Sequence

Options = Mapping[str, str]

BOOK = ("extractor", "embedder")
GRAPH = (*BOOK, "codebook", "order", "consolidation")
FAMILIES: dict[str, tuple[str, ...]] = {  # family of rankings -> the options that such a ranking depends on
    "lexical": ("embedder", "rankers"),
    "graph": (*GRAPH, "retriever"),
    "utility": ("embedder", "rankers", "lm", "ecs"),
    "peer": ("peer", "service", "extractor", "embedder"),
    "imported": ("imported", "order"),  # no ranking, but contexts of this order
}
IMPORTED = "imported"  # the family of imported contexts
PEER = "peer"  # the scorer of another system's ranking
ALL = "all"  # all scorers of a ranking, none picked
TEXT = "text"  # no graph: the form writes from the text alone
OWN = "own"  # the form writes from the graph of the ranking
NONE = "none"  # the reranker that changes nothing
RECALLED = ("memory", "ecs", "policy", "answer")
WRITTEN = ("assembly", "lm")
LENGTH = "length"  # the system whose contexts have as many tokens, where contexts have no budgets
LEARNT = ("ecs", "memory")  # options that a policy's preferences depend on, besides the contexts
CONTEXTS, MEMORIES = "contexts", "recalled"
SHARED = ("experiments", "ledger", "bench", "models", "raw", "peers")  # folders of results/ that are of no corpus
OF_CORPUS = ("codebook", "graph", "growth", "mentions", "passages", "peers", "runs", "triples")  # of no data set
SOURCE = r"(contexts|recalled)(/[^/]+){6,7}"  # wildcard `source`: a path below results/CORPUS/DATASET


def data_of(path: str) -> tuple[str | None, str | None, list[str]]:
    """Corpus and data set of a path below results/, None where it has none; and the segments below them.

    >>> data_of("results/stem/stem_dev/triples/openie/run.json"), data_of("results/stem/triples/openie/0of2/run.json")
    (('stem', 'stem_dev', ['triples', 'openie', 'run.json']), ('stem', None, ['triples', 'openie', '0of2', 'run.json']))
    """
    _, corpus, *below = path.split("/")
    if corpus in SHARED:
        return None, None, [corpus, *below]
    return (corpus, None, below) if below[0] in OF_CORPUS else (corpus, below[0], below[1:])


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


def question_table(options: Options, table: str) -> str:
    """A table of a data set: `questions` or `evidence`."""
    return f"{folder(options)}/questions/{table}.parquet"


def model(options: Options) -> str:
    """The prepared weights of a language model."""
    return f"results/models/{options['lm']}/model.json"


def _shards(folder: str, table: str, count: int) -> list[str]:
    return [f"{folder}/{n}of{count}/{table}.parquet" for n in range(count)]


def parts(count: int) -> list[str]:
    """The values of the wildcard `part` of several shards; none of a single one."""
    return [f"/{n}of{count}" for n in range(count)] if count > 1 else []


def ranking(options: Options) -> str:
    """FAMILY/OPTIONS of a variant's ranking."""
    family = options["family"]
    return f"{family}/{_joined(FAMILIES[family], options)}"


def source(options: Options) -> str:
    """The path of a variant's contexts below the folder of its data set."""
    written = ".".join(filter(None, [_joined(WRITTEN, options), options.get(LENGTH)]))
    if options["family"] == IMPORTED:
        return "/".join([CONTEXTS, ranking(options), IMPORTED, NONE, TEXT, written])
    shared = [ranking(options), options["pick"], options["reranker"], options["book"]]
    if options["memory"] == NONE:
        return "/".join([CONTEXTS, *shared, written])
    return "/".join([MEMORIES, *shared, _joined(RECALLED, options), _joined(WRITTEN, options)])


def own_length(options: Options) -> str | None:
    """The system made elsewhere whose contexts set the length of these; None for contexts within budgets."""
    return options.get(LENGTH) or (options["imported"] if options.get("family") == IMPORTED else None)


def book(options: Options) -> str:
    """The graph that a form writes from, where it needs one."""
    return OWN if options["family"] == "graph" else _joined(GRAPH, options)


def ranked_file(options: Options) -> str:
    """The rankings that contexts are assembled from, reranked where the variant has a reranker."""
    stage, segment = (
        ("rankings", "") if options["reranker"] == NONE else ("reranked", f"/{options['pick']}/{options['reranker']}")
    )
    return f"{folder(options)}/{stage}/{options['ranking']}{segment}/rankings.parquet"


def policies(options: Options) -> str:
    """The folder of a policy trained on a source."""
    learnt = source(options | {"memory": NONE})
    return f"{folder(options)}/policies/{learnt}/{_joined(LEARNT, options)}/{options['policy']}"


def question_triples(options: Options) -> str:
    """The triples of the questions, by the extractor of the graph."""
    return f"{folder(options)}/triples/{options['extractor']}/triples.parquet"


def candidates(options: Options) -> str:
    """The candidate runs of a graph ranking."""
    return f"{folder(options)}/rankings/{ranking(options)}/candidates.parquet"


def graph_folder(table: str, options: Options) -> str:
    """The folder below results/CORPUS of a table of a graph, of its codebook, or of a question's triples."""
    if table == "triples":
        return f"{options['dataset']}/triples/{options['extractor']}"
    if table in ("entities", "relations", "lines"):
        return f"codebook/{_joined(BOOK, options)}"
    return f"graph/{_joined(GRAPH, options)}"


def table_of_graph(table: str) -> Callable[[Options], str]:
    """The path of a table of the graph, as a function of a job's options."""
    return lambda options: f"results/{options['corpus']}/{graph_folder(table, options)}/{table}.parquet"


def mentions(options: Options) -> str:
    """The mentions of a graph's entities in the passages."""
    return f"results/{options['corpus']}/mentions/{_joined(GRAPH, options)}/mentions.parquet"


def growth(options: Options) -> str:
    """The growth of a graph with the passages read."""
    return f"results/{options['corpus']}/growth/{_joined(GRAPH, options)}/growth.parquet"


def figures(options: Options, study: str | None) -> str:
    """The question metrics of a variant's evidence, or of its study. Gain and answers have files of their own."""
    home = folder(options)
    if study == "distractors":
        return f"{home}/distractors/{_joined(('lm', 'ecs'), options)}/question_metrics.parquet"
    if study == "policy":
        return f"{policies(options)}/test/question_metrics.parquet"
    if study == "sessions":
        return f"{home}/sessions/{source(options | {'memory': NONE})}/{options['memory']}/question_metrics.parquet"
    return f"{home}/evidence/{source(options)}/question_metrics.parquet"


def selection(options: Options) -> str:
    """The question metrics of a selection from a dialogue."""
    return f"{folder(options)}/selection/{ranking(options)}/question_metrics.parquet"


def selections(options: Options, shards: int) -> list[str]:
    """The selections of a ranking, and those grown greedily, one file per shard."""
    home = f"{folder(options)}/selections/{ranking(options)}"
    return [f"{home}/selections.parquet", *_shards(f"{home}/greedy", "selections", shards)]


def statistics(options: Options, shards: int) -> list[str]:
    """The statistics of pooled passages under a language model, one file per shard."""
    return _shards(f"{folder(options)}/statistics/{_joined(FAMILIES['utility'], options)}", "statistics", shards)


def shown(options: Options, turns: bool) -> str:
    """The table that a variant gives its reader: selected turns of a dialogue, or contexts."""
    path = f"selections/{ranking(options)}/selections" if turns else f"{source(options)}/contexts"
    return f"{folder(options)}/{path}.parquet"


def retrieved(options: Options) -> str:
    """The question metrics of a ranking: gold articles among the first k."""
    subfolder = f"{ranking(options)}/{options['pick']}/{options['reranker']}"
    return f"{folder(options)}/retrieved/{subfolder}/question_metrics.parquet"


def triples(options: Options, shards: int) -> list[str]:
    """The triples of a corpus, one file per shard."""
    return _shards(f"results/{options['corpus']}/triples/{options['extractor']}", "triples", shards)


def indexed(options: Options, name: str) -> str:
    """A file of a peer's index of a corpus."""
    return f"results/{options['corpus']}/peers/{_joined(FAMILIES['peer'], options)}/{name}"


def sent(options: Options) -> str:
    """The parts of the prompts that a peer gave its reader."""
    return f"{folder(options)}/rankings/{ranking(options)}/sent.parquet"


def asked(options: Options) -> str:
    """The costs of a peer's questions."""
    return f"{folder(options)}/rankings/{ranking(options)}/question_metrics.parquet"


def gained(options: Options) -> str:
    """The folder of the answer gains of a source."""
    return f"{folder(options)}/answer_gain/{source(options)}/{options['ecs']}"


def gains(options: Options, shards: int) -> list[str]:
    """The answer gains of a source, one file per shard."""
    return _shards(gained(options), "question_metrics", shards)


def answers(folder: str, source: str, answer: str, shards: int) -> list[str]:
    """The answers under a source, one file per shard. folder: of the data set."""
    return _shards(f"{folder}/answers/{source}/{answer}", "answers", shards)


def answered(options: Options) -> str:
    """The question metrics of the answers under a source."""
    return f"{folder(options)}/answered/{source(options)}/{options['answer']}/question_metrics.parquet"


def judged(options: Options, judge: str) -> str:
    """The question metrics of a judge's verdicts on the answers under a source."""
    subfolder = f"{source(options)}/{options['answer']}.{judge}"
    return f"{folder(options)}/judged/{subfolder}/question_metrics.parquet"


def agreed(options: Options, judges: Sequence[str]) -> str:
    """The agreement of two judges on the answers under a source."""
    subfolder = f"{source(options)}/{options['answer']}.{'.'.join(judges)}"
    return f"{folder(options)}/agreed/{subfolder}/question_metrics.parquet"


def beside(path: str, name: str) -> str:
    """Another file in the same folder."""
    return f"{path.rpartition('/')[0]}/{name}"


def options_of(wildcards: Options) -> dict[str, str]:
    """Every option that a job's wildcards name, including those inside `source`, `ranking` and `book`."""
    named = dict(wildcards)
    if LENGTH in named:
        named[LENGTH] = named[LENGTH].removeprefix(".")
    if "source" in named:
        stage, family, ranked, pick, reranker, own_book, *segments = named["source"].split("/")
        named |= {"stage": stage, "ranking": f"{family}/{ranked}", "pick": pick, "reranker": reranker, "book": own_book}
        recalled = _split(RECALLED, segments[0]) if stage == MEMORIES else {"memory": NONE}
        named = recalled | named  # a study's own wildcard wins
        assembly, lm, *length = segments[-1].split(".")
        named |= {"assembly": assembly, "lm": lm, LENGTH: "".join(length)}
    if "ranking" in named:
        family, segment = named["ranking"].split("/")
        named["family"] = family
        lm = named.get("lm")
        reader = {"lm": lm} if lm else {}  # in a source: the reader, not the scorer
        named |= _split(FAMILIES[family], segment) | reader
    if named.get("book", TEXT) not in (TEXT, OWN):
        named |= _split(GRAPH, named["book"])
    return named


def scorer_order(scorer: str) -> str:
    """Order of a ranker of a list, by its name: `aware` if it reads neighbours in the text, else `blind`."""
    return "aware" if "+neighbour" in scorer or scorer.endswith("+window") else "blind"


def order_of(options: Options) -> str | None:
    """`blind` or `aware` of the order of the text; None where each scorer of a list states its own."""
    if options["family"] == "lexical":
        return None if options["pick"] == ALL else scorer_order(options["pick"])
    return "aware" if options["family"] == PEER else options.get("order")  # peers read whole documents
