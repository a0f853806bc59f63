"""Multi-hop sets: the paragraphs of all questions in one pool, a sentence or a paragraph a passage."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl

from secateur.core.errors import SecateurError
from secateur.core.fields import key
from secateur.datasets.containment import normalised
from secateur.datasets.problems import Problems
from secateur.datasets.reading import check_fields, json_lines, read_json
from secateur.datasets.schema import (
    Asked,
    Corpus,
    Questions,
    drawn,
    evidence_frame,
    evidence_rows,
    passages_frame,
    question_counts,
    questions_frame,
    split_of,
)
from secateur.datasets.sentences import sentences

__all__ = [
    "Asking",
    "Gold",
    "Paragraph",
    "Settings",
    "corpus_of",
    "named_in",
    "questions_of",
    "read_objects",
    "split_text",
]

GROUP = "pool"  # every question chooses from all paragraphs


@dataclass(frozen=True)
class Settings:
    """What a passage is, what it shows, how many articles there are."""

    unit: Literal["sentence", "paragraph"] = key("what a passage is", default="sentence")
    titles: bool = key("passages know the title of their article", default=True)
    articles: int | None = key(
        "articles in the pool: those of the questions, and distractors by hash of their title; all where null",
        low=1,
        default=None,
    )
    asked: int | None = key(
        "so many questions, the first by hash of their id, with the paragraphs beside them alone; all where null",
        low=1,
        default=None,
    )


@dataclass(frozen=True)
class Paragraph:
    """One paragraph of an article. beside: the question that it stands beside; None for a mere distractor."""

    title: str
    sentences: tuple[str, ...]
    beside: str | None = None

    @property
    def numbered(self) -> list[tuple[int, str]]:
        """The sentences that have a text, each with its number."""
        return [(n, text.strip()) for n, text in enumerate(self.sentences) if text.strip()]

    @property
    def text(self) -> str:
        """All of it."""
        return " ".join(text for _, text in self.numbered)


@dataclass(frozen=True)
class Gold:
    """Gold evidence: a paragraph, the numbers of its sentences, and the hop at which it is found."""

    paragraph: Paragraph
    numbers: tuple[int, ...]
    hop: str


@dataclass(frozen=True)
class Asking:
    """A question as its file has it."""

    id: str
    text: str
    answer: str | None
    type: str | None
    gold: tuple[Gold, ...]


def read_objects(path: Path, forms: Sequence[Mapping[str, tuple[type, ...]]]) -> list[dict[str, Any]]:
    """The objects of a JSON list or of JSON lines, each of one of these forms.

    Raises SecateurError where one is of none, with what it lacks of the form that is nearest.
    """
    problems = Problems(path, "fetch the file again, or name one of this format")
    if path.name.removesuffix(".gz").endswith(".jsonl"):
        placed = list(json_lines(path, problems))
    else:
        content = read_json(path)
        placed = [(f"object {n}", one) for n, one in enumerate(content if isinstance(content, list) else ())]
    if not placed and not problems.found:
        problems.add("the file", "holds no object")
    for where, record in placed:
        lacking = [(check_fields(record, form), len(form)) for form in forms]
        if all(clauses for clauses, _ in lacking):
            nearest, _ = min(lacking, key=lambda one: len(one[0]) / one[1])
            problems.add(where, "; ".join(nearest))
    problems.stop()
    return [record for _, record in placed]


def split_text(text: str) -> tuple[str, ...]:
    """A paragraph's sentences."""
    return tuple(sentence for sentence, _, _ in sentences(text))


def corpus_of(paragraphs: Iterable[Paragraph], settings: Settings) -> Corpus:
    """The passages of a pool: documents bear their title, the second paragraph under it is `TITLE#2`.

    Sentences keep their numbers: of an empty one there is no passage.
    Raises SecateurError where more articles are asked for than there are, or fewer than the questions have.
    """
    if settings.asked is not None:
        paragraphs = list(paragraphs)
        kept = drawn((one.beside for one in paragraphs if one.beside is not None), settings.asked)
        paragraphs = [one for one in paragraphs if one.beside in kept]
    rows, seen, pooled = [], Counter(), _pooled(paragraphs, None if settings.asked else settings.articles)
    for one in pooled:
        seen[one.title] += 1
        document = one.title if seen[one.title] == 1 else f"{one.title}#{seen[one.title]}"
        title = one.title if settings.titles else None
        for n, text in [(0, one.text)] if settings.unit == "paragraph" else one.numbered:
            own = {"passage_id": f"{document}:{n}", "doc_id": document, "title": title, "position": n, "text": text}
            rows.append(own | {"group_id": GROUP})
    counts = {
        "passages": len(rows),
        "documents": len(pooled),
        "distractors": sum(one.beside is None for one in pooled),
        "titles_of_several": len(pooled) - len(seen),
    }
    return Corpus(passages_frame(rows), counts)


