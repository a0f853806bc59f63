"""A few questions by seed, with the edges of the graph in their contexts: what the report draws."""

import numpy as np
import polars as pl

from secateur.core.tables.catalog import TABLES
from secateur.evaluation.subsets import of_split
from secateur.graph.codebook import edge_lines
from secateur.models.units import content_words
from secateur.report.trace import Trace, Traces
from secateur.stage.contract import main

FIGURES = ("evidence_recall", "token_recall", "evidence_coverage")


def _chosen(cfg, questions: pl.DataFrame, exact: dict[str, float]) -> list[str]:
    """Question ids by seed, one whose evidence is all there and one whose is not in turn."""
    ids = of_split(questions, cfg.dataset.split).sort("position")["question_id"].to_list()
    drawn = [ids[n] for n in np.random.default_rng(cfg.eval.seed).permutation(len(ids))]
    hits, misses = ([q for q in drawn if q in exact and (exact[q] == 1) == hit] for hit in (True, False))
    turns = [q for n in range(len(drawn)) for q in (*hits[n : n + 1], *misses[n : n + 1])]
    return (turns + [q for q in drawn if q not in exact])[: cfg.eval.samples]


def _edges(trace: Trace, of_passage: dict[str, list[int]]) -> list[tuple[int, str, bool, bool]]:
    """(edge, passage, gold, whole) of a context, each edge once; a sentence shown whole stands for all its edges."""
    edges: dict[int, tuple[int, str, bool, bool]] = {}
    for row in trace.context:
        passage, gold = row["passage_id"], row["passage_id"] in trace.gold
        for edge in row["edge_ids"] or of_passage.get(passage, ()):  # text without edges stands for its passage's
            if edge not in edges or (gold and not edges[edge][2]):
                edges[edge] = (edge, passage, gold, row["whole"])
    return list(edges.values())


def _kept(edges: list[tuple], most: int) -> list[tuple]:
    """At most so many edges in the order of the context, gold ones before others."""
    order = sorted(range(len(edges)), key=lambda n: (not edges[n][2], n))[:most]
    return [edges[n] for n in sorted(order)]


def _entity_words(trace: Trace) -> frozenset[str]:
    """Content words of a question's entities; of its text where it has no triples."""
    triples = trace.steps["triples"]
    ends = [*triples["head"], *triples["tail"]]
    return content_words(" ".join(ends) if ends else trace.question["text"])


def run(cfg, inputs, outputs, ctx):
    budget = min(cfg.eval.budgets, key=lambda b: (abs(b - cfg.assembly.budget), b))
    contexts = inputs["contexts"].filter(pl.col("budget") == budget)
    texts = dict(inputs["passages"].select("passage_id", "text").iter_rows())
    about = (inputs["questions"], inputs["evidence"])
    traces = Traces(*about, contexts, inputs["question_metrics"], texts=texts, steps={"triples": inputs["triples"]})
    recall = f"evidence_recall@{budget}"
    exact = {qid: trace.figures[recall] for qid, trace in traces.items() if recall in trace.figures}
    surface = edge_lines(inputs["edges"], inputs["entities"], inputs["relations"])
    triples = surface.select("head", "relation", "tail").rows()
    mentions = inputs["edge_sources"].sort("doc_id", "position", "n").group_by("passage_id", maintain_order=True)
    of_passage = dict(mentions.agg("edge_id").iter_rows())
    samples, drawings = [], []
    for n, qid in enumerate(_chosen(cfg, inputs["questions"], exact)):
        trace = traces[qid]
        edges, question = _edges(trace, of_passage), trace.question
        gold = [row["text"] for row in trace.evidence]
        present = [trace.presence(row["passage_id"]) for row in trace.evidence]
        figures = [trace.figures.get(f"{name}@{budget}") for name in FIGURES]
        samples.append((n, qid, question["text"], question["answer"], gold, present, budget, *figures, len(edges)))
        words = _entity_words(trace)
        for place, (edge, passage, is_gold, whole) in enumerate(_kept(edges, cfg.eval.max_edges)):
            marks = [bool(content_words(triples[edge][end]) & words) for end in (0, 2)]
            drawings.append((qid, place, *triples[edge], passage, is_gold, whole, *marks))
    for name, rows in (("samples", samples), ("subgraphs", drawings)):
        outputs[name] = TABLES[name].frame(rows)
    return {"questions": len(samples), "edges": len(drawings)}


main(run, globals().get("snakemake"))
