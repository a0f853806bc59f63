"""Questions drafted from texts: about what one sentence says of a name, and about two that share a name.

A statement is a sentence "HEAD says TAIL" whose head is a name and whose tail is a name or a number. It asks for its tail:
"HEAD says what?". Where its head is the tail of another document's statement, that one stands in its place: "The one that
HEAD said said what?". To ask for the head, "Who says TAIL?", gives all words of the evidence, which any ranking of words
finds. Drafts are English, stiff, and easier than people's questions.
"""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass

import polars as pl

from secateur.datasets.schema import DRAFTED
from secateur.datasets.sentences import sentences
from secateur.models.units import content_words
from secateur.ranking.names import canonical, name_spans, stands_alone

__all__ = ["Draft", "drafts"]

SENTENCE, SAID = 60, 14  # most words of a sentence, and between two names
CONTENT = 3  # content words of a question, at least
COMMON = 10  # statements with a tail beyond which it names no one thing, as "American"
ASIDE = re.compile(r"\s?\([^()]*\)|\s?\[[^\[\]]*\]|[\"“”«»]")
DENIED = re.compile(r"[(\[][^)\]]*\b(?:not|never|no)\b")
CLAUSE = re.compile(r"[;:–—]|, (?:and|but|which|who|where|while|when|as|with|although|after|before)\b|[.!?]\W*$")
VERB = re.compile(  # a finite verb right behind a name, far more often than not
    r"(?:is|are|was|were|has|had|can|will|did|does|[a-z]{2,}ed|belongs|borders|carries|consists|contains|covers|directs|"
    r"follows|holds|includes|leads|lies|lives|makes|offers|owns|plays|provides|runs|serves|stands|stars|studies|teaches|"
    r"writes|began|became|bought|built|came|fell|found|gave|got|grew|held|kept|knew|led|left|lost|made|met|paid|ran|rose|"
    r"sang|sat|saw|sold|sent|set|spent|spoke|stood|taught|told|took|won|wrote) "
)
PRONOUN = re.compile(r"\b(?:its?|he|she|they|we|i|his|her|their|our|this|these|those)\b", re.IGNORECASE)
SUBJECT = re.compile(r"(?:It|He|She|They)\b")
EMPTY = re.compile(  # a pronoun for nothing
    r"It (?:rain|snow)|It (?:is|was|has been) (?:\w+ )?(?:that|to|known|said|believed|thought|reported)\b"
)
NUMBER = re.compile(r"\b\d[\d,.]*\d\b")
PREPOSITIONS = (
    "about after against as at before between by during for from in into like near of on over since to under until with"
)
PREPOSITION = rf"(?:{PREPOSITIONS.replace(' ', '|')})"
# What is said ends where its tail belongs: in a preposition or a verb, and perhaps an article.
OPEN = re.compile(rf"(?:^|\s){PREPOSITION}(?: an?| the)?$|^\w+(?: an?| the)?$")
DETERMINER = re.compile(r"\s+(?:an?|the)$")
BEHIND = re.compile(rf"\s*$|,|\s+(?:and|or|{PREPOSITION})\b")  # a name that is no part of a longer phrase
JOINS = frozenset(("and", *PREPOSITIONS.split())) - {"of"}  # words that join no tail here


@dataclass(frozen=True)
class Statement:
    """What a sentence of a passage says of a name."""

    passage: str
    document: str
    group: str
    head: str
    says: str
    tail: str

    @property
    def bare(self) -> str:
        """What is said, without the determiner of the tail."""
        return DETERMINER.sub("", self.says)


@dataclass(frozen=True)
class Draft:
    """A question with its answer and the statements that it rests on."""

    text: str
    answer: str
    rests_on: tuple[Statement, ...]

    @property
    def evidence(self) -> tuple[str, ...]:
        """The passages of the statements."""
        return tuple(statement.passage for statement in self.rests_on)

    def row(self, number: int) -> dict:
        """A line of questions.jsonl."""
        asked = {"id": f"drafted-{number}", "question": self.text, "answer": self.answer, "evidence": [*self.evidence]}
        return asked | {"group": self.rests_on[0].group, "type": DRAFTED[len(self.rests_on) - 1]}


