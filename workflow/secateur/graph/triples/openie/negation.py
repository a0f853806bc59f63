"""Negations that coordinated words share: "did not buy or sell", "no doctor or nurse", "neither a doctor nor a lawyer"."""

from secateur.graph.triples.openie.tree import MAX_CHAIN, Tree, direct_subject, is_verb
from secateur.graph.triples.surface import word_set

__all__ = ["denied_by"]

NEGATIVE = word_set("no not n't never neither hardly scarcely barely rarely seldom")
AUXILIARIES = word_set("aux auxpass")


def denied_by(tree: Tree, word: int) -> list[int]:
    """Tokens outside a word's own phrase or verb group that deny it.

    Its "neither"; the "nor" before it; for a word that "or" joins to a denied one, the negation of the latter, of a verb
    with its auxiliaries.
    """
    neither = [k for k in tree.children[word] if tree.deps[k] == "preconj" and tree.words[k].lower() == "neither"]
    if neither or tree.deps[word] != "conj":
        return neither
    before = [k for k in tree.children[tree.heads[word]] if tree.deps[k] == "cc" and k < word]
    if before and tree.words[before[-1]].lower() == "nor":
        return [before[-1]]
    joined = _coordinated(tree, word)
    if not any(tree.deps[k] == "cc" and tree.words[k].lower() == "or" for w in joined for k in tree.children[w]):
        return []
    first = joined[-1]
    negations = _negations(tree, first)
    helpers = [k for k in tree.children[first] if tree.deps[k] in AUXILIARIES and k < first]
    if not negations or (helpers and tree.tags[word] != tree.tags[first]):  # "does not respond or gets worse"
        return []
    return sorted({*negations, *helpers})


def _coordinated(tree: Tree, word: int) -> list[int]:
    """A word and those that it continues, the first one last, up to one with a negation, auxiliary or subject of its own."""
    joined = [word]
    while tree.deps[joined[-1]] == "conj" and len(joined) < MAX_CHAIN:
        last, governor = joined[-1], tree.heads[joined[-1]]
        helped = any(tree.deps[k] in AUXILIARIES for k in tree.children[last])
        if is_verb(tree, last) != is_verb(tree, governor) or direct_subject(tree, last) is not None:
            break
        if helped or _negations(tree, last):
            break
        joined.append(governor)
    return joined


def _negations(tree: Tree, word: int) -> list[int]:
    """Negative words before a word that belong to it."""
    return [k for k in tree.children[word] if k < word and tree.words[k].lower().replace("\u2019", "'") in NEGATIVE]
