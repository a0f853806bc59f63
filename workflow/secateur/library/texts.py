"""Texts, and folders of them, as passages."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from secateur.core.errors import SecateurError
from secateur.datasets.documents.lines import Document
from secateur.datasets.documents.read import SUFFIXES, read_document
from secateur.datasets.language import english_only
from secateur.datasets.loaders import load_corpus
from secateur.datasets.schema import passages_frame
from secateur.datasets.texts import cut_sentences, sentence_rows, text_files
from secateur.library.arguments import as_texts, check, is_folder, is_mapping, is_text
from secateur.library.options import LOG

__all__ = ["Texts", "passages_of"]

ALL = "all"  # the one group of passages
ALLOWED = "a list of texts, a mapping of id to text, or the path of a folder"
EXAMPLE = "memory.index(['Alder Ltd bought the Finch mill in 2021.'])"
Texts = str | Path | Mapping[str, str] | Sequence[str]


def passages_of(texts: Texts, known: pl.Series) -> pl.DataFrame:
    """The table `passages`: the sentences of texts. known: ids of documents read before.

    Raises SecateurError for an empty text, and for a path that is no folder with texts.
    """
    if isinstance(texts, str | Path):
        check(is_folder(texts), "texts", texts, ALLOWED, EXAMPLE)
        path = Path(texts)
        if _is_folder(path) and ((path / "passages.jsonl").exists() or (path / "passages.jsonl.gz").exists()):
            passages = load_corpus("folder", {"folder": path}).passages
            if (groups := passages["group_id"].n_unique()) > 1:
                LOG.warning("%s: %d groups are read as one. Fix: a memory for each group", path, groups)
            return passages.with_columns(group_id=pl.lit(ALL))
        if _is_folder(path) and any((path / f"corpus.jsonl{end}").exists() for end in ("", ".gz")):
            raise SecateurError(
                f"{path}: in BEIR's form, which a memory does not read. Fix: a list or mapping of its texts."
            )
        files = text_files(path) if _is_folder(path) else {}
        if not files:
            raise SecateurError(
                f"{str(path)[:80]}: no folder with texts. Fix: a folder with {', '.join(SUFFIXES)} files or a passages.jsonl, a "
                "list of texts, or a mapping of id to text."
            )
        return _passages({name: read_document(file) for name, file in files.items()})
    documents: Mapping[str, str]
    if isinstance(texts, Mapping):
        check(is_mapping(texts) and "" not in texts, "texts", texts, "ids that are texts", EXAMPLE)
        documents = texts
    else:
        listed = as_texts("texts", texts, ALLOWED, EXAMPLE)
        documents = {f"text:{n:06}": text for n, text in enumerate(listed, _next(known))}
    for doc, text in documents.items():
        check(is_text(text), f"text {doc!r}", text, "a text", EXAMPLE)
    return _passages({doc: Document(text) for doc, text in documents.items()})


def _passages(documents: Mapping[str, Document]) -> pl.DataFrame:
    rows, empty = sentence_rows(documents, ALL)
    if empty or not rows:
        raise SecateurError(f"{', '.join(empty[:5]) or 'texts'}: without words. Fix: texts with at least one sentence.")
    passages = passages_frame(rows)
    for warning in filter(None, (english_only(passages["text"].to_list()), cut_sentences(passages))):
        LOG.warning(warning)
    return passages


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a text, longer than a file name may be
        return False


def _next(documents: pl.Series) -> int:
    """The number of the next unnamed text."""
    used = documents.str.extract(r"^text:(\d+)$").drop_nulls().to_list()
    return max(map(int, used), default=-1) + 1
