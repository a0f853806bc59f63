"""Triples from a chat model behind any OpenAI-compatible endpoint: one request for a block of numbered sentences.

The reply has one fact a line, `number | head | relation | tail`, or the word NONE. A reply that parses is cached under
the digest of its request: a kill costs one request at most, and an edit of the code none.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from secateur.core.cache import RequestCache, digest
from secateur.core.fields import ADDRESS, key, parameter_problems
from secateur.graph.triples.surface import Extraction, Fact, normalised_triples
from secateur.models import chat
from secateur.models.http import Endpoint, Refused, Unusable
from secateur.models.thoughts import spoken

__all__ = ["FrontEnd", "Settings", "parse", "problems"]

LINE = re.compile(r"\s*(?:[-*•]\s+)?\|?\s*(\d{1,9})[.):]?\s*\|([^|]*)\|([^|]*)\|([^|]*)\|?\s*")  # a table's row too
NOTHING = "NONE"
PROMPT = """\
You extract facts from text. The user gives numbered sentences of one document, in order.
Write every fact that the sentences state, one a line, in this form and nothing else:
number | head | relation | tail
- number: the number of the sentence that states the fact.
- head and tail: short noun phrases, numbers or dates, in the words of the sentence. Put names for pronouns.
- relation: a short verb phrase in the words of the sentence; keep negation, frequency and degree (never, often, may).
- One fact a line; split lists. No fact that the sentences do not state. No commentary, no header.
If no sentence states a fact, write NONE.
"""


@dataclass(frozen=True)
class Settings:
    """The endpoint, its limits and its retries."""

    url: str = key("address of an OpenAI-compatible endpoint, up to /v1")
    model: str = key("the endpoint's name for its model")
    max_tokens: int = key("tokens of a reply", low=8)
    timeout: float = key("seconds without a byte after which a request fails", low=0.01)
    delays: tuple[float, ...] = key("seconds before each retry", low=0)
    max_wait: float = key("longest Retry-After that is accepted, seconds", low=0)
    max_failed: float = key("largest share of passages without a valid reply", low=0, high=1)
    parameters: dict[str, Any] = key(
        "parameters of each request, e.g. {max_completion_tokens: 2048}; null leaves out a default (temperature, max_tokens)",
        default={},
    )
    template: dict[str, Any] = key("arguments of the chat template, e.g. {enable_thinking: false}", default={})


def problems(settings: Settings, extractor) -> list[str]:
    """Problems of the settings, each a clause; the address is not shown, since it may hold a key."""
    problem = "extractor.settings.url is not an http address without user, password and query (keys come from the environment)"
    problems = parameter_problems("extractor.settings", settings.parameters)
    return problems if ADDRESS.fullmatch(settings.url) else [problem, *problems]


def parse(reply: str, count: int) -> tuple[list[list[Fact]], int] | None:
    """(facts of each of `count` sentences, number of malformed lines), or None for an unusable reply.

    >>> parse("<think>1 | it | is | so</think>1 | Basel | lies on | Rhine\\nThat is all.", 1)
    ([[('Basel', 'lies on', 'Rhine')]], 1)
    """
    facts: list[list[Fact]] = [[] for _ in range(count)]
    if (text := spoken(reply)) is None:
        return None
    if text.strip().strip(".").upper() == NOTHING:
        return facts, 0
    malformed = 0
    for line in filter(None, map(str.strip, text.split("\n"))):  # a name may hold other separators of lines
        match = LINE.fullmatch(line if "|" in line else line.replace("｜", "|"))
        fact = tuple(part.strip() for part in match.groups()[1:]) if match else ()
        if match and all(fact) and 1 <= int(match[1]) <= count:
            facts[int(match[1]) - 1].append(fact)
        else:
            malformed += 1
    return (facts, malformed) if any(facts) else None


class FrontEnd:
    """An endpoint as a front end; a call sends at most one request, retries aside."""

    name, by_sentence = "llm", False

    def __init__(self, cfg: Settings, ctx) -> None:
        self.cfg, self.endpoint, self.max_failed = cfg, Endpoint(cfg, "extractor.settings", ctx.log), cfg.max_failed
        self.replies = RequestCache(ctx.cache / "replies")
        self.identity = (cfg.url, cfg.model, cfg.max_tokens)
        if cfg.parameters or cfg.template:
            self.identity += (cfg.parameters, cfg.template)

    def __call__(self, texts: Sequence[str], title: str | None) -> Extraction:
        """The triples of consecutive texts of one document, or a `problem` without a valid reply."""
        request = self._request(texts, title)
        cache_key = digest(self.cfg.url, request)
        reply = self.replies.get(cache_key)
        if reply is None or parse(reply["text"], len(texts)) is None:
            try:
                reply = self.endpoint.ask("/chat/completions", request, lambda response: _content(response, len(texts)))
            except (Refused, Unusable) as problem:
                return Extraction([[] for _ in texts], Counter(failed_passages=len(texts)), str(problem))
            self.replies.put(cache_key, reply)
        facts, malformed = parse(reply["text"], len(texts))
        triples, counts = normalised_triples(facts, texts)
        lost = {"malformed_lines": malformed, "truncated_replies": int(reply["truncated"])}
        tokens = {name: reply[name] for name in ("tokens_in", "tokens_out")}
        return Extraction(triples, counts + Counter(lost | tokens))

    def _request(self, texts: Sequence[str], title: str | None) -> dict[str, Any]:
        """Body of the chat completion."""
        lines = [f"{n}. {' '.join(text.split())}" for n, text in enumerate(texts, 1)]
        prompt = "\n".join([f"Document: {title}\n"] * bool(title) + lines)
        messages = [{"role": "system", "content": PROMPT}, {"role": "user", "content": prompt}]
        return chat.request(self.cfg, {"messages": messages}, temperature=0, max_tokens=self.cfg.max_tokens)


def _content(response, count: int) -> dict[str, Any]:
    """Cached content of a response; raises Unusable unless its text parses, and Refused for a thought without an end.

    The last line of a truncated reply may be half a fact and is removed.
    """
    reply = chat.received(response)
    text, truncated = reply["text"], reply["stopped"] == "length"
    if reply["stopped"] == chat.THOUGHT or spoken(text) is None:
        raise Refused(
            "a thought and no facts. Fix: a higher extractor.settings.max_tokens, or "
            "extractor.settings.template={enable_thinking: false}"
        )
    text = text.rstrip("\n").rpartition("\n")[0] if truncated else text
    if parse(text, count) is None:
        raise Unusable("a reply without a line of the form `number | head | relation | tail`")
    tokens = {name: reply[name] or 0 for name in ("tokens_in", "tokens_out")}
    return {"text": text, "truncated": truncated} | tokens
