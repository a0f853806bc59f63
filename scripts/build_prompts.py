"""Candidates to evidence blocks at every budget, and to the prompt as used in four encodings."""

import numpy as np
import polars as pl

from secateur.contexts.channels import apply_action
from secateur.contexts.cover import Line, Piece, Source, covers, whole_sources
from secateur.contexts.encodings import ENCODINGS, Payload, encode, render, rest_of
from secateur.graph.codebook import edge_lines, line_vectors
from secateur.models.word_pieces import lm_counter, word_piece_counter
from secateur.models.words import without_function_words
from secateur.pipeline.contract import main
from secateur.pipeline.tables.catalog import TABLES


class Assembly:
    """Everything the blocks of all questions are cut from."""

    def __init__(self, cfg, inputs) -> None:
        entities, relations = inputs["entities"], inputs["relations"]
        self.cfg, self.edges = cfg, inputs["edges"]
        lines = edge_lines(self.edges, entities, relations)
        twice = (
            lines.group_by("head", pl.concat_str("relation", "tail", separator=" ").alias("rest"))
            .len()
            .filter(pl.col("len") > 1)
        )
        self.ambiguous = set(twice.select("head", "rest").iter_rows())
        self.surface = list(lines.select("head", "relation", "tail").iter_rows())
        self.count = word_piece_counter(cfg.embedder.model)
        self.texts = dict(inputs["passages"].select("passage_id", "text").iter_rows())
        mentions = inputs["edge_sources"].sort("doc_id", "position", "n")
        self.of_passage = dict(mentions.group_by("passage_id", maintain_order=True).agg("edge_id").iter_rows())

    def shown(self, text: str) -> str:
        """A text with the words the option keeps."""
        return text if self.cfg.prompt.words == "all" else without_function_words(text)

    def line(self, edge_id: int) -> tuple[str, str]:
        """An edge's head and rest as they are shown."""
        edge = self.surface[edge_id]
        if self.cfg.prompt.words == "all":
            return edge[0], rest_of(edge, self.ambiguous)
        head, rest = without_function_words(edge[0]) or edge[0], without_function_words(f"{edge[1]} {edge[2]}")
        return head, rest or edge[2]

    def sources(self, ranked: pl.DataFrame) -> list[Source]:
        """The ranked sentences with their lines, priced."""
        rows = list(ranked.select("passage_id", "p").iter_rows())
        shown = [self.shown(self.texts[p]) or self.texts[p] for p, _ in rows]
        pairs = [[(e, *self.line(e)) for e in dict.fromkeys(self.of_passage.get(p, ()))] for p, _ in rows]
        parts = list(dict.fromkeys([*shown, *(x for one in pairs for _, h, r in one for x in (h, r))]))
        tokens = dict(zip(parts, self.count(parts).tolist(), strict=True))
        return [
            Source(p, prob, text, tokens[text], tuple(Line(e, h, r, tokens[h], tokens[r]) for e, h, r in one))
            for (p, prob), text, one in zip(rows, shown, pairs, strict=True)
        ]


def _run_lines(assembly: Assembly, runs: list[list[tuple[int, str]]], budget: int | None) -> list[Piece]:
    """Runs in order, their lines in run order, a repeated line once, until the first that would overflow."""
    seen, found, used = set(), [], 0
    lines = [(e, p) for run in runs for e, p in run]
    texts = {e: "[" + ", ".join(assembly.surface[e]) + "]" for e, _ in lines}
    tokens = dict(zip(texts, assembly.count(list(texts.values())).tolist(), strict=True)) if texts else {}
    for edge, passage in lines:
        if edge in seen:
            continue
        seen.add(edge)
        used += tokens[edge]
        if budget is not None and used > budget:
            break
        found.append(Piece(passage, texts[edge], tokens[edge], (edge,), False))
    return found


def _selected_runs(assembly: Assembly, candidates: pl.DataFrame, members: dict, vectors: np.ndarray) -> list:
    """The runs the action on the facts channel keeps, in fine order."""
    prompt, ids = assembly.cfg.prompt, candidates.sort("rank")["run_id"].to_list()
    if not ids:
        return []
    mean = np.stack([vectors[[e for e, _ in members[i]]].sum(0) for i in ids])
    mean /= np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-12)
    return [members[ids[n]] for n in apply_action(prompt.facts, mean, prompt.theta)]


def _blocks(assembly: Assembly, question: str, ranked, runs, budgets) -> dict[int, list[Piece]]:
    p = assembly.cfg.prompt
    if p.facts == "not_include":
        return {budget: [] for budget in budgets}
    if p.assemble == "runs":
        return {budget: _run_lines(assembly, runs, budget) for budget in budgets}
    sources = assembly.sources(ranked)
    mark = MARK if p.cite else 0
    if p.assemble == "ranked":
        made = {budget: whole_sources(sources, budget, mark) for budget in budgets}
    else:
        made = covers(sources, question, budgets, grounding=p.grounding, mark=mark, **{k: getattr(p, k) for k in WORTH})
    return {budget: pieces[::-1] if p.best_last else pieces for budget, pieces in made.items()}


