"""Formats of Microsoft's prompts, shared by nano-graphrag: records of an extraction, reports of communities."""

import csv
from collections.abc import Iterable
from io import StringIO

from secateur.peers.wire import Extraction, between, entity_passages

__all__ = ["END", "FIELD", "extraction_records", "report", "table"]

FIELD, RECORD, END = "<|>", "\n##\n", "<|COMPLETE|>"
FINDINGS = 5  # entities in a report, the least that its prompt asks for


def extraction_records(text: str, extraction: Extraction) -> str:
    """Entities and relationships of a text, each described by its passage."""
    facts = extraction.facts(text)
    records = [("entity", name, "other", _record(passage)) for name, passage in entity_passages(facts).items()]
    records += [("relationship", fact.head, fact.tail, _record(fact.passage), "1") for fact in facts]
    return RECORD.join(f'("{kind}"{FIELD}{FIELD.join(fields)})' for kind, *fields in records) + RECORD + END


def _record(passage: str) -> str:
    """A passage on one line and without the marks between records and fields, at which the reader of records cuts."""
    return " ".join(passage.split()).replace("##", "# #").replace("<|", "< |")


def report(entities: Iterable[tuple[str, str]]) -> dict:
    """Report of a community: its first entities with their descriptions. entities: (name, description)."""
    first = list(entities)[:FINDINGS]
    title = ", ".join(name for name, _ in first) or "none"
    findings = [{"summary": name, "explanation": description} for name, description in first]
    return {"title": title, "summary": title, "rating": 5.0, "rating_explanation": title, "findings": findings}


def table(text: str, head: str, *ends: str) -> list[list[str]]:
    """Rows of the last CSV table after a head, names included; some prompts show an example before it."""
    return list(csv.reader(StringIO(between(text, head, *ends))))
