"""nano-graphrag: Microsoft's local search over entities, communities and chunks, in a small package of its own.

Package `nano-graphrag`, its prompts and settings untouched but the mode. In controlled mode an entity or relation is
described by the passage it was read from, and the report of a community names its entities with their descriptions.
"""

import asyncio
import csv
import json
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from secateur.peers.wire import Document, Extraction, Prompt, between, described, rows
from secateur.pipeline.config.fields import key

SPLITS = True
FIELD, RECORD, END, MERGED = "<|>", "\n##\n", "<|COMPLETE|>", "<SEP>"
WINDOW = 8192  # tokens of the embedding function
FINDINGS = 5  # entities in a report, the least that its prompt asks for


@dataclass(frozen=True)
class Settings:
    """Its own names."""

    mode: str = key("local or naive")
    top_k: int = key("entities, or chunks, that are looked for", low=1)


class Peer:
    """nano-graphrag in its own environment."""

    def __init__(self, settings: Settings, folder: Path, url: str) -> None:
        import numpy as np
        from nano_graphrag import GraphRAG, QueryParam
        from nano_graphrag._utils import wrap_embedding_func_with_attrs
        from openai import AsyncOpenAI, OpenAI

        size = len(OpenAI(base_url=url).embeddings.create(model="served", input=["size"]).data[0].embedding)
        client = AsyncOpenAI(base_url=url)

        @wrap_embedding_func_with_attrs(embedding_dim=size, max_token_size=WINDOW)
        async def embed(texts: list[str]):
            found = await client.embeddings.create(model="served", input=list(texts), encoding_format="float")
            return np.array([one.embedding for one in found.data], dtype=np.float32)

        async def ask(prompt: str, system_prompt: str | None = None, history_messages: list | None = None, **_) -> str:
            system = [{"role": "system", "content": system_prompt}] if system_prompt else []
            messages = [*system, *(history_messages or []), {"role": "user", "content": prompt}]
            found = await client.chat.completions.create(model="served", messages=messages)
            return found.choices[0].message.content

        self._loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self._loop)
        self._rag = GraphRAG(
            working_dir=str(folder),
            best_model_func=ask,
            cheap_model_func=ask,
            embedding_func=embed,
            enable_naive_rag=settings.mode == "naive",
        )
        self._param = QueryParam(mode=settings.mode, top_k=settings.top_k)

    def index(self, documents: list[Document]) -> None:
        """A document is its title and its text."""
        self._loop.run_until_complete(self._rag.ainsert([f"{one.title}\n{one.text}" for one in documents]))

    def ask(self, question: str) -> None:
        """Retrieve and answer."""
        self._loop.run_until_complete(self._rag.aquery(question, self._param))


def context(prompt: Prompt) -> list[str] | None:
    """What the prompt it answers from holds: reports, descriptions of entities and relations, then chunks."""
    if "Below are the knowledge you know:" in prompt.system:
        return between(prompt.system, "Below are the knowledge you know:", "\n---\n").split("--New Chunk--\n")
    if "---Data tables---" not in prompt.system:
        return None
    columns = {"Reports": "content", "Entities": "description", "Relationships": "description", "Sources": "content"}
    found = [text for name, column in columns.items() for text in rows(_table(prompt.system, name), column)]
    return [part for text in found for part in text.split(MERGED)]


def reply(prompt: Prompt, extraction: Extraction) -> str | None:
    """Its extraction, summaries and reports, in its format."""
    if context(prompt) is not None:
        return "Read by another."
    if "MANY entities were missed" in prompt.last:
        return END
    if "Answer YES | NO" in prompt.last:
        return "NO"
    if "Description List:" in prompt.last:
        return between(prompt.last, "Description List:", "#######")
    if "comprehensive report of a community" in prompt.text:
        return json.dumps(_report(prompt.text))
    if f'("entity"{FIELD}' in prompt.text:
        return _extracted(between(prompt.last, "\nText:", "\n######"), extraction)
    return None


def _extracted(text: str, extraction: Extraction) -> str:
    facts = extraction.facts(text)
    lines = [("entity", name, "other", said) for name, said in described(facts).items()]
    lines += [("relationship", fact.head, fact.tail, fact.said, "1") for fact in facts]
    return RECORD.join(f'("{kind}"{FIELD}{FIELD.join(rest)})' for kind, *rest in lines) + RECORD + END


def _report(text: str) -> dict:
    """A community by its first entities, in their own descriptions."""
    table = _table(between(text, "-----Reports-----") and text, "Entities")
    named = list(zip(rows(table, "entity"), rows(table, "description"), strict=True))[:FINDINGS]
    title = ", ".join(name for name, _ in named) or "none"
    found = [{"summary": name, "explanation": said} for name, said in named]
    return {"title": title, "summary": title, "rating": 5.0, "rating_explanation": title, "findings": found}


def _table(text: str, name: str) -> list[list[str]]:
    """The last table under a name, with its header; some prompts show an example before it."""
    block = between(text, f"-----{name}-----\n```csv\n", "\n```")
    return list(csv.reader(StringIO(block.replace(",\t", ","))))
