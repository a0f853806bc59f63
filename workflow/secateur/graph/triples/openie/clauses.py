"""The facts of clauses: each subject of a verb with each of its complements."""

from dataclasses import replace

from secateur.graph.triples.openie.complements import Complement, complements_of, filled_gap
from secateur.graph.triples.openie.facts import Head, PlacedFact
from secateur.graph.triples.openie.phrases import MAX_PHRASE, phrase, spelled_out, variants, written
from secateur.graph.triples.openie.subjects import UNKNOWNS, heads_of, noun_heads, subjects
from secateur.graph.triples.openie.tree import SUBJECTS, Tree, existing_nouns, is_verb, own_subject
from secateur.graph.triples.openie.verbs import condition, copula_of, group_tokens, is_chained, verb_group
from secateur.graph.triples.surface import is_pronoun, normalise

__all__ = ["clause_facts"]

BARE = {"VBZ": "does", "VBD": "did", "VBP": "do"}


def clause_facts(tree: Tree) -> list[PlacedFact]:
    """What the verbs say."""
    facts: list[PlacedFact] = []
    for verb in range(len(tree.words)):
        if is_verb(tree, verb):
            if not is_chained(tree, verb):
                facts += _verb_facts(tree, verb)
        elif tree.deps[verb] not in SUBJECTS and own_subject(tree, verb) is not None:
            be = copula_of(tree, own_subject(tree, verb))
            facts += [PlacedFact(verb, head, be, written(tree, phrase(tree, verb))) for head in heads_of(tree, verb)]
    return facts


def _verb_facts(tree: Tree, verb: int) -> list[PlacedFact]:
    """A clause: each of its subjects with each of its complements."""
    existing = existing_nouns(tree, verb)
    nouns = existing or subjects(tree, verb, 0)
    heads = noun_heads(tree, nouns)
    relation = condition(tree, verb) + verb_group(tree, verb)
    complements = [*complements_of(tree, verb, relation, 0), *filled_gap(tree, verb, relation)]
    if not heads:
        return _subjectless_facts(tree, verb, relation, complements)
    facts = [
        PlacedFact(complement.tail, head, complement.relation, written(tree, tokens))
        for complement in complements
        if complement.tail not in nouns
        for tokens in variants(tree, complement.tail)
        for head in heads
    ]
    facts += _reported_facts(tree, verb, heads, relation)
    if existing and not facts:
        return [fact for noun in existing for fact in _split_facts(tree, noun, relation)]
    return (
        facts or _asked_facts(tree, verb, heads, relation) or _bare_facts(tree, verb, heads, copula_of(tree, nouns[0]))
    )


def _asked_facts(tree: Tree, verb: int, heads: list[Head], relation: str) -> list[PlacedFact]:
    """A question for a predicate: "what are the symptoms" gives thing, are, symptoms."""
    asked = [tree.words[k] for k in tree.kids[verb] if tree.deps[k] == "attr" and tree.tags[k] in ("WP", "WDT")]
    unknowns = [Head(UNKNOWNS[word.lower()], word) for word in asked if word.lower() in UNKNOWNS]
    return [PlacedFact(verb, unknown, relation, head.text) for unknown in unknowns for head in heads]


def _reported_facts(tree: Tree, verb: int, heads: list[Head], relation: str) -> list[PlacedFact]:
    """What a verb says of a clause: the clause in its bare words ("results showed that" bears eat fish)."""
    clauses = [k for k in tree.kids[verb] if k > verb and tree.deps[k] == "ccomp" and own_subject(tree, k) is not None]
    facts = []
    for kid in clauses:
        text = _clause_text(tree, kid)
        that = " that" if any(tree.words[k] == "that" for k in tree.kids[kid]) else ""
        facts += [PlacedFact(verb, head, relation + that, text) for head in heads if text]
    return facts


def _clause_text(tree: Tree, verb: int) -> str:
    """Subject, verb and first complement of a clause, shortened to their main words where long."""
    subject = own_subject(tree, verb)
    name = tree.stands_for.get(subject) or written(tree, phrase(tree, subject))
    if is_pronoun(name):
        return ""
    if not is_verb(tree, verb):
        return f"{name} {written(tree, phrase(tree, verb))}"
    group = verb_group(tree, verb)
    tree = replace(tree, used=set(tree.used), variants=dict(tree.variants))  # the clause itself still has to be read
    first = next(complements_of(tree, verb, group, 0), None)
    if first is None:
        return f"{name} {group}"
    full = f"{name} {first.relation} {written(tree, phrase(tree, first.tail))}"
    return full if full.count(" ") < MAX_PHRASE else f"{tree.words[subject]} {first.relation} {tree.words[first.tail]}"


def _subjectless_facts(tree: Tree, verb: int, relation: str, complements: list[Complement]) -> list[PlacedFact]:
    """A clause whose subject is unknown: what it says of its object ("we measured bears in 2010")."""
    if " " in relation:  # "can not climb due to" would read as said of the object
        return []
    nouns = [c.tail for c in complements if tree.deps[c.tail] == "dobj" and tree.heads[c.tail] == verb]
    heads = noun_heads(tree, nouns[:1])
    return [
        PlacedFact(c.tail, head, c.relation, written(tree, tokens))
        for c in complements
        if tree.deps[c.tail] == "pobj" and tree.heads[tree.heads[c.tail]] == verb and c.relation != relation
        for tokens in variants(tree, c.tail)
        for head in heads
    ]


def _split_facts(tree: Tree, noun: int, relation: str) -> list[PlacedFact]:
    """A noun against its own modifiers: "there are several subspecies" says that subspecies are several."""
    tokens = variants(tree, noun)[0]
    head = [i for i in tokens if i >= noun]
    tail = written(tree, [i for i in tokens if i < noun])
    text = written(tree, head)
    return [PlacedFact(noun, Head(text, text), relation, tail)] if normalise(tail) else []


def _bare_facts(tree: Tree, verb: int, heads: list[Head], be: str) -> list[PlacedFact]:
    """A verb without complements: its adverb or itself becomes the tail ("can" swim, "were" hunted)."""
    group = group_tokens(tree, verb)
    before = [i for i in group if i < verb]
    after = [i for i in group if i > verb]
    relation = spelled_out(tree, before) or BARE.get(tree.tags[verb], be)
    tail = [verb, *after]
    if after and not before:
        relation, tail = spelled_out(tree, [verb]), after
    return [PlacedFact(verb, head, condition(tree, verb) + relation, written(tree, tail)) for head in heads]
