"""Noun phrases: the words that belong to a noun, and their text."""

from collections.abc import Sequence

from secateur.graph.triples.openie.negation import denied_by
from secateur.graph.triples.openie.tree import MAX_DEPTH, Tree, is_verb, objects
from secateur.graph.triples.surface import word_set

__all__ = ["CONNECTIVES", "MAX_PHRASE", "phrase", "spelled_out", "text_of", "variants"]

MAX_PHRASE = 8  # words of a noun phrase with its "of"-phrase; a longer one becomes a triple of its own
MAX_WORDS = 16  # words of any noun phrase
MAX_VARIANTS = 12  # phrases of one noun after the conjuncts under "of" are expanded
MODIFIERS = word_set("det predet amod compound nummod quantmod nmod poss case advmod npadvmod neg")
INNER = MODIFIERS | word_set("conj cc punct prt dobj aux prep pobj")  # in a modifier: "black and white", "well-known"
POINTER_TAGS = word_set("PRP$ WP$ WDT WP WRB")  # pro-forms, never part of a phrase
CONNECTIVES = word_set(
    "however therefore thus hence moreover furthermore also then so too instead indeed i.e. e.g. namely"
)
CONTRACTIONS = {"n't": "not", "'re": "are", "'ve": "have", "'m": "am", "'ll": "will", "ca": "can", "wo": "will"}


def text_of(tree: Tree, tokens: Sequence[int]) -> str:
    """Text of tokens as written; non-adjacent tokens are joined by a space."""
    pieces = []
    for place, i in enumerate(tokens):
        pieces.append(tree.words[i])
        following = tokens[place + 1] if place + 1 < len(tokens) else i + 1
        if tree.spaces[i] or following != i + 1:
            pieces.append(" ")
    return "".join(pieces).strip()


def spelled_out(tree: Tree, tokens: Sequence[int]) -> str:
    """Tokens joined by spaces, with contractions expanded."""
    words = (tree.words[i].replace("\u2019", "'") for i in tokens)
    return " ".join(CONTRACTIONS.get(word, "is" if word == "'s" else word) for word in words)


def phrase(tree: Tree, i: int) -> list[int]:
    """Tokens of a word and its modifiers, without prepositions, clauses, appositions and conjuncts."""
    tokens = [i] if is_verb(tree, i) else [i, *denied_by(tree, i)]
    for child in tree.children[i]:
        if tree.deps[child] not in MODIFIERS or tree.tags[child] in POINTER_TAGS or _trails(tree, i, child):
            if tree.tags[child] == "HYPH":
                tokens.append(child)
        elif tree.words[child].lower() not in CONNECTIVES:
            _modifier(tree, child, i, tokens)
    tokens.sort()
    if len(tokens) > MAX_WORDS:  # of a run-on list of modifiers, keep those nearest to the noun
        end = tokens.index(i) + 1
        tokens = tokens[max(0, end - MAX_WORDS) : end]
    return tokens


def _trails(tree: Tree, i: int, child: int) -> bool:
    """True for an adjective or adverb after its noun: a predicate, not part of the name."""
    return child > i and tree.deps[child] in ("amod", "advmod", "neg")


def _modifier(tree: Tree, modifier: int, limit: int, tokens: list[int]) -> None:
    """Append a modifier and its dependents on the same side of the noun at `limit`."""
    waiting = [modifier]
    while waiting:
        i = waiting.pop()
        tokens.append(i)
        for child in tree.children[i]:
            allowed = INNER if child < limit else MODIFIERS
            if tree.words[child].lower() in CONNECTIVES:
                continue
            if tree.deps[child] in allowed and tree.tags[child] not in POINTER_TAGS and (child < limit) == (i < limit):
                waiting.append(child)


def variants(tree: Tree, i: int, depth: int = 0) -> list[list[int]]:
    """Phrases of a noun: a short "of"-phrase is included, with one phrase per conjunct under "of"."""
    if i in tree.variants:
        return tree.variants[i]
    base = phrase(tree, i)
    tree.variants[i] = [base]
    if tree.deps[i] == "acomp":  # "proud of the bridge": the adjective joins the relation
        return [base]
    for of in tree.children[i]:
        if depth > MAX_DEPTH or tree.deps[of] != "prep" or tree.words[of].lower() != "of" or of in tree.used:
            continue
        joined = [base + [of] + tail for obj in objects(tree, of) for tail in variants(tree, obj, depth + 1)]
        if joined and max(map(len, joined)) <= MAX_PHRASE and len(joined) <= MAX_VARIANTS:
            tree.variants[i] = joined
            tree.used.add(of)
        break
    return tree.variants[i]
