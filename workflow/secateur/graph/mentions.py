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

__all__ = ["ABOUT", "NAME", "PHRASE", "Naming", "mentions_of", "naming_of", "note_mentions", "phrases_of"]

ABOUT, NAME, PHRASE = "about", "name", "phrase"


@dataclass(frozen=True)
class Naming:
    """How names are found. joins, skipped: as `names_in` has them; longest: words of a name."""

    joins: frozenset[str]
    skipped: frozenset[str]
    longest: int


def naming_of(cfg) -> Naming:
    """How the option `consolidation` finds names."""
    return Naming(frozenset(cfg.joins), frozenset(cfg.skipped), cfg.longest)


def phrases_of(entities: pl.DataFrame, edges: pl.DataFrame, edge_sources: pl.DataFrame) -> dict[str, list[str]]:
    """The heads and tails of each passage's triples, as their representatives are written."""
    texts = entities.sort("entity_id")["text"]
    ends = edges.select("edge_id", h=texts.gather(edges["h"]), t=texts.gather(edges["t"]))
    sources = edge_sources.sort("doc_id", "position", "n").join(ends, on="edge_id", maintain_order="left")
    parts = sources.group_by("passage_id", maintain_order=True).agg("h", "t")
    return {passage: [*heads, *tails] for passage, heads, tails in parts.iter_rows()}


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


def note_mentions(mentions: pl.DataFrame, passages: pl.DataFrame, ctx) -> None:
    """Count names and entities that several articles share; warn where a walk over names leads nowhere."""
    articles = mentions.join(passages.select("passage_id", "doc_id"), on="passage_id")
    for what, part in (("names", articles.filter(pl.col("role") != PHRASE)), ("entities", articles)):
        spread = part.group_by("entity").agg(pl.col("doc_id").n_unique())["doc_id"]
        ctx.counts |= {what: len(spread), f"{what}_in_several_articles": int((spread > 1).sum())}
    total = passages["doc_id"].n_unique()
    if total > 1 and not ctx.counts["names_in_several_articles"]:
        ctx.warn("no name stands in two articles: a walk over names leads nowhere")
    about = articles.filter(pl.col("role") == ABOUT)["doc_id"].n_unique()
    ctx.counts |= {"articles_about_nothing": total - about}
