"""Options of rankings: named lists of rankers, and what puts the best of a ranking in a new order."""

from dataclasses import dataclass
from typing import Any

from secateur.config import plugins
from secateur.core.errors import nearest
from secateur.core.fields import ConfigError, key

__all__ = ["UTILITIES", "Rankers", "Reranker", "forms", "rankers_problems"]


@dataclass(frozen=True)
class Rankers:
    """A named list of rankers of passages; rows, not variants."""

    scorers: dict[str, dict[str, Any]] = key("name: {kind: NAME, its settings} (ranking/scorers)", family="ranker")
    suffixes: tuple[str, ...] = key("variants of each that are added: +neighbour, +answer")
    neighbour: float = key("share of the better neighbour's z-score that +neighbour adds", low=0)
    keep: int = key("best passages kept for each question and scorer", low=1)
    scores: dict[str, dict[str, Any]] = key(
        "those under a language model: name: {kind: NAME, its settings} (ecs/scores)", family="score", default={}
    )
    utilities: dict[str, dict[str, Any]] = key("those calibrated or joined of others: name: {kind, of}", default={})


@dataclass(frozen=True)
class Reranker:
    """What reads the best passages of a ranking again."""

    spec: dict[str, Any] = key("{kind: NAME, its settings} (ranking/rerankers)", family="reranker")


UTILITIES: dict[str, frozenset[str]] = {  # kind of a scorer made of others: its parameters
    "null": frozenset({"of"}),
    "threshold": frozenset({"of"}),
    "sum": frozenset({"of"}),
    "fitted": frozenset({"of"}),
    "distilled": frozenset({"of", "label"}),
}


def rankers_problems(rankers: Rankers, where: str) -> list[str]:
    """What is wrong with a list of rankers, each in a clause."""
    found = []
    named = {("ranker", f"scorers.{name}"): spec for name, spec in rankers.scorers.items()}
    named |= {("score", f"scores.{name}"): spec for name, spec in rankers.scores.items()}
    for (family, path), spec in named.items():
        try:
            plugins.settings(family, spec, where, f"rankers.{path}")
        except ConfigError as error:
            found.append(str(error))
    twice = [name for name in rankers.scores if name in {*rankers.utilities, *forms(rankers)}] if not found else []
    found += [f"rankers.scores.{name}: another scorer of this list has that name" for name in twice]
    for name, spec in rankers.utilities.items():
        kind, have = spec.get("kind"), set(spec) - {"kind"}
        if kind not in UTILITIES:
            allowed = f"allowed: {', '.join(UTILITIES)}{nearest(str(kind), UTILITIES)}"
            found.append(f"rankers.utilities.{name}: kind is {kind!r}, {allowed}")
        elif have != UTILITIES[kind]:
            needs = sorted(UTILITIES[kind])
            found.append(f"rankers.utilities.{name} of kind {kind}: has {sorted(have)}, needs exactly {needs}")
    return found


def _suffixes(rankers: Rankers, name: str) -> tuple[str, ...]:
    """The suffixes that a ranker of a list is made with; one that does not read the question has no other form."""
    kind = plugins.load("ranker", rankers.scorers[name]["kind"])
    return ("", *(rankers.suffixes if kind.READS_QUESTION else ()))


def forms(rankers: Rankers) -> list[str]:
    """The names of rankers without a language model, with their suffixes."""
    return [name + suffix for name in rankers.scorers for suffix in _suffixes(rankers, name)]
