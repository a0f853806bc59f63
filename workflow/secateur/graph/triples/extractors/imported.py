"""Triples from an existing graph: LightRAG's GraphML with its chunks, or a table of triples.

LightRAG's edges are undirected, and say what holds between two entities in a sentence of their own, the description.
A relation is what stands between the two names in the description, in its order; where they do not both stand there,
with few words between them, it is the first keyword. An edge names the chunks it was read from. Its passage is the
sentence of these chunks that holds most of the content words of names and description; ties to the earliest.

A graph says nothing of a new text: questions asked of it are read by the rules of openie, with its settings.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element, ParseError

import polars as pl

from secateur.core.errors import SecateurError
from secateur.datasets.containment import normalised
from secateur.datasets.problems import Problems
from secateur.datasets.reading import read_json
from secateur.graph.triples.extractors.openie import FrontEnd, Settings
from secateur.graph.triples.surface import Fact, normalise, word_set
from secateur.models.words import content_words

__all__ = ["FrontEnd", "Settings", "best_passage", "passages_of_chunks", "problems", "read"]

SEPARATOR = "<SEP>"  # between the values of one attribute that LightRAG merged
NAMESPACE = "{http://graphml.graphdrawing.org/xmlns}"
NEEDED = ("description", "keywords", "source_id")
MAX_BYTES = 1 << 30  # of a GraphML file, which is read whole
MAX_RELATION = 8  # words between two names that still are a relation
JOINERS = word_set("and or of in for with to from on at by as")  # words that by themselves relate nothing
FORMS = ([".graphml", ".json"], [".csv"], [".parquet"])  # endings of the files
ANCHOR = 3  # first words of a passage by which it is looked up in a chunk

Facts = dict[str, list[Fact]]  # by passage id, in the order of the file


class Edge(NamedTuple):
    """An edge as LightRAG wrote it."""

    source: str
    target: str
    keywords: str
    descriptions: tuple[str, ...]
    chunks: tuple[str, ...]


def problems(settings: Settings, extractor) -> list[str]:
    """What does not fit together, each in a clause."""
    found = [] if extractor.shards == 1 else [f"extractor.shards is {extractor.shards}, an import is one job"]
    if [Path(name).suffix for name in extractor.files] not in FORMS:
        found.append("extractor.files is neither a .graphml and a .json, in this order, nor one .csv or .parquet")
    return found


def read(paths: Sequence[Path], passages: pl.DataFrame) -> tuple[Facts, Counter]:
    """The facts of each passage of a corpus, and counts; what finds no passage is counted.

    Raises SecateurError for files of another form, and where nothing finds a passage.
    """
    facts, counts = (_table if len(paths) == 1 else _lightrag)(paths, passages)
    if not facts:
        raise SecateurError(
            f"{', '.join(map(str, paths))}: none of its {sum(counts.values())} triples finds a passage of this corpus. "
            "Fix: import the graph of this corpus (extractor.files)."
        )
    return facts, counts


# --- LightRAG ------------------------------------------------------------------------------------


def _lightrag(paths: Sequence[Path], passages: pl.DataFrame) -> tuple[Facts, Counter]:
    """The facts of a graph and its chunks: one for each description of an edge."""
    graph, chunks = paths
    edges, texts = read_graphml(graph), _chunks(chunks)
    problems = Problems(graph, f"edges name chunks of {chunks.name}; take both files from one LightRAG folder")
    for n, edge in enumerate(edges):
        for chunk in edge.chunks:
            if chunk not in texts:
                problems.add(f"edge {n} ({edge.source} - {edge.target})", f"chunk {chunk!r} is not in {chunks.name}")
    problems.stop()
    held = passages_of_chunks(texts, passages)
    facts, counts = defaultdict(list), Counter()
    for edge in edges:
        near = sorted({n for chunk in edge.chunks for n in held[chunk]})
        for description in edge.descriptions:
            passage = best_passage(f"{edge.source} {edge.target} {description}", near, passages)
            counts["facts_imported" if passage else "facts_without_passage"] += 1
            if passage:
                facts[passage].append(_fact(edge, description))
    return dict(facts), counts


def read_graphml(path: Path) -> list[Edge]:
    """The edges of a LightRAG graph in file order.

    Raises SecateurError for files that are too large, no XML, declare entities, are no GraphML, or lack what is needed.
    """
    root = _parsed(path)
    graph = root.find(f"{NAMESPACE}graph")
    if root.tag != f"{NAMESPACE}graphml" or graph is None:
        shown = root.tag.rpartition("}")[2]
        raise SecateurError(f"{path}: no GraphML: the root is <{shown}>. Fix: name LightRAG's .graphml file.")
    names = {
        key.get("id"): key.get("attr.name") for key in root.iter(f"{NAMESPACE}key") if key.get("for") in ("edge", "all")
    }
    nodes = {node.get("id") for node in graph.iter(f"{NAMESPACE}node")}
    problems = Problems(path, "an edge joins two nodes of the file and has description, keywords and source_id")
    edges = [_edge(n, edge, names, nodes, problems) for n, edge in enumerate(graph.iter(f"{NAMESPACE}edge"))]
    if not edges:
        problems.add("the graph", "holds no edge")
    problems.stop()
    return edges


def _parsed(path: Path) -> Element:
    """The root of an XML file without a document type: entities could expand without bound, or read other files."""
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import parse

    try:
        if path.stat().st_size > MAX_BYTES:
            raise SecateurError(
                f"{path}: {path.stat().st_size} bytes, more than the {MAX_BYTES} that are read as GraphML. "
                "Fix: import the triples as Parquet (docs/data.md)."
            )
        return parse(path, forbid_dtd=True).getroot()
    except DefusedXmlException as error:
        raise SecateurError(
            f"{path}: declares a document type or entities ({type(error).__name__}), which GraphML does not need and "
            "which may expand without bound or read other files. Fix: remove the DOCTYPE, if you trust the file."
        ) from error
    except (ParseError, ValueError, LookupError) as error:
        raise SecateurError(f"{path}: malformed XML: {error}. Fix: fetch or export the file again.") from error
    except OSError as error:
        raise SecateurError(f"{path}: not readable ({error.strerror}). Fix: correct extractor.files.") from error


def _edge(n: int, edge: Element, names: dict, nodes: set, problems: Problems) -> Edge:
    """One edge; what it lacks goes to `problems`."""
    ends = [edge.get(end) or "" for end in ("source", "target")]
    where = f"edge {n} ({' - '.join(ends)})"
    values = {names.get(data.get("key")): (data.text or "").strip() for data in edge.iter(f"{NAMESPACE}data")}
    for end in ends:
        if end not in nodes:
            problems.add(where, f"{end!r} is no node")
    for name in NEEDED:
        if not values.get(name):
            problems.add(where, f"has no {name}")
    descriptions, chunks = (
        tuple(filter(None, map(str.strip, values.get(name, "").split(SEPARATOR))))
        for name in ("description", "source_id")
    )
    return Edge(*ends, values.get("keywords", ""), descriptions, chunks)


def _chunks(path: Path) -> dict[str, str]:
    """Chunk id -> text."""
    chunks = read_json(path)
    good = isinstance(chunks, dict) and all(
        isinstance(c, dict) and isinstance(c.get("content"), str) for c in chunks.values()
    )
    if not good or not chunks:
        raise SecateurError(
            f"{path}: expected an object of chunk ids with a `content` each. Fix: name LightRAG's kv_store_text_chunks.json."
        )
    return {name: chunk["content"] for name, chunk in chunks.items()}


def passages_of_chunks(chunks: dict[str, str], passages: pl.DataFrame) -> dict[str, list[int]]:
    """For each chunk the rows of the passages whose words it holds in a row."""
    starts = defaultdict(list)
    for n, text in enumerate(passages["text"]):
        words = normalised(text).split()
        if words:
            starts[tuple(words[:ANCHOR])].append((n, words))
    held = {}
    for name, text in chunks.items():
        words = normalised(text).split()
        held[name] = [
            n
            for i in range(len(words))
            for length in range(1, ANCHOR + 1)
            for n, passage in starts.get(tuple(words[i : i + length]), ())
            if words[i : i + len(passage)] == passage
        ]
    return held


def best_passage(said: str, rows: Iterable[int], passages: pl.DataFrame) -> str | None:
    """The id of the passage that holds most of the content words of what is said; None where none holds any."""
    words = content_words(said)
    texts, best, most = passages["text"], None, 0
    for n in rows:
        shared = len(words & content_words(texts[n]))
        if shared > most:
            best, most = n, shared
    return None if best is None else passages["passage_id"][best]


def _fact(edge: Edge, description: str) -> Fact:
    """Head, relation and tail of an edge as one of its descriptions puts it."""
    source, target = _find(edge.source, description), _find(edge.target, description)
    if source and target:
        names = [(source.span(), edge.source), (target.span(), edge.target)]
        ((_, end), head), ((start, _), tail) = sorted(names)
        words = normalise(description[end:start]).split()
        if end <= start and len(words) <= MAX_RELATION and not JOINERS.issuperset(words):
            return head, " ".join(words), tail
    return edge.source, edge.keywords.split(SEPARATOR)[0].split(",")[0].strip(), edge.target


def _find(name: str, text: str) -> re.Match | None:
    """Where a name stands in a text: whole words, also plural, also without its bracket, or as what the bracket holds."""
    outside, _, inside = name.partition("(")
    for form in (name, outside.strip(), inside.strip(") ")):
        found = form and re.search(rf"(?<!\w){re.escape(form)}(?:s|es)?(?!\w)", text, re.IGNORECASE)
        if found:
            return found
    return None


# --- a table of triples --------------------------------------------------------------------------


def _table(paths: Sequence[Path], passages: pl.DataFrame) -> tuple[Facts, Counter]:
    """The facts of a CSV or Parquet file with head, relation, tail, and passage_id or doc_id and position."""
    (path,) = paths
    frame = _read_frame(path)
    place = ["passage_id"] if "passage_id" in frame.columns else ["doc_id", "position"]
    missing = [name for name in ("head", "relation", "tail", *place) if name not in frame.columns]
    if missing:
        raise SecateurError(
            f"{path}: no column {', '.join(missing)}; it has {', '.join(frame.columns) or 'none'}. Fix: head, relation and "
            "tail, and where each was read: passage_id, or doc_id and position."
        )
    frame = frame.select(pl.col("head", "relation", "tail", *place).cast(pl.String))
    problems = Problems(path, "each row has a value in each of these columns")
    for name in frame.columns:
        empty = frame[name].is_null().arg_true().to_list()
        if empty:
            problems.add(
                name, f"empty in {len(empty)} row{'s' if len(empty) > 1 else ''}, the first is row {empty[0] + 1}"
            )
    problems.stop()
    known = passages.select("doc_id", "position", "passage_id", found="passage_id").with_columns(
        pl.col("position").cast(pl.String)
    )
    rows = frame.join(known.select("found", *place), on=place, how="left", maintain_order="left")
    facts = defaultdict(list)
    for head, relation, tail, passage in (
        rows.filter(pl.col("found").is_not_null()).select("head", "relation", "tail", "found").iter_rows()
    ):
        facts[passage].append((head, relation, tail))
    lost = rows["found"].null_count()
    return dict(facts), Counter({"facts_imported": rows.height - lost, "facts_without_passage": lost})


def _read_frame(path: Path) -> pl.DataFrame:
    try:
        return pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path, infer_schema=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise SecateurError(
            f"{path}: not a readable {path.suffix.lstrip('.')} file ({str(error).splitlines()[0]}). "
            "Fix: correct extractor.files, or write the file again as UTF-8."
        ) from error
