"""One session of questions: what it recalls for the next, and what it keeps of each."""

from collections.abc import Mapping

from secateur.contexts.session import Unit
from secateur.graph.retrieval.candidates import Symbols
from secateur.memory.store import Remembered, Store, exchange
from secateur.models.embedder import Embedder

__all__ = ["Session"]


class Session:
    """cfg: with the options `memory` and `retriever`. extract: triples of a text; shown: alias -> the text it is written as."""

    def __init__(self, cfg, embedder: Embedder, extract, shown: Mapping[str, str]) -> None:
        self.store, self.extract, self.shown = Store(cfg.retriever, embedder), extract, shown
        self.most = {"question": cfg.memory.questions, "answer": cfg.memory.answers}

    def recalled(self, symbols: Symbols) -> dict[str, list[Unit]]:
        """By channel, the runs of earlier questions and answers that a question recalls."""
        return {c: [run.said() for run in self.store.recall(c, symbols, n)] for c, n in self.most.items()}

    def keep(
        self, question_id: str, text: str, question: tuple, answer: str, source: str
    ) -> tuple[Remembered, Remembered]:
        """Keep a question and its answer; returns both as they are kept. question: its symbols and its triples."""
        runs = exchange(question_id, text, question, answer, source, self.extract, self.shown)
        for run in runs:
            self.store.add(run)
        return runs
