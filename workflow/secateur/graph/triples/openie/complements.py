"""Complements of verbs: objects, predicates, prepositional objects and chained verbs, each with its relation."""

from collections.abc import Iterator
from typing import NamedTuple

from secateur.graph.triples.openie.phrases import CONNECTIVES, phrase, text_of, variants
from secateur.graph.triples.openie.tree import (
    MAX_DEPTH,
    Tree,
    conjuncts,
    direct_subject,
    existential_nouns,
    has_preposition,
    is_contrasted,
    is_infinitive,
    is_relative,
    is_verb,
    relative_antecedent,
)
from secateur.graph.triples.openie.verbs import is_chained, is_near_adverb, verb_group
from secateur.graph.triples.surface import word_set

__all__ = ["Complement", "attached_complements", "complements_of", "gap_filler", "prepositional_complements"]

OBJECTS = word_set("dobj attr oprd acomp dative npadvmod")
PREDICATE_DEPS = word_set("dobj attr acomp oprd")  # their prepositions belong to the clause's subject
PREPOSITIONS = word_set("prep agent dative")
FILLERS = word_set("contrary fact example instance course addition general particular turn")  # "in fact" names nothing


class Complement(NamedTuple):
    """A relation and the token that heads its tail."""

    relation: str
    tail: int


def complements_of(tree: Tree, verb: int, relation: str, depth: int) -> Iterator[Complement]:
    """Objects, predicates, prepositional objects and chained verbs of a verb, each with its relation."""
    if depth > MAX_DEPTH:
        return
    predicate = _predicate(tree, verb)
    for child in tree.children[verb]:
        dep = tree.deps[child]
        if dep in PREPOSITIONS and tree.tags[child] in ("IN", "TO", "RP", "VBG", "VBN", "JJ", "RB"):
            yield from prepositional_complements(tree, child, relation + predicate, depth)
        elif dep in OBJECTS and tree.tags[child] == "PRP":
            relation = f"{relation} {tree.words[child]}" if child > verb else relation
        elif dep in OBJECTS:
            yield from _object_complements(tree, child, f"{relation} to" if dep == "dative" else relation, depth)
        elif dep == "advmod" and has_preposition(tree, child):
            yield from attached_complements(tree, child, f"{relation} {text_of(tree, phrase(tree, child))}", depth)
        elif dep == "advmod" and _is_tail_adverb(tree, verb, child):
            yield Complement(relation, child)
        elif is_verb(tree, child) and is_chained(tree, child):
            yield from _chained_complements(tree, child, relation, depth)
        elif dep == "xcomp":
            yield from _object_complements(tree, child, relation, depth)


def _is_tail_adverb(tree: Tree, verb: int, adverb: int) -> bool:
    """True for an adverb after its verb that is no part of the relation, no question word and no connective."""
    if adverb < verb or is_near_adverb(tree, verb, adverb):
        return False
    return tree.tags[adverb] != "WRB" and tree.words[adverb].lower() not in CONNECTIVES


def _predicate(tree: Tree, verb: int) -> str:
    """A copula's predicate after a space, for the relation of its prepositions ("was stable before" the war)."""
    if existential_nouns(tree, verb):  # in "there are wolves in Spain", "wolves" is the head
        return ""
    for k in tree.children[verb]:
        if k > verb and tree.deps[k] in ("acomp", "attr") and not tree.tags[k].startswith(("W", "NNP", "PRP")):
            return " " + text_of(tree, phrase(tree, k) if tree.deps[k] == "acomp" else [k])
    return ""


def _object_complements(tree: Tree, child: int, relation: str, depth: int) -> Iterator[Complement]:
    """An object or predicate with its conjuncts, each followed by its attached complements."""
    for noun in conjuncts(tree, child):
        if tree.tags[noun] in ("WP", "WDT", "WRB"):
            continue
        deeper = []
        if tree.deps[child] in PREDICATE_DEPS:
            variants(tree, noun)  # absorbs a short "of"-phrase first
            adjective = tree.tags[noun].startswith(("JJ", "VB", "RB"))
            word = text_of(tree, phrase(tree, noun) if adjective else [noun])
            link = relation if tree.tags[noun].startswith("NNP") else f"{relation} {word}"
            deeper = list(attached_complements(tree, noun, link, depth))
        if not (deeper and tree.deps[child] == "acomp"):
            yield Complement(relation, noun)
        yield from deeper


