"""The corpus that peers get: documents to index and, in controlled mode, the triples of an option of conf/extractor."""

from collections.abc import Mapping, Sequence

import polars as pl

from secateur.contexts.tracing import Tracer
from secateur.models.units import word_list
from secateur.models.word_pieces import Counter
from secateur.peers.wire import Document, Fact

__all__ = ["TracedExtraction", "documents_of", "extraction_of", "groups_of"]


def groups_of(passages: pl.DataFrame) -> list[tuple[str, str, pl.DataFrame]]:
    """(group id, name of its folder, its passages with `row`, their place among all): a peer has an index for each group.

    A question may look at its own group alone.
    """
    by_group = passages.with_row_index("row").partition_by("group_id", as_dict=True, maintain_order=True)
    return [(group, f"group{n}", part) for n, ((group,), part) in enumerate(sorted(by_group.items()))]


def documents_of(passages: pl.DataFrame, count: Counter, max_tokens: int | None) -> list[Document]:
    """Each document as its passages in order under its title; cut between passages into parts of `max_tokens`, if set.

    A passage that is longer is a part by itself.
    """
    texts_of = (
        passages.sort("doc_id", "position").group_by("doc_id", maintain_order=True).agg(pl.col("title").first(), "text")
    )
    return [
        Document(title or "", " ".join(part))
        for title, texts in texts_of.select("title", "text").iter_rows()
        for part in (_parts(texts, count, max_tokens) if max_tokens else [texts])
    ]


def _parts(texts: list[str], count: Counter, max_tokens: int) -> list[list[str]]:
    """Consecutive passages, as many in a part as fit."""
    parts, used = [[]], 0
    for text, tokens in zip(texts, count(texts).tolist(), strict=True):
        if parts[-1] and used + tokens > max_tokens:
            parts, used = [*parts, []], 0
        parts[-1].append(text)
        used += tokens
    return parts


class TracedExtraction:
    """Triples of passages, looked up by the text of a peer's prompt, and phrases of questions.

    facts: by row of `texts`, the passages; phrases: by question text.
    """

    def __init__(
        self, texts: Sequence[str], facts: Mapping[int, Sequence[Fact]], phrases: Mapping[str, list[str]]
    ) -> None:
        self._tracer, self._facts, self._phrases = Tracer(texts), facts, phrases

    def facts(self, text: str) -> list[Fact]:
        """The triples of the passages that a text contains, in its order."""
        return [fact for row in dict.fromkeys(self._tracer.passages(text)) for fact in self._facts.get(row, ())]

    def phrases(self, question: str) -> list[str]:
        """Heads and tails of the question's triples, or its content words if it has none."""
        return self._phrases.get(question.strip()) or list(dict.fromkeys(word_list(question)))


def extraction_of(
    passages: pl.DataFrame,
    triples: pl.DataFrame,
    questions: pl.DataFrame | None = None,
    question_triples: pl.DataFrame | None = None,
) -> TracedExtraction:
    """The extraction of tables: passages with their triples, and questions with theirs. triples: of these passages or more."""
    texts = passages["text"].to_list()
    row_of = {passage: row for row, passage in enumerate(passages["passage_id"])}
    facts: dict[int, list[Fact]] = {}
    columns = ("passage_id", "head", "relation", "tail")
    of_passages = triples.filter(pl.col("passage_id").is_in(list(row_of)))
    for passage, *triple in of_passages.sort("doc_id", "position", "n").select(columns).iter_rows():
        facts.setdefault(row_of[passage], []).append(Fact(*triple, texts[row_of[passage]]))
    return TracedExtraction(texts, facts, {} if questions is None else _phrases(questions, question_triples))


def _phrases(questions: pl.DataFrame, triples: pl.DataFrame) -> dict[str, list[str]]:
    """Distinct heads and tails of a question's triples, by its text."""
    ends: dict[str, dict[str, None]] = {}
    for question, head, tail in triples.sort("doc_id", "n").select("doc_id", "head", "tail").iter_rows():
        ends.setdefault(question, {}).update({head: None, tail: None})
    return {text.strip(): list(ends.get(q, ())) for q, text in questions.select("question_id", "text").iter_rows()}
