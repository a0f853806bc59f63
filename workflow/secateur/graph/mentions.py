"""Which passage mentions which entity: names, titles and phrases of triples, in their canonical form.

What an article is *about* is the entity of its title, or where it has none the name that its text begins with; every
passage of it is about that entity, so that a pronoun in it needs no resolution.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import polars as pl

from secateur.core.tables.catalog import TABLES
from secateur.graph.consolidation.groups import acronyms
from secateur.ranking.names import canonical, names_in, spans_of

__all__ = ["ABOUT", "NAME", "PHRASE", "Naming", "mentions_of"]

ABOUT, NAME, PHRASE = "about", "name", "phrase"


@dataclass(frozen=True)
class Naming:
    """How names are found. joins, skipped: as `names_in` has them; longest: words of a name."""

    joins: frozenset[str]
    skipped: frozenset[str]
    longest: int


def mentions_of(passages: pl.DataFrame, phrases: Mapping[str, Iterable[str]], naming: Naming) -> pl.DataFrame:
    """The table `mentions`. passages: as the table, in text order; phrases: of each passage, from its triples.

    An acronym that a text explains is the entity that it stands for.
    """
    parts = passages.partition_by("doc_id", maintain_order=True)
    topics = {part["doc_id"][0]: _topic(part, naming) for part in parts}
    known = {topic for topic in topics.values() if topic}
    short = {canonical(a): canonical(b) for a, b in acronyms(passages["text"]).items()}
    rows: list[tuple[str, str, str]] = []
    for part in parts:
        topic = topics[part["doc_id"][0]]
        for passage, text in part.select("passage_id", "text").iter_rows():
            own = dict.fromkeys(names_in(text, naming.joins, naming.skipped))
            own |= dict.fromkeys(n for n in spans_of(text, known, naming.longest) if " " in n or n in own)
            names = dict.fromkeys(short.get(name, name) for name in own)
            mine = dict.fromkeys(filter(None, map(canonical, phrases.get(passage, ()))))
            rows += [(passage, topic, ABOUT)] if topic else []
            rows += [(passage, name, NAME) for name in names if name != topic]
            rows += [(passage, phrase, PHRASE) for phrase in mine if phrase != topic and phrase not in names]
    return pl.DataFrame(rows, schema=TABLES["mentions"].empty().schema, orient="row")


def _topic(part: pl.DataFrame, naming: Naming) -> str:
    """What an article is about; empty where neither a title nor its first words say."""
    title = part["title"][0]
    if title:
        return canonical(title)
    text = part["text"][0]
    first = names_in(text, naming.joins, naming.skipped)[:1]
    return first[0] if first and canonical(text).startswith(first[0]) else ""
