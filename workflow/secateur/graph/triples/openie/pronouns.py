"""Resolution of subject pronouns, within a text and from one text to the next."""

from typing import NamedTuple

from secateur.graph.triples.openie.phrases import text_of, variants
from secateur.graph.triples.openie.tree import (
    MAX_CHAIN,
    NOUN_TAGS,
    PLURAL_PRONOUNS,
    PLURAL_TAGS,
    SUBJECTS,
    Tree,
    conjuncts,
    direct_subject,
)
from secateur.graph.triples.surface import is_pronoun, normalise, word_set

__all__ = ["Antecedent", "resolve"]

SINGULAR, PERSONAL = word_set("it"), word_set("he she")


class Antecedent(NamedTuple):
    """Antecedent of later pronouns; `plural` is None where both numbers fit."""

    text: str
    plural: bool | None
    name: bool


def resolve(tree: Tree, antecedent: Antecedent | None, title: str = "") -> Antecedent | None:
    """Resolve the subject pronouns of a text into `tree.antecedents`; return the antecedent for the next text.

    A pronoun takes the nearest preceding main subject if the numbers agree and, for a person, it is a name. Otherwise
    the pronoun stays unresolved, and later pronouns ignore earlier subjects.
    """
    for i, dep in enumerate(tree.deps):
        if dep not in SUBJECTS:
            continue
        main = _is_main(tree, tree.heads[i])
        if is_pronoun(tree.words[i]):
            candidate = _later_subject(tree, i) or antecedent
            if candidate and _agrees(tree.words[i].lower(), candidate) and not _is_expletive(tree, i):
                tree.antecedents[i] = candidate.text
            elif main:
                antecedent = None
        elif main and tree.tags[i] in NOUN_TAGS:
            antecedent = _as_antecedent(tree, i)
            if antecedent.text.casefold() == title.casefold():  # "the brown bear ... they": a species has both numbers
                antecedent = antecedent._replace(plural=None)
    return antecedent


def _later_subject(tree: Tree, pronoun: int) -> Antecedent | None:
    """The main subject after a pronoun in an opening clause: "although they sleep, bears are light sleepers"."""
    verb = tree.heads[pronoun]
    subject = direct_subject(tree, tree.heads[verb]) if tree.deps[verb] == "advcl" else None
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
    """True if a pronoun agrees with an antecedent in number and person."""
    if pronoun in PERSONAL:
        return antecedent.name and not antecedent.plural
    return (pronoun in SINGULAR and not antecedent.plural) or (
        pronoun in PLURAL_PRONOUNS and antecedent.plural is not False
    )


def _is_expletive(tree: Tree, subject: int) -> bool:
    """True for an expletive: the "it" of "it is thought that"."""
    verb = tree.heads[subject]
    return tree.words[subject].lower() == "it" and any(
        tree.deps[k] in ("ccomp", "csubj", "csubjpass")
        or (tree.deps[k] in ("xcomp", "advcl") and any(tree.deps[j] == "acomp" for j in tree.children[verb]))
        for k in tree.children[verb]
    )


def _as_antecedent(tree: Tree, subject: int) -> Antecedent:
    """The antecedent that a subject becomes for later pronouns."""
    nouns = conjuncts(tree, subject)
    text = " and ".join(normalise(text_of(tree, variants(tree, n)[0])) for n in nouns)
    plural = len(nouns) > 1 or tree.tags[subject] in PLURAL_TAGS
    return Antecedent(text, plural, tree.tags[subject] == "NNP")
