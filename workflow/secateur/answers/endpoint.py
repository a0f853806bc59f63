"""Answers from an OpenAI-compatible endpoint, by chat or by plain completion.

Each reply is cached at once under the digest of its request, so after a failure of the endpoint only missing replies are
requested. Replies are cached with their thoughts and read anew each time. The API key comes from the environment only
(models/http.py).
"""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from secateur.answers.ending import FAILED, finished
from secateur.answers.generate import Completion, Seconds
from secateur.core.cache import RequestCache, digest
from secateur.core.errors import SecateurError
from secateur.models import chat
from secateur.models.http import Endpoint, Refused, Unusable
from secateur.models.thoughts import spoken
from secateur.models.word_pieces import Counter

__all__ = ["Remote"]

PATHS = {"chat": "/chat/completions", "completions": "/completions"}


class Remote:
    """Answers from an endpoint. cfg: an option of `group` with a url; count: a local tokenizer, because the endpoint's is
    unknown; longest: tokens of its model's window."""

    def __init__(self, cfg, count: Counter, longest: int, cache: Path, log, group: str = "answer") -> None:
        self.cfg, self.seconds, self._count = cfg, Seconds(), count
        self.window = min(longest - cfg.max_tokens, cfg.window or longest)
        self._endpoint, self._replies = Endpoint(cfg, group, log), RequestCache(cache / "replies")

    def size(self, prompt: str) -> int:
        return int(self._count([prompt])[0])

    def __call__(self, prompts: Sequence[str]) -> list[Completion]:
        """Answers in the order of prompts, `concurrency` requests at once; after a failure no request starts.

        The answer to a refused prompt has failed. Raises SecateurError where the endpoint gives no usable reply.
        """
        with ThreadPoolExecutor(self.cfg.concurrency) as pool:
            return list(pool.map(self._answer, prompts))

    def _answer(self, prompt: str) -> Completion:
        try:
            reply = self._reply(self._request(prompt))
        except Refused as problem:
            return Completion("", self.size(prompt), 0, FAILED, str(problem))
        visible_text = None if reply["stopped"] == chat.THOUGHT else spoken(reply["text"])
        text, why = ("", chat.THOUGHT) if visible_text is None else finished(visible_text, self.cfg)
        tokens_in = self.size(prompt) if reply["tokens_in"] is None else reply["tokens_in"]
        tokens_out = int(self._count([reply["text"]])[0]) if reply["tokens_out"] is None else reply["tokens_out"]
        return Completion(text, tokens_in, tokens_out, why or reply["stopped"])

    def _request(self, prompt: str) -> dict[str, Any]:
        asked = {"messages": [{"role": "user", "content": prompt}]}
        if self.cfg.backend == "completions":
            asked = {"prompt": f"{prompt}\nAnswer:"}
        return chat.request(self.cfg, asked, temperature=0, max_tokens=self.cfg.max_tokens)

    def _reply(self, request: dict[str, Any]) -> dict[str, Any]:
        path, started = PATHS[self.cfg.backend], time.perf_counter()
        address = digest(self.cfg.url, path, request)
        cached = self._replies.get(address)
        if cached is not None and not chat.is_filtered_out(cached):  # earlier versions took it for an answer
            return cached
        try:
            reply = self._endpoint.ask(path, request, chat.received)
        except Unusable as problem:
            raise SecateurError(
                f"{self.cfg.url}{path}: {problem}, after {len(self.cfg.delays) + 1} attempts. "
                "Fix: check the endpoint and run again; received answers are cached."
            ) from problem
        self._replies.put(address, reply)
        self.seconds.prompts += 1
        self.seconds.prefill += time.perf_counter() - started
        return reply
