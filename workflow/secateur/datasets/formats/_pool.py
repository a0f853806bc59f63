"""Multi-hop sets: the paragraphs of all questions form one pool; a passage is a sentence or a paragraph."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from secateur.core.errors import SecateurError
from secateur.core.fields import key
from secateur.datasets.containment import normalised
from secateur.datasets.reading import STRING, Forms, Problems, form_problems, json_objects, unique_ids
from secateur.datasets.schema import (
    Corpus,
    Files,
    Questions,
    Request,
    build_questions,
    evidence_rows,
    own_cluster,
    passages_frame,
    sample_names,
)
from secateur.datasets.sentences import sentences

__all__ = [
    "ARTICLE",
    "Gold",
    "Paragraph",
    "PoolQuestion",
    "Settings",
    "article",
    "corpus_of",
    "named_in",
    "questions_of",
    "read_files",
    "split_text",
]

GROUP = "pool"  # every question chooses from all paragraphs
ARTICLE: Forms = {"title": STRING, "text": STRING}  # of a corpus of distractors


@dataclass(frozen=True)
class Settings:
    """The unit and the size of the pool."""

    unit: Literal["sentence", "paragraph"] = key("what a passage is", default="sentence")
    titles: bool = key("passages have the title of their article", default=True)
    articles: int | None = key(
        "articles in the pool: those of the questions, then distractors by hash of their title; null: all",
        low=1,
        default=None,
    )
    asked: int | None = key(
        "number of questions, the first by hash of their id, with the paragraphs beside them alone; null: all",
        low=1,
        default=None,
    )


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of an article. beside: the question that it belongs to; None for a distractor."""

    title: str
    sentences: tuple[str, ...]
    beside: str | None = None

    @property
    def numbered(self) -> list[tuple[int, str]]:
        """(number, text) of each sentence that is not blank."""
        return [(n, text.strip()) for n, text in enumerate(self.sentences) if text.strip()]

    @property
    def text(self) -> str:
        """The sentences that are not blank, joined by spaces."""
        return " ".join(text for _, text in self.numbered)


@dataclass(frozen=True)
class Gold:
    """Gold evidence: a paragraph, the numbers of its sentences, and its hop."""

    paragraph: Paragraph
    numbers: tuple[int, ...]
    hop: str


@dataclass(frozen=True)
class PoolQuestion:
    """A question with its gold evidence."""

    id: str
    text: str
    answer: str | None
    type: str | None
    gold: tuple[Gold, ...]
    aliases: tuple[str, ...] = ()


def read_files(
    files: Files, forms: Sequence[Forms], faults: Callable[[dict[str, Any]], list[str]], fix: str
) -> Iterator[dict[str, Any]]:
    """Objects of JSON lists or JSON lines, each of one of these forms and without `faults`.

    Raises SecateurError for other objects, with what they lack of the nearest form.
    """
    for path in files.values():
        problems = Problems(path, "fetch the file again, or name a file of this format")
        objects = json_objects(path, problems)
        if not objects and not problems.clauses:
            problems.add("the file", "holds no object")
        for where, record in objects:
            lacking = [(form_problems(record, form, extra=True), len(form)) for form in forms]
            if all(clauses for clauses, _ in lacking):
                nearest, _ = min(lacking, key=lambda pair: len(pair[0]) / pair[1])
                problems.add(where, "; ".join(nearest))
        problems.stop()
        problems.fix = fix
        for where, record in objects:
            problems.add(where, *faults(record))
        problems.stop()
        yield from (record for _, record in objects)


def split_text(text: str) -> tuple[str, ...]:
    """The sentences of a paragraph; in Latin letters those of the reference rows."""
    return tuple(sentence for sentence, _, _ in sentences(text))


def article(record: Mapping[str, str]) -> Paragraph:
    """A distractor from an object of form ARTICLE."""
    return Paragraph(record["title"], split_text(record["text"]))


def corpus_of(paragraphs: Iterable[Paragraph], settings: Settings) -> Corpus:
    """The passages of a pool. Documents bear their title; the second paragraph under a title is `TITLE#2`.

    Sentences keep their numbers; an empty sentence has no passage.
    Raises SecateurError where `articles` is more than there are, or fewer than the questions have.
    """
    if settings.asked is not None:
        paragraphs = list(paragraphs)
        kept = sample_names((p.beside for p in paragraphs if p.beside is not None), settings.asked)
        paragraphs = [paragraph for paragraph in paragraphs if paragraph.beside in kept]
    rows, seen = [], Counter()
    pool = _pool(paragraphs, None if settings.asked else settings.articles)
    for paragraph in pool:
        title = paragraph.title
        seen[title] += 1
        document = title if seen[title] == 1 else f"{title}#{seen[title]}"
        place = {"doc_id": document, "title": title if settings.titles else None, "group_id": GROUP}
        for n, text in [(0, paragraph.text)] if settings.unit == "paragraph" else paragraph.numbered:
            rows.append(place | {"passage_id": f"{document}:{n}", "position": n, "text": text})
    counts = {
        "passages": len(rows),
        "documents": len(pool),
        "distractors": sum(paragraph.beside is None for paragraph in pool),
        "titles_of_several": len(pool) - len(seen),
    }
    return Corpus(passages_frame(rows), counts)


