"""Imported triples: LightRAG's GraphML with its chunks, or a table of triples.

LightRAG's edges are undirected and carry a description, a sentence about both entities. The relation is the text between
the two names in the description, if both occur with few words between them; else the first keyword. An edge names its
source chunks. Its passage is the sentence of these chunks that shares most content words with names and description;
ties go to the earliest. In a graph that declares no keywords (nano-graphrag's) the relation must stand between the names.

An edge that lacks an attribute, a node or all its chunks is malformed, as is a row of a table with an empty cell: it is
dropped and counted, as are single chunks that are missing. More than `extractor.max_malformed` of them stop the import.

Questions are not part of a graph: `openie` extracts their triples, with its settings.
"""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element, ParseError

import polars as pl
import regex

from secateur.config.graph import MAX_MALFORMED
from secateur.core.errors import SecateurError
from secateur.datasets.containment import normalised
from secateur.datasets.reading import Problems, read_json
from secateur.graph.triples.extractors.openie import FrontEnd, Settings
from secateur.graph.triples.surface import Fact, normalise, word_set
from secateur.models.units import content_words
from secateur.models.words import UNSPACED, WORD_CHARACTER

__all__ = ["FrontEnd", "Settings", "best_passage", "count_malformed", "passages_of_chunks", "problems", "read"]

SEPARATOR = "<SEP>"  # between values that LightRAG merged into one attribute
NAMESPACE = "{http://graphml.graphdrawing.org/xmlns}"
REQUIRED = ("description", "keywords", "source_id")
MAX_BYTES = 1 << 30  # limit of a GraphML file, which is read into memory
MAX_RELATION = 8  # words of a relation taken from a description
JOINERS = word_set("and or of in for with to from on at by as")  # words that are no relation by themselves
SUFFIXES = ([".graphml", ".json"], [".csv"], [".parquet"])  # allowed sets of files
CHARACTER = regex.compile(f"(?V1){UNSPACED}")  # of a script without blanks; two count as a word
ANCHOR = 3  # first words of a passage, its index key in a chunk

Facts = dict[str, list[Fact]]  # by passage id, in the order of the file


class Edge(NamedTuple):
    """An edge of LightRAG's graph."""

    source: str
    target: str
    keywords: str
    descriptions: tuple[str, ...]
    chunks: tuple[str, ...]


def problems(settings: Settings, extractor) -> list[str]:
    """Problems of the option, each a clause."""
    problems = [] if extractor.shards == 1 else [f"extractor.shards is {extractor.shards}; an import needs 1"]
    if [Path(name).suffix for name in extractor.files] not in SUFFIXES:
        problems.append("extractor.files is neither a .graphml and a .json, in this order, nor one .csv or .parquet")
    return problems


def read(paths: Sequence[Path], passages: pl.DataFrame, max_malformed: float = MAX_MALFORMED) -> tuple[Facts, Counter]:
    """(facts by passage id, counts); facts without a passage and malformed records are counted.

    Raises SecateurError for invalid files, more malformed records than `max_malformed`, or if no fact matches a passage.
    """
    facts, counts = (_table if len(paths) == 1 else _lightrag)(paths, passages, max_malformed)
    if not facts:
        triples = counts["facts_imported"] + counts["facts_without_passage"]
        raise SecateurError(
            f"{', '.join(map(str, paths))}: none of its {triples} triples matches a passage of this corpus. "
            "Fix: name the graph of this corpus in extractor.files."
        )
    return facts, counts


def count_malformed(problems: Problems, malformed: int, records: int, max_malformed: float) -> Counter:
    """The count of malformed records, for the counts of an import. Raises SecateurError above the allowed share."""
    if malformed > max_malformed * records:
        problems.fix += f"; or raise extractor.max_malformed, the share of them that is dropped ({max_malformed:g})"
        problems.stop()
    return Counter({"records_malformed": malformed} if malformed else {})


# --- LightRAG ------------------------------------------------------------------------------------


