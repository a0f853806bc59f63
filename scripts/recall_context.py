"""The context of each question as the reader of its session has it: what was shown before, what is recalled, what is new."""

from collections.abc import Sequence

import polars as pl

from secateur.answers.ask import fitted, generator
from secateur.contexts.piece import Piece, rows_of
from secateur.contexts.table import listed, sizes_of
from secateur.ecs.answer_gain import unit_gains
from secateur.ecs.reading.template import Question
from secateur.evaluation.subsets import answered
from secateur.graph.retrieval.candidates import Symbols, question_symbols
from secateur.graph.triples.extraction import alone
from secateur.memory.sessions import sessions
from secateur.memory.store import Remembered, Store, Support, exchange, memories
from secateur.memory.transcript import Transcript
from secateur.models.embedder import Embedder
from secateur.models.reader import load as load_reader
from secateur.models.word_pieces import lm_counter
from secateur.pipeline.contract import main
from secateur.pipeline.tables.catalog import TABLES
from secateur.policy.act import Acting, everything
from secateur.policy.actions import CHANNELS
from secateur.policy.features import feature_names
from secateur.policy.network import load
from secateur.policy.observation import Sight
from secateur.policy.shown import HEADS

Unit = tuple[str, str]  # passage, text
Block = list[tuple[Unit, int]]  # units with their tokens


class _Reader:
    """One session's reader, asked question by question. cfg: memory, retriever, answer."""

    def __init__(self, cfg, embedder, generate, read, choose) -> None:
        self.cfg, self.generate, self.read, self.choose = cfg, generate, read, choose
        self.store, self.transcript = Store(cfg.retriever, embedder), Transcript(cfg.memory.window)

    def context(
        self, question: str, text: str, asked: Symbols, blocks: Sequence[Block]
    ) -> tuple[list[Unit], list[Unit]]:
        """Its units in the order of the prompt, the new ones next to the question; and what the question itself needs
        of the evidence among them. blocks: the largest first."""
        block = self.transcript.due(blocks, self.cfg.memory.fresh)
        most = {"question": self.cfg.memory.questions, "answer": self.cfg.memory.answers}
        recalled = {channel: self.store.recall(channel, asked, n) for channel, n in most.items()}
        texts = {channel: [run.text for run in runs] for channel, runs in recalled.items()}
        kept = self.choose(question, text, texts | {"facts": [said for (_, said), _ in block]})
        runs = [recalled[channel][n] for channel in most for n in kept[channel]]
        told = [(f"{r.question_id} {r.channel}", HEADS[r.channel] + r.text) for r in runs]
        needed = [block[n] for n in kept["facts"]]
        fresh = self.transcript.show(needed)
        new = set(fresh)
        return [*(unit for unit in self.transcript if unit not in new), *told, *fresh], [unit for unit, _ in needed]

    def answer(self, question: str, text: str, asked: Symbols, units: list[Unit]) -> tuple[Remembered, Remembered]:
        """The question and what the model says to it, remembered."""
        shown = [row.text for row in rows_of([Piece(None, said) for _, said in units])]
        prompt, _ = fitted(self.cfg.answer.instructions, self.generate, question, text, shown)
        said, source = self.generate([prompt])[0].text, self.cfg.answer.model or self.cfg.lm.model
        runs = exchange(question, text, asked, said, source, self.read)
        for run in runs:
            self.store.add(run)
        return runs


def _blocks(cfg, inputs, ctx) -> tuple[dict[str, list[Block]], set[Unit]]:
    """Each question's context as used, and within smaller budgets: the largest first; and which units are whole
    passages."""
    found = sizes_of(inputs["contexts"], cfg.assembly.budget, lm_counter(cfg.lm.model, ctx.cache))
    blocks = {
        question: [[((row["passage_id"], row["text"]), row["size"]) for row in one] for one in sizes]
        for question, sizes in found.items()
    }
    rows = (row for sizes in found.values() for one in sizes for row in one)
    return blocks, {(row["passage_id"], row["text"]) for row in rows if row["whole"]}


def _chooser(cfg, inputs, symbols, embedder, lm):
    """What chooses among the channels: the policy, where one acts."""
    if "policy" not in inputs:
        return everything
    triples = {question: len(lines) for question, (_, _, lines) in symbols.items()}
    sight = Sight(cfg, embedder, triples, inputs["candidates"])
    return Acting(load(inputs.paths("policy")[0], feature_names(CHANNELS), lm.identity), sight, cfg.memory.theta)


def run(cfg, inputs, outputs, ctx):
    asked = answered(inputs["questions"], cfg.dataset.split, cfg.dataset.answered)
    placed = sessions(asked, inputs["passages"])
    blocks, whole = _blocks(cfg, inputs, ctx)
    count = lm_counter(cfg.lm.model, ctx.cache)
    symbols, embedder = question_symbols(inputs["triples"], asked), Embedder(cfg.embedder, ctx.cache, ctx.log)
    generate, read = generator(cfg, ctx), alone(cfg.extractor, ctx)
    lm = generate.lm if cfg.answer.backend == "lm" else load_reader(cfg.lm, ctx.cache, ctx.device)
    choose, units, heard, supports = _chooser(cfg, inputs, symbols, embedder, lm), [], [], []
    parts = placed.join(asked.select("question_id", "text"), on="question_id", maintain_order="left")
    parts = parts.partition_by("session_id", maintain_order=True)
    for part in ctx.progress(parts, len(parts), "sessions"):
        reader = _Reader(cfg, embedder, generate, read, choose)
        for qid, text in part.select("question_id", "text").iter_rows():
            own, needed = reader.context(qid, text, symbols[qid], blocks.get(qid, [[]]))
            units += listed(qid, [(*unit, unit in whole) for unit in own], cfg.assembly.budget, count)
            asked_run, answer_run = reader.answer(qid, text, symbols[qid], own)
            heard += [asked_run, answer_run]
            question, texts = Question(qid, text, answer_run.text), [said for _, said in needed]
            gains = unit_gains(lm, cfg.ecs, question, texts, ctx.cache)
            supports += [Support(qid, *unit, gain) for unit, gain in zip(needed, gains, strict=True)]
    outputs["contexts"] = pl.DataFrame(units, schema=TABLES["contexts"].empty().schema, orient="row")
    outputs["memories"] = memories(heard, supports, placed)
    return {"questions": asked.height, "sessions": len(parts), "units": len(units)}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
