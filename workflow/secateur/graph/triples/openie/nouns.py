"""Facts from noun phrases: from their modifiers, and between neighbours in a text without clauses."""

from collections.abc import Sequence
from itertools import pairwise

from secateur.graph.triples.openie.complements import attached_complements, prepositional_complements
from secateur.graph.triples.openie.facts import Head, PlacedFact, noun_heads
from secateur.graph.triples.openie.phrases import phrase, spelled_out, text_of, variants
from secateur.graph.triples.openie.tree import NOUN_TAGS, Tree, conjuncts, is_verb, relative_noun
from secateur.graph.triples.openie.verbs import copula_of

__all__ = ["fragment_facts", "noun_facts"]

MAX_BETWEEN = 5  # words that may link two noun phrases of a fragment


def noun_facts(tree: Tree) -> list[PlacedFact]:
    """Facts from noun modifiers: prepositions that no clause used, appositions, possessors, trailing adjectives."""
    facts: list[PlacedFact] = []
    for i, children in enumerate(tree.children):
        if not children or tree.tags[i] not in NOUN_TAGS:
            continue
        for child in children:
            dep = tree.deps[child]
            if dep == "prep":
                facts += _prepositional_facts(tree, i, child)
            elif dep == "appos" and not is_verb(tree, child) and not _is_denied(tree, child):
                facts += _pairs(tree, i, copula_of(tree, i), conjuncts(tree, child))
            elif dep == "poss" and tree.tags[child] in NOUN_TAGS:
                facts += _possession(tree, child, i)
            elif dep == "poss" and tree.tags[child] == "WP$" and relative_noun(tree, child) is not None:
                facts += _pairs(tree, relative_noun(tree, child), "has", [i])
            elif dep == "amod" and child > i:
                adjective = text_of(tree, phrase(tree, child))
                deeper = list(attached_complements(tree, child, f"{copula_of(tree, i)} {adjective}", 0))
                facts += [fact for c in deeper for fact in _pairs(tree, i, c.relation, [c.tail])]
                facts += [] if deeper else _pairs(tree, i, copula_of(tree, i), conjuncts(tree, child))
    return facts


def _is_denied(tree: Tree, word: int) -> bool:
    """Whether an apposition is what its noun is not: "Paris, not London"."""
    first = min(phrase(tree, word), default=word)
    nearby = {*range(max(0, first - 2), first), *tree.children[word]}  # "not yet a minister"
    return any(tree.words[k].lower() == "not" for k in nearby)


def _prepositional_facts(tree: Tree, noun: int, preposition: int) -> list[PlacedFact]:
    """Facts that join a noun to the objects of its preposition."""
    variants(tree, noun)  # absorbs a short "of"-phrase first
    if preposition in tree.used:
        return []
    complements = list(prepositional_complements(tree, preposition, "", 0))
    return [fact for c in complements for fact in _pairs(tree, noun, c.relation, [c.tail])]


def _pairs(tree: Tree, noun: int, relation: str, tails: Sequence[int]) -> list[PlacedFact]:
    """Facts that join a noun to each tail by one relation."""
    heads = noun_heads(tree, [noun])
    return [PlacedFact(t, head, relation, text_of(tree, v)) for t in tails for v in variants(tree, t) for head in heads]


def _possession(tree: Tree, owner: int, owned: int) -> list[PlacedFact]:
    """The fact of a possessive: "Google's founder" gives Google, has, founder."""
    possessor = phrase(tree, owner)
    tail = [i for i in phrase(tree, owned) if i not in possessor]
    text = text_of(tree, [i for i in possessor if tree.deps[i] != "case"])
    return [PlacedFact(owned, Head(text, text), "has", text_of(tree, tail))]


def fragment_facts(tree: Tree) -> list[PlacedFact]:
    """Facts from a text without others: neighbouring noun phrases joined by the words between; else adjectives."""
    nouns = [
        i for i, tag in enumerate(tree.tags) if tag[:2] == "NN" and tree.deps[i] not in ("compound", "poss", "nmod")
    ]
    phrases = [phrase(tree, i) for i in nouns]
    facts = []
    for left, right in pairwise(phrases):
        gap = range(left[-1] + 1, right[0])
        between = [i for i in gap if tree.tags[i][:1].isalpha()]
        if 0 < len(between) <= MAX_BETWEEN and all(tree.tags[i] != "." for i in gap):
            text = text_of(tree, left)
            facts.append(PlacedFact(right[-1], Head(text, text), spelled_out(tree, between), text_of(tree, right)))
    return facts or [
        PlacedFact(noun, Head(tree.words[noun], tree.words[noun]), "is", text_of(tree, tokens[:-1]))
        for noun, tokens in zip(nouns, phrases, strict=True)
        if tokens[-1] == noun and len(tokens) > 1
    ]
