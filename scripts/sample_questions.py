"""A few questions by seed, with the edges of their evidence blocks: what the report draws."""

import numpy as np
import polars as pl

from secateur.core.tables.catalog import TABLES
from secateur.evaluation.subsets import of_split
from secateur.graph.codebook import edge_lines
from secateur.models.words import content_words
from secateur.stage.contract import main

FIGURES = ("evidence_recall", "token_recall", "evidence_coverage")


def _chosen(cfg, questions: pl.DataFrame, exact: dict[str, float]) -> list[str]:
    """Question ids by seed, one whose evidence is all there and one whose is not in turn."""
    ids = of_split(questions, cfg.dataset.split).sort("position")["question_id"].to_list()
    drawn = [ids[n] for n in np.random.default_rng(cfg.eval.seed).permutation(len(ids))]
    hits, misses = ([q for q in drawn if q in exact and (exact[q] == 1) == hit] for hit in (True, False))
    turns = [q for n in range(len(drawn)) for q in (*hits[n : n + 1], *misses[n : n + 1])]
    return (turns + [q for q in drawn if q not in exact])[: cfg.eval.samples]


def _present(block: pl.DataFrame, passage: str | None) -> str:
    """What of an evidence passage the block holds."""
    if passage is None:
        return "unresolved"
    whole = block.filter(pl.col("passage_id") == passage)["whole"]
    return "whole" if whole.any() else "lines" if len(whole) else "absent"


def _edges(block: pl.DataFrame, of_passage: dict[str, list[int]], gold: set[str]) -> list[tuple[int, str, bool, bool]]:
    """(edge, passage, gold, whole) of a block, each edge once; a sentence shown whole stands for all its edges."""
    found: dict[int, tuple[int, str, bool, bool]] = {}
    for whole, passage, ids in block.sort("place").select("whole", "passage_id", "edge_ids").iter_rows():
        for edge in ids or of_passage.get(passage, ()):  # a text without edges of its own stands for its passage's
            if edge not in found or (passage in gold and not found[edge][2]):
                found[edge] = (edge, passage, passage in gold, whole)
    return list(found.values())


def _kept(edges: list[tuple], most: int) -> list[tuple]:
    """At most so many edges in the block's order, gold ones before others."""
    order = sorted(range(len(edges)), key=lambda n: (not edges[n][2], n))[:most]
    return [edges[n] for n in sorted(order)]


def _entity_words(triples: pl.DataFrame, question_id: str, text: str) -> frozenset[str]:
    """Content words of a question's entities; of its text where it has no triples."""
    own = triples.filter(pl.col("doc_id") == question_id)
    return content_words(" ".join([*own["head"], *own["tail"]]) if own.height else text)


def run(cfg, inputs, outputs, ctx):
    budget = min(cfg.eval.budgets, key=lambda b: (abs(b - cfg.assembly.budget), b))
    contexts, triples = inputs["contexts"].filter(pl.col("budget") == budget), inputs["triples"]
    texts = dict(inputs["passages"].select("passage_id", "text").iter_rows())
    figures = inputs["question_metrics"].filter(pl.col("hop").is_null()).select("question_id", "metric", "value")
    values = {(q, m): v for q, m, v in figures.iter_rows()}
    exact = {q: v for (q, m), v in values.items() if m == f"evidence_recall@{budget}"}
    questions = {row["question_id"]: row for row in inputs["questions"].iter_rows(named=True)}
    triple_of = edge_lines(inputs["edges"], inputs["entities"], inputs["relations"]).select("head", "relation", "tail")
    surface = triple_of.rows()
    mentions = inputs["edge_sources"].sort("doc_id", "position", "n").group_by("passage_id", maintain_order=True)
    of_passage = dict(mentions.agg("edge_id").iter_rows())
    samples, drawings = [], []
    for n, qid in enumerate(_chosen(cfg, inputs["questions"], exact)):
        block = contexts.filter(pl.col("question_id") == qid)
        gold = inputs["evidence"].filter(pl.col("question_id") == qid).sort("n").select("passage_id", "text").rows()
        edges = _edges(block, of_passage, {p for p, _ in gold if p})
        asked, question = _entity_words(triples, qid, questions[qid]["text"]), questions[qid]
        shown, present = [t or texts[p] for p, t in gold], [_present(block, p) for p, _ in gold]
        figures = [values.get((qid, f"{name}@{budget}")) for name in FIGURES]
        samples.append((n, qid, question["text"], question["answer"], shown, present, budget, *figures, len(edges)))
        for place, (edge, passage, is_gold, whole) in enumerate(_kept(edges, cfg.eval.max_edges)):
            triple = surface[edge]
            marks = [bool(content_words(triple[end]) & asked) for end in (0, 2)]
            drawings.append((qid, place, *triple, passage, is_gold, whole, *marks))
    for name, rows in (("samples", samples), ("subgraphs", drawings)):
        outputs[name] = pl.DataFrame(rows, schema=TABLES[name].empty().schema, orient="row")
    return {"questions": len(samples), "edges": len(drawings)}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
