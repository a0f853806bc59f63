"""The context of each question as the reader of its session has it: what was shown before, what is recalled, what is new."""

import polars as pl

from secateur.answers.ask import fitted, generator
from secateur.candidates import question_symbols
from secateur.contexts import as_blocks
from secateur.memory import Remembered, Store, symbols_of
from secateur.models.embedder import Embedder
from secateur.models.word_pieces import word_piece_counter
from secateur.policy.contexts import HEADS
from secateur.sessions import sessions
from secateur.subsets import answered
from secateur.tables import TABLES
from secateur.transcript import Transcript
from secateur.triples.blocks import alone

UNIT = ("question_id", "passage_id", "text")


class _Reader:
    """One session's reader, asked question by question. cfg: memory, retriever, answer."""

    def __init__(self, cfg, embedder, generate, read) -> None:
        self.cfg, self.generate, self.read = cfg, generate, read
        self.store, self.transcript, self.passage = Store(cfg.retriever, embedder), Transcript(cfg.memory.window), {}

    def context(self, question: str, asked, block: list[tuple[str, str, int]]) -> list[tuple[str, str, str]]:
        """Its units in the order of the prompt, the new ones next to the question. block: (passage, text, tokens)."""
        memory = self.cfg.memory
        recalled = self.store.recall("question", asked, memory.questions)
        recalled += self.store.recall("answer", asked, memory.answers)
        self.passage |= {text: passage for passage, text, _ in block}
        fresh = self.transcript.show((text, tokens) for _, text, tokens in block)
        held = [text for text in self.transcript if text not in set(fresh)]
        told = [(question, f"{r.question_id} {r.channel}", HEADS[r.channel] + r.text) for r in recalled]
        old, new = ([(question, self.passage[text], text) for text in texts] for texts in (held, fresh))
        return [*old, *told, *new]

    def answer(self, question: str, text: str, asked, units: list[str]) -> str:
        """What the model says, remembered as unverified beside its question."""
        prompt, _ = fitted(self.cfg.answer.instructions, self.generate, question, text, units)
        said = self.generate([prompt])[0].text
        triples = [(t.head, t.relation, t.tail) for t in self.read(said)] if said.strip() else []
        self.store.add(Remembered(question, "question", text, asked))
        self.store.add(Remembered(question, "answer", said, symbols_of(said, triples), False))
        return said


def run(cfg, inputs, outputs, ctx):
    asked = answered(inputs["questions"], cfg.dataset.split, cfg.dataset.answered)
    placed = sessions(asked, inputs["passages"]).join(asked.select("question_id", "text"), on="question_id")
    blocks = inputs["blocks"].filter(pl.col("budget") == cfg.prompt.budget).sort("question_id", "n")
    units = {
        part["question_id"][0]: list(part.select("passage_id", "text", "tokens").iter_rows())
        for part in blocks.partition_by("question_id", maintain_order=True)
    }
    symbols, embedder = question_symbols(inputs["triples"], asked), Embedder(cfg.embedder, ctx.cache, ctx.log)
    generate, read, rows, memories = generator(cfg, ctx), alone(cfg.extractor, ctx), [], []
    parts = placed.sort("session_id", "n").partition_by("session_id", maintain_order=True)
    for part in ctx.progress(parts, len(parts), "sessions"):
        reader = _Reader(cfg, embedder, generate, read)
        for qid, session, n, text in part.select("question_id", "session_id", "n", "text").iter_rows():
            own = reader.context(qid, symbols[qid], units.get(qid, []))
            rows += own
            said = reader.answer(qid, text, symbols[qid], [unit for _, _, unit in own])
            memories.append((session, n, qid, "question", text, None, None))
            memories.append((session, n, qid, "answer", said, False, cfg.answer.model or cfg.lm.model))
    read_units = pl.DataFrame(rows, schema=dict.fromkeys(UNIT, pl.String), orient="row")
    outputs["blocks"] = as_blocks(read_units, word_piece_counter(cfg.embedder.model), cfg.prompt.budget)
    outputs["memories"] = pl.DataFrame(memories, schema=TABLES["memories"].empty().schema, orient="row")
    return {"questions": asked.height, "sessions": len(parts), "units": len(rows)}
