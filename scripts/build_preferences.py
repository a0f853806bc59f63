"""Measures cost and answer gain of every configuration for the questions of the policy's splits."""

from collections.abc import Sequence
from io import StringIO

import polars as pl

from secateur.answers.ask import fitted
from secateur.answers.generate import InProcess
from secateur.config.datasets import SPLITS
from secateur.contexts.piece import Query, text_of
from secateur.contexts.session import Unit, fact_unit
from secateur.core.tables.catalog import TABLES
from secateur.ecs.answer_gain import CLOSED, answer_logprobs, unit_gains
from secateur.ecs.reading.template import Passage, Question, prompt
from secateur.evaluation.subsets import answered
from secateur.graph.codebook import as_shown, shown_as, triples_of
from secateur.graph.material import session_material
from secateur.graph.retrieval.candidates import question_symbols
from secateur.graph.triples.extraction import text_extractor
from secateur.memory.sessions import sessions
from secateur.memory.store import GOLD, Store, Support, exchange, memories, support
from secateur.models.chat import THOUGHT
from secateur.models.embedder import Embedder
from secateur.models.reader import load
from secateur.models.word_pieces import lm_counter
from secateur.policy.actions import CHANNELS, lattice, name
from secateur.policy.features import feature_names
from secateur.policy.observation import Observer
from secateur.policy.shown import Shown, contexts
from secateur.policy.utility import faithfulness
from secateur.stage.contract import main


def _chosen(cfg, questions: pl.DataFrame, passages: pl.DataFrame) -> pl.DataFrame:
    """The questions of each split in the order of their sessions; no session spans two splits."""
    parts = [answered(questions, split, cfg.dataset.trained[split]) for split in SPLITS]
    placed = [part.join(sessions(part, passages), on="question_id").sort("session_id", "n") for part in parts]
    return pl.concat(placed).with_columns(session_id=pl.col("split") + " " + pl.col("session_id"))


