"""The formats of Microsoft's prompts, which nano-graphrag has too: tuples of an extraction, reports of communities."""

import csv
from collections.abc import Iterable
from io import StringIO

from secateur.peers.wire import Extraction, between, described

__all__ = ["END", "FIELD", "extracted", "report", "table"]

FIELD, RECORD, END = "<|>", "\n##\n", "<|COMPLETE|>"
FINDINGS = 5  # entities in a report, the least that its prompt asks for


def extracted(text: str, extraction: Extraction) -> str:
    """Entities and relationships of a text, each described by the passage it was read from."""
    facts = extraction.facts(text)
    lines = [("entity", name, "other", said) for name, said in described(facts).items()]
    lines += [("relationship", fact.head, fact.tail, fact.said, "1") for fact in facts]
    return RECORD.join(f'("{kind}"{FIELD}{FIELD.join(rest)})' for kind, *rest in lines) + RECORD + END


def report(entities: Iterable[tuple[str, str]]) -> dict:
    """A community by its first entities, in their own descriptions. entities: names with descriptions."""
    named = list(entities)[:FINDINGS]
    title = ", ".join(name for name, _ in named) or "none"
    found = [{"summary": name, "explanation": said} for name, said in named]
    return {"title": title, "summary": title, "rating": 5.0, "rating_explanation": title, "findings": found}


def table(text: str, head: str, *ends: str) -> list[list[str]]:
    """The last CSV table behind a head, its own first line included; some prompts show an example before it."""
    return list(csv.reader(StringIO(between(text, head, *ends).replace(",\t", ","))))
