"""What a verb leads to: objects, predicates, prepositional objects, chained verbs, each with its relation."""

from collections.abc import Iterator
from typing import NamedTuple

from secateur.graph.triples.openie.phrases import CONNECTIVES, phrase, variants, written
from secateur.graph.triples.openie.tree import (
    MAX_DEPTH,
    Tree,
    conjuncts,
    existing_nouns,
    hanging_prepositions,
    is_infinitive,
    is_relative,
    is_verb,
    meant,
    own_subject,
)
from secateur.graph.triples.openie.verbs import is_chained, is_near_adverb, verb_group
from secateur.graph.triples.surface import word_set

__all__ = ["Complement", "complements_of", "filled_gap", "prepositional", "through"]

OBJECTS = word_set("dobj attr oprd acomp dative npadvmod")
OWNERS = word_set("dobj attr acomp oprd")  # what hangs on these is said of the clause's subject
PREPOSITIONS = word_set("prep agent dative")
IDLE = word_set("contrary fact example instance course addition general particular turn")  # "in fact"


class Complement(NamedTuple):
    """What a verb says: relation and the token that heads the tail."""

    relation: str
    tail: int


def complements_of(tree: Tree, verb: int, relation: str, depth: int) -> Iterator[Complement]:
    """Objects, predicates, prepositional objects and chained verbs of a verb, each with the relation that leads there."""
    if depth > MAX_DEPTH:
        return
    predicate = _predicate(tree, verb)
    for kid in tree.kids[verb]:
        dep = tree.deps[kid]
        if dep in PREPOSITIONS and tree.tags[kid] in ("IN", "TO", "RP", "VBG", "VBN", "JJ", "RB"):
            yield from prepositional(tree, kid, relation + predicate, depth)
        elif dep in OBJECTS and tree.tags[kid] == "PRP":
            relation = f"{relation} {tree.words[kid]}" if kid > verb else relation
        elif dep in OBJECTS:
            yield from _object(tree, kid, f"{relation} to" if dep == "dative" else relation, depth)
        elif dep == "advmod" and hanging_prepositions(tree, kid):
            yield from through(tree, kid, f"{relation} {written(tree, phrase(tree, kid))}", depth)
        elif dep == "advmod" and kid > verb and not is_near_adverb(tree, verb, kid) and _is_telling(tree, kid):
            yield Complement(relation, kid)
        elif is_verb(tree, kid) and is_chained(tree, kid):
            yield from _chained(tree, kid, relation, depth)
        elif dep == "xcomp":
            yield from _object(tree, kid, relation, depth)


def _is_telling(tree: Tree, adverb: int) -> bool:
    """True for an adverb that can be a tail: no question word, no connective."""
    return tree.tags[adverb] != "WRB" and tree.words[adverb].lower() not in CONNECTIVES


def _predicate(tree: Tree, verb: int) -> str:
    """What a copula says, after a space: the relation of its prepositions needs it ("was stable before" the war)."""
    if existing_nouns(tree, verb):  # "there are wolves in Spain": the wolves are the head
        return ""
    for kid in tree.kids[verb]:
        if kid > verb and tree.deps[kid] in ("acomp", "attr") and not tree.tags[kid].startswith(("W", "NNP", "PRP")):
            return " " + written(tree, phrase(tree, kid) if tree.deps[kid] == "acomp" else [kid])
    return ""


def _object(tree: Tree, kid: int, relation: str, depth: int) -> Iterator[Complement]:
    """An object or predicate with its conjuncts, then what hangs on each of them."""
    for noun in conjuncts(tree, kid):
        if tree.tags[noun] in ("WP", "WDT", "WRB"):
            continue
        deeper = []
        if tree.deps[kid] in OWNERS:
            variants(tree, noun)  # takes the short "of"-phrase first
            adjective = tree.tags[noun].startswith(("JJ", "VB", "RB"))
            word = written(tree, phrase(tree, noun) if adjective else [noun])
            link = relation if tree.tags[noun].startswith("NNP") else f"{relation} {word}"
            deeper = list(through(tree, noun, link, depth))
        if not (deeper and tree.deps[kid] == "acomp"):
            yield Complement(relation, noun)
        yield from deeper


def through(tree: Tree, word: int, relation: str, depth: int) -> Iterator[Complement]:
    """What a word's prepositions and infinitives lead to."""
    for kid in tree.kids[word]:
        if tree.deps[kid] == "prep" and kid not in tree.used:
            yield from prepositional(tree, kid, relation, depth)
        elif tree.deps[kid] == "xcomp" and is_verb(tree, kid) and is_chained(tree, kid):
            yield from _chained(tree, kid, relation, depth)