class _Replay:
    """Replays sessions question by question, with all channels shown."""

    def __init__(self, cfg, inputs, ctx) -> None:
        self.cfg, self.ctx = cfg, ctx
        self.embedder = Embedder(cfg.embedder, ctx.cache, ctx.log)
        self.read = text_extractor(cfg.extractor, ctx)
        self.lm = load(cfg.lm, ctx.cache, ctx.device)
        self.generate = InProcess(
            self.lm, cfg.answer, ctx.cache
        )  # the policy learns from the reader's answers, so an endpoint cannot write them
        self.configurations = lattice(cfg.memory.enabled)
        self.symbols = question_symbols(inputs["triples"], inputs["questions"])
        self.book = book = [inputs[name] for name in ("entities", "relations", "edges")]
        count = lm_counter(cfg.lm.model, ctx.cache)
        self.write, edges = session_material(cfg.assembly.form, count, *book)
        self.shown, self.triples = shown_as(book[0], inputs["aliases"]), triples_of(inputs["triples"])
        self.facts: dict[str, list[Unit]] = {}
        contexts = inputs["contexts"].filter(pl.col("budget") == cfg.assembly.budget).sort("question_id", "place")
        for row in contexts.iter_rows(named=True):
            if fact := fact_unit(row, edges):
                self.facts.setdefault(row["question_id"], []).append(fact)
        triples = {question: len(lines) for question, (_, _, lines) in self.symbols.items()}
        self.observer = Observer(cfg, self.embedder, self.lm, triples, inputs["candidates"], ctx.cache)
        self.terms, self.features, self.runs, self.supports = [], [], [], []
        self.thoughts = 0  # answers that end in a thought

    def session(self, questions: pl.DataFrame) -> None:
        """Replays one session and appends its rows."""
        store = Store(self.cfg.retriever, self.embedder)
        for row in questions.iter_rows(named=True):
            symbols, memory = self.symbols[row["question_id"]], self.cfg.memory
            units = {
                "question": [run.said() for run in store.recall("question", symbols, memory.questions)],
                "answer": [run.said() for run in store.recall("answer", symbols, memory.answers)],
                "facts": self.facts.get(row["question_id"], []),
            }
            channels = {channel: self.observer.shown(units[channel]) for channel in CHANNELS}
            context = self.question(row, channels)
            if not memory.enabled:
                continue
            answer, source = self.answer(row, context)
            question = symbols, self.triples.get(row["question_id"], ())
            runs = exchange(row["question_id"], row["text"], question, answer, source, self.read, self.shown)
            self.runs += runs
            self.supports += self.support(row, answer)
            for run in runs:
                store.add(run)

    def question(self, row: dict, channels: dict[str, Shown]) -> str:
        """Appends the terms and features of one question; returns its context under include_all."""
        cfg, qid = self.cfg, row["question_id"]
        question = Question(qid, row["text"], row["answer"])
        query = Query(row["text"], as_shown(self.triples.get(qid, ()), self.shown))

        def write(units: Sequence[Unit]) -> str:
            return text_of(self.write(query, units))

        texts = contexts(channels, self.configurations, cfg.memory.theta, write)
        logprobs = answer_logprobs(self.lm, cfg.ecs, [(question, text) for text in (CLOSED, *texts)], self.ctx.cache)
        costs = self.lm.encoder.count([prompt(question, [Passage("", text)], cfg.ecs.layout)[0] for text in texts])
        for configuration, text, logprob, tokens in zip(self.configurations, texts, logprobs[1:], costs, strict=True):
            gain, faithful = logprob - logprobs[0], faithfulness(row["answer"], text)
            self.terms.append((qid, row["split"], self.lm.identity, name(configuration), gain, faithful, tokens))
        observed = CHANNELS if cfg.memory.enabled else ("facts",)
        values = self.observer.features(qid, row["text"], {channel: channels[channel] for channel in observed})
        for n, (feature, value) in enumerate(zip(feature_names(observed), values, strict=True)):
            self.features.append((qid, row["split"], n, feature, value))
        return texts[0]

    def support(self, row: dict, answer: str) -> list[Support]:
        """The question's evidence, each unit with the answer gain of the stored answer from it."""
        facts, question = self.facts.get(row["question_id"], []), Question(row["question_id"], row["text"], answer)
        gains = unit_gains(self.lm, self.cfg.ecs, question, [fact.text for fact in facts], self.ctx.cache)
        return [support(question.id, fact, gain) for fact, gain in zip(facts, gains, strict=True)]

    def answer(self, row: dict, context: str) -> tuple[str, str]:
        """The answer that the session keeps and its source, which is GOLD for training questions only."""
        if self.cfg.memory.gold and row["split"] == "train":
            return row["answer"], GOLD
        units = StringIO(context).readlines()  # splitlines would also split inside a text, at U+2028
        prompt, _ = fitted(self.cfg.answer.instructions, self.generate, row["question_id"], row["text"], units)
        (answer,) = self.generate([prompt])
        self.thoughts += answer.stopped == THOUGHT
        return answer.text, self.lm.name


def run(cfg, inputs, outputs, ctx):
    chosen, replay = _chosen(cfg, inputs["questions"], inputs["passages"]), _Replay(cfg, inputs, ctx)
    parts = chosen.partition_by("split", "session_id", maintain_order=True)
    for part in ctx.progress(parts, len(parts), "sessions"):
        replay.session(part)
    ctx.note_counts({"thoughts_without_answer": replay.thoughts})
    for table, rows in (("preferences", replay.terms), ("features", replay.features)):
        outputs[table] = TABLES[table].frame(rows)
    placed = chosen.select("question_id", "session_id", "n")
    outputs["memories"], outputs["session_edges"] = memories(replay.runs, replay.supports, placed, replay.book)
    return {"questions": chosen.height, "prompts": len(replay.terms), "sessions": len(parts)}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
