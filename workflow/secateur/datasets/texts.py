"""Documents in plain text, as passages: one a sentence."""

from collections.abc import Mapping
from pathlib import Path

from secateur.datasets.sentences import sentences

__all__ = ["SUFFIXES", "sentence_rows", "text_files"]

SUFFIXES = (".txt", ".md")


def text_files(folder: Path) -> dict[str, Path]:
    """The documents of a folder and its subfolders, by their path within it, sorted."""
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES and path.is_file())
    return {path.relative_to(folder).as_posix(): path for path in files}


def sentence_rows(documents: Mapping[str, str], group: str) -> tuple[list[dict], list[str]]:
    """(rows of the table `passages`, ids of documents without a sentence). documents: id -> text."""
    rows, empty = [], []
    for doc, text in documents.items():
        spans = list(sentences(text))
        empty += [] if spans else [doc]
        for n, (sentence, start, end) in enumerate(spans):
            place = {"passage_id": f"{doc}:{n}", "doc_id": doc, "group_id": group, "position": n}
            rows.append(place | {"text": sentence, "start": start, "end": end})
    return rows, empty
