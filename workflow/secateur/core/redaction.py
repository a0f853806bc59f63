"""Secrets are removed from every file, log and message: by the places where they stand, and by their values."""

import json
import os
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import quote

__all__ = ["redacted", "without_secrets"]

SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD", re.I)
HIDDEN = "***"
SHORTEST_SECRET = 8  # shorter values are words like `true`
# Names of fields that hold a secret. Bare words are taken for one before `=` or in quotes alone: prose has them before a colon.
COMPOUND = r"(?:api|access|auth|private|secret|client|refresh|id|hf|github)[-_]?(?:key|token|secret)|[\w.-]{1,40}[-_](?:api[-_]?key|token|secret|password)"
BARE = r"password|passwd|pwd|passphrase|secret|token|credentials?"
LIKELY = r"(?=[\w.~+/=|:-]*\d)[\w.~+/=|:-]{12,}"  # of a key, not of a word
VALUE = rf"(?!null\b|none\b|true\b|false\b|\d+\b|{re.escape(HIDDEN)}|\$\{{)[^\s\"'\\,;}}&<>]+"
QUOTE = r"\\*[\"']"
PLACES = [
    (re.compile(r"://[^/?#\s\"'<>]+@"), f"://{HIDDEN}@"),  # user:password@host
    (re.compile(rf"(?i)\b(bearer|basic|token|apikey)([ \t:]|%20)+{LIKELY}"), rf"\1 {HIDDEN}"),  # a header's value
    (re.compile(rf"(?i)([?&;](?:{COMPOUND}|key|token|sig|signature|auth)=)(?=[^&#\s\"']*\d)[^&#\s\"'<>]{{8,}}"), rf"\1{HIDDEN}"),
    (re.compile(rf"(?i)((?<![\w.-])(?:x-)?(?:{COMPOUND}){QUOTE}?\s*[:=]\s*{QUOTE}?){VALUE}"), rf"\1{HIDDEN}"),
    (re.compile(rf"(?i)((?<![\w.-])(?:--)?(?:{BARE})=(?:{QUOTE})?){VALUE}"), rf"\1{HIDDEN}"),
    (re.compile(rf"(?i)({QUOTE}(?:{BARE}){QUOTE}\s*:\s*{QUOTE}){VALUE}"), rf"\1{HIDDEN}"),
    (re.compile(r"\b(?:sk|pk|rk)[-_](?=[\w-]*\d)[\w-]{16,}|\bhf_[A-Za-z0-9]{20,}|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}"), HIDDEN),
    (re.compile(r"\bxox[a-z]-[\w-]{10,}|\bAKIA[0-9A-Z]{16}|\bAIza[\w-]{30,}|\bglpat-[\w-]{16,}|\bgsk_\w{20,}|\beyJ[\w-]{10,}\.[\w.-]+"), HIDDEN),
]  # fmt: skip
FIELD = re.compile(rf"(?i)(?:.*[._-])?(?:x-)?(?:{COMPOUND}|api[-_]?key|password|passwd|secret|authorization)")


def redacted(text: str) -> str:
    """The text without secrets: in addresses, headers, query strings and fields, and values of secret environment variables."""
    return _hidden(text, _secrets())


def _secrets() -> tuple[str, ...]:
    """The values of secret environment variables."""
    return tuple(v for name, v in os.environ.items() if SECRET.search(name) and len(v) >= SHORTEST_SECRET)


@lru_cache(maxsize=1 << 14)  # a run compares the same settings many times
def _hidden(text: str, secrets: tuple[str, ...]) -> str:
    for written in (form for value in secrets for form in _forms(value)):
        text = text.replace(written, HIDDEN)
    for place, hidden in PLACES:
        text = place.sub(hidden, text)
    return text


def without_secrets(value: Any) -> Any:
    """A value of JSON in which no text holds a secret, and no field of a secret's name a text."""
    return _without(value, _secrets())


def _without(value: Any, secrets: tuple[str, ...]) -> Any:
    if isinstance(value, str):
        return _hidden(value, secrets)
    if isinstance(value, Mapping):
        return {
            _hidden(name, secrets): HIDDEN
            if isinstance(item, str) and item and FIELD.fullmatch(name)
            else _without(item, secrets)
            for name, item in value.items()
        }
    return [_without(item, secrets) for item in value] if isinstance(value, list | tuple) else value


def _forms(value: str) -> Iterator[str]:
    """The ways in which a value is written: as it is, in JSON once and twice, in Python, and in an address."""
    once, plain = json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]
    twice = json.dumps(once)[1:-1]
    yield from dict.fromkeys(
        [twice, once, plain, repr(value)[1:-1], ascii(value)[1:-1], value, quote(value, safe=""), quote(value)]
    )
