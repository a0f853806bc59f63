"""Measures cost and answer gain of every configuration for the questions of the policy's splits."""

import hashlib
from collections.abc import Sequence
from io import StringIO

import polars as pl

from secateur.answers.ask import fitted
from secateur.answers.ending import is_refusal
from secateur.answers.generate import Completion, InProcess
from secateur.config.answers import Judge
from secateur.config.datasets import SPLITS
from secateur.contexts.piece import Query, text_of
from secateur.contexts.session import Unit, fact_unit
from secateur.core.fields import from_dict
from secateur.core.tables.catalog import TABLES
from secateur.ecs.answer_gain import CLOSED, CUT, answer_logprobs, tokens_cut, unit_gains
from secateur.ecs.reading.template import Question
from secateur.evaluation.answers import answer_scores
from secateur.evaluation.subsets import answered
from secateur.graph.codebook import as_shown, shown_as, triples_of
from secateur.graph.material import session_material
from secateur.graph.retrieval.candidates import question_symbols
from secateur.graph.triples.extraction import text_extractor
from secateur.judging.ask import Asking, judge_of
from secateur.memory.session import Session
from secateur.memory.sessions import sessions
from secateur.memory.store import GOLD, Support, memories, support
from secateur.models.chat import THOUGHT
from secateur.models.embedder import Embedder
from secateur.models.reader import load
from secateur.models.word_pieces import lm_counter
from secateur.policy.actions import CHANNELS, LATTICE, distinct, name
from secateur.policy.faithfulness import BY_READER, by_judge, by_reader, requests
from secateur.policy.features import feature_names
from secateur.policy.observation import Observer
from secateur.policy.shown import Shown, contexts
from secateur.stage.contract import main


def _chosen(cfg, questions: pl.DataFrame, passages: pl.DataFrame) -> pl.DataFrame:
    """The questions of each split in the order of their sessions; no session spans two splits."""
    splits = [answered(questions, split, cfg.dataset.trained[split]) for split in SPLITS]
    placed = [part.join(sessions(part, passages), on="question_id").sort("session_id", "n") for part in splits]
    return pl.concat(placed).with_columns(session_id=pl.col("split") + " " + pl.col("session_id"))


