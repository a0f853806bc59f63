"""The report's sampled questions: their words and figures, and the drawing of the graph in their contexts."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from secateur.evaluation.figure import figure_of
from secateur.report.format import number
from secateur.report.plots.subgraph import Drawn, draw

__all__ = ["samples_part"]

FIGURES = ("evidence_recall", "evidence_coverage", "token_recall")
PRESENT = {
    "whole": "in the context, whole",
    "lines": "in the context, as lines",
    "absent": "not in the context",
    "unresolved": "resolves to no passage",
}


def samples_part(one: Mapping[str, Any]) -> dict[str, Any]:
    """The part of one system. one: dataset, system, order and the tables samples and subgraphs."""
    samples, edges = one["samples"].sort("n"), one["subgraphs"].sort("question_id", "n")
    cards = [
        _card(row, edges.filter(pl.col("question_id") == row["question_id"])) for row in samples.iter_rows(named=True)
    ]
    return {
        "title": f"Sampled questions: the graph in the context at {samples['budget'][0]} tokens, "
        f"{one['system']} · {one['order']}",
        "text": "Boxes are entities, arrows relations from head to tail. Thick orange: from gold evidence. Dashed line: "
        "the context shows the sentence whole, and these are its edges. Blue box: shares a word with the "
        "question's entities. Dashed box: repeats an entity that has its place elsewhere.",
        "cards": cards,
        "note": f"n = {samples.height} questions chosen by seed, with all their evidence in the context and without it in "
        f"turn where there are both. Edges of gold evidence are drawn first. All of a question: "
        f"secateur show EXPERIMENT QUESTION_ID --system {one['system']} --order {one['order']}.",
    }


def _card(sample: Mapping[str, Any], edges: pl.DataFrame) -> dict[str, Any]:
    """A sampled question: its words and figures, and the drawing of its edges."""
    drawn = [Drawn(**row) for row in edges.select("head", "relation", "tail", "gold", "whole").iter_rows(named=True)]
    asked = frozenset(edges.filter("head_asked")["head"]) | frozenset(edges.filter("tail_asked")["tail"])
    figures = [f"{figure_of(name).title} {number(sample[name])}" for name in FIGURES if sample[name] is not None]
    return {
        "id": sample["question_id"],
        "question": sample["text"],
        "answer": sample["answer"] or "none given",
        "figures": ", ".join(figures) or "none: no gold evidence",
        "evidence": [(t, s, PRESENT[s]) for t, s in zip(sample["evidence"], sample["present"], strict=True)],
        "svg": draw(drawn, asked, f"graph of the context of question {sample['question_id']}"),
        "shown": f"{len(drawn)} of {sample['edges']} edges",
    }
