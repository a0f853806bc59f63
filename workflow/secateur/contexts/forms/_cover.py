"""A budgeted cover: which lines and sentences of ranked passages fill a token budget best.

Ours, not the paper's: sentences are ranked, lines are chosen inside them. A context is worth
    lambda sum over sources s of p(s) min(1, held(s) / enough) + (1 - lambda) sum over its words w of v(w) / words_per_source,
where held(s) is the share of the source's content words that the block holds under it, and v(w) is the expected
number of evidence sentences that hold w: the sum of p(s) over the sources that contain it; the question's words count
nothing in either. The first term asks for sentences that are nearly whole, the second for words that are new anywhere.
With `link` the first term of a source that shares an entity with a chosen one counts 1 + link x strength, where an entity of
k of n sources is as strong as 1 - ln(k) / ln(n + 1). Greedy by gain per token; gains only shrink as words are covered, so
stale ones are upper bounds and re-evaluation is lazy; those of newly linked sources are renewed.
"""

import heapq
import math
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass

from secateur.models.words import content_words, word_list

__all__ = ["Chosen", "Line", "Source", "cover", "covers", "word_values"]


@dataclass(frozen=True)
class Line:
    """One edge as it can be written: the rest follows "head:". Tokens are the reader's, with what joins them."""

    edge_id: int
    head: str
    rest: str
    head_tokens: int
    rest_tokens: int


@dataclass(frozen=True)
class Source:
    """A ranked sentence with its lines, in text order, and the entities that it names."""

    passage_id: str
    p: float
    text: str
    tokens: int
    lines: tuple[Line, ...]
    names: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Chosen:
    """A line of the block: a head with its chosen lines, or a whole sentence."""

    passage_id: str
    text: str
    tokens: int
    edge_ids: tuple[int, ...]
    whole: bool


def word_values(sources: Sequence[Source], question: str) -> dict[str, float]:
    """v(w) for every content word of the sources."""
    values: dict[str, float] = {}
    for source in sources:
        for word in content_words(source.text):
            values[word] = values.get(word, 0.0) + source.p
    return {word: 0.0 if word in content_words(question) else value for word, value in values.items()}


def _links(sources: Sequence[Source]) -> dict[int, dict[int, float]]:
    """How strongly each source is linked to each other one: by the rarest entity that both name."""
    named: dict[str, list[int]] = {}
    for s, source in enumerate(sources):
        for name in sorted(source.names):
            named.setdefault(name, []).append(s)
    found: dict[int, dict[int, float]] = {}
    for own in named.values():
        strength = 1 - math.log(len(own)) / math.log(len(sources) + 1)
        for s in own:
            for t in own:
                if s != t:
                    near = found.setdefault(s, {})
                    near[t] = max(near.get(t, 0.0), strength)
    return found


class _Block:
    """What has been chosen so far. Per source: chosen line numbers, or None once it is shown whole."""

    def __init__(
        self, sources: Sequence[Source], values: Mapping[str, float], worth: tuple[float, float, float], link: float
    ) -> None:
        self.sources, self.values = sources, values
        self.mix, self.enough, self.scale = worth
        self.link, self.near = link, _links(sources) if link else {}
        self.linked: dict[int, float] = {}
        self.chosen: dict[int, list[int] | None] = {}
        self.words: set[str] = set()
        self.held: dict[int, set[str]] = {}
        self.contents: dict[tuple[int, int | None], dict[str, float]] = {}
        self.spent: dict[int, int] = {}
        self.used = 0

    def copy(self) -> "_Block":
        """Another block that goes on from here by itself."""
        other = copy(self)
        other.chosen, other.words, other.spent = dict(self.chosen), set(self.words), dict(self.spent)
        other.linked = dict(self.linked)
        other.held = {s: set(words) for s, words in self.held.items()}
        return other

    def content(self, s: int, n: int | None) -> Mapping[str, float]:
        """The valued words of a move."""
        if (s, n) not in self.contents:
            source = self.sources[s]
            text = source.text if n is None else f"{source.lines[n].head} {source.lines[n].rest}"
            # In the order of the text: sums of values decide ties, and a set's order hangs on the hash seed.
            self.contents[s, n] = {w: self.values[w] for w in word_list(text) if self.values.get(w)}
        return self.contents[s, n]

    def price(self, s: int, n: int | None) -> int:
        """Tokens that adding line n of source s (None: the whole sentence) costs now."""
        source = self.sources[s]
        if n is None:
            return source.tokens - self.spent.get(s, 0)
        line, heads = source.lines[n], {source.lines[m].head for m in self.chosen.get(s) or ()}
        return line.rest_tokens + (0 if line.head in heads else line.head_tokens)

    def gain(self, s: int, n: int | None) -> float:
        words, own = self.content(s, n), self.held.get(s, frozenset())
        all_of_it = self.enough * max(len(self.content(s, None)), 1)
        before, more = min(1.0, len(own) / all_of_it), sum(word not in own for word in words)
        whole = min(1.0, (len(own) + more) / all_of_it) - before
        new = sum(value for word, value in words.items() if word not in self.words)
        likely = self.sources[s].p * (1 + self.link * self.linked.get(s, 0.0))
        return self.mix * likely * whole + (1 - self.mix) * new / self.scale

    def add(self, s: int, n: int | None, price: int) -> list[int]:
        """Take a move. Returns the sources that are worth more now."""
        self.chosen[s] = None if n is None else [*(self.chosen.get(s) or ()), n]
        self.words.update(self.content(s, n))
        self.held.setdefault(s, set()).update(self.content(s, n))
        self.spent[s] = self.spent.get(s, 0) + price
        self.used += price
        closer = {t: strength for t, strength in self.near.get(s, {}).items() if strength > self.linked.get(t, 0.0)}
        self.linked |= closer
        return sorted(closer)

    def open(self, s: int, n: int | None) -> bool:
        return s not in self.chosen or (self.chosen[s] is not None and n not in self.chosen[s])