def _chained(tree: Tree, verb: int, relation: str, depth: int) -> Iterator[Complement]:
    """What a chained verb leads to, itself where it leads nowhere; then the verbs coordinated with it."""
    subject = own_subject(tree, verb)
    if subject is not None:
        relation = f"{relation} {tree.words[subject]}"
    found = list(complements_of(tree, verb, f"{relation} {verb_group(tree, verb)}", depth + 1))
    yield from found or [Complement(f"{relation} to" if is_infinitive(tree, verb) else relation, verb)]
    for kid in tree.kids[verb]:
        if tree.deps[kid] == "conj" and is_verb(tree, kid) and is_chained(tree, kid) and depth < MAX_DEPTH:
            yield from _chained(tree, kid, relation, depth + 1)


def prepositional(tree: Tree, preposition: int, relation: str, depth: int) -> Iterator[Complement]:
    """The objects of a preposition, the verb behind it ("by eating"), or the preposition behind it ("out of")."""
    tree.used.add(preposition)
    link = f"{relation} {_link(tree, preposition)}".strip()
    for kid in tree.kids[preposition]:
        dep = tree.deps[kid]
        if dep == "pobj":
            idle = tree.words[kid].lower() in IDLE and all(tree.deps[k] == "det" for k in tree.kids[kid])
            nouns = [n for n in conjuncts(tree, kid) if not idle and tree.tags[n] != "PRP"]
            yield from (Complement(link, meant(tree, n)) for n in nouns if not _is_reciprocal(tree, n))
        elif dep == "pcomp" and is_verb(tree, kid):
            subject = own_subject(tree, kid)
            if subject is not None and tree.tags[kid] == "VBG":
                yield Complement(link, subject)
            elif subject is None:
                yield from _chained(tree, kid, link, depth + 1)
        elif dep in ("prep", "pcomp") and tree.kids[kid] and depth < MAX_DEPTH:
            governs = any(tree.deps[k] == "pobj" for k in tree.kids[preposition])
            yield from prepositional(tree, kid, relation if governs else link, depth + 1)
        elif dep == "conj" and tree.tags[kid] == "IN":
            yield from prepositional(tree, kid, relation, depth + 1)


def _is_reciprocal(tree: Tree, noun: int) -> bool:
    """True for "each other", which names nothing."""
    return tree.words[noun] == "other" and any(tree.words[k] == "each" for k in tree.kids[noun])


def _link(tree: Tree, preposition: int) -> str:
    """A preposition with what stands before it: "such as", "only in", "two years after"."""
    tokens = [preposition]
    for kid in tree.kids[preposition]:
        if kid < preposition and tree.deps[kid] in ("amod", "advmod", "npadvmod", "quantmod", "neg"):
            tokens += phrase(tree, kid)
        elif _is_linking(tree, kid):
            tokens.append(kid)
    return written(tree, sorted(tokens)).lower()


def _is_linking(tree: Tree, i: int) -> bool:
    """True for the second half of a compound preposition: "due to", "because of"."""
    return tree.deps[i] in ("pcomp", "prep") and tree.tags[i] in ("IN", "TO") and not tree.kids[i]


def filled_gap(tree: Tree, verb: int, relation: str) -> Iterator[Complement]:
    """The noun of a relative clause where the clause has its own subject: "the car (that) he bought"."""
    if tree.deps[verb] != "relcl" or own_subject(tree, verb) is None:
        return
    subject, noun = own_subject(tree, verb), tree.heads[verb]
    whose = any(tree.tags[k] == "WP$" for k in tree.kids[subject])
    if whose or tree.deps[subject] == "nsubjpass" or is_relative(tree, subject):
        return
    kids = tree.kids[verb]
    adverb = next((tree.words[k].lower() for k in kids if tree.tags[k] == "WRB"), "")
    if adverb in ("where", "when"):
        yield Complement(f"{relation} in", noun)
    elif not adverb and not any(_fills_gap(tree, k) for k in kids):
        yield Complement(relation, noun)


def _fills_gap(tree: Tree, kid: int) -> bool:
    """True for an object, or a preposition with its relative pronoun: the clause has no gap for its noun."""
    if tree.deps[kid] in PREPOSITIONS:
        return any(is_relative(tree, k) for k in tree.kids[kid])
    return tree.deps[kid] in ("dobj", "attr", "acomp", "ccomp", "xcomp") and not is_relative(tree, kid)