def attached_complements(tree: Tree, word: int, relation: str, depth: int) -> Iterator[Complement]:
    """Complements under a word's prepositions and infinitives."""
    for child in tree.children[word]:
        if tree.deps[child] == "prep" and child not in tree.used:
            yield from prepositional_complements(tree, child, relation, depth)
        elif tree.deps[child] == "xcomp" and is_verb(tree, child) and is_chained(tree, child):
            yield from _chained_complements(tree, child, relation, depth)


def _chained_complements(tree: Tree, verb: int, relation: str, depth: int) -> Iterator[Complement]:
    """Complements of a chained verb (the verb itself where it has none), then of the verbs coordinated with it."""
    subject = direct_subject(tree, verb)
    if subject is not None:
        relation = f"{relation} {tree.words[subject]}"
    complements = list(complements_of(tree, verb, f"{relation} {verb_group(tree, verb)}", depth + 1))
    yield from complements or [Complement(f"{relation} to" if is_infinitive(tree, verb) else relation, verb)]
    for child in tree.children[verb]:
        if tree.deps[child] == "conj" and is_verb(tree, child) and is_chained(tree, child) and depth < MAX_DEPTH:
            yield from _chained_complements(tree, child, relation, depth + 1)


def prepositional_complements(tree: Tree, preposition: int, relation: str, depth: int) -> Iterator[Complement]:
    """Objects of a preposition, or of the verb ("by eating") or preposition ("out of") that follows it."""
    tree.used.add(preposition)
    link = f"{relation} {_link(tree, preposition)}".strip()
    for child in tree.children[preposition]:
        dep = tree.deps[child]
        if dep == "pobj":
            filler = tree.words[child].lower() in FILLERS and all(tree.deps[k] == "det" for k in tree.children[child])
            nouns = [n for n in conjuncts(tree, child) if not filler and tree.tags[n] != "PRP"]
            yield from (Complement(link, relative_antecedent(tree, n)) for n in nouns if not _is_reciprocal(tree, n))
        elif dep == "pcomp" and is_verb(tree, child):
            subject = direct_subject(tree, child)
            if subject is not None and tree.tags[child] == "VBG":
                yield Complement(link, subject)
            elif subject is None:
                yield from _chained_complements(tree, child, link, depth + 1)
        elif dep in ("prep", "pcomp") and tree.children[child] and depth < MAX_DEPTH:
            governs = any(tree.deps[k] == "pobj" for k in tree.children[preposition])
            yield from prepositional_complements(tree, child, relation if governs else link, depth + 1)
        elif dep == "conj" and tree.tags[child] == "IN" and not is_contrasted(tree, preposition, child):
            yield from prepositional_complements(tree, child, relation, depth + 1)


def _is_reciprocal(tree: Tree, noun: int) -> bool:
    """True for "each other", which names nothing."""
    return tree.words[noun] == "other" and any(tree.words[k] == "each" for k in tree.children[noun])


def _link(tree: Tree, preposition: int) -> str:
    """A preposition with its modifiers: "such as", "only in", "two years after"."""
    tokens = [preposition]
    for child in tree.children[preposition]:
        if child < preposition and tree.deps[child] in ("amod", "advmod", "npadvmod", "quantmod", "neg"):
            tokens += phrase(tree, child)
        elif _is_linking(tree, child):
            tokens.append(child)
    return text_of(tree, sorted(tokens)).lower()


def _is_linking(tree: Tree, i: int) -> bool:
    """True for the second half of a compound preposition: "due to", "because of"."""
    return tree.deps[i] in ("pcomp", "prep") and tree.tags[i] in ("IN", "TO") and not tree.children[i]


def gap_filler(tree: Tree, verb: int, relation: str) -> Iterator[Complement]:
    """The noun that fills the gap of a relative clause with a subject: "the car (that) he bought"."""
    subject, noun, children = direct_subject(tree, verb), tree.heads[verb], tree.children[verb]
    if tree.deps[verb] != "relcl" or subject is None:
        return
    whose = any(tree.tags[k] == "WP$" for k in tree.children[subject])
    if whose or tree.deps[subject] == "nsubjpass" or is_relative(tree, subject):
        return
    adverb = next((tree.words[k].lower() for k in children if tree.tags[k] == "WRB"), "")
    if adverb in ("where", "when"):
        yield Complement(f"{relation} in", noun)
    elif not adverb and not any(_fills_gap(tree, k) for k in children):
        yield Complement(relation, noun)


def _fills_gap(tree: Tree, child: int) -> bool:
    """True for an object, or a preposition with its relative pronoun: the clause then has no gap."""
    if tree.deps[child] in PREPOSITIONS:
        return any(is_relative(tree, k) for k in tree.children[child])
    return tree.deps[child] in ("dobj", "attr", "acomp", "ccomp", "xcomp") and not is_relative(tree, child)
