"""Open information extraction: dependency rules over a small English parser (AutoPrunedRetriever 2.2).

A text is parsed once and read as plain arrays. Verbs become relations between their subjects and each of their
complements; nouns bring what hangs on them (prepositions, appositions, possessors). Facts come in text order.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from secateur.core.fields import key
from secateur.graph.triples.openie.clauses import clause_facts
from secateur.graph.triples.openie.facts import as_triple
from secateur.graph.triples.openie.fragments import fragment_facts
from secateur.graph.triples.openie.nouns import noun_facts
from secateur.graph.triples.openie.parsing import load_parser, tree_of
from secateur.graph.triples.openie.pronouns import Antecedent, resolve
from secateur.graph.triples.surface import Found, Triple, filter_triples, normalise

if TYPE_CHECKING:
    from spacy.language import Language

__all__ = ["FrontEnd", "Settings", "extract", "load_parser"]


@dataclass(frozen=True)
class Settings:
    """How the parser is run."""

    batch: int = key("sentences in one batch of the parser", low=1)


class FrontEnd:
    """These rules as a front end; the parser is loaded when it is first needed."""

    name, by_sentence, identity = "openie", False, ()

    def __init__(self, settings: Settings, ctx) -> None:
        self.batch, self._parser = settings.batch, None

    def __call__(self, texts: Sequence[str], title: str | None) -> Found:
        """The triples of consecutive texts of one document."""
        self._parser = self._parser or load_parser()
        triples, dropped = extract(self._parser, texts, title, self.batch)
        return Found(triples, Counter({f"dropped_{reason}": n for reason, n in dropped.items()}))


def extract(
    parser: "Language",
    texts: Sequence[str],
    title: str | None = None,
    batch_size: int = 64,
    speakers: Sequence[str | None] | None = None,
) -> tuple[list[list[Triple]], Counter]:
    """The triples of each text, and a count of those dropped by reason.

    `texts` are consecutive sentences of one document; a leading pronoun takes the subject of the sentence before,
    or the title where there is none; "I" takes the text's speaker where `speakers`, one for each text, names one.
    AutoPrunedRetriever 2.2. Deterministic, whatever the batch size.
    """
    results: list[list[Triple]] = []
    dropped: Counter = Counter()
    name = normalise(title or "")
    antecedent = Antecedent(name, None, True) if name else None
    said_by = speakers or [None] * len(texts)
    for doc, speaker in zip(parser.pipe(texts, batch_size=batch_size), said_by, strict=True):
        tree = tree_of(doc)
        antecedent = resolve(tree, antecedent, name, speaker)
        facts = clause_facts(tree) + noun_facts(tree)
        kept, faults = filter_triples(as_triple(fact) for fact in sorted(facts, key=lambda fact: fact.place))
        if not kept:
            kept, faults = filter_triples(as_triple(fact) for fact in fragment_facts(tree))
        results.append(kept)
        dropped.update(faults)
    return results, dropped