def _budget(question_id: str, budgets: Sequence[int]) -> int:
    """The budget that a question's id draws."""
    return budgets[int(hashlib.sha256(question_id.encode()).hexdigest(), 16) % len(budgets)]


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
        self.measure, self.ask = cfg.ecs.policy_judge or BY_READER, None
        if cfg.ecs.policy_judge:
            judge = from_dict(Judge, cfg.extra.judge, f"conf/judge/{self.measure}")
            self.ask = Asking(judge_of(judge, cfg.extra.judge_model, cfg.lm.model, ctx))
        self.symbols = question_symbols(inputs["triples"], inputs["questions"])
        self.book = book = [inputs[name] for name in ("entities", "relations", "edges")]
        count = lm_counter(cfg.lm.model, ctx.cache)
        self.write, edges = session_material(cfg.assembly.form, count, *book)
        self.shown = shown_as(book[0], inputs["aliases"])
        self.triples = triples_of(inputs["triples"])
        self.facts: dict[str, list[Unit]] = {}
        self.budgets = {q: _budget(q, cfg.ecs.policy_budgets) for q in inputs["questions"]["question_id"]}
        drawn = pl.DataFrame(list(self.budgets.items()), ["question_id", "budget"], orient="row")
        contexts = inputs["contexts"].with_columns(pl.col("budget").cast(pl.Int64))
        contexts = contexts.join(drawn, on=["question_id", "budget"]).sort("question_id", "place")
        for row in contexts.iter_rows(named=True):
            if fact := fact_unit(row, edges):
                self.facts.setdefault(row["question_id"], []).append(fact)
        triples = {question: len(lines) for question, (_, _, lines) in self.symbols.items()}
        self.observer = Observer(cfg, self.embedder, self.lm, triples, inputs["candidates"], ctx.cache)
        self.terms, self.features, self.runs, self.supports = [], [], [], []
        self.prompts: list[list[str]] = []  # contexts of each training question, by configuration
        self.cut = 0  # tokens of contexts beyond the window
        self.thoughts = 0  # answers that end in a thought
        self.unread = 0  # verdicts that could not be read

    def session(self, questions: pl.DataFrame) -> None:
        """Replays one session and appends its rows."""
        session = Session(self.cfg, self.embedder, self.read, self.shown)
        for row in questions.iter_rows(named=True):
            symbols = self.symbols[row["question_id"]]
            units = session.recalled(symbols) | {"facts": self.facts.get(row["question_id"], [])}
            channels = {channel: self.observer.shown(units[channel]) for channel in CHANNELS}
            first = self.question(row, channels)
            if not self.cfg.memory.enabled:
                continue
            answer, source = self.stored(row, first)
            question = symbols, self.triples.get(row["question_id"], ())
            self.runs += session.keep(row["question_id"], row["text"], question, answer, source)
            self.supports += self.support(row, answer)

    def question(self, row: dict, channels: dict[str, Shown]) -> Completion:
        """Appends the terms and features of one question; returns its answer under include_all."""
        cfg, qid = self.cfg, row["question_id"]
        question = Question(qid, row["text"], row["answer"])
        query = Query(row["text"], as_shown(self.triples.get(qid, ()), self.shown))

        def write(units: Sequence[Unit]) -> str:
            return text_of(self.write(query, units))

        prompts = contexts(channels, LATTICE, cfg.memory.theta, write)
        self.prompts += [prompts] if row["split"] == "train" else []
        texts = list(dict.fromkeys(prompts))  # equal ones are measured once
        answers, budget = self.answers(row, texts), self.budgets[qid]
        written = [answer.text for answer in answers]
        gold = [(question, text) for text in (CLOSED, *texts)]
        asked = requests(question, written, texts) if self.ask is None else []
        logprobs = answer_logprobs(
            self.lm, cfg.ecs, [*gold, *asked], self.ctx.cache
        )  # together they read a context once
        self.cut += tokens_cut(self.lm, cfg.ecs, gold)
        faithful = self.judged(question, written, texts) if self.ask else by_reader(written, logprobs[len(gold) :])
        for configuration, prompt in zip(LATTICE, prompts, strict=True):
            n = texts.index(prompt)
            score = answer_scores(answers[n].text, row["answer"], row["aliases"] or ())["token_f1"]
            measured = logprobs[n + 1] - logprobs[0], score, faithful[n], self.measure
            sizes = answers[n].prompt_tokens, answers[n].completion_tokens, budget
            self.terms.append((qid, row["split"], self.lm.identity, name(configuration), *measured, *sizes))
        observed = CHANNELS if cfg.memory.enabled else ("facts",)
        values = self.observer.features(qid, row["text"], {channel: channels[channel] for channel in observed}, budget)
        for n, (feature, value) in enumerate(zip(feature_names(observed), values, strict=True)):
            self.features.append((qid, row["split"], n, feature, value))
        return answers[0]

    def judged(self, question: Question, answers: list[str], texts: Sequence[str]) -> list[float | None]:
        """Faithfulness of each answer to its context by the judge; None for an unreadable verdict."""
        refused = [is_refusal(answer, self.cfg.answer.refusals) for answer in answers]
        shares = by_judge(self.ask, question, answers, texts, refused)
        self.unread += shares.count(None)
        return shares

    def support(self, row: dict, answer: str) -> list[Support]:
        """The question's evidence, each unit with the answer gain of the stored answer from it."""
        facts = self.facts.get(row["question_id"], [])
        question = Question(row["question_id"], row["text"], answer)
        gains = unit_gains(self.lm, self.cfg.ecs, question, [fact.text for fact in facts], self.ctx.cache)
        return [support(question.id, fact, gain) for fact, gain in zip(facts, gains, strict=True)]

    def answers(self, row: dict, texts: Sequence[str]) -> list[Completion]:
        """The reader's answer under each context; equal prompts are answered once."""
        prompts = []
        for text in texts:
            units = StringIO(text).readlines()  # splitlines would also split inside a text, at U+2028
            part = (self.cfg.answer.instructions, self.generate, row["question_id"], row["text"], units)
            prompts.append(fitted(*part)[0])
        answers = dict(zip(prompts, self.generate(prompts), strict=True))
        self.thoughts += sum(answer.stopped == THOUGHT for answer in answers.values())
        return [answers[prompt] for prompt in prompts]

    def stored(self, row: dict, answer: Completion) -> tuple[str, str]:
        """The answer that the session keeps and its source, which is GOLD for training questions only."""
        if self.cfg.memory.gold and row["split"] == "train":
            return row["answer"], GOLD
        return answer.text, self.lm.name


def run(cfg, inputs, outputs, ctx):
    chosen = _chosen(cfg, inputs["questions"], inputs["passages"])
    by_session = chosen.partition_by("split", "session_id", maintain_order=True)
    replay = _Replay(cfg, inputs, ctx)
    for part in ctx.progress(by_session, len(by_session), "sessions"):
        replay.session(part)
    ctx.note_counts({"thoughts_without_answer": replay.thoughts, CUT: replay.cut})
    if replay.unread:
        ctx.warn(
            f"{replay.unread} of {len(replay.terms)} verdicts of judge {replay.measure} could not be read; policies leave out "
            "their questions"
        )
    configurations = distinct(replay.prompts)
    terms = TABLES["preferences"].frame(replay.terms)
    outputs["preferences"] = terms.filter(pl.col("configuration").is_in(list(map(name, configurations))))
    outputs["features"] = TABLES["features"].frame(replay.features)
    placed = chosen.select("question_id", "session_id", "n")
    outputs["memories"], outputs["session_edges"] = memories(replay.runs, replay.supports, placed, replay.book)
    seconds = replay.generate.seconds
    return {
        "questions": chosen.height,
        "prompts": chosen.height * len(configurations),
        "sessions": len(by_session),
        "configurations": len(configurations),
        "answered_anew": seconds.prompts,
        "measured_seconds_per_answer": (seconds.prefill + seconds.decode) / max(seconds.prompts, 1),
    }


main(run, globals().get("snakemake"))
