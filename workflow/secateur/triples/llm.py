"""Triples from a chat model behind any OpenAI-compatible endpoint: one request for a block of numbered sentences.

The reply has one fact a line, `number | head | relation | tail`, or the word NONE. A reply is kept as soon as it has
parsed, under the digest of the request: a kill costs one request at most, and an edit of the code none.
"""

import os
import re
import time
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from secateur.cache import RequestCache, digest
from secateur.errors import SecateurError
from secateur.triples.surface import Fact, Found, triples_of

__all__ = ["FrontEnd", "parse"]

KEYS = ("SECATEUR_API_KEY", "OPENAI_API_KEY")  # environment variables, the first that is set counts
LINE = re.compile(r"\s*(\d{1,9})\s*\|([^|]*)\|([^|]*)\|([^|]*)")
NOTHING = "NONE"
SHOWN = 200  # characters of a refusal that are shown
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


class Unusable(Exception):
    """An answer that may be better the next time; `wait` is what the endpoint asks for, in seconds."""

    def __init__(self, why: str, wait: float = 0.0) -> None:
        super().__init__(why)
        self.wait = wait


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
    """An endpoint as a front end. Each call is one request at most; the key comes from the environment only."""

    name, by_sentence = "llm", False

    def __init__(self, cfg, ctx) -> None:
        self.cfg, self.log, self.key, self._client = cfg, ctx.log, _key(), None
        self.replies = RequestCache(ctx.cache / "replies")
        self.identity = (cfg.url, cfg.model, cfg.max_tokens)

    def __call__(self, texts: Sequence[str], title: str | None) -> Found:
        """The triples of consecutive texts of one document; a `problem` where no usable answer came."""
        request = self._request(texts, title)
        address = digest(self.cfg.url, request)
        reply = self.replies.get(address)
        if reply is None or parse(reply["text"], len(texts)) is None:
            try:
                reply = self._ask(request, len(texts))
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

    def _ask(self, request: dict[str, Any], count: int) -> dict[str, Any]:
        """A reply that parses. Raises Unusable after the last attempt, SecateurError for what waiting cannot mend."""
        for delay in (*self.cfg.delays, None):
            try:
                return self._attempt(request, count)
            except Unusable as problem:
                self.log.warning("%s: %s%s", self.cfg.url, problem, "" if delay is None else "; asked again")
                if delay is None:
                    raise
                time.sleep(max(delay, self._patience(problem.wait)))
        raise AssertionError("unreachable: the last delay is None")

    def _patience(self, wait: float) -> float:
        if wait > self.cfg.max_wait:
            raise SecateurError(
                f"{self.cfg.url}: asks to wait {wait:.0f} s, more than extractor.max_wait ({self.cfg.max_wait:g} s). "
                "Fix: run again later, good replies are cached; or raise extractor.max_wait."
            )
        return wait

    def _attempt(self, request: dict[str, Any], count: int) -> dict[str, Any]:
        """One request: the text of a usable reply, whether it was cut, and its tokens."""
        import httpx

        try:
            response = self._connected().post(f"{self.cfg.url.rstrip('/')}/chat/completions", json=request)
        except httpx.RequestError as error:
            raise Unusable(f"{type(error).__name__}: {error}") from error
        if response.status_code == 429 or response.status_code >= 500:
            raise Unusable(f"status {response.status_code}", _retry_after(response.headers.get("Retry-After", "")))
        if response.status_code != 200:
            raise SecateurError(self._refusal(response.status_code, response.text))
        return _content(response, count)

    def _connected(self):
        """The client, made once; redirects are not followed, so the key goes nowhere else."""
        import httpx

        if self._client is None:
            headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
            self._client = httpx.Client(timeout=self.cfg.timeout, headers=headers)
        return self._client

    def _refusal(self, status: int, body: str) -> str:
        shown = " ".join((body.replace(self.key, "***") if self.key else body)[:SHOWN].split())
        return (
            f"{self.cfg.url}: refused the request with status {status}: {shown or 'no reason given'}. "
            f"Fix: correct extractor.url and extractor.model, and set the key in {' or '.join(KEYS)}."
        )


def _key() -> str:
    """The key, or an empty text. Raises SecateurError, without showing it, for one that no header can carry."""
    for name in KEYS:
        key = os.environ.get(name, "").strip()
        if key and not (key.isascii() and key.isprintable()):
            raise SecateurError(f"{name}: holds characters that no key has. Fix: set it to the key alone, in ASCII.")
        if key:
            return key
    return ""


def _retry_after(value: str) -> float:
    """Seconds of a Retry-After header, given as a number or as a date; 0 where it is neither."""
    if value.strip().isdecimal():
        return float(value)
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return 0.0


def _content(response, count: int) -> dict[str, Any]:
    """What is kept of a response. Raises Unusable for anything but a chat completion whose text parses.

    The last line of a reply that was cut may be half a fact and is taken away.
    """
    try:
        body = response.json()
        choice = body["choices"][0]
        text, cut = choice["message"]["content"], choice.get("finish_reason") == "length"
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        raise Unusable(f"no chat completion ({type(error).__name__})") from error
    if cut and isinstance(text, str):
        text = text.rstrip("\n").rpartition("\n")[0]
    if not isinstance(text, str) or parse(text, count) is None:
        raise Unusable("a reply without a line of the form `number | head | relation | tail`")
    used = body.get("usage") if isinstance(body.get("usage"), dict) else {}
    tokens = {"tokens_in": used.get("prompt_tokens"), "tokens_out": used.get("completion_tokens")}
    text = text.encode("utf-8", "replace").decode()  # half a surrogate pair is JSON, but no text
    return {"text": text, "truncated": cut} | {n: v if isinstance(v, int) else 0 for n, v in tokens.items()}
