"""Documents as passages: one a sentence."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import polars as pl

from secateur.core.workspace import STAMP
from secateur.datasets.documents.lines import JOINED, Document
from secateur.datasets.documents.read import SUFFIXES, suffix_of
from secateur.datasets.sentences import sentences

__all__ = ["cut_sentences", "documents_in", "is_hidden", "sentence_rows", "short_sentences", "text_files"]

WORDS, SHORT = 3, 0.02  # words of a passage that says little; share of such passages that is worth a warning
CUT = 0.1  # share of passages that end inside a sentence from which texts are said to have hard line breaks


def cut_sentences(passages: pl.DataFrame) -> str:
    """Warning for texts with line breaks inside sentences, where a passage ends too. Empty for others.

    passages: doc_id, position, text, and `start`, which only passages of running text have.
    """
    running = passages.drop_nulls("start").sort("doc_id", "position")
    goes_on = pl.col("text").shift(-1).over("doc_id").str.contains(r"^\p{Ll}").fill_null(False)
    cut = running.select((pl.col("text").str.contains(r"[\p{L}\p{N},]$") & goes_on).mean()).item() or 0
    if cut < CUT:
        return ""
    return f"{cut:.0%} of the passages end inside a sentence, at a line break. Fix: one line for each paragraph, then run again"


def short_sentences(passages: pl.DataFrame) -> str:
    """Warning for texts whose passages are headings and pieces of sentences, such as `Dr.`. Empty for others.

    passages: text, and `start`, which only passages of running text have.
    """
    texts = passages.drop_nulls("start")["text"]
    short = texts.filter(texts.str.count_matches(r"\S+") < WORDS)
    if len(short) < SHORT * len(texts) or short.is_empty():
        return ""
    shown = ", ".join(repr(text) for text in short.unique(maintain_order=True).head(3))
    return (
        f"{len(short):,} passages have fewer than {WORDS} words, such as {shown}: full stops and line breaks end a passage. Fix: "
        "passages.jsonl with passages of your own"
    )


def text_files(folder: Path) -> dict[str, Path]:
    """The documents of a folder and its subfolders, by their path within it, sorted; without hidden ones."""
    files = sorted(path for path in folder.rglob("*") if suffix_of(path) in SUFFIXES and path.is_file())
    return {path.relative_to(folder).as_posix(): path for path in documents_in(folder, files)}


def documents_in(folder: Path, files: Iterable[Path]) -> list[Path]:
    """Those files of a folder that its user wrote: none that is hidden or open in Word, none of a workspace in the folder."""
    visible = [path for path in files if not is_hidden(path.relative_to(folder)) and not path.name.startswith("~$")]
    workspaces = {stamp.parent for stamp in folder.rglob(STAMP)} if visible else set()
    return [path for path in visible if workspaces.isdisjoint(path.parents)]


def is_hidden(path: Path) -> bool:
    """Whether a path within a folder has a part that begins with a dot, as editors' copies do."""
    return any(part.startswith(".") for part in path.parts)


def sentence_rows(documents: Mapping[str, Document], group: str) -> tuple[list[dict], list[str]]:
    """(rows of the table `passages`, ids of documents without a sentence). documents: by id."""
    rows, empty = [], []
    for doc, document in documents.items():
        spans = list(sentences(document.text))
        empty += [] if spans else [doc]
        for n, (sentence, start, end) in enumerate(spans):
            place = {"passage_id": f"{doc}:{n}", "doc_id": doc, "group_id": group, "position": n}
            text = re.sub(r"[ \t]{2,}", " ", sentence.replace(JOINED, ""))
            title = document.title_at(start)
            rows.append(place | {"text": text, "title": title, "start": start, "end": end})
    return rows, empty
