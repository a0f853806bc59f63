"""Of whom a clause speaks: its subjects, its own or shared, as heads of triples."""

from collections.abc import Sequence

from secateur.graph.triples.openie.facts import Head
from secateur.graph.triples.openie.phrases import variants, written
from secateur.graph.triples.openie.tree import MAX_DEPTH, Tree, conjuncts, is_verb, meant, own_subject
from secateur.graph.triples.surface import is_pronoun, word_set

__all__ = ["UNKNOWNS", "heads_of", "noun_heads", "subjects"]

MAX_HEADS = 6  # conjoined subjects that are expanded
# Such a clause may share the subject above.
SHARED = word_set("conj relcl acl xcomp advcl ccomp dep parataxis pcomp prep")
NO_HEADS = word_set("EX VBN VBD VBZ VBP MD IN")
# A question's unknown stands in the triple as the kind of thing that is asked for.
UNKNOWNS = {"who": "person", "whom": "person", "whoever": "person", "what": "thing", "which": "thing"}


def subjects(tree: Tree, verb: int, depth: int) -> list[int]:
    """The tokens that are a verb's subjects: its own, the noun it describes, or those of the verb above."""
    own, dep, governor = own_subject(tree, verb), tree.deps[verb], tree.heads[verb]
    if own is not None:
        return [meant(tree, n) for n in conjuncts(tree, own)]
    if governor == verb or depth > MAX_DEPTH:
        return []
    if dep in ("relcl", "acl") and not is_verb(tree, governor):
        return [governor]
    if dep in SHARED:
        return subjects(tree, governor, depth + 1)
    return []


def noun_heads(tree: Tree, nouns: Sequence[int]) -> list[Head]:
    """Heads for subject tokens; unresolved pronouns give none."""
    heads = []
    for i in nouns:
        word = tree.words[i]
        if i in tree.stands_for:
            heads.append(Head(tree.stands_for[i], word, True))
        elif tree.tags[i] in ("WP", "WDT"):
            if word.lower() in UNKNOWNS and (word[0].isupper() or "?" in tree.words):
                heads.append(Head(UNKNOWNS[word.lower()], word))
        elif tree.tags[i] not in NO_HEADS:
            texts = [written(tree, tokens) for tokens in variants(tree, i)]
            heads += [Head(text, text) for text in texts if not is_pronoun(text)]
    return heads[:MAX_HEADS]


def heads_of(tree: Tree, verb: int) -> list[Head]:
    """The subjects of a verb, its own or those it shares."""
    return noun_heads(tree, subjects(tree, verb, 0))
