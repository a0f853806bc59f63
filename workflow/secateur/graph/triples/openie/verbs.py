"""Verb groups, the words of relations: a verb with auxiliaries, negation, particle and near adverbs."""

from secateur.graph.triples.openie.negation import denied_by
from secateur.graph.triples.openie.phrases import CONNECTIVES, phrase, spelled_out
from secateur.graph.triples.openie.tree import (
    MAX_CHAIN,
    PLURAL_PRONOUNS,
    PLURAL_TAGS,
    Tree,
    direct_subject,
    has_preposition,
    is_infinitive,
    is_verb,
)
from secateur.graph.triples.surface import word_set

__all__ = ["condition", "copula_of", "group_tokens", "is_chained", "is_near_adverb", "verb_group"]

AUXILIARIES = word_set("aux auxpass neg prt")
FINITE_TAGS = word_set("VBZ VBP VBD MD")
CONDITIONS = word_set("if unless whether until")  # their clause is not asserted, so they stay in the relation
FREQUENCY = word_set(
    "never rarely seldom often always usually sometimes frequently occasionally hardly scarcely barely generally "
    "commonly typically normally nearly almost no not"
)


def is_chained(tree: Tree, verb: int) -> bool:
    """True for a verb that extends its governor's relation: "try to eat", "came to find", "by eating"."""
    for _ in range(MAX_CHAIN):
        coordinated = (
            tree.deps[verb] == "conj" and is_verb(tree, tree.heads[verb]) and direct_subject(tree, verb) is None
        )
        if not coordinated:
            break
        if tree.tags[verb] != tree.tags[tree.heads[verb]] or any(
            tree.tags[k] in FINITE_TAGS for k in tree.children[verb]
        ):
            return False
        verb = tree.heads[verb]
    dep, governor, subject = tree.deps[verb], tree.heads[verb], direct_subject(tree, verb)
    if subject is not None:
        return dep in ("ccomp", "xcomp") and tree.tags[verb] in ("VB", "VBP") and _is_object_pronoun(tree, subject)
    if dep == "pcomp":
        return True
    return governor != verb and (
        dep == "xcomp" or (dep in ("advcl", "ccomp") and is_infinitive(tree, verb) and governor < verb)
    )


def _is_object_pronoun(tree: Tree, i: int) -> bool:
    """True for a pronoun that the governing verb takes as object: "causes them to stop"."""
    return tree.tags[i] == "PRP" and tree.words[i].lower() in ("them", "him", "her", "it", "us", "me", "you")


def condition(tree: Tree, verb: int) -> str:
    """The conjunction of a conditional clause and a space, or an empty string."""
    for child in tree.children[verb]:
        if tree.deps[child] == "mark" and tree.words[child].lower() in CONDITIONS:
            return tree.words[child] + " "
    return ""


def verb_group(tree: Tree, verb: int) -> str:
    """Text of a verb group."""
    return spelled_out(tree, group_tokens(tree, verb))


def group_tokens(tree: Tree, verb: int) -> list[int]:
    """Tokens of a verb group in text order; do-support only with a negation."""
    children, tokens = tree.children[verb], [verb, *denied_by(tree, verb)]
    negated = len(tokens) > 1 or any(tree.deps[k] == "neg" for k in children)
    for k in children:
        dep, word = tree.deps[k], tree.words[k].lower()
        if dep == "advmod":
            if is_near_adverb(tree, verb, k):
                tokens += phrase(tree, k)
        elif dep in AUXILIARIES and (negated or word not in ("do", "does", "did")):
            tokens.append(k)
    return sorted(tokens)


def is_near_adverb(tree: Tree, verb: int, adverb: int) -> bool:
    """True for adverbs of frequency and adverbs next to their verb, except connectives and question words."""
    word = tree.words[adverb].lower()
    if tree.tags[adverb] == "WRB" or word in CONNECTIVES:
        return False
    between = tree.words[adverb + 1 : verb] if adverb < verb else tree.words[verb + 1 : adverb]
    return word in FREQUENCY or ("," not in between and len(between) <= 2 and not has_preposition(tree, adverb))


def copula_of(tree: Tree, noun: int) -> str:
    """The copula that agrees with a noun in number."""
    return "are" if tree.tags[noun] in PLURAL_TAGS or tree.words[noun].lower() in PLURAL_PRONOUNS else "is"
