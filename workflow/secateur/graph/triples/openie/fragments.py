"""The facts of a text that no other rule reads."""

from itertools import pairwise

from secateur.graph.triples.openie.facts import Head, PlacedFact
from secateur.graph.triples.openie.phrases import phrase, spelled_out, written
from secateur.graph.triples.openie.tree import Tree

__all__ = ["fragment_facts"]

MAX_BETWEEN = 5  # words that may link two noun phrases of a text that no rule reads


def fragment_facts(tree: Tree) -> list[PlacedFact]:
    """A text no rule has read: its noun phrases, each linked to the next by the words between; else adjectives."""
    nouns = [
        i for i, tag in enumerate(tree.tags) if tag[:2] == "NN" and tree.deps[i] not in ("compound", "poss", "nmod")
    ]
    phrases = [phrase(tree, i) for i in nouns]
    facts = []
    for left, right in pairwise(phrases):
        gap = range(left[-1] + 1, right[0])
        between = [i for i in gap if tree.tags[i][:1].isalpha()]
        if 0 < len(between) <= MAX_BETWEEN and all(tree.tags[i] != "." for i in gap):
            text = written(tree, left)
            facts.append(PlacedFact(right[-1], Head(text, text), spelled_out(tree, between), written(tree, right)))
    return facts or [
        PlacedFact(noun, Head(tree.words[noun], tree.words[noun]), "is", written(tree, tokens[:-1]))
        for noun, tokens in zip(nouns, phrases, strict=True)
        if tokens[-1] == noun and len(tokens) > 1
    ]