def _pooled(paragraphs: Iterable[Paragraph], articles: int | None) -> list[Paragraph]:
    """Distinct paragraphs with some text: those beside questions, as they come, then distractors of other titles."""
    asked, rest = {}, {}
    for one in paragraphs:
        if one.text:
            (rest if one.beside is None else asked).setdefault((one.title, one.text), one)
    titles = {title for title, _ in asked}
    more = sorted((one for (title, _), one in rest.items() if title not in titles), key=lambda one: _draw(one.title))
    if articles is not None and not len(asked) <= articles <= len(asked) + len(more):
        raise SecateurError(
            f"articles: {articles}, but the pool has {len(asked)} beside its questions and {len(more)} more. "
            f"Fix: {len(asked)} to {len(asked) + len(more)}, or null for all"
        )
    return [*asked.values(), *more][:articles]


def _draw(title: str) -> str:
    return hashlib.sha256(f"pool:{title}".encode()).hexdigest()


def named_in(title: str, question: str) -> bool:
    """Whether a question says an article's title, word for word, but for a parenthesis at its end.

    >>> named_in("Free Guy (film)", "Who directed Free Guy?"), named_in("Shawn Levy", "Who directed Free Guy?")
    (True, False)
    """
    bare = title.rpartition(" (")[0] if title.endswith(")") and " (" in title else title
    words = normalised(bare)
    return bool(words) and f" {words} " in f" {normalised(question)} "


class _Pool:
    """The passages of a pool, as gold names them."""

    def __init__(self, passages: pl.DataFrame) -> None:
        own = passages.sort("doc_id", "position")
        joined = own.group_by("doc_id", maintain_order=True).agg(pl.col("text").str.join(" "))
        self.whole = passages["position"].max() == 0  # a passage is a paragraph
        self.documents: dict[str, list[str]] = {}
        for document, text in joined.iter_rows():
            self.documents.setdefault(text, []).append(document)
        self.places = {
            (d, n): (p, t) for p, d, n, t in own.select("passage_id", "doc_id", "position", "text").iter_rows()
        }

    def document(self, paragraph: Paragraph, question: str) -> str:
        """The document that holds a paragraph."""
        held = self.documents.get(paragraph.text, [])
        found = [d for d in held if d == paragraph.title or d.startswith(f"{paragraph.title}#")]
        if not found:
            raise SecateurError(
                f"question {question}: its paragraph {paragraph.title!r} is not in the corpus. "
                "Fix: list the files of the questions among those of the corpus"
            )
        return found[0]

    def passage(self, document: str, number: int) -> tuple[str, str] | None:
        """(id, text) of a sentence, or of the paragraph where that is a passage; None where there is no such sentence."""
        return self.places.get((document, 0 if self.whole else number))


def questions_of(asked: Asked, questions: Sequence[Asking], passages: pl.DataFrame, settings: Settings) -> Questions:
    """Questions and evidence, resampled by the article of the first gold passage.

    Gold that names a sentence that is not there is left out and counted.
    Raises SecateurError for a question about a paragraph that is not in the pool.
    """
    pool, rows, evidence, missing = _Pool(passages), [], [], 0
    kept = drawn((one.id for one in questions), settings.asked)
    questions = [one for one in questions if one.id in kept]
    for n, one in enumerate(questions):
        found: dict[str, tuple[str, str]] = {}  # passage -> its text and hop; named twice it is found at the first
        for gold in one.gold:
            document = pool.document(gold.paragraph, one.id)
            for number in gold.numbers:
                passage = pool.passage(document, number)
                missing += passage is None
                if passage:
                    found.setdefault(passage[0], (passage[1], gold.hop))
        rows.append(
            {
                "question_id": one.id,
                "group_id": GROUP,
                "cluster_id": next(iter(found), f"{one.id}:").rpartition(":")[0],
                "position": n,
                "text": one.text,
                "answer": one.answer,
                "type": one.type,
                "split": split_of(asked.dataset, one.id),
            }
        )
        pairs = [(text, passage) for passage, (text, _) in found.items()]
        hops = [hop for _, hop in found.values()]
        evidence += [row | {"hop": hop} for row, hop in zip(evidence_rows(one.id, pairs), hops, strict=True)]
    frames = questions_frame(rows), evidence_frame(evidence)
    return Questions(*frames, question_counts(*frames, len(evidence)) | {"evidence_missing": missing})
