"""The English parser and its parses as trees, with two frequent parser errors corrected."""

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from secateur.core.artifacts import file_digest
from secateur.core.errors import SecateurError
from secateur.graph.triples.openie.phrases import phrase
from secateur.graph.triples.openie.tree import Tree, direct_subject
from secateur.graph.triples.surface import is_pronoun, word_set
from secateur.models.spacy_model import FIX, load_spacy
from secateur.models.words import PARSER

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

__all__ = ["identity_of", "load_parser", "tree_of"]

LABELS = {  # that the rules read, by the component of spaCy's English models that gives them
    "tagger": word_set("CD DT IN JJ MD NN NNP NNPS NNS PRP RB TO VB VBD VBG VBN VBP VBZ WDT WP"),
    "parser": word_set(
        "acl acomp advcl advmod agent amod appos attr aux auxpass cc ccomp compound conj csubj dobj mark neg nsubj nsubjpass "
        "pcomp pobj poss prep relcl xcomp"
    ),
}


def identity_of(model: str) -> tuple[str, ...]:
    """What tells the parses of a model apart in a cache: none for the default; raises SecateurError where it is missing."""
    if model == PARSER:
        return ()
    if Path(model).is_dir():
        return tuple(file_digest(path) for path in sorted(Path(model).rglob("*")) if path.is_file())
    try:
        return model, version(model)
    except PackageNotFoundError as error:
        raise SecateurError(f"extractor.settings.model: {model}: no such package or folder. {FIX}") from error


def load_parser(model: str = PARSER) -> "Language":
    """Load a parser of English with tagger and dependency parser only; other components cost time.

    Raises SecateurError for a model that cannot be loaded, and for one without the labels that the rules read.
    """
    parser = load_spacy(model, ("ner", "lemmatizer", "attribute_ruler"), "extractor.settings.model")
    for component, labels in LABELS.items():
        if missing := sorted(labels - set(parser.pipe_labels.get(component, ()))):
            raise SecateurError(
                f"extractor.settings.model: the {component} of {model} lacks labels that the rules of openie read: "
                f"{', '.join(missing)}. {FIX}"
            )
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
