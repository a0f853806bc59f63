"""GraphRAG (Edge et al. 2024), as Microsoft released it: local search over entities, global search over reports.

Package `graphrag`, its prompts and settings unchanged except the mode and the level of communities. The keys of its
cache are hashed from JSON in place of YAML, whose pure Python takes most of the time of an index; no result depends on
them. In controlled mode an entity or relation is described by its passage, a summary of descriptions is their first
ones, the report of a community names its entities with their descriptions, and the points of a report are its findings
that share a word with the question's phrases.
"""

import asyncio
import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

from secateur.core.fields import key
from secateur.peers.adapters._microsoft import END, FIELD, extraction_records, report, table
from secateur.peers.adapters._openai import dimensions
from secateur.peers.wire import Document, Extraction, Prompt, between, column_of

SPLITS = True
MODELS = {"completion_models": "default_completion_model", "embedding_models": "default_embedding_model"}
TABLES = ("entities", "communities", "community_reports", "text_units", "relationships")
SUMMARY = 3  # descriptions that a summary begins with
GOAL = "\n---Goal---"  # after the data of its prompts
SECTION, RECORD = re.compile(r"-----\w+-----\n[^\n]*\n"), re.compile(r"\n(?=\d+\|)")
ANALYST = re.compile(r"----Analyst \d+----\nImportance Score: \d+\n")


@dataclass(frozen=True)
class Settings:
    """Its settings, under its names."""

    mode: str = key("local or global")
    community_level: int = key("level of communities whose reports are read", low=0)
    response_type: str = key("what its answers are to look like; it is part of its prompt")


class Peer:
    """GraphRAG in its environment."""

    def __init__(self, settings: Settings, folder: Path, url: str) -> None:
        from graphrag.cli.initialize import initialize_project_at
        from graphrag.config.load_config import load_config
        from graphrag_cache import cache_key

        cache_key.hash_data = _json_hash
        if not (folder / "settings.yaml").exists():
            initialize_project_at(folder, force=False, model="gpt-4o", embedding_model="text-embedding-3-small")
            (folder / ".env").write_text("GRAPHRAG_API_KEY=none\n", encoding="utf-8")
        overrides = {name: {model: {"api_base": url}} for name, model in MODELS.items()}
        overrides |= {"vector_store": {"vector_size": dimensions(url)}}
        self._settings, self._config, self._tables = settings, load_config(folder, cli_overrides=overrides), None

    def index(self, documents: list[Document]) -> None:
        """Index each document's title and text."""
        import pandas
        from graphrag.api import build_index

        names = [f"doc-{n}" for n in range(len(documents))]
        texts = [document.titled for document in documents]
        frame = pandas.DataFrame({"id": names, "title": names, "text": texts, "creation_date": "", "raw_data": None})
        outputs = asyncio.run(build_index(self._config, input_documents=frame))
        failed = next((output for output in outputs if output.error is not None), None)
        if failed:
            raise RuntimeError(f"{failed.workflow}: {failed.error}")

    def ask(self, question: str) -> None:
        """Retrieve and answer."""
        from graphrag import api
        from graphrag.cli.query import _resolve_output_files

        self._tables = self._tables or _resolve_output_files(config=self._config, output_list=list(TABLES))
        levels = {name: getattr(self._settings, name) for name in ("community_level", "response_type")}
        call = {"config": self._config, "query": question} | levels
        if self._settings.mode == "local":
            asyncio.run(api.local_search(**call, **self._tables, covariates=None))
        else:
            tables = {name: self._tables[name] for name in TABLES[:3]}
            asyncio.run(api.global_search(**call, **tables, dynamic_community_selection=False))


def _json_hash(data: object) -> str:
    """Cache key of the arguments of a call."""
    return hashlib.sha256(json.dumps(data, sort_keys=True, default=str).encode()).hexdigest()


def context(prompt: Prompt) -> list[str] | None:
    """The context of an answering prompt: reports, entities, relations, then chunks; or the points of its reports."""
    if "---Analyst Reports---" in prompt.system:
        points = ANALYST.split(between(prompt.system, "---Analyst Reports---", GOAL))
        return [point.strip() for point in points if point.strip()]
    if "---Data tables---" not in prompt.system or '"points"' in prompt.system:
        return None
    sections = SECTION.split(between(prompt.system, "---Data tables---", GOAL))
    return [record.strip() for section in sections for record in RECORD.split(section) if record.strip()]


def reply(prompt: Prompt, extraction: Extraction) -> str | None:
    """The extraction, summaries, reports and points in its format."""
    if context(prompt) is not None:
        return "Read by another."
    if '"points"' in prompt.system:
        return json.dumps({"points": _points(prompt, extraction)})
    if "MANY entities and relationships were missed" in prompt.last:
        return END
    if "single letter Y or N" in prompt.last:
        return "N"
    if "Description List:" in prompt.last:
        texts = json.loads(between(prompt.last, "Description List:", "\n#######"))
        return " ".join(dict.fromkeys(texts[:SUMMARY]))
    if "IMPACT SEVERITY RATING" in prompt.text:
        entities = table(prompt.text, "-----Entities-----\n", "\n\n\n", "\n-----", "\nThe report should")
        return json.dumps(report(zip(column_of(entities, "title"), column_of(entities, "description"), strict=True)))
    if f'("entity"{FIELD}' in prompt.text:
        return extraction_records(between(prompt.last, "\nText:", "\n######"), extraction)
    return None


def _points(prompt: Prompt, extraction: Extraction) -> list[dict]:
    """The passages of the reports that share a word with the question's phrases, scored by the number of such words."""
    from secateur.models.units import units
    from secateur.models.words import words  # not in a peer's environment, which has none of our packages

    asked = {word for phrase in extraction.phrases(prompt.last) for word in words(phrase)}
    passages = dict.fromkeys(
        fact.passage for fact in extraction.facts(between(prompt.system, "---Data tables---", GOAL))
    )
    shared = {text: len(asked & {*units(text), *words(text)}) for text in passages}
    return [{"description": text, "score": min(100, 10 * count)} for text, count in shared.items() if count]
