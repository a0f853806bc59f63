"""What a subject pronoun stands for, in its own text or in the one after."""

from typing import NamedTuple

from secateur.graph.triples.openie.phrases import variants, written
from secateur.graph.triples.openie.tree import (
    MAX_CHAIN,
    NOUN_TAGS,
    PLURAL_PRONOUNS,
    PLURAL_TAGS,
    SUBJECTS,
    Tree,
    conjuncts,
    own_subject,
)
from secateur.graph.triples.surface import is_pronoun, normalise, word_set

__all__ = ["Antecedent", "resolve"]

SINGULAR, PERSONAL = word_set("it"), word_set("he she")


class Antecedent(NamedTuple):
    """What a later pronoun may stand for; `plural` is None where both numbers fit."""

    text: str
    plural: bool | None
    name: bool


def resolve(
    tree: Tree, antecedent: Antecedent | None, title: str = "", speaker: str | None = None
) -> Antecedent | None:
    """Fill `stands_for` with what subject pronouns mean; the antecedent that the text leaves to the next one.

    Safe means: the nearest main subject before, alike in number, a name for a person; else the pronoun stays
    unresolved, and nothing later is resolved to what stood before it.
    """
    for i, dep in enumerate(tree.deps):
        if dep not in SUBJECTS:
            continue
        main = _is_main(tree, tree.heads[i])
        if is_pronoun(tree.words[i]):
            if speaker and tree.words[i] == "I":
                tree.stands_for[i] = speaker
                continue
            candidate = _following(tree, i) or antecedent
            if candidate and _agrees(tree.words[i].lower(), candidate) and not _is_dummy(tree, i):
                tree.stands_for[i] = candidate.text
            elif main:
                antecedent = None
        elif main and tree.tags[i] in NOUN_TAGS:
            antecedent = _as_antecedent(tree, i)
            if antecedent.text.casefold() == title.casefold():  # "the brown bear ... they": a kind has both numbers
                antecedent = antecedent._replace(plural=None)
    return antecedent


def _following(tree: Tree, pronoun: int) -> Antecedent | None:
    """The main subject behind a pronoun in an opening clause: "although they sleep, bears are light sleepers"."""
    verb = tree.heads[pronoun]
    subject = own_subject(tree, tree.heads[verb]) if tree.deps[verb] == "advcl" else None
    if subject is None or subject < pronoun or tree.tags[subject] not in NOUN_TAGS or is_pronoun(tree.words[subject]):
        return None
    return _as_antecedent(tree, subject)


def _is_main(tree: Tree, verb: int) -> bool:
    """True for the main verb of a sentence and the verbs coordinated with it."""
    for _ in range(MAX_CHAIN):
        if tree.deps[verb] != "conj":
            break
        verb = tree.heads[verb]
    return tree.heads[verb] == verb


def _agrees(pronoun: str, antecedent: Antecedent) -> bool:
    """True where a pronoun may stand for the antecedent."""
    if pronoun in PERSONAL:
        return antecedent.name and not antecedent.plural
    return (pronoun in SINGULAR and not antecedent.plural) or (
        pronoun in PLURAL_PRONOUNS and antecedent.plural is not False
    )


def _is_dummy(tree: Tree, subject: int) -> bool:
    """True for the "it" of "it is thought that", which stands for the clause."""
    verb = tree.heads[subject]
    return tree.words[subject].lower() == "it" and any(
        tree.deps[k] in ("ccomp", "csubj", "csubjpass")
        or (tree.deps[k] in ("xcomp", "advcl") and any(tree.deps[j] == "acomp" for j in tree.kids[verb]))
        for k in tree.kids[verb]
    )


def _as_antecedent(tree: Tree, subject: int) -> Antecedent:
    """A subject as later pronouns may take it."""
    nouns = conjuncts(tree, subject)
    text = " and ".join(normalise(written(tree, variants(tree, n)[0])) for n in nouns)
    plural = len(nouns) > 1 or tree.tags[subject] in PLURAL_TAGS
    return Antecedent(text, plural, tree.tags[subject] == "NNP")
