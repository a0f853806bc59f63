"""Replies to a peer's calls: from an extraction (controlled mode), or from a real model (released mode)."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from secateur.core.cache import RequestCache, digest
from secateur.models import chat
from secateur.models.http import Endpoint, Refused, Unusable
from secateur.models.thoughts import spoken
from secateur.peers.wire import Extraction, Prompt

__all__ = ["Body", "Reply", "Unanswered", "controlled", "released"]

Body = Mapping[str, Any]  # of a request
Reply = Callable[[Prompt, Body], str]
SHOWN = 200  # characters of an unanswered prompt in its message
FORWARDED = (
    "messages",
    "tools",
    "tool_choice",
    "response_format",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
)


THOUGHT = "a thought without an answer. Fix: a larger limit of tokens, or service.template={enable_thinking: false}"


class Unanswered(Exception):
    """A call without a reply."""


def controlled(adapter: ModuleType, extraction: Extraction) -> Reply:
    """Replies from an extraction in the peer's format."""

    def reply(prompt: Prompt, _: Body) -> str:
        text = adapter.reply(prompt, extraction)
        if text is None:
            end = " ".join(prompt.last.split())[:SHOWN]
            raise Unanswered(f"{adapter.__name__} has no reply to a prompt that ends with {end!r}")
        return text

    return reply


def released(service, cache: Path, log) -> Reply:
    """Replies of the model behind `service`, without thoughts, to the peer's unchanged calls; each reply is cached."""
    endpoint = Endpoint(service, "service", log)
    replies = RequestCache(cache / "peer_replies")

    def reply(_: Prompt, body: Body) -> str:
        request = chat.request(service, {name: body[name] for name in FORWARDED if body.get(name) is not None})
        address = digest(service.url, request)
        text = replies.get(address)
        if not text:  # earlier versions stored filtered replies as empty texts
            try:
                text = endpoint.ask("/chat/completions", request, _completion_text)
            except Unusable as problem:
                raise Unanswered(f"{service.url}: {problem}, after {len(service.delays) + 1} attempts") from problem
            except Refused as problem:
                raise Unanswered(str(problem)) from problem
            replies.put(address, text)
        if (answer := spoken(text)) is None:
            raise Unanswered(f"{service.url}: {THOUGHT}")
        return answer

    return reply


def _completion_text(response: Any) -> str:
    """Text of a completion, its refusal, or the arguments of its tool call, with thoughts.

    Raises Unusable for anything else, and Refused for a thought alone.
    """
    try:
        calls = response.json()["choices"][0]["message"].get("tool_calls")
        arguments = calls[0]["function"]["arguments"] if calls else None
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise Unusable(f"no completion ({type(error).__name__})") from error
    if isinstance(arguments, str):
        return arguments
    reply = chat.received(response)
    if reply["stopped"] == chat.THOUGHT:
        raise Refused(THOUGHT)
    return reply["text"]