def _moves_of(sources: Sequence[Source], grounding: str, of: Sequence[int]) -> list[tuple[int, int | None]]:
    """What can be taken of some sources: their lines, and the sources whole."""
    lines = [(s, n) for s in of for n in range(len(sources[s].lines))] if grounding != "sentences" else []
    return lines + ([(s, None) for s in of] if grounding != "triples" else [])


def cover(sources: Sequence[Source], question: str, budget: int, **settings) -> list[Chosen]:
    """The block for one budget; see `covers`."""
    return covers(sources, question, [budget], **settings)[budget]


def covers(
    sources: Sequence[Source],
    question: str,
    budgets: Sequence[int],
    *,
    grounding: str = "both",
    mix: float = 0.5,
    enough: float = 1.0,
    words_per_source: float = 10.0,
    link: float = 0.0,
) -> dict[int, list[Chosen]]:
    """The block for each budget, in the order of the sources; its pieces' tokens sum to at most the budget.

    A whole sentence replaces the lines already written of it and is charged the difference. Budgets take the same steps until the first that does not fit, so they are taken
    together up to there, and apart from there.
    """
    block = _Block(sources, word_values(sources, question), (mix, enough, words_per_source), link)
    heap = [_entry(block, s, n) for s, n in _moves_of(sources, grounding, range(len(sources)))]
    heapq.heapify(heap)
    found = {}
    for budget in sorted(set(budgets)):
        _fill(block, heap, grounding, budget, past_the_first_misfit=False)
        apart, rest = block.copy(), heap.copy()
        _fill(apart, rest, grounding, budget, past_the_first_misfit=True)
        found[budget] = _pieces(apart)
    return found


def _entry(block: _Block, s: int, n: int | None) -> tuple[float, int, int]:
    """A move as the heap orders it: the best gain per token first."""
    return (-block.gain(s, n) / max(block.price(s, n), 1), s, -1 if n is None else n)


def _fill(block: _Block, heap: list, grounding: str, budget: int, *, past_the_first_misfit: bool) -> None:
    """Take moves while any is worth its price: up to the first that does not fit, or leaving out those that do not."""
    while heap:
        bound, s, coded = heapq.heappop(heap)
        n = None if coded < 0 else coded
        if not block.open(s, n):
            continue
        if block.used + block.price(s, n) > budget:
            if past_the_first_misfit:
                continue
            heapq.heappush(heap, (bound, s, coded))
            return
        now = _entry(block, s, n)
        if now[0] > bound + 1e-12:  # stale: words were covered since
            if now[0] < 0:
                heapq.heappush(heap, now)
            continue
        if now[0] >= 0:
            continue
        dearer = block.add(s, n, block.price(s, n))
        renewed = [s] if n is not None else []  # its siblings became cheaper
        for move in _moves_of(block.sources, grounding, [*renewed, *dearer]):  # bounds must be renewed
            if block.open(*move):
                heapq.heappush(heap, _entry(block, *move))


def _pieces(block: _Block) -> list[Chosen]:
    found = []
    for s in sorted(block.chosen):
        source, numbers = block.sources[s], block.chosen[s]
        if numbers is None:
            found.append(Chosen(source.passage_id, source.text, source.tokens, (), True))
            continue
        by_head: dict[str, list[Line]] = {}
        for n in sorted(numbers):
            by_head.setdefault(source.lines[n].head, []).append(source.lines[n])
        for head, lines in by_head.items():
            tokens = lines[0].head_tokens + sum(line.rest_tokens for line in lines)
            text = f"{head}: {'; '.join(line.rest for line in lines)}"
            found.append(Chosen(source.passage_id, text, tokens, tuple(line.edge_id for line in lines), False))
    return found
