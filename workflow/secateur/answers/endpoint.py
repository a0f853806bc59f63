"""Answers from an OpenAI-compatible endpoint, by chat or by plain completion.

A reply is kept as soon as it is read, under the digest of its request: where an endpoint dies in the middle, what it
has said is not asked again. The key comes from the environment only (models/http.py).
"""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from secateur.answers.ending import finished
from secateur.answers.generate import Completion, Seconds
from secateur.core.cache import RequestCache, digest
from secateur.core.errors import SecateurError
from secateur.models.http import Endpoint, Unusable, used, why_ended
from secateur.models.word_pieces import Counter

__all__ = ["Remote"]

FILTERED = "content_filter"  # the finish_reason of a reply that was held back
PATHS = {"chat": "/chat/completions", "completions": "/completions"}


class Remote:
    """An endpoint. cfg: an `answer` option with a url; count: a tokenizer that stands for the endpoint's own, which
    nobody knows; longest: tokens its model reads."""

    def __init__(self, cfg, count: Counter, longest: int, cache: Path, log) -> None:
        self.cfg, self.seconds, self._count = cfg, Seconds(), count
        self.window = min(longest - cfg.max_tokens, cfg.window or longest)
        self._endpoint, self._replies = Endpoint(cfg, "answer", log), RequestCache(cache / "replies")

    def size(self, prompt: str) -> int:
        return int(self._count([prompt])[0])

    def __call__(self, prompts: Sequence[str]) -> list[Completion]:
        """In order, `concurrency` requests at once; after a failure none begins.

        Raises SecateurError where an endpoint stays without a usable reply.
        """
        with ThreadPoolExecutor(self.cfg.concurrency) as pool:
            return list(pool.map(self._answer, prompts))

    def _answer(self, prompt: str) -> Completion:
        reply = self._reply(self._request(prompt))
        text, why = finished(reply["text"], self.cfg)
        said = [self.size(prompt) if reply["tokens_in"] is None else reply["tokens_in"]]
        said += [int(self._count([reply["text"]])[0]) if reply["tokens_out"] is None else reply["tokens_out"]]
        return Completion(text, *said, why or reply["stopped"])

    def _request(self, prompt: str) -> dict[str, Any]:
        asked = {"messages": [{"role": "user", "content": prompt}]}
        if self.cfg.backend == "completions":
            asked = {"prompt": f"{prompt}\nAnswer:"}
        return {"model": self.cfg.model, **asked, "temperature": 0, "max_tokens": self.cfg.max_tokens}

    def _reply(self, request: dict[str, Any]) -> dict[str, Any]:
        path, started = PATHS[self.cfg.backend], time.perf_counter()
        address = digest(self.cfg.url, path, request)
        known = self._replies.get(address)
        if known is not None:
            return known
        try:
            reply = self._endpoint.ask(path, request, _content)
        except Unusable as problem:
            raise SecateurError(
                f"{self.cfg.url}{path}: {problem}, after {len(self.cfg.delays) + 1} attempts. "
                "Fix: look at the endpoint and run again; answers that came are cached and not asked again."
            ) from problem
        self._replies.put(address, reply)
        self.seconds.prompts += 1
        self.seconds.prefill += time.perf_counter() - started
        return reply


def _content(response) -> dict[str, Any]:
    """What is kept of a response: text (of a refusal where there is nothing else), why it ended, tokens.

    Raises Unusable for anything but a completion.
    """
    try:
        body = response.json()
        choice = body["choices"][0]
        message, reason = choice.get("message") or {}, why_ended(choice)
        text = choice["text"] if "text" in choice else message["content"]
        text = text or message.get("refusal") or ("" if reason == FILTERED else text)
        counts = used(body)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        raise Unusable(f"no completion ({type(error).__name__})") from error
    if not isinstance(text, str):
        raise Unusable(f"a completion without a text ({type(text).__name__})")
    text = text.encode("utf-8", "replace").decode()  # half a surrogate pair is JSON, but no text
    return {"text": text, "stopped": {"length": "length", FILTERED: "filtered"}.get(reason, "end")} | counts
