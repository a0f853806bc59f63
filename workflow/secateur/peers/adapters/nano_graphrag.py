"""nano-graphrag: Microsoft's local search over entities, communities and chunks, in a small package.

Package `nano-graphrag`, its prompts and settings unchanged except the mode. In controlled mode an entity or relation is
described by its passage, and the report of a community names its entities with their descriptions.
"""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path

from secateur.core.fields import key
from secateur.peers.adapters._microsoft import END, FIELD, extraction_records, report, table
from secateur.peers.adapters._openai import calls, dimensions
from secateur.peers.wire import Document, Extraction, Prompt, between, column_of

SPLITS = True
MERGED = "<SEP>"  # between the descriptions of an entity
WINDOW = 8192  # tokens of the embedding function
CONTEXT = {"Reports": "content", "Entities": "description", "Relationships": "description", "Sources": "content"}


@dataclass(frozen=True)
class Settings:
    """Its settings, under its names."""

    mode: str = key("local or naive")
    top_k: int = key("entities, or chunks, that are looked for", low=1)


class Peer:
    """nano-graphrag in its environment."""

    def __init__(self, settings: Settings, folder: Path, url: str) -> None:
        from nano_graphrag import GraphRAG, QueryParam
        from nano_graphrag._utils import wrap_embedding_func_with_attrs

        embed, ask = calls(url)
        self._loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self._loop)
        self._rag = GraphRAG(
            working_dir=str(folder),
            best_model_func=ask,
            cheap_model_func=ask,
            embedding_func=wrap_embedding_func_with_attrs(embedding_dim=dimensions(url), max_token_size=WINDOW)(embed),
            enable_naive_rag=settings.mode == "naive",
        )
        self._param = QueryParam(mode=settings.mode, top_k=settings.top_k)

    def index(self, documents: list[Document]) -> None:
        """Index each document's title and text."""
        self._loop.run_until_complete(self._rag.ainsert([document.titled for document in documents]))

    def ask(self, question: str) -> None:
        """Retrieve and answer."""
        self._loop.run_until_complete(self._rag.aquery(question, self._param))


def context(prompt: Prompt) -> list[str] | None:
    """The context of an answering prompt: reports, descriptions of entities and relations, then chunks."""
    if "Below are the knowledge you know:" in prompt.system:
        return between(prompt.system, "Below are the knowledge you know:", "\n---\n").split("--New Chunk--\n")
    if "---Data tables---" not in prompt.system:
        return None
    texts = [text for name, column in CONTEXT.items() for text in column_of(_fenced(prompt.system, name), column)]
    return [part for text in texts for part in text.split(MERGED)]


def reply(prompt: Prompt, extraction: Extraction) -> str | None:
    """The extraction, summaries and reports in its format."""
    if context(prompt) is not None:
        return "Read by another."
    if "MANY entities were missed" in prompt.last:
        return END
    if "Answer YES | NO" in prompt.last:
        return "NO"
    if "Description List:" in prompt.last:
        return between(prompt.last, "Description List:", "#######")
    if "comprehensive report of a community" in prompt.text:
        entities = _fenced(prompt.text, "Entities")
        return json.dumps(report(zip(column_of(entities, "entity"), column_of(entities, "description"), strict=True)))
    if f'("entity"{FIELD}' in prompt.text:
        return extraction_records(between(prompt.last, "\nText:", "\n######"), extraction)
    return None


def _fenced(text: str, name: str) -> list[list[str]]:
    """Rows of the last table under a name."""
    return table(text, f"-----{name}-----\n```csv\n", "\n```")
