"""LightRAG (Guo et al. 2024): entities, relations and chunks, by the keywords of the question.

Package `lightrag-hku`, its prompts and settings unchanged except those below. In controlled mode an entity or relation
is described by its passage, a summary of descriptions is their first ones, and the keywords are the question's
phrases.
"""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path

from secateur.core.fields import key
from secateur.peers.adapters._openai import calls, dimensions
from secateur.peers.wire import Document, Extraction, Prompt, between, entity_passages, fenced, objects

SPLITS = True
FIELD, END = "<|#|>", "<|COMPLETE|>"
WINDOW = 8192  # tokens of the embedding function; longer chunks are truncated silently
SUMMARY = 3  # descriptions that a summary begins with
CONTEXT = {  # heading of an answering prompt to the key of its texts
    "Knowledge Graph Data (Entity)": "description",
    "Knowledge Graph Data (Relationship)": "description",
    "Document Chunks (": "content",
}


@dataclass(frozen=True)
class Settings:
    """Its settings, under its names."""

    mode: str = key("local, global, hybrid, mix or naive")
    top_k: int = key("entities, or relations, that are looked for", low=1)
    chunk_top_k: int = key("chunks that are looked for", low=1)


class Peer:
    """LightRAG in its environment."""

    def __init__(self, settings: Settings, folder: Path, url: str) -> None:
        from lightrag import LightRAG, QueryParam
        from lightrag.utils import EmbeddingFunc

        embed, ask = calls(url)
        function = EmbeddingFunc(embedding_dim=dimensions(url), max_token_size=WINDOW, func=embed)
        functions = {"llm_model_func": ask, "llm_model_name": "served", "embedding_func": function}

        async def start():
            rag = LightRAG(working_dir=str(folder), **functions)
            await rag.initialize_storages()
            return rag

        self._loop = asyncio.new_event_loop()
        self._rag = self._loop.run_until_complete(start())
        top = {"top_k": settings.top_k, "chunk_top_k": settings.chunk_top_k}
        self._param = QueryParam(mode=settings.mode, enable_rerank=False, **top)

    def index(self, documents: list[Document]) -> None:
        """Index each document's title and text."""
        texts = [document.titled for document in documents]
        self._loop.run_until_complete(self._rag.ainsert(texts, ids=[f"doc-{n}" for n in range(len(texts))]))

    def ask(self, question: str) -> None:
        """Retrieve and answer."""
        self._loop.run_until_complete(self._rag.aquery(question, param=self._param))


def context(prompt: Prompt) -> list[str] | None:
    """The context of an answering prompt: descriptions of entities, of relations, then chunks."""
    if "Reference Document List" not in prompt.system:
        return None
    rows = [(row, name) for head, name in CONTEXT.items() for row in objects(fenced(prompt.system, head))]
    return [row[name] for row, name in rows if row.get(name)]


def reply(prompt: Prompt, extraction: Extraction) -> str | None:
    """The extraction, keywords and summaries in its format."""
    if context(prompt) is not None:
        return "Read by another."
    if "high_level_keywords" in prompt.text:
        phrases = extraction.phrases(between(prompt.text, "User Query:", "\n---"))
        return json.dumps({"high_level_keywords": phrases, "low_level_keywords": phrases})
    if "Description List:" in prompt.text:
        texts = [row.get("Description", "") for row in objects(fenced(prompt.text, "Description List:"))]
        return " ".join(dict.fromkeys(filter(None, texts[:SUMMARY])))
    if "Based on the last extraction task" in prompt.last:
        return END
    if "---Input Text---" in prompt.text and FIELD in prompt.text:
        facts = extraction.facts(between(prompt.last, "---Input Text---", "---Output---"))
        lines = [("entity", name, "Other", passage) for name, passage in entity_passages(facts).items()]
        lines += [("relation", fact.head, fact.tail, fact.relation, fact.passage) for fact in facts]
        lines = [[" ".join(field.split()) for field in line] for line in lines]  # it reads records line by line
        return "\n".join([*map(FIELD.join, lines), END])
    return None
