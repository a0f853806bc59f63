"""Answers from an OpenAI-compatible endpoint, by chat or by plain completion.

Each reply is cached at once under the digest of its request, so after a failure of the endpoint only missing replies are
requested. The API key comes from the environment only (models/http.py).
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

FILTERED = "content_filter"  # the finish_reason of a withheld reply
PATHS = {"chat": "/chat/completions", "completions": "/completions"}


class Remote:
    """Answers from an endpoint. cfg: an `answer` option with a url; count: a tokenizer in place of the endpoint's
    unknown one; longest: tokens of its model's window."""

    def __init__(self, cfg, count: Counter, longest: int, cache: Path, log) -> None:
        self.cfg, self.seconds, self._count = cfg, Seconds(), count
        self.window = min(longest - cfg.max_tokens, cfg.window or longest)
        self._endpoint, self._replies = Endpoint(cfg, "answer", log), RequestCache(cache / "replies")

    def size(self, prompt: str) -> int:
        return int(self._count([prompt])[0])

    def __call__(self, prompts: Sequence[str]) -> list[Completion]:
        """Answers in the order of prompts, `concurrency` requests at once; after a failure no request starts.

        Raises SecateurError where the endpoint gives no usable reply.
        """
        with ThreadPoolExecutor(self.cfg.concurrency) as pool:
            return list(pool.map(self._answer, prompts))

    def _answer(self, prompt: str) -> Completion:
        reply = self._reply(self._request(prompt))
        text, why = finished(reply["text"], self.cfg)
        tokens_in = self.size(prompt) if reply["tokens_in"] is None else reply["tokens_in"]
        tokens_out = int(self._count([reply["text"]])[0]) if reply["tokens_out"] is None else reply["tokens_out"]
        return Completion(text, tokens_in, tokens_out, why or reply["stopped"])

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
                "Fix: check the endpoint and run again; received answers are cached."
            ) from problem
        self._replies.put(address, reply)
        self.seconds.prompts += 1
        self.seconds.prefill += time.perf_counter() - started
        return reply


def _content(response) -> dict[str, Any]:
    """text, stopped and token usage of a response; the text of a refusal where there is no other.

    Raises Unusable for a response that is no completion.
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
    text = text.encode("utf-8", "replace").decode()  # JSON allows half a surrogate pair, UTF-8 does not
    return {"text": text, "stopped": {"length": "length", FILTERED: "filtered"}.get(reason, "end")} | counts
