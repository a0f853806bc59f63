"""Write the context of each question in its memory session: evidence shown before, recalled runs, new evidence."""

from collections.abc import Mapping, Sequence

from secateur.answers.ask import fitted, generator, losses
from secateur.answers.generate import Completion
from secateur.contexts.piece import Edge, Query, Row
from secateur.contexts.session import Unit, fact_unit
from secateur.contexts.table import recalled_rows, sizes_of
from secateur.core.tables.catalog import TABLES
from secateur.ecs.answer_gain import unit_gains
from secateur.ecs.reading.template import Question
from secateur.evaluation.subsets import answered
from secateur.graph.codebook import as_shown, shown_as, triples_of
from secateur.graph.material import session_material
from secateur.graph.retrieval.candidates import Symbols, question_symbols
from secateur.graph.triples.extraction import text_extractor
from secateur.memory.session import Session
from secateur.memory.sessions import sessions
from secateur.memory.store import Remembered, memories, support
from secateur.memory.transcript import Transcript
from secateur.models.embedder import Embedder
from secateur.models.reader import load as load_reader
from secateur.models.word_pieces import lm_counter
from secateur.policy.act import Acting, everything
from secateur.policy.actions import CHANNELS
from secateur.policy.features import feature_names
from secateur.policy.network import load
from secateur.policy.observation import Observer
from secateur.stage.contract import main

Block = list[tuple[Unit, int]]  # facts with their tokens


class _Reader:
    """The reader of one session. cfg: with the options `memory`, `retriever`, `answer` and `lm`."""

    def __init__(self, cfg, embedder, generate, extract, choose, write, shown) -> None:
        self.cfg, self.generate, self.choose, self.write = cfg, generate, choose, write
        self.session = Session(cfg, embedder, extract, shown)
        self.transcript = Transcript(cfg.memory.window)
        self.completions: list[Completion] = []

    def context(
        self, question_id: str, query: Query, symbols: Symbols, blocks: Sequence[Block]
    ) -> tuple[list[Row], list[Unit]]:
        """(rows of the prompt, new evidence last if the form keeps the order; the evidence that the question needs).

        blocks: contexts of the question, the largest first.
        """
        block = self.transcript.due(blocks, self.cfg.memory.fresh)
        recalled = self.session.recalled(symbols)
        kept = self.choose(question_id, query.text, recalled | {"facts": [fact for fact, _ in block]})
        exchanges = [recalled[channel][n] for channel in recalled for n in kept[channel]]
        needed = [block[n] for n in kept["facts"]]
        fresh = self.transcript.show(needed)
        new = set(fresh)
        earlier = [fact for fact in self.transcript if fact not in new]
        return self.write(query, [*earlier, *exchanges, *fresh]), [fact for fact, _ in needed]

    def answer(
        self, question_id: str, query: Query, symbols: Symbols, rows: list[Row]
    ) -> tuple[Remembered, Remembered]:
        """Answer a question; returns the question and the answer, which the session keeps."""
        units = [row.text for row in rows]
        prompt, _ = fitted(self.cfg.answer.instructions, self.generate, question_id, query.text, units)
        self.completions += self.generate([prompt])
        answer, source = self.completions[-1].text, self.cfg.answer.model or self.cfg.lm.model
        return self.session.keep(question_id, query.text, (symbols, query.triples), answer, source)


def _blocks(cfg, inputs, ctx, edges: Mapping[int, Edge]) -> dict[str, list[Block]]:
    """Contexts by question id, the largest first. edges: by id under a symbolic form, else empty."""
    contexts = sizes_of(inputs["contexts"], cfg.assembly.budget, lm_counter(cfg.lm.model, ctx.cache))
    return {
        question: [[(fact, row["size"]) for row in block if (fact := fact_unit(row, edges))] for block in sizes]
        for question, sizes in contexts.items()
    }


def _chooser(cfg, inputs, ctx, symbols, embedder, lm):
    """The function that chooses units of the channels: the policy, or all units without a policy."""
    if "policy" not in inputs:
        return everything
    triples = {question: len(lines) for question, (_, _, lines) in symbols.items()}
    observer = Observer(cfg, embedder, lm, triples, inputs["candidates"], ctx.cache)
    trained = load(inputs.paths("policy")[0], feature_names(CHANNELS), lm.identity)
    return Acting(trained, observer, cfg.memory.theta, cfg.assembly.budget)


def run(cfg, inputs, outputs, ctx):
    questions = answered(inputs["questions"], cfg.dataset.split, cfg.dataset.answered)
    of_session = sessions(questions, inputs["passages"])
    count = lm_counter(cfg.lm.model, ctx.cache)
    book = [inputs[name] for name in ("entities", "relations", "edges")]
    write, edges = session_material(cfg.assembly.form, count, *book)
    shown = shown_as(book[0], inputs["aliases"])
    blocks = _blocks(cfg, inputs, ctx, edges)
    triples = triples_of(inputs["triples"])
    symbols = question_symbols(inputs["triples"], questions)
    embedder = Embedder(cfg.embedder, ctx.cache, ctx.log)
    generate = generator(cfg, ctx)
    extract = text_extractor(cfg.extractor, ctx)
    lm = generate.lm if cfg.answer.backend == "lm" else load_reader(cfg.lm, ctx.cache, ctx.device)
    choose, rows, exchanges, supports = _chooser(cfg, inputs, ctx, symbols, embedder, lm), [], [], []
    completions: list[Completion] = []
    placed = of_session.join(questions.select("question_id", "text"), on="question_id", maintain_order="left")
    by_session = placed.partition_by("session_id", maintain_order=True)
    for part in ctx.progress(by_session, len(by_session), "sessions"):
        reader = _Reader(cfg, embedder, generate, extract, choose, write, shown)
        for qid, text in part.select("question_id", "text").iter_rows():
            query = Query(text, as_shown(triples.get(qid, ()), shown))
            prompt, needed = reader.context(qid, query, symbols[qid], blocks.get(qid, [[]]))
            rows += recalled_rows(qid, prompt, cfg.assembly.budget, count)
            question, answer = reader.answer(qid, query, symbols[qid], prompt)
            exchanges += [question, answer]
            scored = Question(qid, text, answer.text)
            gains = unit_gains(lm, cfg.ecs, scored, [fact.text for fact in needed], ctx.cache)
            supports += [support(qid, fact, gain) for fact, gain in zip(needed, gains, strict=True)]
        completions += reader.completions
    ctx.note_counts(losses(completions, cfg.answer, "answer"))
    outputs["contexts"] = TABLES["contexts"].frame(rows)
    outputs["memories"], outputs["session_edges"] = memories(exchanges, supports, of_session, book)
    return {"questions": questions.height, "sessions": len(by_session), "rows": len(rows)}


main(run, globals().get("snakemake"))
