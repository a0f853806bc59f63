"""A judge by rule: sentences are statements, and one follows from a text that has it word for word. `seen` by a server too."""

import json
import re

from secateur.judging import prompts

__all__ = ["ruled"]


def ruled(prompt: str) -> str:
    if prompt.startswith(prompts.SPLIT[:20]):
        text = prompt.rpartition("\nText: ")[2]
        return json.dumps([part for part in re.split(r"(?<=[.?])\s+", text) if part])
    if prompt.startswith(prompts.SUPPORTED[:20]):
        text, _, claims = prompt.partition("\nText:\n")[2].partition("\n\nStatements:\n")
        found = [line.split(". ", 1) for line in claims.splitlines()]
        return f"These follow: {json.dumps([int(n) for n, claim in found if claim in text])}"
    return "2" if "mill" in prompt.lower() else "0"
