"""Facts from clauses: each subject of a verb with each of its complements."""

from dataclasses import replace

from secateur.graph.triples.openie.complements import Complement, complements_of, gap_filler
from secateur.graph.triples.openie.facts import ANSWER_TYPES, Head, PlacedFact, noun_heads, subjects
from secateur.graph.triples.openie.phrases import MAX_PHRASE, phrase, spelled_out, text_of, variants
from secateur.graph.triples.openie.tree import SUBJECTS, Tree, direct_subject, existential_nouns, is_verb
from secateur.graph.triples.openie.verbs import condition, copula_of, group_tokens, is_chained, verb_group
from secateur.graph.triples.surface import is_pronoun, normalise

__all__ = ["clause_facts"]

DO_FORMS = {"VBZ": "does", "VBD": "did", "VBP": "do"}


def clause_facts(tree: Tree) -> list[PlacedFact]:
    """Facts from all clauses of a text, those with a copula and no verb included."""
    facts: list[PlacedFact] = []
    for verb in range(len(tree.words)):
        if is_verb(tree, verb):
            if not is_chained(tree, verb):
                facts += _verb_facts(tree, verb)
        elif tree.deps[verb] not in SUBJECTS and direct_subject(tree, verb) is not None:
            copula = copula_of(tree, direct_subject(tree, verb))
            predicate = text_of(tree, phrase(tree, verb))
            facts += [PlacedFact(verb, head, copula, predicate) for head in noun_heads(tree, subjects(tree, verb, 0))]
    return facts


def _verb_facts(tree: Tree, verb: int) -> list[PlacedFact]:
    """Facts from one clause: each of its subjects with each of its complements."""
    existential = existential_nouns(tree, verb)
    nouns = existential or subjects(tree, verb, 0)
    heads = noun_heads(tree, nouns)
    relation = condition(tree, verb) + verb_group(tree, verb)
    complements = [*complements_of(tree, verb, relation, 0), *gap_filler(tree, verb, relation)]
    if not heads:
        return _subjectless_facts(tree, verb, relation, complements)
    facts = [
        PlacedFact(complement.tail, head, complement.relation, text_of(tree, tokens))
        for complement in complements
        if complement.tail not in nouns
        for tokens in variants(tree, complement.tail)
        for head in heads
    ]
    facts += _reported_facts(tree, verb, heads, relation)
    if existential and not facts:
        return [fact for noun in existential for fact in _modifier_facts(tree, noun, relation)]
    facts = facts or _question_facts(tree, verb, heads, relation)
    return facts or _intransitive_facts(tree, verb, heads, copula_of(tree, nouns[0]))


def _question_facts(tree: Tree, verb: int, heads: list[Head], relation: str) -> list[PlacedFact]:
    """Facts from a question for a predicate: "what are the symptoms" gives thing, are, symptoms."""
    words = [tree.words[k] for k in tree.children[verb] if tree.deps[k] == "attr" and tree.tags[k] in ("WP", "WDT")]
    answers = [Head(ANSWER_TYPES[word.lower()], word) for word in words if word.lower() in ANSWER_TYPES]
    return [PlacedFact(verb, answer, relation, head.text) for answer in answers for head in heads]


def _reported_facts(tree: Tree, verb: int, heads: list[Head], relation: str) -> list[PlacedFact]:
    """Facts whose tail is a subordinate clause: results, showed that, bears eat fish."""
    clauses = [k for k in tree.children[verb] if k > verb and tree.deps[k] == "ccomp"]
    facts = []
    for child in clauses:
        if direct_subject(tree, child) is None:
            continue
        text = _clause_text(tree, child)
        that = " that" if any(tree.words[k] == "that" for k in tree.children[child]) else ""
        facts += [PlacedFact(verb, head, relation + that, text) for head in heads if text]
    return facts


def _clause_text(tree: Tree, verb: int) -> str:
    """Subject, verb and first complement of a clause, shortened to their main words where long."""
    subject = direct_subject(tree, verb)
    name = tree.antecedents.get(subject) or text_of(tree, phrase(tree, subject))
    if is_pronoun(name):
        return ""
    if not is_verb(tree, verb):
        return f"{name} {text_of(tree, phrase(tree, verb))}"
    group = verb_group(tree, verb)
    tree = replace(tree, used=set(tree.used), variants=dict(tree.variants))  # a copy: the clause is read again
    first = next(complements_of(tree, verb, group, 0), None)
    if first is None:
        return f"{name} {group}"
    full = f"{name} {first.relation} {text_of(tree, phrase(tree, first.tail))}"
    return full if full.count(" ") < MAX_PHRASE else f"{tree.words[subject]} {first.relation} {tree.words[first.tail]}"


def _subjectless_facts(tree: Tree, verb: int, relation: str, complements: list[Complement]) -> list[PlacedFact]:
    """Facts about the object of a clause whose subject is unknown ("we measured bears in 2010")."""
    if " " in relation:  # "can not climb due to" would wrongly describe the object
        return []
    nouns = [c.tail for c in complements if tree.deps[c.tail] == "dobj" and tree.heads[c.tail] == verb]
    heads = noun_heads(tree, nouns[:1])
    return [
        PlacedFact(c.tail, head, c.relation, text_of(tree, tokens))
        for c in complements
        if tree.deps[c.tail] == "pobj" and tree.heads[tree.heads[c.tail]] == verb and c.relation != relation
        for tokens in variants(tree, c.tail)
        for head in heads
    ]


def _modifier_facts(tree: Tree, noun: int, relation: str) -> list[PlacedFact]:
    """A noun with its modifiers as the tail: "there are several subspecies" gives subspecies, are, several."""
    tokens = variants(tree, noun)[0]
    head = [i for i in tokens if i >= noun]
    tail = text_of(tree, [i for i in tokens if i < noun])
    text = text_of(tree, head)
    return [PlacedFact(noun, Head(text, text), relation, tail)] if normalise(tail) else []


def _intransitive_facts(tree: Tree, verb: int, heads: list[Head], copula: str) -> list[PlacedFact]:
    """Facts from a verb without complements; its adverb or the verb becomes the tail ("can" swim, "were" hunted)."""
    group = group_tokens(tree, verb)
    before = [i for i in group if i < verb]
    after = [i for i in group if i > verb]
    relation = spelled_out(tree, before) or DO_FORMS.get(tree.tags[verb], copula)
    tail = [verb, *after]
    if after and not before:
        relation, tail = spelled_out(tree, [verb]), after
    return [PlacedFact(verb, head, condition(tree, verb) + relation, text_of(tree, tail)) for head in heads]
