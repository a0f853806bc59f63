"""Options from ranking to context: lists of rankers, rerankers, and assembly of a ranking into a context."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from secateur.config import plugins
from secateur.core.errors import nearest
from secateur.core.fields import ConfigError, key
from secateur.core.layout import NONE, scorer_order

__all__ = ["UTILITIES", "Assembly", "Rankers", "Reranker", "forms", "price_problems", "rankers_problems"]


@dataclass(frozen=True)
class Rankers:
    """A named list of rankers of passages; each is a row in tables, not a variant."""

    scorers: dict[str, dict[str, Any]] = key("name: {kind: NAME, its settings} (ranking/scorers)", family="ranker")
    suffixes: tuple[str, ...] = key("variants added for each ranker: +neighbour, +answer")
    neighbour: float = key("share of the better neighbour's z-score that +neighbour adds", low=0)
    keep: int = key("best passages kept per question and scorer", low=1)
    scores: dict[str, dict[str, Any]] = key(
        "scores under a language model: name: {kind: NAME, its settings} (ecs/scores)", family="score", default={}
    )
    utilities: dict[str, dict[str, Any]] = key(
        "scores calibrated or combined from others: name: {kind, of}", default={}
    )
    rules: dict[str, tuple[str, ...]] = key(
        "acceptance rules: name: [score, ...]; a passage is accepted if each score is above its own threshold",
        default={},
    )
    fitted_on: tuple[str, ...] = key(
        "data sets of the experiment; each is also scored by weights fitted on the others (NAME@other_sets)", default=()
    )
    shards: int = key("jobs that share the questions of a data set; raise it on a cluster", low=1, high=1000, default=1)


@dataclass(frozen=True)
class Reranker:
    """Reorders the best passages of a ranking."""

    spec: dict[str, Any] = key("{kind: NAME, its settings} (ranking/rerankers)", family="reranker")


@dataclass(frozen=True)
class Assembly:
    """From a ranking to a context: four choices that apply to any ranker."""

    form: dict[str, Any] = key("text of a piece: {kind: NAME, its settings} (contexts/forms)", family="form")
    packing: Literal["refill", "stop"] = key(
        "a piece that does not fit is skipped, or ends the context (as published rows do)"
    )
    placement: Literal["best_first", "best_last", "as_written"] = key("order of the pieces in the context")
    counter: Literal["reader", "word_pieces"] = key("whose tokens a budget counts: the reader's or the embedder's")
    budget: int = key("tokens of the context under which questions are answered", low=1)
    pieces: int | None = key(
        "most passages or lines of a context, whatever the budget; null: no limit", low=1, default=None
    )
    titles: bool = key("send passages without a speaker under the title of their article", default=False)
    price: float | None = key(
        "price of 512 tokens in evidence recall: a passage is sent if its value, an expected share of the evidence, "
        "exceeds price x tokens / 512; null: whatever fits",
        low=0,
        default=None,
    )
    mean_tokens: int | None = key(
        "in place of a price: the lowest one at which contexts without a budget have at most so many tokens in the mean",
        low=1,
        default=None,
    )

    @property
    def is_priced(self) -> bool:
        """Whether passages are sent by a price for tokens."""
        return self.price is not None or self.mean_tokens is not None

    @property
    def packs(self) -> str:
        """How pieces are chosen, in words."""
        limits = {"{} pieces": self.pieces, "a price of {:g}": self.price, "{} mean tokens": self.mean_tokens}
        return ", ".join([self.packing, *(text.format(n) for text, n in limits.items() if n is not None)])


UTILITIES: dict[str, frozenset[str]] = {  # kind of a score made from others: its parameters
    "null": frozenset({"of"}),
    "threshold": frozenset({"of"}),
    "sum": frozenset({"of"}),
    "fitted": frozenset({"of"}),
    "distilled": frozenset({"of", "label"}),
}


def rankers_problems(rankers: Rankers, where: str) -> list[str]:
    """Problems of a list of rankers, each in a clause."""
    problems = []
    specs = {("ranker", f"scorers.{name}"): spec for name, spec in rankers.scorers.items()}
    specs |= {("score", f"scores.{name}"): spec for name, spec in rankers.scores.items()}
    for (family, path), spec in specs.items():
        try:
            plugins.settings(family, spec, where, f"rankers.{path}")
        except ConfigError as error:
            problems.append(str(error))
    if not problems:
        for name, spec in rankers.scorers.items():
            if (scorer_order(name) == "aware") != plugins.load("ranker", spec["kind"]).ORDER_AWARE:
                problems.append(
                    f"rankers.scorers.{name}: the name of an order-aware ranker ends in +window, no other does"
                )
            problems += _inner_problems(where, f"rankers.scorers.{name}", spec)
        twice = [name for name in rankers.scores if name in {*rankers.utilities, *forms(rankers)}]
        problems += [f"rankers.scores.{name}: another scorer of this list has that name" for name in twice]
    for name, spec in rankers.utilities.items():
        kind, parameters = spec.get("kind"), set(spec) - {"kind"}
        if kind not in UTILITIES:
            allowed = f"allowed: {', '.join(UTILITIES)}{nearest(str(kind), UTILITIES)}"
            problems.append(f"rankers.utilities.{name}: kind is {kind!r}, {allowed}")
        elif parameters != UTILITIES[kind]:
            needs = sorted(UTILITIES[kind])
            problems.append(f"rankers.utilities.{name} of kind {kind}: has {sorted(parameters)}, needs exactly {needs}")
    return problems


def _inner_problems(where: str, path: str, spec: Mapping[str, Any]) -> Iterator[str]:
    """Problems of the rankers inside a ranker, which declares neither gold evidence nor files for them."""
    for setting, inner in spec.items():
        if isinstance(inner, Mapping) and "kind" in inner:
            try:
                plugins.settings("ranker", inner, where, f"{path}.{setting}")
            except ConfigError as error:
                yield str(error)
                continue
            ranker = plugins.load("ranker", inner["kind"])
            if ranker.READS_GOLD or ranker.ANSWER_AWARE or ranker.FILES:
                yield f"{path}.{setting}: {inner['kind']} reads gold evidence, the answer or a file, and can only stand alone"
            yield from _inner_problems(where, f"{path}.{setting}", inner)


def price_problems(key: str, scorers: Mapping[str, Mapping[str, Any]], pick: str, reranker: str = NONE) -> list[str]:
    """Why a ranking cannot have the price that `key` asks for, in a clause. scorers: the list it is picked from, if any."""
    shares = [name for name, spec in scorers.items() if plugins.load("ranker", spec["kind"]).SHARES]
    if pick in shares and reranker == NONE:
        return []
    ranking = pick if reranker == NONE else f"{pick}, reranked by {reranker}"
    return [
        f"{key} is set and the ranking is {ranking}; a price needs one ranker whose scores are shares of the evidence "
        f"(SHARES), order-blind and without a reranker; allowed: {', '.join(shares) or 'none of this system'}"
    ]


def forms(rankers: Rankers) -> list[str]:
    """Names of the rankers without a language model, suffixes included."""
    return [
        name + suffix
        for name, spec in rankers.scorers.items()
        for suffix in ("", *(rankers.suffixes if plugins.takes_suffixes(plugins.load("ranker", spec["kind"])) else ()))
    ]
