"""Imported triples: the open IE results that a language model extracted for HippoRAG.

HippoRAG's passages are paragraphs. A triple belongs to the sentence of its paragraph that shares most content words with
it; ties go to the earliest. Malformed triples, and documents without a passage or a list of triples, are dropped and
counted; more than `extractor.max_malformed` of such documents stop the import.

Questions are not part of the file: `openie` extracts their triples, with its settings.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from secateur.config.graph import MAX_MALFORMED
from secateur.core.errors import SecateurError
from secateur.datasets.reading import STRING, Problems, form_problems, of_type, read_json
from secateur.graph.triples.extractors.imported import best_passage, count_malformed, passages_of_chunks
from secateur.graph.triples.extractors.openie import FrontEnd, Settings
from secateur.graph.triples.surface import Fact

__all__ = ["FrontEnd", "Settings", "problems", "read"]

DOCUMENT = {"passage": STRING, "extracted_triples": of_type(list)}


def problems(settings: Settings, extractor) -> list[str]:
    """Problems of the option, each a clause."""
    problems = [] if extractor.shards == 1 else [f"extractor.shards is {extractor.shards}; an import needs 1"]
    if [Path(name).suffix for name in extractor.files] != [".json"]:
        problems.append("extractor.files is not one .json file with HippoRAG's open IE results")
    return problems


def read(
    paths: Sequence[Path], passages: pl.DataFrame, max_malformed: float = MAX_MALFORMED
) -> tuple[dict[str, list[Fact]], Counter]:
    """(facts by passage id, counts); facts without a passage and malformed documents are counted.

    Raises SecateurError for an invalid file, more malformed documents than `max_malformed`, or if no fact matches a passage.
    """
    (path,) = paths
    documents, counts = _documents(path, max_malformed)
    facts = defaultdict(list)
    sentences = passages_of_chunks({str(n): document["passage"] for n, document in enumerate(documents)}, passages)
    for n, document in enumerate(documents):
        rows = sorted(set(sentences[str(n)]))
        for triple in document["extracted_triples"]:
            if not (isinstance(triple, list) and len(triple) == 3 and all(isinstance(part, str) for part in triple)):
                counts["facts_malformed"] += 1
                continue
            passage = best_passage(" ".join(triple), rows, passages)
            counts["facts_imported" if passage else "facts_without_passage"] += 1
            if passage:
                facts[passage].append(tuple(triple))
    if not facts:
        raise SecateurError(
            f"{path}: no triple of its {len(documents)} passages matches a passage of this corpus. "
            "Fix: name the graph of this corpus in extractor.files."
        )
    return dict(facts), counts


def _documents(path: Path, max_malformed: float) -> tuple[list[dict[str, Any]], Counter]:
    """HippoRAG's passages with their triples, and the count of malformed ones."""
    content = read_json(path)
    documents = content.get("docs") if isinstance(content, dict) else None
    if not isinstance(documents, list) or not documents:
        raise SecateurError(f"{path}: expected an object with a list `docs`. Fix: name HippoRAG's open IE results.")
    problems = Problems(path, "give each of `docs` a passage and extracted_triples, as in HippoRAG's open IE results")
    whole = []
    for n, document in enumerate(documents):
        clauses = form_problems(document, DOCUMENT, extra=True)
        problems.add(f"docs {n}", *clauses)
        whole += [] if clauses else [document]
    return whole, count_malformed(problems, len(documents) - len(whole), len(documents), max_malformed)
