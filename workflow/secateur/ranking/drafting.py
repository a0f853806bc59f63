"""Questions drafted from texts: about what one sentence says of a name, and about two that share a name.

A statement is a sentence "HEAD says TAIL" whose head is a name and whose tail is a name too. It
asks for its head ("Who or what says TAIL?") or its tail ("HEAD says what?"). Where the head of a statement is the tail of
another document's, that one stands in its place: "The one that HEAD said said what?". Drafts are English and stiff, and
their words are those of the evidence, so they are easier than people's questions.
"""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

import polars as pl

from secateur.datasets.schema import DRAFTED
from secateur.datasets.sentences import sentences
from secateur.models.units import content_words
from secateur.ranking.names import canonical, name_spans

__all__ = ["Draft", "drafts"]

LONGEST = 14  # words between head and tail
WORDS = 3  # content words of a question, at least
ASIDE = re.compile(r"\s*\([^()]*\)|\s*\[[^\[\]]*\]|[\"“”«»]")
CLAUSE = re.compile(r"[;:–—]|, (?:and|but|which|who|where|while|when|as|with|although|after|before)\b|[.!?]\W*$")
VERB = re.compile(  # a word that is a finite verb right behind a name, far more often than not
    r"(?:is|are|was|were|has|had|can|will|did|does|[a-z]{2,}(?:ed|[^s]s)|beg[au]n|became|bought|built|came|fell|found|gave|"
    r"got|grew|held|kept|knew|led|left|lost|made|met|paid|ran|rose|sang|sat|saw|sold|sent|set|spent|spoke|stood|taught|"
    r"told|took|won|wrote) "
)
PRONOUN = re.compile(r"\b(?:its?|he|she|they|we|i|his|her|their|our|this|these|those)\b", re.IGNORECASE)
SUBJECT = re.compile(r"(?:It|He|She|They)\b")
PREPOSITION = r"(?:about|after|against|as|at|before|between|by|during|for|from|in|into|like|near|of|on|over|since|to|under|until|with)"
OPEN = re.compile(
    rf"(?:^|\s){PREPOSITION}(?: an?| the)?$|^\w+(?: an?| the)?$"
)  # what is said ends where its tail belongs
DETERMINER = re.compile(r"\s+(?:an?|the)$")
BEHIND = re.compile(rf"\s*$|,|\s+(?:and|or|{PREPOSITION})\b")  # a name that is no part of a longer phrase
COMMON = 3  # statements with a tail beyond which it names no one thing, as "American"
WHO = "Who or what"


@dataclass(frozen=True)
class Statement:
    """What a sentence of a passage says of a name."""

    passage: str
    document: str
    group: str
    head: str
    says: str
    tail: str


@dataclass(frozen=True)
class Draft:
    """A question with its answer and the passages that hold its evidence."""

    text: str
    answer: str
    evidence: tuple[str, ...]
    group: str

    def row(self, number: int) -> dict:
        """A line of questions.jsonl."""
        kind = f"{DRAFTED}, {'one passage' if len(self.evidence) == 1 else 'two passages'}"
        asked = {"id": f"drafted-{number}", "question": self.text, "answer": self.answer}
        return asked | {"evidence": list(self.evidence), "group": self.group, "type": kind}


def drafts(passages: pl.DataFrame, count: int, joins: Set[str], skipped: Set[str]) -> list[Draft]:
    """At most `count` drafts, half of them over two passages where there are as many; by a hash, spread over documents.

    joins, skipped: as of `names_in`.
    """
    titles = Counter(canonical(title) for title in passages.drop_nulls("title")["title"].unique())
    found = [one for one in _statements(passages, joins, skipped) if titles[canonical(one.head)] < 2]
    documents = dict(passages.select("passage_id", "doc_id").iter_rows())
    one = _spread(_unambiguous(_about_one(found)), documents)
    two = _spread(_unambiguous(_about_two(found)), documents)
    some = two[: max(count // 2, count - len(one))]
    return one[: count - len(some)] + some


def _statements(passages: pl.DataFrame, joins: Set[str], skipped: Set[str]) -> Iterator[Statement]:
    """Of sentences that begin with a name, or with a pronoun, which is taken for the title."""
    columns = passages.select("passage_id", "doc_id", "group_id", "title", "text")
    for passage, document, group, title, text in columns.iter_rows():
        for sentence, _, _ in sentences(text):
            clause = CLAUSE.split(ASIDE.sub("", sentence), maxsplit=1)[0]
            spans = [span for span in name_spans(clause, joins, skipped) if not clause[slice(*span)].isdigit()]
            pronoun = title and SUBJECT.match(clause)
            head, first = (ASIDE.sub("", title), pronoun.end()) if pronoun else _first(clause, spans)
            for start, end in spans if head else ():
                says = clause[first:start].strip()
                is_whole = VERB.match(f"{says} ") and OPEN.search(says) and BEHIND.match(clause[end:])
                if is_whole and len(says.split()) <= LONGEST and not PRONOUN.search(says):
                    yield Statement(passage, document, group, head, says, clause[start:end])


def _first(clause: str, spans: Sequence[tuple[int, int]]) -> tuple[str, int]:
    """The name that a clause begins with, and its end; empty for none."""
    if not spans or clause[: spans[0][0]].strip().lower() not in ("", "the"):
        return "", 0
    return clause[: spans[0][1]], spans[0][1]


def _about_one(found: Iterable[Statement]) -> Iterator[Draft]:
    for one in found:
        yield Draft(f"{WHO} {one.says} {one.tail}?", one.head, (one.passage,), one.group)
        yield Draft(f"{one.head} {_bare(one)} what?", one.tail, (one.passage,), one.group)


def _about_two(found: Iterable[Statement]) -> Iterator[Draft]:
    by_head, tails = defaultdict(list), Counter(canonical(one.tail) for one in found)
    for one in found:
        by_head[canonical(one.head)].append(one)
    for first in found:
        name = canonical(first.tail)
        for then in by_head.get(name, ()) if tails[name] <= COMMON else ():
            if first.document != then.document and first.group == then.group:
                more = ((first.passage, then.passage), first.group)
                yield Draft(f"The one that {first.head} {_bare(first)} {_bare(then)} what?", then.tail, *more)
                yield Draft(f"{WHO} {_bare(first)} the one that {then.says} {then.tail}?", first.head, *more)


def _bare(one: Statement) -> str:
    """What is said, without the determiner of its tail."""
    return DETERMINER.sub("", one.says)


def _unambiguous(found: Iterable[Draft]) -> Iterator[Draft]:
    """Drafts whose text has one answer, which it does not name, and some content."""
    by_text: dict[tuple[str, str], list[Draft]] = defaultdict(list)
    for draft in found:
        by_text[draft.group, draft.text.casefold()].append(draft)
    for one, *others in by_text.values():
        answer = canonical(one.answer)
        is_one = answer and all(canonical(other.answer) == answer for other in others)
        if is_one and answer not in canonical(one.text) and len(content_words(one.text)) >= WORDS:
            yield one


def _spread(found: Iterable[Draft], documents: dict[str, str]) -> list[Draft]:
    """Drafts in the order of a hash of their text: the first of each document, then the second of each, and so on."""
    seen: dict[str, int] = defaultdict(int)
    ranked = []
    for draft in sorted(found, key=lambda draft: hashlib.sha256(draft.text.encode()).digest()):
        of = documents[draft.evidence[0]]
        ranked.append((seen[of], draft))
        seen[of] += 1
    return [draft for _, draft in sorted(ranked, key=lambda pair: pair[0])]
