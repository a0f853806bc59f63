"""Noun phrases: which words belong to a noun, and how they read."""

from collections.abc import Sequence

from secateur.graph.triples.openie.tree import MAX_DEPTH, Tree, objects
from secateur.graph.triples.surface import word_set

__all__ = ["CONNECTIVES", "MAX_PHRASE", "phrase", "spelled_out", "variants", "written"]

MAX_PHRASE = 8  # words of a noun phrase with its "of"-phrase; a longer one becomes a triple of its own
MAX_WORDS = 16  # words of any noun phrase
MAX_VARIANTS = 12  # phrases that one noun may stand for once the conjuncts under "of" are expanded
MODIFIERS = word_set("det predet amod compound nummod quantmod nmod poss case advmod npadvmod neg")
# Inside a modifier: "black and white", "well-known".
INNER = MODIFIERS | word_set("conj cc punct prt dobj aux prep pobj")
POINTER_TAGS = word_set("PRP$ WP$ WDT WP WRB")  # words that point elsewhere: never in a phrase
CONNECTIVES = word_set(
    "however therefore thus hence moreover furthermore also then so too instead indeed i.e. e.g. namely"
)
CONTRACTIONS = {"n't": "not", "'re": "are", "'ve": "have", "'m": "am", "'ll": "will", "ca": "can", "wo": "will"}


def written(tree: Tree, tokens: Sequence[int]) -> str:
    """Tokens as written; those that were not neighbours are joined by a space."""
    parts = []
    for place, i in enumerate(tokens):
        parts.append(tree.words[i])
        following = tokens[place + 1] if place + 1 < len(tokens) else i + 1
        if tree.gaps[i] or following != i + 1:
            parts.append(" ")
    return "".join(parts).strip()


def spelled_out(tree: Tree, tokens: Sequence[int]) -> str:
    """Words in a row, contractions written out."""
    words = (tree.words[i].replace("\u2019", "'") for i in tokens)
    return " ".join(CONTRACTIONS.get(word, "is" if word == "'s" else word) for word in words)


def phrase(tree: Tree, i: int) -> list[int]:
    """A word with the modifiers that belong to it, without prepositions, clauses, appositions and conjuncts."""
    tokens = [i]
    for kid in tree.kids[i]:
        if tree.deps[kid] not in MODIFIERS or tree.tags[kid] in POINTER_TAGS or _trails(tree, i, kid):
            if tree.tags[kid] == "HYPH":
                tokens.append(kid)
        elif tree.words[kid].lower() not in CONNECTIVES:
            _modifier(tree, kid, i, tokens)
    tokens.sort()
    if len(tokens) > MAX_WORDS:  # a run-on list of modifiers: those nearest to the noun
        end = tokens.index(i) + 1
        tokens = tokens[max(0, end - MAX_WORDS) : end]
    return tokens


def _trails(tree: Tree, i: int, kid: int) -> bool:
    """True for an adjective or adverb behind its noun: it is said of the noun, not part of its name."""
    return kid > i and tree.deps[kid] in ("amod", "advmod", "neg")


def _modifier(tree: Tree, modifier: int, limit: int, tokens: list[int]) -> None:
    """Add a modifier and what belongs to it, on its side of the noun at `limit`."""
    waiting = [modifier]
    while waiting:
        i = waiting.pop()
        tokens.append(i)
        for kid in tree.kids[i]:
            allowed = INNER if kid < limit else MODIFIERS
            if tree.words[kid].lower() in CONNECTIVES:
                continue
            if tree.deps[kid] in allowed and tree.tags[kid] not in POINTER_TAGS and (kid < limit) == (i < limit):
                waiting.append(kid)


def variants(tree: Tree, i: int, depth: int = 0) -> list[list[int]]:
    """The phrases a noun stands for: with its "of"-phrase where that is short, one for each conjunct under "of"."""
    if i in tree.variants:
        return tree.variants[i]
    base = phrase(tree, i)
    tree.variants[i] = [base]
    if tree.deps[i] == "acomp":  # "proud of the bridge": the adjective joins the relation
        return [base]
    for of in tree.kids[i]:
        if depth > MAX_DEPTH or tree.deps[of] != "prep" or tree.words[of].lower() != "of" or of in tree.used:
            continue
        joined = [base + [of] + tail for obj in objects(tree, of) for tail in variants(tree, obj, depth + 1)]
        if joined and max(map(len, joined)) <= MAX_PHRASE and len(joined) <= MAX_VARIANTS:
            tree.variants[i] = joined
            tree.used.add(of)
        break
    return tree.variants[i]
