"""fast-graphrag: PageRank over entities, seeded with those that the question names.

Package `fast-graphrag`, its prompts and settings untouched; domain, example questions and types of entities, which it
asks its user for, are said below. In controlled mode an entity or relation is described by the passage it was read
from, and the entities of a question are its phrases.
"""

import csv
import json
import re
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from secateur.core.fields import key
from secateur.peers.wire import Document, Extraction, Prompt, between, described, rows

SPLITS = True
TABLES, RULE = ("Entities", "Relationships"), "\n====="  # of what it answers from
NUMBER = re.compile(r"\[\d+\]\s+")  # of a chunk


@dataclass(frozen=True)
class Settings:
    """What it asks its user for."""

    domain: str = key("what the documents are about, and what is looked for in them")
    queries: tuple[str, ...] = key("questions like those that will be asked")
    types: tuple[str, ...] = key("types of entities")


class Peer:
    """fast-graphrag in its own environment."""

    def __init__(self, settings: Settings, folder: Path, url: str) -> None:
        import instructor
        from fast_graphrag import GraphRAG
        from fast_graphrag._llm import OpenAIEmbeddingService, OpenAILLMService
        from openai import OpenAI

        size = len(OpenAI(base_url=url).embeddings.create(model="served", input=["size"]).data[0].embedding)
        served = {"model": "served", "base_url": url, "api_key": "none"}
        self._rag = GraphRAG(
            working_dir=str(folder),
            domain=settings.domain,
            example_queries="\n".join(settings.queries),
            entity_types=list(settings.types),
            config=GraphRAG.Config(
                llm_service=OpenAILLMService(**served, mode=instructor.Mode.JSON),
                embedding_service=OpenAIEmbeddingService(**served, embedding_dim=size),
            ),
        )

    def index(self, documents: list[Document]) -> None:
        """A document is its title and its text."""
        self._rag.insert([f"{one.title}\n{one.text}" for one in documents])

    def ask(self, question: str) -> None:
        """Retrieve and answer."""
        self._rag.query(question)


def context(prompt: Prompt) -> list[str] | None:
    """What the prompt it answers from holds: descriptions of entities and of relations, then chunks."""
    if "# INPUT DATA" not in prompt.text or "# USER QUERY" not in prompt.text:
        return None
    data = between(prompt.text, "# INPUT DATA", "# USER QUERY")
    blocks = [StringIO(between(data, f"## {name}\n```csv\n", "\n```")) for name in TABLES]
    said = [text for block in blocks for text in rows(list(csv.reader(block, delimiter="\t")), "description")]
    chunks = [NUMBER.sub("", chunk.strip()) for chunk in between(data, "## Sources\n").split(RULE)]
    return said + [chunk for chunk in chunks if chunk]


def reply(prompt: Prompt, extraction: Extraction) -> str | None:
    """Its extraction, in its format."""
    if context(prompt) is not None:
        return json.dumps({"answer": "Read by another."})
    if "<<DOCUMENT_START>>" in prompt.text:
        facts = extraction.facts(between(prompt.text, "<<DOCUMENT_START>>", "<<DOCUMENT_END>>"))
        entities = [{"name": name, "type": "other", "desc": said} for name, said in described(facts).items()]
        relations = [{"source": fact.head, "target": fact.tail, "desc": fact.said} for fact in facts]
        return json.dumps({"entities": entities, "relationships": relations, "other_relationships": []})
    if "-INPUT-\nQuery:" in prompt.text:
        found = extraction.phrases(between(prompt.text, "-INPUT-\nQuery:", "\nOutput:"))
        return json.dumps({"named": found, "generic": []})
    if "Current:" in prompt.text and "Updated:" in prompt.text:
        return json.dumps({"description": _shortened(between(prompt.text, "Current:", "Updated:"))})
    if "grouped_facts" in prompt.text:
        return json.dumps({"grouped_facts": []})
    if "answer done if so" in prompt.last:
        return json.dumps({"status": "done"})
    return None


def _shortened(text: str) -> str:
    """A description without its repeated lines, half as long at least: it asks for a summary of long ones alone."""
    lines = list(dict.fromkeys(text.splitlines()))
    return "\n".join(lines[: max(1, len(lines) // 2)])
