"""The report's part on judged answers: what a judge says of them, beside what the judge itself is worth."""

from collections.abc import Iterator
from typing import Any

import polars as pl

from secateur.report.format import pivoted
from secateur.report.table import Column

__all__ = ["judged_parts"]

FIGURES = {
    "judged_acc": "ACC",
    "judged_facts": "F1 of statements",
    "judged_coverage": "coverage",
    "judged_faithfulness": "faithfulness",
    "judged_evidence": "evidence",
    "judged_relevance": "relevance",
    "judged_unread": "verdicts not read",
}
CONTROLS = {
    "judge_of_gold": "gold answer (1 is right)",
    "judge_of_wrong": "another question's (0)",
    "judge_padded": "padding adds (0)",
    "judge_backwards": "same verdicts backwards (1)",
    "judges_apart": "apart from the other judge",
    "judges_apart_by_chance": "were they chance",
}
HEADS = FIGURES | CONTROLS
RANKED = [metric for metric in FIGURES if metric != "judged_unread"]
ABOUT = (
    "ACC is .75 F1 of statements and .25 (1 + cosine) / 2. A verdict that cannot be read is missing, never 0. Controls are "
    "of some of the same questions: the F1 that the judge gives the gold answer, and another question's gold answer; what "
    "padding adds to an answer; the share of verdicts that stay when statements come in the opposite order; how far two "
    "judges' ACC are apart, on a question and between questions. A judge whose controls are far from what is right says "
    "nothing with its figures."
)


def judged_parts(own: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """One table a judge, its controls in it. own: rows of `metrics` of a data set, all questions, with `name`."""
    parts = own.with_columns(
        metric=pl.col("metric").str.split("@").list.first(), judge=pl.col("metric").str.split("@").list.last()
    )
    found = parts.filter(pl.col("metric").is_in(list(HEADS)))
    for (judge,), rows in found.group_by("judge", maintain_order=True):
        present = set(rows["metric"])
        columns = {m: Column(head, best="higher" if m in RANKED else "") for m, head in HEADS.items() if m in present}
        counts = {
            kind: rows.filter(pl.col("metric").is_in(list(of)))["n"].max()
            for kind, of in (("judged", FIGURES), ("controls", CONTROLS))
        }
        yield {
            "title": f"Answers: judged by {judge}",
            "table": pivoted(rows.sort("name"), columns, "metric"),
            "note": f"n = {counts['judged']} questions at most, controls {counts['controls'] or 0}, 95 % intervals. {ABOUT}",
        }
