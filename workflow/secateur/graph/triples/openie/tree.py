"""A parsed text as plain arrays, and what one word is to another in it."""

from dataclasses import dataclass, field

from secateur.graph.triples.surface import word_set

__all__ = [
    "MAX_CHAIN",
    "MAX_DEPTH",
    "NOUN_TAGS",
    "PLURAL_PRONOUNS",
    "PLURAL_TAGS",
    "SUBJECTS",
    "Tree",
    "conjuncts",
    "existing_nouns",
    "hanging_prepositions",
    "is_infinitive",
    "is_relative",
    "is_verb",
    "meant",
    "objects",
    "own_subject",
    "relative_noun",
]

SUBJECTS = word_set("nsubj nsubjpass csubj csubjpass")
NO_CLAUSE = word_set("aux auxpass amod compound nmod prep agent case mark")
NOUN_TAGS = word_set("NN NNS NNP NNPS CD FW PRP $ DT JJS JJR ADD SYM WP EX")
PLURAL_TAGS = word_set("NNS NNPS")
MAX_DEPTH = 6  # links of one chain of verbs and prepositions
MAX_CHAIN = 24  # coordinated verbs that are followed back to the first
PLURAL_PRONOUNS = word_set("they")  # a plural, whatever its tag


@dataclass
class Tree:
    """One parsed text as arrays by token; `used` are the prepositions that a clause has already spoken for."""

    words: list[str]
    gaps: list[bool]
    tags: list[str]
    deps: list[str]
    heads: list[int]
    kids: list[list[int]]
    stands_for: dict[int, str] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)
    variants: dict[int, list[list[int]]] = field(default_factory=dict)


def own_subject(tree: Tree, verb: int) -> int | None:
    """The subject that hangs on the verb itself."""
    return next((k for k in tree.kids[verb] if tree.deps[k] in SUBJECTS), None)


def is_verb(tree: Tree, i: int) -> bool:
    """True for a verb that heads a clause."""
    return tree.tags[i][:2] in ("VB", "MD") and tree.deps[i] not in NO_CLAUSE


def is_infinitive(tree: Tree, verb: int) -> bool:
    """True for a verb with "to"."""
    return any(tree.tags[k] == "TO" for k in tree.kids[verb])


def conjuncts(tree: Tree, i: int) -> list[int]:
    """A word and the words coordinated with it, in text order; verbs are clauses of their own."""
    found = [i]
    for word in found:
        found += [k for k in tree.kids[word] if tree.deps[k] == "conj" and not is_verb(tree, k)]
    return found


def objects(tree: Tree, preposition: int) -> list[int]:
    """The nouns that a preposition governs."""
    return [n for k in tree.kids[preposition] if tree.deps[k] == "pobj" for n in conjuncts(tree, k)]


def hanging_prepositions(tree: Tree, word: int) -> list[int]:
    """The prepositions that hang on a word."""
    return [k for k in tree.kids[word] if tree.deps[k] == "prep"]


def existing_nouns(tree: Tree, verb: int) -> list[int]:
    """What exists, in "there are bears in Asia"."""
    if not any(tree.deps[k] == "expl" for k in tree.kids[verb]):
        return []
    return [n for k in tree.kids[verb] if tree.deps[k] in ("attr", "dobj") for n in conjuncts(tree, k)]


def relative_noun(tree: Tree, i: int) -> int | None:
    """The noun that the clause around a word describes."""
    for _ in range(MAX_DEPTH):
        if tree.deps[i] == "relcl":
            return tree.heads[i]
        if tree.heads[i] == i:
            return None
        i = tree.heads[i]
    return None


def is_relative(tree: Tree, i: int) -> bool:
    """True for who, which, that where they open a relative clause."""
    return tree.tags[i] in ("WDT", "WP", "IN") and relative_noun(tree, i) is not None


def meant(tree: Tree, i: int) -> int:
    """A relative pronoun's noun; any other token itself."""
    if tree.tags[i] in ("WDT", "WP") or (tree.tags[i] == "IN" and tree.deps[i] in SUBJECTS):
        noun = relative_noun(tree, i)
        return i if noun is None else noun
    return i
