"""The context of each question as the reader of its session has it: what was shown before, what is recalled, what is new."""

from collections.abc import Sequence

import polars as pl

from secateur.answers.ask import fitted, generator
from secateur.candidates import Symbols, question_symbols
from secateur.contexts import UNITS, as_blocks
from secateur.memory import Remembered, Store, exchange, memories
from secateur.models.embedder import Embedder
from secateur.models.word_pieces import word_piece_counter
from secateur.policy.contexts import HEADS
from secateur.sessions import sessions
from secateur.subsets import answered
from secateur.transcript import Transcript
from secateur.triples.blocks import alone

Unit = tuple[str, str]  # passage, text


class _Reader:
    """One session's reader, asked question by question. cfg: memory, retriever, answer."""

    def __init__(self, cfg, embedder, generate, read) -> None:
        self.cfg, self.generate, self.read = cfg, generate, read
        self.store, self.transcript = Store(cfg.retriever, embedder), Transcript(cfg.memory.window)

    def context(self, asked: Symbols, block: Sequence[tuple[Unit, int]]) -> list[Unit]:
        """Its units in the order of the prompt, the new ones next to the question. block: units with their tokens."""
        memory = self.cfg.memory
        recalled = self.store.recall("question", asked, memory.questions)
        recalled += self.store.recall("answer", asked, memory.answers)
        told = [(f"{r.question_id} {r.channel}", HEADS[r.channel] + r.text) for r in recalled]
        fresh = self.transcript.show(block)
        new = set(fresh)
        return [*(unit for unit in self.transcript if unit not in new), *told, *fresh]

    def answer(self, question: str, text: str, asked: Symbols, units: list[Unit]) -> tuple[Remembered, Remembered]:
        """The question and what the model says to it, remembered."""
        shown = [said for _, said in units]
        prompt, _ = fitted(self.cfg.answer.instructions, self.generate, question, text, shown)
        said, source = self.generate([prompt])[0].text, self.cfg.answer.model or self.cfg.lm.model
        runs = exchange(question, text, asked, said, source, self.read)
        for run in runs:
            self.store.add(run)
        return runs


def run(cfg, inputs, outputs, ctx):
    asked = answered(inputs["questions"], cfg.dataset.split, cfg.dataset.answered)
    placed = sessions(asked, inputs["passages"])
    rows = inputs["blocks"].filter(pl.col("budget") == cfg.prompt.budget).sort("question_id", "n")
    blocks: dict[str, list] = {}
    for qid, *unit, tokens in rows.select("question_id", "passage_id", "text", "tokens").iter_rows():
        blocks.setdefault(qid, []).append((tuple(unit), tokens))
    symbols, embedder = question_symbols(inputs["triples"], asked), Embedder(cfg.embedder, ctx.cache, ctx.log)
    generate, read, units, heard = generator(cfg, ctx), alone(cfg.extractor, ctx), [], []
    parts = placed.join(asked.select("question_id", "text"), on="question_id", maintain_order="left")
    parts = parts.partition_by("session_id", maintain_order=True)
    for part in ctx.progress(parts, len(parts), "sessions"):
        reader = _Reader(cfg, embedder, generate, read)
        for qid, text in part.select("question_id", "text").iter_rows():
            own = reader.context(symbols[qid], blocks.get(qid, []))
            units += [(qid, *unit) for unit in own]
            heard += reader.answer(qid, text, symbols[qid], own)
    shown = pl.DataFrame(units, schema=dict.fromkeys(UNITS, pl.String), orient="row")
    outputs["blocks"] = as_blocks(shown, word_piece_counter(cfg.embedder.model), cfg.prompt.budget)
    outputs["memories"] = memories(heard, placed)
    return {"questions": asked.height, "sessions": len(parts), "units": len(units)}
