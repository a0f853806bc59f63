"""Open information extraction: dependency rules over a small English parser (AutoPrunedRetriever 2.2).

A verb becomes a relation between its subjects and each of its complements. A noun gives facts from its prepositions,
appositions and possessors. Facts come in text order.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from secateur.core.fields import key
from secateur.graph.triples.openie.clauses import clause_facts
from secateur.graph.triples.openie.facts import PlacedFact, as_triple
from secateur.graph.triples.openie.nouns import fragment_facts, noun_facts
from secateur.graph.triples.openie.parsing import identity_of, load_parser, tree_of
from secateur.graph.triples.openie.pronouns import Antecedent, resolve
from secateur.graph.triples.openie.tree import Tree, root_of
from secateur.graph.triples.surface import Extraction, Triple, filter_triples, normalise
from secateur.models.words import MOSTLY, PARSER, share_outside_latin

if TYPE_CHECKING:
    from spacy.language import Language

__all__ = ["ENGLISH", "FrontEnd", "Settings", "extract", "load_parser"]

ENGLISH = True  # the parser's language


@dataclass(frozen=True)
class Settings:
    """Settings of the parser."""

    batch: int = key("sentences in one batch of the parser", low=1)
    model: str = key("spaCy model of English: an installed package, or a folder", default=PARSER)


class FrontEnd:
    """The rules as a front end; the parser is loaded at the first call."""

    name, by_sentence = "openie", False

    def __init__(self, settings: Settings, ctx) -> None:
        self.batch, self.model, self._parser = settings.batch, settings.model, None
        self.identity = identity_of(settings.model)

    def __call__(self, texts: Sequence[str], title: str | None) -> Extraction:
        """The triples of consecutive texts of one document."""
        self._parser = self._parser or load_parser(self.model)
        triples, dropped = extract(self._parser, texts, title, self.batch)
        counts = Counter({f"dropped_{reason}": n for reason, n in dropped.items()})
        if unread := sum(share_outside_latin([text]) > MOSTLY for text in texts):
            counts["texts_outside_latin"] = unread
        return Extraction(triples, counts)


def _filtered(tree: Tree, facts: Sequence[PlacedFact]) -> tuple[list[Triple], Counter]:
    return filter_triples(map(as_triple, facts), [root_of(tree, fact.place) for fact in facts])


def extract(
    parser: "Language", texts: Sequence[str], title: str | None = None, batch_size: int = 64
) -> tuple[list[list[Triple]], Counter]:
    """(triples of each text, count of dropped triples by reason).

    texts: consecutive sentences of one document. A leading pronoun takes the subject of the previous sentence, else the
    title. AutoPrunedRetriever 2.2. The result does not depend on the batch size.
    """
    results: list[list[Triple]] = []
    dropped: Counter = Counter()
    name = normalise(title or "")
    antecedent = Antecedent(name, None, True) if name else None
    for doc in parser.pipe(texts, batch_size=batch_size):
        tree = tree_of(doc)
        antecedent = resolve(tree, antecedent, name)
        facts = clause_facts(tree) + noun_facts(tree)
        triples, reasons = _filtered(tree, sorted(facts, key=lambda fact: fact.place))
        if not triples:
            triples, reasons = _filtered(tree, fragment_facts(tree))
        results.append(triples)
        dropped.update(reasons)
    return results, dropped