def _lightrag(paths: Sequence[Path], passages: pl.DataFrame, max_malformed: float) -> tuple[Facts, Counter]:
    """(facts by passage id, counts) of a LightRAG graph: one fact per description of an edge."""
    graph, chunks = paths
    edges, texts = _edges(graph), _chunks(chunks)
    fix = f"give each edge two nodes of the file, a description, keywords, and a source_id of {chunks.name}"
    problems, whole, deleted = Problems(graph, fix), [], 0
    for n, (edge, clauses) in enumerate(edges):
        missing = [f"chunk {chunk!r} is not in {chunks.name}" for chunk in edge.chunks if chunk not in texts]
        clauses += missing if len(missing) == len(edge.chunks) else []
        problems.add(f"edge {n} ({edge.source} - {edge.target})", *clauses)
        whole += [] if clauses else [edge._replace(chunks=tuple(filter(texts.__contains__, edge.chunks)))]
        deleted += len(missing)
    counts = count_malformed(problems, len(edges) - len(whole), len(edges), max_malformed)
    counts += Counter({"chunks_missing": deleted})
    rows_of = passages_of_chunks(texts, passages)
    facts = defaultdict(list)
    for edge in whole:
        rows = sorted({n for chunk in edge.chunks for n in rows_of[chunk]})
        for description in edge.descriptions:
            fact = _fact(edge, description)
            if not fact[1]:
                counts["facts_malformed"] += 1
                continue
            passage = best_passage(f"{edge.source} {edge.target} {description}", rows, passages)
            counts["facts_imported" if passage else "facts_without_passage"] += 1
            if passage:
                facts[passage].append(fact)
    return dict(facts), counts


def _edges(path: Path) -> list[tuple[Edge, list[str]]]:
    """Edges of a LightRAG graph in file order, each with clauses on what it lacks.

    Raises SecateurError for a file that is too large, malformed, declares entities, is not GraphML or has no edge.
    """
    root = _parsed(path)
    graph = root.find(f"{NAMESPACE}graph")
    if root.tag != f"{NAMESPACE}graphml" or graph is None:
        tag = root.tag.rpartition("}")[2]
        raise SecateurError(f"{path}: not GraphML, its root is <{tag}>. Fix: name LightRAG's .graphml file.")
    names = {
        key.get("id"): key.get("attr.name") for key in root.iter(f"{NAMESPACE}key") if key.get("for") in ("edge", "all")
    }
    nodes = {node.get("id") for node in graph.iter(f"{NAMESPACE}node")}
    edges = [_edge(edge, names, nodes) for edge in graph.iter(f"{NAMESPACE}edge")]
    if not edges:
        raise SecateurError(f"{path}: the graph has no edge. Fix: name LightRAG's .graphml file.")
    return edges


def _parsed(path: Path) -> Element:
    """Root of an XML file; a document type is refused, since its entities may expand without bound or read files."""
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import parse

    try:
        if path.stat().st_size > MAX_BYTES:
            raise SecateurError(
                f"{path}: {path.stat().st_size} bytes, above the limit of {MAX_BYTES} for GraphML. "
                "Fix: import the triples as Parquet (docs/data.md)."
            )
        return parse(path, forbid_dtd=True).getroot()
    except DefusedXmlException as error:
        raise SecateurError(
            f"{path}: declares a document type or entities ({type(error).__name__}), which may expand without bound or "
            "read other files. Fix: remove the DOCTYPE, if you trust the file; GraphML needs none."
        ) from error
    except (ParseError, ValueError, LookupError) as error:
        raise SecateurError(f"{path}: malformed XML: {error}. Fix: fetch or export the file again.") from error
    except OSError as error:
        raise SecateurError(f"{path}: not readable ({error.strerror}). Fix: correct extractor.files.") from error


def _edge(edge: Element, names: dict, nodes: set) -> tuple[Edge, list[str]]:
    """One edge, and clauses on the nodes and attributes that it lacks."""
    ends = [edge.get(end) or "" for end in ("source", "target")]
    values = {names.get(data.get("key")): (data.text or "").strip() for data in edge.iter(f"{NAMESPACE}data")}
    descriptions, chunks, keywords = (
        tuple(filter(None, map(_unquoted, values.get(name, "").split(SEPARATOR))))
        for name in ("description", "source_id", "keywords")
    )
    whole = Edge(*map(_unquoted, ends), next(iter(keywords), ""), descriptions, chunks)
    clauses = [f"{end!r} is not a node" for end in ends if end not in nodes]
    required = [name for name in REQUIRED if name != "keywords" or name in names.values()]
    clauses += [f"has no {name}" for name in required if not values.get(name)]
    if not clauses and not any(_fact(whole, description)[1] for description in descriptions):
        clauses.append("has no keywords, and no description with a relation between its two names")
    return whole, clauses


def _unquoted(text: str) -> str:
    """A text without the quotes around it, which nano-graphrag and early LightRAG write."""
    text = text.strip()
    return text[1:-1].strip() if text[:1] == text[-1:] == '"' and '"' not in text[1:-1] else text


def _chunks(path: Path) -> dict[str, str]:
    """Texts by chunk id, of the chunks that have one."""
    chunks = read_json(path)
    entries = chunks.items() if isinstance(chunks, dict) else ()
    texts = {name: c["content"] for name, c in entries if isinstance(c, dict) and isinstance(c.get("content"), str)}
    if not texts:
        raise SecateurError(
            f"{path}: expected an object of chunks by id, each with `content`. Fix: name LightRAG's kv_store_text_chunks.json."
        )
    return texts


