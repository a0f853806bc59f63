"""Mentions of entities in passages: names, titles and phrases of triples, in canonical form.

The topic of an article is the entity of its title, or else the name at the start of its text. Every passage of the
article mentions its topic, so pronouns need no resolution.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial

import polars as pl

from secateur.core.tables.catalog import TABLES
from secateur.ranking.acronyms import acronyms
from secateur.ranking.names import canonical, names_in, spans_of, stands_alone

__all__ = ["ABOUT", "NAME", "PHRASE", "mentions_of", "record_counts", "triple_phrases"]

ABOUT, NAME, PHRASE = "about", "name", "phrase"


def triple_phrases(entities: pl.DataFrame, edges: pl.DataFrame, edge_sources: pl.DataFrame) -> dict[str, list[str]]:
    """Heads and tails of each passage's triples, as the texts of their representatives."""
    texts = entities.sort("entity_id")["text"]
    ends = edges.select("edge_id", h=texts.gather(edges["h"]), t=texts.gather(edges["t"]))
    sources = edge_sources.sort("doc_id", "position", "n").join(ends, on="edge_id", maintain_order="left")
    triple_ends = sources.group_by("passage_id", maintain_order=True).agg("h", "t")
    return {passage: [*heads, *tails] for passage, heads, tails in triple_ends.iter_rows()}


def mentions_of(passages: pl.DataFrame, phrases: Mapping[str, Iterable[str]], cfg) -> pl.DataFrame:
    """The table `mentions`. passages: in text order; phrases: from the triples, by passage id.

    An acronym that a text expands is the entity of its expansion. cfg: the option `consolidation`, for its `joins`,
    `skipped` and `longest`.
    """
    names_of = partial(names_in, joins=frozenset(cfg.joins), skipped=frozenset(cfg.skipped))
    documents = passages.partition_by("doc_id", maintain_order=True)
    apart = _apart(part["title"][0] or "" for part in documents)
    topics = {part["doc_id"][0]: apart.get(part["title"][0]) or _topic(part, names_of) for part in documents}
    titles = {topic for topic in topics.values() if topic}
    short = {canonical(a): canonical(b) for a, b in acronyms(passages["text"]).items()}
    rows: list[tuple[str, str, str]] = []
    for part in documents:
        topic = topics[part["doc_id"][0]]
        for passage, text in part.select("passage_id", "text").iter_rows():
            written = dict.fromkeys(names_of(text))
            written |= dict.fromkeys(n for n in spans_of(text, titles, cfg.longest) if stands_alone(n) or n in written)
            written |= dict.fromkeys([canonical(part["title"][0])] if part["title"][0] in apart else [])
            names = dict.fromkeys(short.get(name, name) for name in written)
            in_triples = dict.fromkeys(filter(None, map(canonical, phrases.get(passage, ()))))
            rows += [(passage, topic, ABOUT)] if topic else []
            rows += [(passage, name, NAME) for name in names if name != topic]
            rows += [(passage, phrase, PHRASE) for phrase in in_triples if phrase != topic and phrase not in names]
    return TABLES["mentions"].frame(rows)


def _apart(titles: Iterable[str]) -> dict[str, str]:
    """Topics of titles that differ in a final parenthesis alone, which tells them apart, by title.

    >>> _apart(["Iron Man (film)", "Iron Man (song)", "Free Guy (film)"])
    {'Iron Man (film)': 'iron man film', 'Iron Man (song)': 'iron man song'}
    """
    same: dict[str, dict[str, str]] = {}
    for title in titles:
        same.setdefault(canonical(title), {})[title] = canonical(f"{title}.")
    return {title: topic for of in same.values() if len(set(of.values())) > 1 for title, topic in of.items()}


def _topic(part: pl.DataFrame, names_of: Callable[[str], list[str]]) -> str:
    """Topic of an article; empty without a title or a name at the start."""
    title = part["title"][0]
    if title:
        return canonical(title)
    text = part["text"][0]
    first = names_of(text)[:1]
    return first[0] if first and canonical(text).startswith(first[0]) else ""


def record_counts(mentions: pl.DataFrame, passages: pl.DataFrame, ctx) -> None:
    """Record counts of names and entities, and warn if no two articles share a name."""
    articles = mentions.join(passages.select("passage_id", "doc_id"), on="passage_id")
    for what, part in (("names", articles.filter(pl.col("role") != PHRASE)), ("entities", articles)):
        spread = part.group_by("entity").agg(pl.col("doc_id").n_unique())["doc_id"]
        ctx.counts |= {what: len(spread), f"{what}_in_several_articles": int((spread > 1).sum())}
    total = passages["doc_id"].n_unique()
    if total > 1 and not ctx.counts["names_in_several_articles"]:
        ctx.warn("no name occurs in two articles: a walk over names reaches no passage")
    with_topic = articles.filter(pl.col("role") == ABOUT)["doc_id"].n_unique()
    ctx.counts |= {"articles_about_nothing": total - with_topic}