def drafts(passages: pl.DataFrame, count: int, joins: Set[str], skipped: Set[str]) -> list[Draft]:
    """At most `count` drafts, half of them over two passages where there are as many, each of other passages.

    Drafts are spread over documents, in the order of a hash of their text. A question that texts answer twice is left out,
    and so is a name that titles of several documents bear. joins, skipped: as of `names_in`.
    """
    statements = list(_statements(passages, joins - JOINS, skipped))
    titled = passages.drop_nulls("title").select("doc_id", "title").unique()["title"]
    shared = {name for name, documents in Counter(map(canonical, titled)).items() if documents > 1}
    on_one = _spread(_clear(_about_one(statements), shared))
    on_two = _spread(_clear(_about_two(statements), shared))
    some = on_two[: max(count // 2, count - len(on_one))]
    return on_one[: count - len(some)] + some


def _statements(passages: pl.DataFrame, joins: Set[str], skipped: Set[str]) -> Iterator[Statement]:
    """Of sentences that begin with a name: several words, or one that stands within a sentence or a title too.

    A pronoun is the title's thing where the first sentence under it begins with it, and those since with it or a pronoun.
    """
    statements = []
    within = {canonical(title) for title in passages["title"].drop_nulls()}
    columns = passages.sort("doc_id", "position").select("passage_id", "doc_id", "group_id", "title", "text")
    at, is_about = ("", ""), False
    for passage, document, group, title, text in columns.iter_rows():
        thing = ASIDE.sub("", title or "").strip()
        is_new, at = (document, thing) != at, (document, thing)
        for sentence, _, _ in sentences(text):
            clause = CLAUSE.split(ASIDE.sub("", " ".join(sentence.split())), maxsplit=1)[0]
            spans = list(name_spans(clause, joins, skipped)) if len(clause.split()) <= SENTENCE else []
            within.update(canonical(clause[start:end]) for start, end in spans[1:])
            pronoun, first = SUBJECT.match(clause), spans[0] if spans else (0, 0)
            begins = clause[: first[0]].strip().lower() in ("", "the") and clause[slice(*first)]
            is_named = bool(thing and begins) and canonical(begins) == canonical(thing)
            is_about, is_new = is_named if is_new else is_about and bool(pronoun or is_named), False
            head, end = (thing, pronoun.end()) if pronoun else (clause[: first[1]], first[1])
            if DENIED.search(sentence) or EMPTY.match(clause) or not (is_about if pronoun else begins):
                continue
            numbers = (match.span() for match in NUMBER.finditer(clause))
            for start, stop in sorted({span for span in (*spans, *numbers) if span[0] >= end}):
                says = clause[end:start].strip()
                is_whole = VERB.match(f"{says} ") and OPEN.search(says) and BEHIND.match(clause[stop:])
                if is_whole and len(says.split()) <= SAID and not PRONOUN.search(says):
                    statements.append(Statement(passage, document, group, head, says, clause[start:stop]))
    for statement in statements:
        if stands_alone(name := canonical(statement.head)) or name in within:
            yield statement


def _about_one(statements: Iterable[Statement]) -> Iterator[Draft]:
    for statement in statements:
        yield Draft(f"{statement.head} {statement.bare} what?", statement.tail, (statement,))


def _about_two(statements: Iterable[Statement]) -> Iterator[Draft]:
    by_head = defaultdict(list)
    tails = Counter((statement.group, canonical(statement.tail)) for statement in statements)
    for statement in statements:
        by_head[statement.group, canonical(statement.head)].append(statement)
    for first in statements:
        name = first.group, canonical(first.tail)
        for then in by_head.get(name, ()) if tails[name] <= COMMON else ():
            yield Draft(f"The one that {first.head} {first.bare} {then.bare} what?", then.tail, (first, then))


def _clear(candidates: Iterable[Draft], shared: Set[str]) -> Iterator[Draft]:
    """Drafts that one place of the texts answers, whose text says something, and not its answer.

    shared: names of several things.
    """
    by_text: dict[tuple[str, str], list[Draft]] = defaultdict(list)
    for draft in candidates:
        by_text[draft.rests_on[0].group, draft.text.casefold()].append(draft)
    for draft, *others in by_text.values():
        answer = canonical(draft.answer)
        documents = {statement.document for statement in draft.rests_on}
        says = answer not in canonical(draft.text) and len(content_words(draft.text)) >= CONTENT
        is_apart = len(documents) == len(draft.rests_on)
        if answer and says and is_apart and not others and not shared & {canonical(s.head) for s in draft.rests_on}:
            yield draft


def _spread(candidates: Iterable[Draft]) -> list[Draft]:
    """One draft of each evidence by the hash of its text: the first of each document, then the second, and so on."""
    seen: Counter[str] = Counter()
    ranked, used = [], set()
    for draft in sorted(candidates, key=lambda draft: hashlib.sha256(draft.text.encode()).digest()):
        if draft.evidence not in used:
            used.add(draft.evidence)
            document = draft.rests_on[0].document
            ranked.append((seen[document], draft))
            seen[document] += 1
    return [draft for _, draft in sorted(ranked, key=lambda pair: pair[0])]