def passages_of_chunks(chunks: dict[str, str], passages: pl.DataFrame) -> dict[str, list[int]]:
    """Rows of the passages that each chunk contains verbatim, word by word."""
    starts = defaultdict(list)
    for n, text in enumerate(passages["text"]):
        words = normalised(text).split()
        if words:
            starts[tuple(words[:ANCHOR])].append((n, words))
    rows = {}
    for name, text in chunks.items():
        words = normalised(text).split()
        rows[name] = [
            n
            for i in range(len(words))
            for length in range(1, ANCHOR + 1)
            for n, passage in starts.get(tuple(words[i : i + length]), ())
            if words[i : i + len(passage)] == passage
        ]
    return rows


def best_passage(fact: str, rows: Iterable[int], passages: pl.DataFrame) -> str | None:
    """Id of the passage that shares most content words with a fact; None if none shares any."""
    words = content_words(fact)
    texts, best, most = passages["text"], None, 0
    for n in rows:
        shared = len(words & content_words(texts[n]))
        if shared > most:
            best, most = n, shared
    return None if best is None else passages["passage_id"][best]


def _fact(edge: Edge, description: str) -> Fact:
    """Head, relation and tail of an edge, from one of its descriptions."""
    description = unicodedata.normalize("NFC", description)
    source, target = _match(edge.source, description), _match(edge.target, description)
    if source and target:
        names = [(source.span(), edge.source), (target.span(), edge.target)]
        ((_, end), head), ((start, _), tail) = sorted(names)
        words = normalise(description[end:start]).split()
        size = len(words) + len(CHARACTER.findall(description[end:start])) // 2
        if end <= start and size <= MAX_RELATION and not JOINERS.issuperset(words):
            return head, " ".join(words), tail
    return edge.source, edge.keywords.split(",")[0].strip(), edge.target


def _match(name: str, text: str) -> regex.Match | None:
    """First match of a name as whole words: in full, without its bracket, or the bracket's content; plurals count.

    A name may stand amid others where no blanks do. text: in NFC.
    """
    name = unicodedata.normalize("NFC", name)
    outside, _, inside = name.partition("(")
    for form in filter(None, (name, outside.strip(), inside.strip(") "))):
        before = "" if CHARACTER.match(form) else rf"(?<!{WORD_CHARACTER})"
        after = "" if CHARACTER.match(form[-1]) else rf"(?:s|es)?(?!{WORD_CHARACTER})"
        if match := regex.search(f"{before}{regex.escape(form)}{after}", text, regex.IGNORECASE):
            return match
    return None


# --- a table of triples --------------------------------------------------------------------------


def _table(paths: Sequence[Path], passages: pl.DataFrame, max_malformed: float) -> tuple[Facts, Counter]:
    """(facts by passage id, counts) of a CSV or Parquet file: head, relation, tail, and passage_id or doc_id, position."""
    (path,) = paths
    frame = _read_frame(path)
    place = ["passage_id"] if "passage_id" in frame.columns else ["doc_id", "position"]
    missing = [name for name in ("head", "relation", "tail", *place) if name not in frame.columns]
    if missing:
        raise SecateurError(
            f"{path}: no column {', '.join(missing)}; it has {', '.join(frame.columns) or 'none'}. Fix: give head, relation, "
            "tail, and passage_id, or doc_id and position."
        )
    frame = frame.select(pl.col("head", "relation", "tail", *place).cast(pl.String))
    problems = Problems(path, "fill these columns in every row")
    for name in frame.columns:
        empty = frame[name].is_null().arg_true().to_list()
        if empty:
            problems.add(
                name, f"empty in {len(empty)} row{'s' if len(empty) > 1 else ''}, the first is row {empty[0] + 1}"
            )
    whole = frame.drop_nulls()
    counts = count_malformed(problems, frame.height - whole.height, frame.height, max_malformed)
    places = passages.select("doc_id", "position", "passage_id", passage="passage_id").with_columns(
        pl.col("position").cast(pl.String)
    )
    rows = whole.join(places.select("passage", *place), on=place, how="left", maintain_order="left")
    facts = defaultdict(list)
    for head, relation, tail, passage in (
        rows.drop_nulls("passage").select("head", "relation", "tail", "passage").iter_rows()
    ):
        facts[passage].append((head, relation, tail))
    lost = rows["passage"].null_count()
    return dict(facts), counts + Counter({"facts_imported": rows.height - lost, "facts_without_passage": lost})


def _read_frame(path: Path) -> pl.DataFrame:
    try:
        return pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path, infer_schema=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise SecateurError(
            f"{path}: not a readable {path.suffix.lstrip('.')} file ({str(error).splitlines()[0]}). "
            "Fix: correct extractor.files, or write the file again as UTF-8."
        ) from error
