"""GraphRAG (Edge et al. 2024), as Microsoft released it: local search over entities, global search over reports.

Package `graphrag`, its prompts and settings untouched but the mode and the level of communities. The keys of its cache
are hashed from JSON: it hashes them from YAML, whose pure Python takes most of the time of an index, and no result. In controlled mode an
entity or relation is described by the passage it was read from, a summary of descriptions is their first ones, the
report of a community names its entities with their descriptions, and the points of a report are its findings that share
a word with the question's phrases.
"""

import asyncio
import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

from secateur.core.fields import key
from secateur.peers.adapters._microsoft import END, FIELD, extracted, report, table
from secateur.peers.wire import Document, Extraction, Prompt, between, rows

SPLITS = True
MODELS = {"completion_models": "default_completion_model", "embedding_models": "default_embedding_model"}
TABLES = ("entities", "communities", "community_reports", "text_units", "relationships")
SUMMARY, GOAL = 3, "\n---Goal---"  # descriptions that a summary begins with; what follows data in its prompts
SECTION, RECORD = re.compile(r"-----\w+-----\n[^\n]*\n"), re.compile(r"\n(?=\d+\|)")
ANALYST = re.compile(r"----Analyst \d+----\nImportance Score: \d+\n")


@dataclass(frozen=True)
class Settings:
    """Its own names."""

    mode: str = key("local or global")
    community_level: int = key("level of communities whose reports are read", low=0)
    response_type: str = key("what its answers are to look like; it is part of its prompt")


class Peer:
    """GraphRAG in its own environment."""

    def __init__(self, settings: Settings, folder: Path, url: str) -> None:
        from graphrag.cli.initialize import initialize_project_at
        from graphrag.config.load_config import load_config
        from graphrag_cache import cache_key
        from openai import OpenAI

        cache_key.hash_data = _hashed

        if not (folder / "settings.yaml").exists():
            initialize_project_at(folder, force=False, model="gpt-4o", embedding_model="text-embedding-3-small")
            (folder / ".env").write_text("GRAPHRAG_API_KEY=none\n", encoding="utf-8")
        size = len(OpenAI(base_url=url).embeddings.create(model="served", input=["size"]).data[0].embedding)
        served = {name: {model: {"api_base": url}} for name, model in MODELS.items()} | {
            "vector_store": {"vector_size": size}
        }
        self._settings, self._config, self._tables = settings, load_config(folder, cli_overrides=served), None

    def index(self, documents: list[Document]) -> None:
        """A document is its title and its text."""
        import pandas
        from graphrag.api import build_index

        names = [f"doc-{n}" for n in range(len(documents))]
        texts = [f"{one.title}\n{one.text}" for one in documents]
        frame = pandas.DataFrame({"id": names, "title": names, "text": texts, "creation_date": "", "raw_data": None})
        done = asyncio.run(build_index(self._config, input_documents=frame))
        wrong = [one for one in done if one.error is not None]
        if wrong:
            raise RuntimeError(f"{wrong[0].workflow}: {wrong[0].error}")

    def ask(self, question: str) -> None:
        """Retrieve and answer."""
        from graphrag import api
        from graphrag.cli.query import _resolve_output_files

        self._tables = self._tables or _resolve_output_files(config=self._config, output_list=list(TABLES))
        level, kind = self._settings.community_level, self._settings.response_type
        asked = {"config": self._config, "community_level": level, "response_type": kind, "query": question}
        if self._settings.mode == "local":
            asyncio.run(api.local_search(**asked, **self._tables, covariates=None))
        else:
            read = {name: self._tables[name] for name in TABLES[:3]}
            asyncio.run(api.global_search(**asked, **read, dynamic_community_selection=False))


def _hashed(data: object) -> str:
    """A key for what a call is asked with."""
    return hashlib.sha256(json.dumps(data, sort_keys=True, default=str).encode()).hexdigest()


def context(prompt: Prompt) -> list[str] | None:
    """What the prompt it answers from holds: reports, entities, relations, then chunks; or the points of its reports."""
    if "---Analyst Reports---" in prompt.system:
        found = ANALYST.split(between(prompt.system, "---Analyst Reports---", GOAL))
        return [point.strip() for point in found if point.strip()]
    if "---Data tables---" not in prompt.system or '"points"' in prompt.system:
        return None
    tables = SECTION.split(between(prompt.system, "---Data tables---", GOAL))
    return [one.strip() for rest in tables for one in RECORD.split(rest) if one.strip()]


def reply(prompt: Prompt, extraction: Extraction) -> str | None:
    """Its extraction, summaries, reports and points, in its format."""
    if context(prompt) is not None:
        return "Read by another."
    if '"points"' in prompt.system:
        return json.dumps({"points": _points(prompt, extraction)})
    if "MANY entities and relationships were missed" in prompt.last:
        return END
    if "single letter Y or N" in prompt.last:
        return "N"
    if "Description List:" in prompt.last:
        told = json.loads(between(prompt.last, "Description List:", "\n#######"))
        return " ".join(dict.fromkeys(told[:SUMMARY]))
    if "IMPACT SEVERITY RATING" in prompt.text:
        entities = table(prompt.text, "-----Entities-----\n", "\n\n\n", "\n-----", "\nThe report should")
        return json.dumps(report(zip(rows(entities, "title"), rows(entities, "description"), strict=True)))
    if f'("entity"{FIELD}' in prompt.text:
        return extracted(between(prompt.last, "\nText:", "\n######"), extraction)
    return None


def _points(prompt: Prompt, extraction: Extraction) -> list[dict]:
    """The passages of the reports that share a word with the question's phrases, the more the better."""
    asked = {word for phrase in extraction.phrases(prompt.last) for word in phrase.lower().split()}
    said = dict.fromkeys(fact.said for fact in extraction.facts(between(prompt.system, "---Data tables---", GOAL)))
    shared = {text: len(asked & set(re.findall(r"\w+", text.lower()))) for text in said}
    return [{"description": text, "score": min(100, 10 * count)} for text, count in shared.items() if count]
