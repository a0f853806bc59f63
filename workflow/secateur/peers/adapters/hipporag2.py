"""HippoRAG 2 (Gutierrez et al. 2025): PageRank over phrases and passages, seeded with triples that a model has filtered.

Package `hipporag`, its prompts and settings untouched. In controlled mode its two extraction prompts get the triples of
the extraction, and its filter keeps the facts that share a phrase with the question (all of them where none does).
"""

import ast
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from secateur.core.fields import key
from secateur.peers.wire import Document, Extraction, Prompt, between, described

SPLITS = False  # it indexes what it is given
ENGINES = ("vllm", "gritlm")  # readers and embedders of other settings than these


@dataclass(frozen=True)
class Settings:
    """Its own names."""

    qa_top_k: int = key("passages in the prompt that it answers from", low=1)


class _Unused(ModuleType):
    """A module in the place of an engine that it imports and does not use here."""

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


class Peer:
    """HippoRAG 2 in its own environment."""

    def __init__(self, settings: Settings, folder: Path, url: str) -> None:
        sys.modules |= {name: _Unused(name) for name in ENGINES}
        from hipporag import HippoRAG
        from hipporag.utils.config_utils import BaseConfig

        self._config = BaseConfig(qa_top_k=settings.qa_top_k)
        names = {"llm_model_name": "served", "embedding_model_name": "text-embedding-served"}
        self._rag = HippoRAG(self._config, save_dir=str(folder), llm_base_url=url, embedding_base_url=url, **names)

    def index(self, documents: list[Document]) -> None:
        """A passage is a title and a text, as its authors give them."""
        self._rag.index(docs=[f"{one.title}\n{one.text}" for one in documents])

    def ask(self, question: str) -> None:
        """Retrieve and answer."""
        self._rag.rag_qa(queries=[question])


def context(prompt: Prompt) -> list[str] | None:
    """The passages of the prompt it answers from, best first."""
    if "Wikipedia Title: " not in prompt.last or not prompt.last.rstrip().endswith("Thought:"):
        return None
    passages = prompt.last.rpartition("Question: ")[0].split("Wikipedia Title: ")
    return [passage.strip() for passage in passages if passage.strip()]


def reply(prompt: Prompt, extraction: Extraction) -> str | None:
    """Its extraction and its filter, in its format."""
    if context(prompt) is not None:
        return "Thought: read by another. Answer: none."
    if "[[ ## fact_before_filter ## ]]" in prompt.last:
        kept = json.dumps({"fact": _kept(prompt.last, extraction)})
        return f"[[ ## fact_after_filter ## ]]\n{kept}\n\n[[ ## completed ## ]]"
    if "RDF" in prompt.system:
        facts = extraction.facts(between(prompt.last, "Paragraph:"))
        return json.dumps({"triples": [[fact.head, fact.relation, fact.tail] for fact in facts]})
    if "named_entities" in prompt.text:
        return json.dumps({"named_entities": list(described(extraction.facts(prompt.last)))})
    return None


def _kept(text: str, extraction: Extraction) -> list[list[str]]:
    """The facts with a phrase that the question shares; all where there is none."""
    offered = ast.literal_eval(between(text, "[[ ## fact_before_filter ## ]]", "\n\nRespond"))["fact"]
    asked = {
        word for phrase in extraction.phrases(between(text, "[[ ## question ## ]]", "[[")) for word in phrase.split()
    }
    named = [fact for fact in offered if asked & {word for part in (fact[0], fact[2]) for word in part.lower().split()}]
    return named or offered
