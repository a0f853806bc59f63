"""A peer's calls passed on to a real model, as the peer wrote them."""

from pathlib import Path
from typing import Any

from secateur.core.cache import RequestCache, digest
from secateur.models.http import Endpoint, Unusable, why_ended
from secateur.peers.endpoint import Answer, Body, Unanswered
from secateur.peers.wire import Prompt

__all__ = ["released"]

PASSED = ("messages", "tools", "tool_choice", "response_format", "max_tokens", "max_completion_tokens", "temperature")


def released(service, cache: Path, log) -> Answer:
    """The replies of a model behind an endpoint; what it has said is kept, and not asked again."""
    endpoint, kept = Endpoint(service, "service", log), RequestCache(cache / "peer_replies")

    def answer(_: Prompt, body: Body) -> str:
        asked = {"model": service.model} | {name: body[name] for name in PASSED if body.get(name) is not None}
        address = digest(service.url, asked)
        known = kept.get(address)
        if known is None:
            try:
                known = endpoint.ask("/chat/completions", asked, _said)
            except Unusable as problem:
                raise Unanswered(f"{service.url}: {problem}, after {len(service.delays) + 1} attempts") from problem
            kept.put(address, known)
        return known

    return answer


def _said(response: Any) -> str:
    """The text of a reply, or the arguments of the tool that it calls. Raises Unusable for anything else."""
    try:
        choice = response.json()["choices"][0]
        why_ended(choice)
        message, calls = choice["message"], choice["message"].get("tool_calls")
        text = (
            calls[0]["function"]["arguments"]
            if calls
            else message["content"] or message.get("refusal") or message["content"]
        )
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise Unusable(f"no completion ({type(error).__name__})") from error
    if not isinstance(text, str):
        raise Unusable(f"a completion without a text ({type(text).__name__})")
    return text
