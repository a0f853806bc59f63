"""Options of rankings: named lists of scorers."""

from dataclasses import dataclass
from typing import Any

from secateur.pipeline.config.fields import key
from secateur.pipeline.errors import nearest

__all__ = ["BASELINES", "UTILITIES", "Scorers", "scorer_problems"]


@dataclass(frozen=True)
class Scorers:
    """A named list of scorers of passages; rows, not variants."""

    scorers: dict[str, dict[str, Any]] = key("those without a language model: name: {kind, and the kind's parameters}")
    utilities: dict[str, dict[str, Any]] = key("those over a language model's statistics: the same form")
    suffixes: tuple[str, ...] = key("variants of each that are added: +neighbour, +answer")
    neighbour: float = key("share of the better neighbour's z-score that +neighbour adds", low=0)
    keep: int = key("best passages kept for each question and scorer", low=1)
    lifted: tuple[str, ...] = key("those whose answer lift is measured, where a data set asks for it")


BASELINES: dict[str, frozenset[str]] = {  # kind of a scorer without a language model: its parameters
    "random": frozenset(),
    "recency": frozenset(),
    "tfidf": frozenset(),
    "tfidf_question": frozenset(),
    "bm25": frozenset({"k1", "b"}),
    "lucene": frozenset({"k1", "b", "title"}),
    "dense": frozenset(),
    "zsum": frozenset({"lexical"}),
}
UTILITIES: dict[str, frozenset[str]] = {  # kind of a scorer over the statistics of one: its parameters
    "statistic": frozenset({"of"}),
    "null": frozenset({"of"}),
    "threshold": frozenset({"of"}),
    "sum": frozenset({"of"}),
    "fitted": frozenset({"of"}),
    "distilled": frozenset({"of", "label"}),
}


def scorer_problems(scorer: Scorers) -> list[str]:
    """What is wrong with a list of scorers, each in a clause."""
    found = []
    for listed, kinds in ((scorer.scorers, BASELINES), (scorer.utilities, UTILITIES)):
        for name, spec in listed.items():
            kind, have = spec.get("kind"), set(spec) - {"kind"}
            if kind not in kinds:
                found.append(f"scorer {name}: kind is {kind!r}, allowed: {', '.join(kinds)}{nearest(str(kind), kinds)}")
            elif have != kinds[kind]:
                found.append(f"scorer {name} of kind {kind}: has {sorted(have)}, needs exactly {sorted(kinds[kind])}")
    return found
