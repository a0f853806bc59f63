"""Rows of the tables that a report is made of, so that a test names only what it is about."""

__all__ = ["CLAIM", "WHOLE", "metric", "pair"]

WHOLE = {"dataset": "toy", "order": "blind", "scorer": None, "answer_aware": False, "subset": "all", "split": "all"}
CLAIM = "evidence_recall@claim"


def metric(system: str, name: str, value: float, scorer: str | None = None, **changes) -> dict:
    """A row of `metrics`: a mean over 20 questions, each its own unit."""
    row = WHOLE | {"system": system, "scorer": scorer, "metric": name, "value": value, "published": False}
    return row | {"low": value - 0.1, "high": value + 0.1, "n": 20, "units": 20} | changes


def pair(system: str = "graph_zsum", baseline: str = "title_zsum", **changes) -> dict:
    """A row of `comparisons`: a system above its baseline, not significant after Holm."""
    row = WHOLE | {"metric": CLAIM, "system": system, "baseline": baseline, "baseline_scorer": None, "axis": "ranker"}
    row |= {"difference": 0.1, "low": 0.02, "high": 0.2, "p": 0.03, "p_holm": 0.06, "n": 20, "units": 20}
    return row | changes
