"""HippoRAG 2 (Gutierrez et al. 2025): PageRank over phrases and passages, seeded with triples that a model filters.

Package `hipporag`, its prompts and settings unchanged. In controlled mode its two extraction prompts get the triples of
the extraction, and its filter keeps the facts that share a word with the question's phrases (all facts if none does).
"""

import ast
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from secateur.core.fields import key
from secateur.peers.wire import Document, Extraction, Prompt, between, entity_passages

SPLITS = False  # it indexes each document as one passage
ENGINES = ("vllm", "gritlm")  # readers and embedders that it imports, and that these settings do not use


@dataclass(frozen=True)
class Settings:
    """Its settings, under its names."""

    qa_top_k: int = key("passages in the prompt that it answers from", low=1)


class _Unused(ModuleType):
    """Stands for an engine that it imports and does not use."""

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


class Peer:
    """HippoRAG 2 in its environment."""

    def __init__(self, settings: Settings, folder: Path, url: str) -> None:
        sys.modules |= {name: _Unused(name) for name in ENGINES}
        from hipporag import HippoRAG
        from hipporag.utils.config_utils import BaseConfig

        self._config = BaseConfig(qa_top_k=settings.qa_top_k)
        names = {"llm_model_name": "served", "embedding_model_name": "text-embedding-served"}
        self._rag = HippoRAG(self._config, save_dir=str(folder), llm_base_url=url, embedding_base_url=url, **names)

    def index(self, documents: list[Document]) -> None:
        """Index each document as a passage of title and text, as its authors do."""
        self._rag.index(docs=[document.titled for document in documents])

    def ask(self, question: str) -> None:
        """Retrieve and answer."""
        self._rag.rag_qa(queries=[question])


def context(prompt: Prompt) -> list[str] | None:
    """The passages of an answering prompt, best first."""
    if "Wikipedia Title: " not in prompt.last or not prompt.last.rstrip().endswith("Thought:"):
        return None
    passages = prompt.last.rpartition("Question: ")[0].split("Wikipedia Title: ")
    return [passage.strip() for passage in passages if passage.strip()]


def reply(prompt: Prompt, extraction: Extraction) -> str | None:
    """The extraction and the filter in its format."""
    if context(prompt) is not None:
        return "Thought: read by another. Answer: none."
    if "[[ ## fact_before_filter ## ]]" in prompt.last:
        facts = json.dumps({"fact": _filtered(prompt.last, extraction)})
        return f"[[ ## fact_after_filter ## ]]\n{facts}\n\n[[ ## completed ## ]]"
    if "RDF" in prompt.system:
        facts = extraction.facts(between(prompt.last, "Paragraph:"))
        return json.dumps({"triples": [[fact.head, fact.relation, fact.tail] for fact in facts]})
    if "named_entities" in prompt.text:
        return json.dumps({"named_entities": list(entity_passages(extraction.facts(prompt.last)))})
    return None


def _filtered(text: str, extraction: Extraction) -> list[list[str]]:
    """The facts that share a word with the question's phrases, or all facts."""
    from secateur.models.words import words  # not in a peer's environment, which has none of our packages

    facts = ast.literal_eval(between(text, "[[ ## fact_before_filter ## ]]", "\n\nRespond"))["fact"]
    phrases = extraction.phrases(between(text, "[[ ## question ## ]]", "[["))
    asked = {word for phrase in phrases for word in words(phrase)}
    return [fact for fact in facts if asked & set(words(f"{fact[0]} {fact[2]}"))] or facts
