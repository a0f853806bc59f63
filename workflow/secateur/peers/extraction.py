"""The extraction that every peer gets in controlled mode: the triples of an option of conf/extractor, whoever asks."""

from collections.abc import Mapping, Sequence

import polars as pl

from secateur.models.words import word_list
from secateur.peers.tracing import Tracer
from secateur.peers.wire import Fact

__all__ = ["Served", "served"]


class Served:
    """The triples of passages and of questions, found again in whatever text a peer's prompt holds."""

    def __init__(
        self, texts: Sequence[str], facts: Mapping[int, Sequence[Fact]], asked: Mapping[str, list[str]]
    ) -> None:
        self._tracer, self._facts, self._asked = Tracer(texts), facts, asked

    def facts(self, text: str) -> list[Fact]:
        """The triples of the passages that a text holds, in its order."""
        return [fact for row in dict.fromkeys(self._tracer.passages(text)) for fact in self._facts.get(row, ())]

    def phrases(self, question: str) -> list[str]:
        """The heads and tails of a question's own triples; its content words where it has none."""
        return self._asked.get(question.strip()) or list(dict.fromkeys(word_list(question)))


def served(
    passages: pl.DataFrame,
    triples: pl.DataFrame,
    questions: pl.DataFrame | None = None,
    asked: pl.DataFrame | None = None,
) -> Served:
    """From tables: passages and their triples; questions and theirs, where some are asked."""
    texts = passages["text"].to_list()
    row_of = {passage: row for row, passage in enumerate(passages["passage_id"])}
    facts: dict[int, list[Fact]] = {}
    columns = ("passage_id", "head", "relation", "tail")
    for passage, *triple in triples.sort("doc_id", "position", "n").select(columns).iter_rows():
        facts.setdefault(row_of[passage], []).append(Fact(*triple, texts[row_of[passage]]))
    return Served(texts, facts, {} if questions is None else _phrases(questions, asked))


def _phrases(questions: pl.DataFrame, asked: pl.DataFrame) -> dict[str, list[str]]:
    """The text of each question with the heads and tails of its triples."""
    found: dict[str, dict[str, None]] = {}
    for question, head, tail in asked.sort("doc_id", "n").select("doc_id", "head", "tail").iter_rows():
        found.setdefault(question, {}).update({head: None, tail: None})
    return {t.strip(): list(found.get(q, ())) for q, t in questions.select("question_id", "text").iter_rows()}
