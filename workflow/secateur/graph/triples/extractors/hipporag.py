"""Triples that a language model extracted for HippoRAG: its file of open IE results, in place of an extraction.

Its passages are paragraphs; a triple's passage here is the sentence of the paragraph that holds most of its content words,
ties to the earliest. A triple that is not of three texts is dropped and counted.

A graph says nothing of a new text: questions asked of it are read by the rules of openie, with its settings.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from secateur.core.errors import SecateurError
from secateur.datasets.problems import Problems
from secateur.datasets.reading import check_fields, read_json
from secateur.graph.triples.extractors.imported import best_passage, passages_of_chunks
from secateur.graph.triples.extractors.openie import FrontEnd, Settings
from secateur.graph.triples.surface import Fact

__all__ = ["FrontEnd", "Settings", "problems", "read"]

DOCUMENT = {"passage": (str,), "extracted_triples": (list,)}


def problems(settings: Settings, extractor) -> list[str]:
    """What does not fit together, each in a clause."""
    found = [] if extractor.shards == 1 else [f"extractor.shards is {extractor.shards}, an import is one job"]
    if [Path(name).suffix for name in extractor.files] != [".json"]:
        found.append("extractor.files is not one .json: HippoRAG's open IE results")
    return found


def read(paths: Sequence[Path], passages: pl.DataFrame) -> tuple[dict[str, list[Fact]], Counter]:
    """The facts of each passage of a corpus, and counts; what finds no passage is counted.

    Raises SecateurError for a file of another form, and where nothing finds a passage.
    """
    (path,) = paths
    documents, facts, counts = _documents(path), defaultdict(list), Counter()
    held = passages_of_chunks({str(n): one["passage"] for n, one in enumerate(documents)}, passages)
    for n, one in enumerate(documents):
        near = sorted(set(held[str(n)]))
        for triple in one["extracted_triples"]:
            if not (isinstance(triple, list) and len(triple) == 3 and all(isinstance(part, str) for part in triple)):
                counts["facts_malformed"] += 1
                continue
            passage = best_passage(" ".join(triple), near, passages)
            counts["facts_imported" if passage else "facts_without_passage"] += 1
            if passage:
                facts[passage].append(tuple(triple))
    if not facts:
        raise SecateurError(
            f"{path}: none of the triples of its {len(documents)} passages finds a passage of this corpus. "
            "Fix: import the graph of this corpus (extractor.files)."
        )
    return dict(facts), counts


def _documents(path: Path) -> list[dict[str, Any]]:
    """The passages with their triples."""
    content = read_json(path)
    documents = content.get("docs") if isinstance(content, dict) else None
    if not isinstance(documents, list) or not documents:
        raise SecateurError(f"{path}: expected an object with a list `docs`. Fix: name HippoRAG's open IE results.")
    found = Problems(path, "each of `docs` has passage and extracted_triples; name HippoRAG's open IE results")
    for n, one in enumerate(documents):
        for clause in check_fields(one, DOCUMENT):
            found.add(f"docs {n}", clause)
    found.stop()
    return documents
