"""nano-graphrag: Microsoft's local search over entities, communities and chunks, in a small package.

Package `nano-graphrag`, its prompts and settings unchanged except the mode. In controlled mode an entity or relation is
described by its passage, and the report of a community names its entities with their descriptions.
"""

import asyncio
import json
import re
from dataclasses import dataclass
from pathlib import Path

from secateur.core.fields import key
from secateur.peers.adapters._microsoft import END, FIELD, extraction_records, report
from secateur.peers.adapters._openai import calls, dimensions
from secateur.peers.wire import Document, Extraction, Prompt, between

SPLITS = True
MERGED = "<SEP>"  # between the descriptions of an entity
WINDOW = 8192  # tokens of the embedding function
CONTEXT = {"Reports": "content", "Entities": "description", "Relationships": "description", "Sources": "content"}
SECTIONS = re.compile("".join(rf"-----{name}-----\n```csv\n(.*)\n```\n" for name in CONTEXT), re.DOTALL)
ENDS = "\n---\nIf you don't know the answer or if the provided knowledge"  # the texts of a naive answer
ROW = re.compile(r'\n(?=\d+,\t")')  # begins a row: texts have line ends, and quotes that are not doubled


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
        return between(prompt.system, "Below are the knowledge you know:", ENDS).split("--New Chunk--\n")
    if not (sections := SECTIONS.search(prompt.system)):
        return None
    columns = zip(sections.groups(), CONTEXT.values(), strict=True)
    return [part for csv, column in columns for text in _column(csv, column) for part in text.split(MERGED)]


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
        entities = between(prompt.text, "-----Entities-----\n```csv\n", "\n```\n-----Relationships-----")
        return json.dumps(report(zip(_column(entities, "entity"), _column(entities, "description"), strict=True)))
    if f'("entity"{FIELD}' in prompt.text:
        return extraction_records(between(prompt.last, "\nText:", "\n######"), extraction)
    return None


def _column(csv: str, name: str) -> list[str]:
    """A column of its tables; of their columns, descriptions and contents alone may hold what parts cells.

    >>> _column('"id",\\t"content"\\n0,\\t"In "Kiss", a film"\\n1,\\t"A line\\nand another"', "content")
    ['In "Kiss", a film', 'A line\\nand another']
    """
    head, *rows = (row.split(",\t") for row in ROW.split(csv))
    names = [cell.strip('"') for cell in head]
    texts = []
    for cells in rows:
        extra = max(0, len(cells) - len(names))
        place = names.index(name)
        wide = place + extra if name in CONTEXT.values() else place
        texts.append(",\t".join(cells[place : wide + 1]).removeprefix('"').removesuffix('"'))
    return texts