WORTH = ("mix", "enough", "words_per_source")  # what the cover values
MARK = 3  # word pieces of "[n]" for a one-piece n; larger numbers are re-counted when the block is written


def _cited(assembly: Assembly, pieces: list[Piece], budget: int) -> list[tuple[Piece, str, int]]:
    """(piece, text as shown, tokens) with source numbers where asked for; the last ones go where numbers overflow."""
    if not assembly.cfg.prompt.cite or assembly.cfg.prompt.assemble == "runs":
        return [(piece, piece.text, piece.tokens) for piece in pieces]
    number = {p: n for n, p in enumerate(dict.fromkeys(piece.passage_id for piece in pieces), 1)}
    texts = [f"{piece.text} [{number[piece.passage_id]}]" for piece in pieces]
    tokens = assembly.count(texts) if texts else np.zeros(0, np.int64)
    fits = int(np.searchsorted(np.cumsum(tokens), budget, side="right"))
    return list(zip(pieces[:fits], texts[:fits], tokens[:fits].tolist(), strict=True))


def _payload(assembly: Assembly, question_edges, pieces: list[Piece]) -> Payload:
    number = {p: n for n, p in enumerate(dict.fromkeys(piece.passage_id for piece in pieces), 1)}
    facts = [(assembly.surface[e], number[piece.passage_id]) for piece in pieces for e in piece.edge_ids]
    whole = tuple(piece.text for piece in pieces if piece.whole)
    return Payload(tuple(question_edges), tuple(f for f, _ in facts), tuple(n for _, n in facts), whole)


def _prompts(assembly: Assembly, qid: str, question: str, payload: Payload) -> list[dict]:
    cfg, count = assembly.cfg, lm_counter(assembly.cfg.lm.model)
    texts = {e: render(e, encode(e, payload, assembly.ambiguous), question) for e in ENCODINGS}
    tokens = dict(zip(texts, count(list(texts.values())).tolist(), strict=True))
    chosen = min(ENCODINGS, key=lambda e: (tokens[e], e)) if cfg.prompt.encoding == "cheapest" else cfg.prompt.encoding
    base = {"question_id": qid, "facts": cfg.prompt.facts, "edges": len(payload.facts)}
    return [base | {"encoding": e, "tokens": tokens[e], "chosen": e == chosen, "text": texts[e]} for e in ENCODINGS]


def run(cfg, inputs, outputs, ctx):
    assembly, questions = Assembly(cfg, inputs), inputs["questions"].sort("position")
    asked = inputs["triples"].group_by("doc_id", maintain_order=True).agg(pl.struct("head", "relation", "tail"))
    asked_edges = {qid: [tuple(e.values()) for e in edges] for qid, edges in asked.iter_rows()}
    ranked = {
        k[0]: v
        for k, v in inputs["sources"].sort("question_id", "rank").partition_by("question_id", as_dict=True).items()
    }
    candidates = inputs["candidates"].partition_by("question_id", as_dict=True)
    vectors = line_vectors(assembly.edges, inputs["lines"]) if cfg.prompt.assemble == "runs" else None
    pairs = inputs["run_edges"].sort("run_id", "n").group_by("run_id", maintain_order=True)
    members = {i: list(zip(e, p, strict=True)) for i, e, p in pairs.agg("edge_id", "passage_id").iter_rows()}
    budgets, blocks, prompts = sorted({*cfg.eval.budgets, cfg.prompt.budget}), [], []
    rows = questions.select("question_id", "text").iter_rows()
    for qid, text in ctx.progress(rows, questions.height, "questions"):
        runs = (
            _selected_runs(assembly, candidates[(qid,)], members, vectors)
            if vectors is not None and (qid,) in candidates
            else []
        )
        made = _blocks(assembly, text, ranked[qid], runs, budgets)
        for budget in budgets:
            for n, (piece, shown, tokens) in enumerate(_cited(assembly, made[budget], budget)):
                kind = "sentence" if piece.whole and cfg.prompt.words == "all" else "line"
                row = (qid, budget, n, kind, piece.passage_id, list(piece.edge_ids), shown, tokens)
                blocks.append(row)
        prompts += _prompts(assembly, qid, text, _payload(assembly, asked_edges.get(qid, []), made[cfg.prompt.budget]))
    outputs["blocks"] = pl.DataFrame(blocks, schema=TABLES["blocks"].empty().schema, orient="row")
    outputs["prompts"] = pl.DataFrame(prompts)
    used = [p["tokens"] for p in prompts if p["chosen"]]
    return {"questions": questions.height, "prompt_tokens": float(np.mean(used)) if used else 0.0}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
