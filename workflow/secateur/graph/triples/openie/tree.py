"""A dependency parse as plain arrays, and the relations between its tokens."""

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
    "direct_subject",
    "existential_nouns",
    "has_preposition",
    "is_contrasted",
    "is_infinitive",
    "is_relative",
    "is_verb",
    "objects",
    "relative_antecedent",
    "relative_noun",
    "root_of",
]

SUBJECTS = word_set("nsubj nsubjpass csubj csubjpass")
NO_CLAUSE = word_set("aux auxpass amod compound nmod prep agent case mark")
NOUN_TAGS = word_set("NN NNS NNP NNPS CD FW PRP $ DT JJS JJR ADD SYM WP EX")
PLURAL_TAGS = word_set("NNS NNPS")
MAX_DEPTH = 6  # links of one chain of verbs and prepositions
MAX_CHAIN = 24  # steps from a coordinated verb back to the first
PLURAL_PRONOUNS = word_set("they")  # plural whatever the tag


@dataclass
class Tree:
    """A parsed text as arrays by token.

    spaces: whether a space follows; heads: governor; antecedents: text of a resolved pronoun; used: prepositions that
    a fact has consumed; variants: cached phrases of a noun.
    """

    words: list[str]
    spaces: list[bool]
    tags: list[str]
    deps: list[str]
    heads: list[int]
    children: list[list[int]]
    antecedents: dict[int, str] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)
    variants: dict[int, list[list[int]]] = field(default_factory=dict)


def direct_subject(tree: Tree, verb: int) -> int | None:
    """The subject attached to the verb itself, or None."""
    return next((k for k in tree.children[verb] if tree.deps[k] in SUBJECTS), None)


def is_verb(tree: Tree, i: int) -> bool:
    """True for a verb that heads a clause."""
    return tree.tags[i][:2] in ("VB", "MD") and tree.deps[i] not in NO_CLAUSE


def is_infinitive(tree: Tree, verb: int) -> bool:
    """True for a verb with infinitival "to"."""
    return any(tree.tags[k] == "TO" for k in tree.children[verb])


def conjuncts(tree: Tree, i: int) -> list[int]:
    """A word and the words coordinated with it, in text order, without verbs, which head clauses."""
    words = [i]
    for word in words:  # grows while it is read
        joined = [k for k in tree.children[word] if tree.deps[k] == "conj" and not is_verb(tree, k)]
        words += [k for k in joined if not is_contrasted(tree, word, k)]
    return words


def is_contrasted(tree: Tree, word: int, other: int) -> bool:
    """Whether what is denied of a word is not denied of the one that "but" joins to it: "not in Paris but in London"."""
    if not any(tree.words[k].lower() == "but" for k in tree.children[word] if tree.deps[k] == "cc" and k < other):
        return False
    clause = [word]
    while not is_verb(tree, clause[-1]) and tree.heads[clause[-1]] != clause[-1]:
        clause.append(tree.heads[clause[-1]])
    return any(tree.deps[k] == "neg" for w in clause for k in tree.children[w])


def objects(tree: Tree, preposition: int) -> list[int]:
    """Nouns that a preposition governs."""
    return [n for k in tree.children[preposition] if tree.deps[k] == "pobj" for n in conjuncts(tree, k)]


def has_preposition(tree: Tree, word: int) -> bool:
    """True if a preposition is attached to a word."""
    return any(tree.deps[k] == "prep" for k in tree.children[word])


def root_of(tree: Tree, i: int) -> int:
    """The root of the sentence that a word stands in."""
    while tree.heads[i] != i:
        i = tree.heads[i]
    return i


def existential_nouns(tree: Tree, verb: int) -> list[int]:
    """Nouns of an existential clause: "bears" in "there are bears in Asia"."""
    if not any(tree.deps[k] == "expl" for k in tree.children[verb]):
        return []
    return [n for k in tree.children[verb] if tree.deps[k] in ("attr", "dobj") for n in conjuncts(tree, k)]


def relative_noun(tree: Tree, i: int) -> int | None:
    """The noun that the relative clause around a word describes, or None."""
    for _ in range(MAX_DEPTH):
        if tree.deps[i] == "relcl":
            return tree.heads[i]
        if tree.heads[i] == i:
            return None
        i = tree.heads[i]
    return None


def is_relative(tree: Tree, i: int) -> bool:
    """True for "who", "which" or "that" at the start of a relative clause."""
    return tree.tags[i] in ("WDT", "WP", "IN") and relative_noun(tree, i) is not None


def relative_antecedent(tree: Tree, i: int) -> int:
    """The noun of a relative pronoun; any other token unchanged."""
    if tree.tags[i] in ("WDT", "WP") or (tree.tags[i] == "IN" and tree.deps[i] in SUBJECTS):
        noun = relative_noun(tree, i)
        return i if noun is None else noun
    return i
