"""Requests for a text to an OpenAI-compatible endpoint, and its replies: the one place that reads them."""

import json
from collections.abc import Mapping
from typing import Any

from secateur.models.http import SHOWN, Refused, Unusable, used, why_ended
from secateur.models.refusals import refusal
from secateur.models.thoughts import spoken

__all__ = ["THOUGHT", "is_filtered_out", "received", "request"]

THOUGHT, FILTERED = "thought", "filtered"
ENDS = {"length": "length", "max_tokens": "length"}  # finish_reason -> how the text ended
ENDS |= dict.fromkeys(("content_filter", "refusal", "safety", "sensitive"), FILTERED)
TEXTS = {"text", "output_text", None}  # types of the parts that hold text
REASONING = ("reasoning_content", "reasoning", "reasoning_details", "thinking")  # where servers put thoughts


def request(cfg, asked: Mapping[str, Any], **defaults: Any) -> dict[str, Any]:
    """The body of a request. cfg: an option with model, parameters and template; null removes a default.

    `max_completion_tokens` takes the place of `max_tokens`, its name for other models.
    """
    parameters, template = getattr(cfg, "parameters", None) or {}, getattr(cfg, "template", None)
    body = {"model": cfg.model, **asked, **defaults}
    if "max_completion_tokens" in parameters:
        body.pop("max_tokens", None)
    body |= {"chat_template_kwargs": dict(template)} if template else {}
    return {name: value for name, value in (body | dict(parameters)).items() if value is not None}


def received(response) -> dict[str, Any]:
    """text, stopped and token usage of a response; the text may hold thoughts (models/thoughts.py).

    stopped: end, length, filtered, or thought where reasoning is all there is. The text of a refusal counts where there
    is no other. Raises Unusable for a response that is no completion, and Refused for a refusal of the prompt with status
    200 and for a reply of which a filter left no text.
    """
    try:
        body = response.json()
        if body.get("error") and not body.get("choices") and refusal(400, why := json.dumps(body["error"])).of_prompt:
            raise Refused(f"refused the prompt: {why[:SHOWN]}")
        choice = body["choices"][0]
        message = choice.get("message") or {}
        counts = used(body)
        stopped = ENDS.get(why_ended(choice).lower().partition(":")[0], "end")
        text, reasoned = (choice["text"], False) if "text" in choice else _content(message)
        text = text or message.get("refusal") or ("" if stopped == FILTERED else text)
        unsaid = stopped == "length" and "text" not in choice  # all tokens went into what the server does not show
        if not text and stopped != FILTERED and (reasoned or unsaid or _reasoning_tokens(body)):
            text, stopped = "", THOUGHT
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        raise Unusable(f"no completion ({type(error).__name__})") from error
    if not isinstance(text, str):
        raise Unusable(f"a completion without a text ({type(text).__name__})")
    text = text.encode("utf-8", "replace").decode()  # JSON allows half a surrogate pair, UTF-8 does not
    reply = {"text": text, "stopped": stopped} | counts
    if is_filtered_out(reply):
        raise Refused("the reply was filtered")
    return reply


def is_filtered_out(reply: Mapping[str, Any]) -> bool:
    """Whether a filter left no text of a reply, thoughts aside."""
    return reply["stopped"] == FILTERED and not (spoken(reply["text"]) or "").strip()


def _content(message: Mapping[str, Any]) -> tuple[Any, bool]:
    """The text of a message, None without one, and whether it holds reasoning; a content may come in parts."""
    content = message.get("content")
    reasoned = any(message.get(name) for name in REASONING)
    if not isinstance(content, list):
        return content, reasoned
    parts = [{"text": part} if isinstance(part, str) else part for part in content]
    answer_parts = [part for part in parts if part.get("type") in TEXTS and not part.get("thought")]
    texts = [part["text"]["value"] if isinstance(part["text"], dict) else part["text"] for part in answer_parts]
    return "".join(texts) if texts else None, reasoned or len(answer_parts) < len(parts)


def _reasoning_tokens(body: Mapping[str, Any]) -> bool:
    """Whether the usage of a reply counts tokens of reasoning."""
    details = (body.get("usage") or {}).get("completion_tokens_details") or {}
    return bool(details.get("reasoning_tokens"))
