"""STEM: sentences of 32 Wikipedia articles, and questions whose evidence is quoted from them."""

from pathlib import Path

import polars as pl
import yaml

from secateur.config.plugins import NoSettings as Settings
from secateur.core.errors import SecateurError
from secateur.datasets.formats._upstream import CORPUS, questions_of, quoted_evidence, read_questions, sentence_rows
from secateur.datasets.reading import read_records, read_text
from secateur.datasets.schema import Corpus, Files, Questions, Request, own_cluster, passages_frame

CORPUS_FILES, QUESTION_FILES = ("corpus", "titles"), ("questions",)

SCORABLE_ONLY = frozenset({"stem_old"})  # 131 of its evidence strings are not verbatim; they and their questions go


def load_corpus(files: Files, settings: Settings) -> Corpus:
    """One passage for each distinct sentence; articles are the lines of the text, with the titles of a second file.

    Raises SecateurError where titles and articles differ in number, or an article does not begin with its title.
    """
    records = read_records(files["corpus"], CORPUS)
    if len(records) != 1:
        raise SecateurError(f"{files['corpus']}: expected one text, found {len(records)}. Fix: fetch the file again")
    articles = [line for line in records[0]["context"].split("\n") if line.strip()]
    titles = _titles(files["titles"])
    _check_titles(files, titles, articles)

    seen: set[str] = set()  # of all articles
    rows, repeated = [], 0
    for title, article in zip(titles, articles, strict=True):
        new, old = sentence_rows(title, article, seen, title=title, group_id=records[0]["corpus_name"])
        rows += new
        repeated += old
    counts = {"passages": len(rows), "documents": len(articles), "repeated_sentences_dropped": repeated}
    return Corpus(passages_frame(rows), counts)


def load_questions(request: Request, files: Files, passages: pl.DataFrame, settings: Settings) -> Questions:
    """The questions with the sentences that contain their evidence; `stem_old` keeps only evidence that resolves.

    Raises SecateurError for files of another form, repeated ids, and questions about another corpus.
    """
    questions = read_questions(files["questions"])
    pairs_of = quoted_evidence(files["questions"], questions, passages)
    dropped = {"evidence_dropped": 0, "questions_dropped": 0}
    if request.dataset in SCORABLE_ONLY:
        resolved = {name: [(text, holder) for text, holder in pairs if holder] for name, pairs in pairs_of.items()}
        kept = [q for q in questions if resolved[q["id"]]]
        dropped = {
            "evidence_dropped": sum(map(len, pairs_of.values())) - sum(map(len, resolved.values())),
            "questions_dropped": len(questions) - len(kept),
        }
        questions, pairs_of = kept, resolved
    article_of = dict(passages.select("passage_id", "doc_id").iter_rows())
    articles = set(article_of.values())
    first = {
        name: next((article_of[p] for _, p in pairs if p), own_cluster(name, articles))
        for name, pairs in pairs_of.items()
    }
    return questions_of(request.dataset, questions, pairs_of, lambda q: first[q["id"]], **dropped)


def _titles(path: Path) -> list[str]:
    """The article titles, in file order."""
    try:
        titles = yaml.safe_load(read_text(path))
    except yaml.YAMLError as error:
        raise SecateurError(
            f"{path}: not valid YAML: {' '.join(str(error).split())}. Fix: correct that line"
        ) from error
    if not isinstance(titles, list) or not all(isinstance(title, str) for title in titles):
        raise SecateurError(f"{path}: expected a list of titles. Fix: one title a line, each after '- '")
    repeated = sorted({title for title in titles if titles.count(title) > 1})
    if repeated:
        raise SecateurError(f"{path}: {', '.join(repeated)} listed twice. Fix: titles name documents and are unique")
    return titles


def _check_titles(files: Files, titles: list[str], articles: list[str]) -> None:
    """Raise a SecateurError where titles and articles do not belong together."""
    fix = f"list the articles' titles in file order in {files['titles']}, or fetch the corpus it belongs to"
    for n, (title, article) in enumerate(zip(titles, articles, strict=False), 1):
        if not article.startswith(title):
            raise SecateurError(f"{files['corpus']}: article {n} begins {article[:60]!r}, not {title!r}. Fix: {fix}")
    if len(titles) != len(articles):
        raise SecateurError(f"{files['corpus']}: {len(articles)} articles for {len(titles)} titles. Fix: {fix}")
