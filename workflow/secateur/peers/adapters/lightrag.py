"""LightRAG (Guo et al. 2024): entities, relations and chunks, by the keywords of the question.

Package `lightrag-hku`, its prompts and settings untouched but those below. In controlled mode an entity or relation is
described by the passage it was read from, a summary of descriptions is their first ones, and the keywords are the
phrases of the question.
"""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path

from secateur.core.fields import key
from secateur.peers.adapters._openai import calls
from secateur.peers.wire import Document, Extraction, Prompt, between, described, fenced, objects

SPLITS = True
FIELD, END = "<|#|>", "<|COMPLETE|>"
WINDOW = 8192  # tokens of the embedding function; less and its chunks are cut without a word
SUMMARY = 3  # descriptions that a summary begins with


@dataclass(frozen=True)
class Settings:
    """Its own names."""

    mode: str = key("local, global, hybrid, mix or naive")
    top_k: int = key("entities, or relations, that are looked for", low=1)
    chunk_top_k: int = key("chunks that are looked for", low=1)


class Peer:
    """LightRAG in its own environment."""

    def __init__(self, settings: Settings, folder: Path, url: str) -> None:
        from lightrag import LightRAG, QueryParam
        from lightrag.utils import EmbeddingFunc

        size, embed, ask = calls(url)
        function = EmbeddingFunc(embedding_dim=size, max_token_size=WINDOW, func=embed)
        served = {"llm_model_func": ask, "llm_model_name": "served", "embedding_func": function}

        async def start():
            rag = LightRAG(working_dir=str(folder), **served)
            await rag.initialize_storages()
            return rag

        self._loop = asyncio.new_event_loop()
        self._rag = self._loop.run_until_complete(start())
        top = {"top_k": settings.top_k, "chunk_top_k": settings.chunk_top_k}
        self._param = QueryParam(mode=settings.mode, enable_rerank=False, **top)

    def index(self, documents: list[Document]) -> None:
        """A document is its title and its text."""
        texts = [f"{one.title}\n{one.text}" for one in documents]
        self._loop.run_until_complete(self._rag.ainsert(texts, ids=[f"doc-{n}" for n in range(len(texts))]))

    def ask(self, question: str) -> None:
        """Retrieve and answer."""
        self._loop.run_until_complete(self._rag.aquery(question, param=self._param))


def context(prompt: Prompt) -> list[str] | None:
    """What the prompt it answers from holds: descriptions of entities, of relations, then chunks."""
    if "Reference Document List" not in prompt.system:
        return None
    heads = {"Knowledge Graph Data (Entity)": "description", "Knowledge Graph Data (Relationship)": "description"}
    heads["Document Chunks ("] = "content"
    return [one[name] for head, name in heads.items() for one in objects(fenced(prompt.system, head)) if one.get(name)]


def reply(prompt: Prompt, extraction: Extraction) -> str | None:
    """Its extraction, keywords and summaries, in its format."""
    if context(prompt) is not None:
        return "Read by another."
    if "high_level_keywords" in prompt.text:
        found = extraction.phrases(between(prompt.text, "User Query:", "\n---"))
        return json.dumps({"high_level_keywords": found, "low_level_keywords": found})
    if "Description List:" in prompt.text:
        told = [one.get("Description", "") for one in objects(fenced(prompt.text, "Description List:"))]
        return " ".join(dict.fromkeys(filter(None, told[:SUMMARY])))
    if "Based on the last extraction task" in prompt.last:
        return END
    if "---Input Text---" in prompt.text and FIELD in prompt.text:
        return _extracted(prompt.last, extraction)
    return None


def _extracted(text: str, extraction: Extraction) -> str:
    facts = extraction.facts(between(text, "---Input Text---", "---Output---"))
    lines = [("entity", name, "Other", said) for name, said in described(facts).items()]
    lines += [("relation", fact.head, fact.tail, fact.relation, fact.said) for fact in facts]
    return "\n".join([*(FIELD.join(line) for line in lines), END])
