"""fast-graphrag: PageRank over entities, seeded with those of the question.

Package `fast-graphrag`, its prompts and settings unchanged; the domain, example questions and entity types that it
takes from its user are settings. In controlled mode an entity or relation is described by its passage, and the
entities of a question are its phrases.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from secateur.core.fields import key
from secateur.peers.adapters._openai import dimensions
from secateur.peers.wire import Document, Extraction, Prompt, between, column_of, entity_passages

SPLITS = True
DATA = re.compile(  # of its answering prompt; its tables hold no line ends but those of rows
    r"\n# INPUT DATA\n(.*?)\n## Sources(?:: Not provided|\n\n(.*)\n=====)\s*\n# USER QUERY\n.*\n# INSTRUCTIONS\n",
    re.DOTALL,
)
TABLE = re.compile(r"^## \w+\n```csv\n(.*?)\n```$", re.DOTALL | re.MULTILINE)
CHUNK = re.compile(r"(?:\A|\n=====\n\n\n)\[\d+\]  ")  # begins a chunk


@dataclass(frozen=True)
class Settings:
    """What it takes from its user."""

    domain: str = key("what the documents are about, and what is looked for in them")
    queries: tuple[str, ...] = key("questions like those that will be asked")
    types: tuple[str, ...] = key("types of entities")


class Peer:
    """fast-graphrag in its environment."""

    def __init__(self, settings: Settings, folder: Path, url: str) -> None:
        import instructor
        from fast_graphrag import GraphRAG
        from fast_graphrag._llm import OpenAIEmbeddingService, OpenAILLMService

        service = {"model": "served", "base_url": url, "api_key": "none"}
        self._rag = GraphRAG(
            working_dir=str(folder),
            domain=settings.domain,
            example_queries="\n".join(settings.queries),
            entity_types=list(settings.types),
            config=GraphRAG.Config(
                llm_service=OpenAILLMService(**service, mode=instructor.Mode.JSON),
                embedding_service=OpenAIEmbeddingService(**service, embedding_dim=dimensions(url)),
            ),
        )

    def index(self, documents: list[Document]) -> None:
        """Index each document's title and text."""
        self._rag.insert([document.titled for document in documents])

    def ask(self, question: str) -> None:
        """Retrieve and answer."""
        self._rag.query(question)


def context(prompt: Prompt) -> list[str] | None:
    """The context of an answering prompt: descriptions of entities and relations, then chunks."""
    if not (data := DATA.search(prompt.text)):
        return None
    tables = [[line.split("\t") for line in table.split("\n")] for table in TABLE.findall(data[1])]
    descriptions = [text for table in tables for text in column_of(table, "description")]
    return descriptions + [text for chunk in CHUNK.split(data[2] or "") if (text := chunk.strip())]


def reply(prompt: Prompt, extraction: Extraction) -> str | None:
    """The extraction in its format."""
    if context(prompt) is not None:
        return json.dumps({"answer": "Read by another."})
    if "<<DOCUMENT_START>>" in prompt.text:
        facts = extraction.facts(between(prompt.text, "<<DOCUMENT_START>>", "<<DOCUMENT_END>>"))
        entities = [{"name": name, "type": "other", "desc": text} for name, text in entity_passages(facts).items()]
        relations = [{"source": fact.head, "target": fact.tail, "desc": fact.passage} for fact in facts]
        return json.dumps({"entities": entities, "relationships": relations, "other_relationships": []})
    if "-INPUT-\nQuery:" in prompt.text:
        phrases = extraction.phrases(between(prompt.text, "-INPUT-\nQuery:", "\nOutput:"))
        return json.dumps({"named": phrases, "generic": []})
    if "Current:" in prompt.text and "Updated:" in prompt.text:
        return json.dumps({"description": _shortened(between(prompt.text, "Current:", "Updated:"))})
    if "grouped_facts" in prompt.text:
        return json.dumps({"grouped_facts": []})
    if "answer done if so" in prompt.last:
        return json.dumps({"status": "done"})
    return None


def _shortened(text: str) -> str:
    """The first half of a description's distinct lines; only long descriptions are to be summarised."""
    lines = list(dict.fromkeys(text.splitlines()))
    return "\n".join(lines[: max(1, len(lines) // 2)])
