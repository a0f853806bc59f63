"""Triples from a chat model behind any OpenAI-compatible endpoint: one request for a block of numbered sentences.

The reply has one fact a line, `number | head | relation | tail`, or the word NONE. A reply is kept as soon as it has
parsed, under the digest of the request: a kill costs one request at most, and an edit of the code none.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from secateur.core.cache import RequestCache, digest
from secateur.core.fields import ADDRESS, key
from secateur.graph.triples.surface import Fact, Found, triples_of
from secateur.models.http import Endpoint, Unusable, used, why_ended

__all__ = ["FrontEnd", "Settings", "parse", "problems"]

LINE = re.compile(r"\s*(\d{1,9})\s*\|([^|]*)\|([^|]*)\|([^|]*)")
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
    """The endpoint, and how long it is waited for."""

    url: str = key("address of an OpenAI-compatible endpoint, up to /v1")
    model: str = key("the endpoint's name for its model")
    max_tokens: int = key("tokens of a reply", low=8)
    timeout: float = key("seconds without a byte before a request has failed", low=0.01)
    delays: tuple[float, ...] = key("seconds waited before each repeated attempt", low=0)
    max_wait: float = key("longest wait in seconds that an endpoint may ask for", low=0)
    max_failed: float = key("share of passages that may stay without a reply", low=0, high=1)


def problems(settings: Settings, extractor) -> list[str]:
    """What does not fit together, each in a clause; an address is not shown, since it may hold a key."""
    fault = "is no http address without user, password and query (keys come from the environment)"
    return [] if ADDRESS.fullmatch(settings.url) else [f"extractor.settings.url {fault}"]


def parse(reply: str, count: int) -> tuple[list[list[Fact]], int] | None:
    """(facts of each of `count` sentences, malformed lines), or None where the reply is of no use.

    >>> parse("1 | Basel | lies on | Rhine\\nThat is all.", 1)
    ([[('Basel', 'lies on', 'Rhine')]], 1)
    """
    facts: list[list[Fact]] = [[] for _ in range(count)]
    if reply.strip().strip(".").upper() == NOTHING:
        return facts, 0
    malformed = 0
    for line in filter(str.strip, reply.splitlines()):
        form = LINE.fullmatch(line)
        parts = tuple(part.strip() for part in form.groups()[1:]) if form else ()
        if form and all(parts) and 1 <= int(form[1]) <= count:
            facts[int(form[1]) - 1].append(parts)
        else:
            malformed += 1
    return (facts, malformed) if any(facts) else None


class FrontEnd:
    """An endpoint as a front end. Each call is one request at most."""

    name, by_sentence = "llm", False

    def __init__(self, cfg: Settings, ctx) -> None:
        self.cfg, self.endpoint, self.max_failed = cfg, Endpoint(cfg, "extractor.settings", ctx.log), cfg.max_failed
        self.replies = RequestCache(ctx.cache / "replies")
        self.identity = (cfg.url, cfg.model, cfg.max_tokens)

    def __call__(self, texts: Sequence[str], title: str | None) -> Found:
        """The triples of consecutive texts of one document; a `problem` where no usable answer came."""
        request = self._request(texts, title)
        address = digest(self.cfg.url, request)
        reply = self.replies.get(address)
        if reply is None or parse(reply["text"], len(texts)) is None:
            try:
                reply = self.endpoint.ask("/chat/completions", request, lambda said: _content(said, len(texts)))
            except Unusable as problem:
                return Found([[] for _ in texts], Counter(failed_passages=len(texts)), str(problem))
            self.replies.put(address, reply)
        facts, malformed = parse(reply["text"], len(texts))
        triples, counts = triples_of(facts)
        lost = {"malformed_lines": malformed, "truncated_replies": int(reply["truncated"])}
        tokens = {name: reply[name] for name in ("tokens_in", "tokens_out")}
        return Found(triples, counts + Counter(lost | tokens))

    def _request(self, texts: Sequence[str], title: str | None) -> dict[str, Any]:
        """The body of a chat completion."""
        lines = [f"{n}. {' '.join(text.split())}" for n, text in enumerate(texts, 1)]
        said = "\n".join([f"Document: {title}\n"] * bool(title) + lines)
        return {
            "model": self.cfg.model,
            "messages": [{"role": "system", "content": PROMPT}, {"role": "user", "content": said}],
            "temperature": 0,
            "max_tokens": self.cfg.max_tokens,
        }


def _content(response, count: int) -> dict[str, Any]:
    """What is kept of a response. Raises Unusable for anything but a chat completion whose text parses.

    The last line of a reply that was cut may be half a fact and is taken away.
    """
    try:
        body = response.json()
        choice = body["choices"][0]
        text, cut, counts = choice["message"]["content"], why_ended(choice) == "length", used(body)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        raise Unusable(f"no chat completion ({type(error).__name__})") from error
    if cut and isinstance(text, str):
        text = text.rstrip("\n").rpartition("\n")[0]
    if not isinstance(text, str) or parse(text, count) is None:
        raise Unusable("a reply without a line of the form `number | head | relation | tail`")
    text = text.encode("utf-8", "replace").decode()  # half a surrogate pair is JSON, but no text
    return {"text": text, "truncated": cut} | {name: count or 0 for name, count in counts.items()}
