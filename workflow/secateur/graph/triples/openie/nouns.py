"""The facts of nouns: what hangs on them and no clause has said."""

from collections.abc import Sequence

from secateur.graph.triples.openie.complements import prepositional, through
from secateur.graph.triples.openie.facts import Head, PlacedFact
from secateur.graph.triples.openie.phrases import phrase, variants, written
from secateur.graph.triples.openie.subjects import noun_heads
from secateur.graph.triples.openie.tree import NOUN_TAGS, Tree, conjuncts, is_verb, relative_noun
from secateur.graph.triples.openie.verbs import copula_of

__all__ = ["noun_facts"]


def noun_facts(tree: Tree) -> list[PlacedFact]:
    """What hangs on nouns and no clause has said: prepositions, appositions, possessors, adjectives behind."""
    facts: list[PlacedFact] = []
    for i, kids in enumerate(tree.kids):
        if not kids or tree.tags[i] not in NOUN_TAGS:
            continue
        for kid in kids:
            dep = tree.deps[kid]
            if dep == "prep":
                facts += _hanging_facts(tree, i, kid)
            elif dep == "appos" and not is_verb(tree, kid):
                facts += _pairs(tree, i, copula_of(tree, i), conjuncts(tree, kid))
            elif dep == "poss" and tree.tags[kid] in NOUN_TAGS:
                facts += _possession(tree, kid, i)
            elif dep == "poss" and tree.tags[kid] == "WP$" and relative_noun(tree, kid) is not None:
                facts += _pairs(tree, relative_noun(tree, kid), "has", [i])
            elif dep == "amod" and kid > i:
                adjective = written(tree, phrase(tree, kid))
                deeper = list(through(tree, kid, f"{copula_of(tree, i)} {adjective}", 0))
                facts += [fact for c in deeper for fact in _pairs(tree, i, c.relation, [c.tail])]
                facts += [] if deeper else _pairs(tree, i, copula_of(tree, i), conjuncts(tree, kid))
    return facts


def _hanging_facts(tree: Tree, noun: int, preposition: int) -> list[PlacedFact]:
    """A noun, a preposition, its objects."""
    variants(tree, noun)  # takes the short "of"-phrase first
    if preposition in tree.used:
        return []
    complements = list(prepositional(tree, preposition, "", 0))
    return [fact for c in complements for fact in _pairs(tree, noun, c.relation, [c.tail])]


def _pairs(tree: Tree, noun: int, relation: str, tails: Sequence[int]) -> list[PlacedFact]:
    """A noun with each of the tails."""
    heads = noun_heads(tree, [noun])
    return [PlacedFact(t, head, relation, written(tree, v)) for t in tails for v in variants(tree, t) for head in heads]


def _possession(tree: Tree, owner: int, owned: int) -> list[PlacedFact]:
    """Google's founder: Google has founder."""
    hidden = phrase(tree, owner)
    tail = [i for i in phrase(tree, owned) if i not in hidden]
    text = written(tree, [i for i in hidden if tree.deps[i] != "case"])
    return [PlacedFact(owned, Head(text, text), "has", written(tree, tail))]
