"""Why an endpoint refuses a request: for its prompt, for one of its parameters, or for something else."""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

__all__ = ["Refusal", "refusal"]

SHOWN = 500  # characters of a body that is no JSON
SAYING = (  # keys whose values say why; others may repeat the prompt
    *("error", "errors", "error_type", "detail", "details", "message", "msg", "code", "type", "param", "reason"),
    *("innererror", "metadata", "reasons", "title"),
)
WHOLE = {401, 402, 404, 405, 407}  # statuses that no other prompt would change
UNKNOWN = re.compile(
    r"(unsupported|unknown|unrecogni[sz]ed|unexpected)[ _-](request[ _-])?(parameter|argument|value|field|property|keyword)"
    r"|extra[ _](inputs|fields) .*not permitted|extra_forbidden"
    r"|(parameter|argument|field|property) .{0,40}(unsupported|not supported|not allowed)",
    re.IGNORECASE,
)
LONG = re.compile(
    r"context.{0,3}(length|window|limit|size)|max_model_len|maximum (prompt|input|model) length|reduce the length"
    r"|(prompt|input|inputs|message|messages|request|text|content|string|body)\b.{0,60}"
    r"\b(too (long|large)|exceed|longer than|must be <=|above_max)"
    r"|token count.{0,40}exceed|too many (input |prompt )?tokens|tokens_limit|above_max_length|request_too_large",
    re.IGNORECASE,
)
FILTERED = re.compile(
    r"content.{0,3}(filter|polic|manag|moderat|safety)|moderation|flagged|safety|inappropriate|harmful|prohibited.content"
    r"|(usage|use) polic|data_?inspection|responsible.?ai|invalid_prompt|guardrail|(prompt|input|content) .{0,30}blocked",
    re.IGNORECASE,
)
NAMED = re.compile(
    r"(?:parameter|argument|value|field|property|keyword)s?(?: supplied)?:? *['\"`]?([A-Za-z]\w+)|['\"`](\w+)['\"`]",
    re.IGNORECASE,
)
OF_PROMPT = re.compile(r"(messages|prompt|inputs?|contents?)\b")  # parameters that hold the prompt


class Refusal(NamedTuple):
    """of_prompt: another prompt may pass; parameter: the name of the one that the endpoint does not take."""

    of_prompt: bool
    parameter: str | None = None


def refusal(status: int, body: str) -> Refusal:
    """What an endpoint refuses, from a status of 3xx or 4xx and the words of its body.

    A prompt that is too long comes before a parameter: `max_tokens is too large` may mean the context.
    """
    try:
        fields = list(_fields(json.loads(body)))
    except (ValueError, RecursionError):
        fields = [("", body[:SHOWN])]
    words = "\n".join(text for _, text in fields)
    if status < 400 or status in WHOLE:
        return Refusal(False)
    parameter = next((text for key, text in fields if key in ("param", "loc") and not OF_PROMPT.match(text)), None)
    if UNKNOWN.search(words):
        names = [name for match in NAMED.finditer(words) for name in match.groups() if name]
        return Refusal(False, parameter or next((name for name in names if not OF_PROMPT.match(name)), None))
    if LONG.search(words) or FILTERED.search(words) or status == 413:
        return Refusal(True)
    return Refusal(status == 422 and parameter is None, parameter)


def _fields(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """(key, text) of every text that says why; of FastAPI's `loc` the last name."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, list):
        for item in value:
            yield from _fields(item, key)
    elif isinstance(value, dict):
        for name in SAYING:
            yield from _fields(value.get(name), name)
        path = value.get("loc")
        if isinstance(path, list) and path and isinstance(path[-1], str):
            yield "loc", path[-1]
