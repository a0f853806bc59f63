"""Facts as the rules build them, and their heads: the subjects of clauses."""

from collections.abc import Sequence
from typing import NamedTuple

from secateur.graph.triples.openie.phrases import text_of, variants
from secateur.graph.triples.openie.tree import MAX_DEPTH, Tree, conjuncts, direct_subject, is_verb, relative_antecedent
from secateur.graph.triples.surface import Triple, is_pronoun, normalise, word_set

__all__ = ["ANSWER_TYPES", "Head", "PlacedFact", "as_triple", "noun_heads", "subjects"]

MAX_HEADS = 6  # coordinated subjects that are expanded
SUBJECT_SHARING = word_set(
    "conj relcl acl xcomp advcl ccomp dep parataxis pcomp prep"
)  # clauses with the governor's subjects
NO_HEADS = word_set("EX VBN VBD VBZ VBP MD IN")
# A question word enters the triple as the type of its answer.
ANSWER_TYPES = {"who": "person", "whom": "person", "whoever": "person", "what": "thing", "which": "thing"}


class Head(NamedTuple):
    """Head of a triple: its text, its original text, and whether a pronoun was resolved."""

    text: str
    original: str
    resolved: bool = False


class PlacedFact(NamedTuple):
    """A triple before normalisation, with the token that heads its tail as its place in the text."""

    place: int
    head: Head
    relation: str
    tail: str


def as_triple(fact: PlacedFact) -> Triple:
    """The triple of a fact, with normalised and original forms."""
    head, relation, tail = fact.head, fact.relation, fact.tail
    return Triple(
        normalise(head.text), normalise(relation.lower()), normalise(tail), head.original, relation, tail, head.resolved
    )


def subjects(tree: Tree, verb: int, depth: int) -> list[int]:
    """Subject tokens of a verb: its direct subject, the noun it describes, or the subjects of its governor."""
    subject, dep, governor = direct_subject(tree, verb), tree.deps[verb], tree.heads[verb]
    if subject is not None:
        return [relative_antecedent(tree, n) for n in conjuncts(tree, subject)]
    if governor == verb or depth > MAX_DEPTH:
        return []
    if dep in ("relcl", "acl") and not is_verb(tree, governor):
        return [governor]
    if dep in SUBJECT_SHARING:
        return subjects(tree, governor, depth + 1)
    return []


def noun_heads(tree: Tree, nouns: Sequence[int]) -> list[Head]:
    """Heads of triples from subject tokens; unresolved pronouns give none."""
    heads = []
    for i in nouns:
        word = tree.words[i]
        if i in tree.antecedents:
            heads.append(Head(tree.antecedents[i], word, True))
        elif tree.tags[i] in ("WP", "WDT"):
            if word.lower() in ANSWER_TYPES and (word[0].isupper() or "?" in tree.words):
                heads.append(Head(ANSWER_TYPES[word.lower()], word))
        elif tree.tags[i] not in NO_HEADS:
            texts = [text_of(tree, tokens) for tokens in variants(tree, i)]
            heads += [Head(text, text) for text in texts if not is_pronoun(text)]
    return heads[:MAX_HEADS]
