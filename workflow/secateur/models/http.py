"""An HTTP endpoint with retries: it may be busy, silent, or reply with something else for a while."""

import math
import os
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import Any, TypeVar

from secateur.core.errors import SecateurError, Unusable
from secateur.core.redaction import redacted
from secateur.models.network import client_of, through
from secateur.models.refusals import Refusal, refusal

__all__ = ["KEYS", "Endpoint", "Refused", "Unusable", "retry_after", "used", "why_ended"]

KEYS = ("SECATEUR_API_KEY", "OPENAI_API_KEY")  # environment variables; the first one set is used
LONGEST = 1 << 24  # bytes of a reply; real replies have a thousandth of it
MOST = 1 << 31  # a larger token count is invalid
SHOWN = 200  # characters of a refusal that are shown
BUSY = {408, 409, 425, 429}  # statuses that a later attempt may pass, besides 5xx
Answer = TypeVar("Answer")


class Refused(Exception):
    """A prompt without a reply that no further attempt would better: too long, filtered, or thought about without end."""


class Endpoint:
    """One address, safe for threads. cfg: an option of `group` with url, timeout, delays and max_wait.

    The API key comes from the environment only. Raises SecateurError for a key that no header can carry.
    """

    def __init__(self, cfg, group: str, log) -> None:
        self.cfg, self.group, self.log, self.key = cfg, group, log, _key()

    def ask(self, path: str, body: dict[str, Any] | None, read: Callable[[Any], Answer]) -> Answer:
        """read(response) to a POST of the body, or to a GET without one; retried after each of cfg.delays.

        Raises Unusable after the last attempt, Refused where the endpoint refuses this prompt, and SecateurError where
        it refuses the request whatever the prompt.
        """
        for delay in (*self.cfg.delays, None):
            try:
                response = self._response(path, body)
                try:
                    return read(response)
                except Unusable as problem:
                    raise Unusable(f"{problem}; it said: {self._said(response.text)}", problem.wait) from problem
            except Refused as problem:
                self.log.warning("%s", problem)
                raise
            except Unusable as problem:
                self.log.warning("%s: %s%s", self.cfg.url, problem, "" if delay is None else "; retrying")
                if delay is None:
                    raise
                time.sleep(max(delay, self._patience(problem.wait)))
        raise AssertionError("unreachable: the last delay is None")

    def _patience(self, wait: float) -> float:
        if wait > self.cfg.max_wait:
            raise SecateurError(
                f"{self.cfg.url}: asks to wait {wait:.0f} s, more than {self.group}.max_wait ({self.cfg.max_wait:g} s). "
                f"Fix: run again later, good replies are cached; or raise {self.group}.max_wait."
            )
        return wait

    def _response(self, path: str, body: dict[str, Any] | None):
        """The response to one request."""
        import httpx

        method, end = "GET" if body is None else "POST", time.monotonic() + self.cfg.timeout
        try:
            with self._client.stream(method, f"{self.cfg.url.rstrip('/')}{path}", json=body) as coming:
                content = b"".join(self._whole(coming.iter_bytes(), end))
        except httpx.InvalidURL as error:
            raise SecateurError(f"{self.cfg.url}: {error}. Fix: correct {self.group}.url.") from None
        except httpx.RequestError as error:
            if "CERTIFICATE_VERIFY_FAILED" in str(error):
                raise SecateurError(
                    f"{self.cfg.url}: its certificate is not trusted ({error}). "
                    "Fix: name the file of your certificate authority in SSL_CERT_FILE."
                ) from None
            raise Unusable(f"{type(error).__name__}: {error}{through(self.cfg.url)}") from error
        status = coming.status_code
        if status in BUSY or status >= 500:
            raise Unusable(f"status {status}", retry_after(coming.headers.get("Retry-After", "")))
        response = httpx.Response(status, content=content)
        if not 200 <= status < 300:
            why = refusal(status, response.text)
            raise (Refused if why.of_prompt else SecateurError)(self._refusal(status, response.text, why))
        return response

    def _whole(self, chunks: Iterator[bytes], end: float) -> Iterator[bytes]:
        """The chunks of a reply. Raises Unusable beyond a time or a size."""
        size = 0
        for chunk in chunks:
            size += len(chunk)
            if size > LONGEST:
                raise Unusable(f"a reply of more than {LONGEST:,} bytes")
            if time.monotonic() > end:
                raise Unusable(f"no whole reply in {self.cfg.timeout:g} s")
            yield chunk

    @cached_property
    def _client(self):
        """The client, made at the first request. It follows no redirects, so the key goes nowhere else."""
        return client_of({"Authorization": f"Bearer {self.key}"} if self.key else {}, self.cfg.timeout)

    def _refusal(self, status: int, body: str, why: Refusal) -> str:
        """The message of a refusal: its words, and what to correct."""
        shown = self._said(body)
        whose, group = "prompt" if why.of_prompt else "request", self.group
        fix = f"correct {group}.url and {group}.model, and set the key in {' or '.join(KEYS)}"
        if why.of_prompt:
            fix = "a shorter prompt, or an endpoint that takes this one"
        elif why.parameter == "max_tokens":
            most = getattr(self.cfg, "max_tokens", 1024)
            fix = f"{group}.parameters={{max_completion_tokens: {most}}}, its other name, or a lower {group}.max_tokens"
        elif why.parameter == "chat_template_kwargs":
            fix = f"{group}.template={{}}"
        elif why.parameter not in (None, "model"):
            fix = f"{group}.parameters={{{why.parameter}: null}} leaves it out"
        elif status == 407:
            fix = f"correct the proxy{through(self.cfg.url)}"
        return f"{self.cfg.url}: refused the {whose} with status {status}: {shown}. Fix: {fix}."

    def _said(self, body: str) -> str:
        """The first words of a reply, without secrets."""
        hidden = redacted(body.replace(self.key, "***") if self.key else body)
        return " ".join(hidden[:SHOWN].split()) or "no reason given"


def used(body: Any) -> dict[str, int | None]:
    """Tokens read and written; each is None if the server sent none or an invalid number."""
    usage = body.get("usage") if isinstance(body.get("usage"), dict) else {}
    counts = {"tokens_in": usage.get("prompt_tokens"), "tokens_out": usage.get("completion_tokens")}
    return {name: n if type(n) is int and 0 <= n < MOST else None for name, n in counts.items()}


def why_ended(choice: Any) -> str:
    """The finish_reason of a choice. Raises Unusable for `error`."""
    reason = choice.get("finish_reason")
    if reason == "error":
        raise Unusable("a reply whose finish_reason is `error`")
    return reason if isinstance(reason, str) else ""


def _key() -> str:
    """The API key, or an empty text. Raises SecateurError, without showing it, for a key that no header can carry."""
    for name in KEYS:
        key = os.environ.get(name, "").strip()
        if key and not (key.isascii() and key.isprintable()):
            raise SecateurError(f"{name}: contains characters that no key has. Fix: set it to the key alone, in ASCII.")
        if key:
            return key
    return ""


def retry_after(value: str) -> float:
    """Seconds of a Retry-After header, a number or a date; 0 for anything else.

    >>> retry_after("0.4"), retry_after("soon")
    (0.4, 0.0)
    """
    try:
        seconds = float(value)
    except ValueError:
        try:
            date = parsedate_to_datetime(value)
        except (TypeError, ValueError):
            return 0.0
        seconds = (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return max(0.0, seconds) if math.isfinite(seconds) else 0.0