def _pool(paragraphs: Iterable[Paragraph], articles: int | None) -> list[Paragraph]:
    """Distinct paragraphs with text: those beside questions in file order, then distractors with other titles."""
    beside: dict[tuple[str, str], Paragraph] = {}
    distractors: dict[tuple[str, str], Paragraph] = {}
    for paragraph in paragraphs:
        if paragraph.text:
            pool = distractors if paragraph.beside is None else beside
            pool.setdefault((paragraph.title, paragraph.text), paragraph)
    titles = {title for title, _ in beside}
    others = sorted((p for (title, _), p in distractors.items() if title not in titles), key=lambda p: _draw(p.title))
    if articles is not None and not len(beside) <= articles <= len(beside) + len(others):
        raise SecateurError(
            f"articles: {articles}, but the pool has {len(beside)} beside its questions and {len(others)} more. "
            f"Fix: {len(beside)} to {len(beside) + len(others)}, or null for all"
        )
    return [*beside.values(), *others][:articles]


def _draw(title: str) -> str:
    return hashlib.sha256(f"pool:{title}".encode()).hexdigest()


def named_in(title: str, question: str) -> bool:
    """Whether a question contains an article's title as whole words, without a parenthesis at its end.

    >>> named_in("Free Guy (film)", "Who directed Free Guy?"), named_in("Shawn Levy", "Who directed Free Guy?")
    (True, False)
    """
    bare = title.rpartition(" (")[0] if title.endswith(")") and " (" in title else title
    words = normalised(bare)
    return bool(words) and f" {words} " in f" {normalised(question)} "


class _Places:
    """Where gold paragraphs and sentences stand among the passages of a pool. whole: a passage is a paragraph."""

    def __init__(self, passages: pl.DataFrame, whole: bool) -> None:
        ordered = passages.sort("doc_id", "position")
        joined = ordered.group_by("doc_id", maintain_order=True).agg(pl.col("text").str.join(" "))
        self.whole = whole
        self.documents: dict[str, list[str]] = {}
        for document, text in joined.iter_rows():
            self.documents.setdefault(text, []).append(document)
        columns = ordered.select("doc_id", "position", "passage_id", "text")
        self.passages = {(document, n): (passage, text) for document, n, passage, text in columns.iter_rows()}

    def document(self, paragraph: Paragraph, question: str) -> str:
        """The document of a paragraph."""
        title = paragraph.title
        for document in self.documents.get(paragraph.text, ()):
            if document == title or document.startswith(f"{title}#"):
                return document
        raise SecateurError(
            f"question {question}: its paragraph {title!r} is not in the corpus. "
            "Fix: list the files of the questions among those of the corpus"
        )

    def passage(self, document: str, paragraph: Paragraph, number: int) -> tuple[str, str] | None:
        """(id, text) of a sentence, or of its paragraph where that is a passage; None for a missing sentence.

        Raises SecateurError where the passages of the corpus are another unit.
        """
        text = paragraph.text if self.whole else dict(paragraph.numbered).get(number)
        if text is None:
            return None
        passage = self.passages.get((document, 0 if self.whole else number))
        if passage is None or passage[1] != text:
            raise SecateurError(
                f"document {document!r}: its passages are no {'paragraphs' if self.whole else 'sentences'}. "
                "Fix: give the formats of corpus and data set the same `unit`"
            )
        return passage


def questions_of(
    request: Request, files: Files, questions: Sequence[PoolQuestion], passages: pl.DataFrame, settings: Settings
) -> Questions:
    """Questions and evidence, resampled by the article of the first gold passage.

    Gold that names a missing sentence is dropped and counted.
    Raises SecateurError for a repeated id, a question about a paragraph that is not in the pool, and another unit.
    """
    unique_ids(next(iter(files.values())), [question.id for question in questions])
    places, rows, evidence, missing = _Places(passages, settings.unit == "paragraph"), [], [], 0
    documents = set(passages["doc_id"])
    kept = sample_names((question.id for question in questions), settings.asked)
    for question in questions:
        if question.id not in kept:
            continue
        gold_passages: dict[str, tuple[str, str]] = {}  # passage to text and hop; the first hop counts
        for gold in question.gold:
            document = places.document(gold.paragraph, question.id)
            for number in gold.numbers:
                if passage := places.passage(document, gold.paragraph, number):
                    gold_passages.setdefault(passage[0], (passage[1], gold.hop))
                else:
                    missing += 1
        rows.append(
            {
                "question_id": question.id,
                "group_id": GROUP,
                "cluster_id": next((p.rpartition(":")[0] for p in gold_passages), own_cluster(question.id, documents)),
                "text": question.text,
                "answer": question.answer,
                "aliases": list(question.aliases),
                "type": question.type,
            }
        )
        pairs = [(text, passage) for passage, (text, _) in gold_passages.items()]
        hops = [hop for _, hop in gold_passages.values()]
        evidence += [row | {"hop": hop} for row, hop in zip(evidence_rows(question.id, pairs), hops, strict=True)]
    return build_questions(request.dataset, rows, evidence, evidence_missing=missing)
