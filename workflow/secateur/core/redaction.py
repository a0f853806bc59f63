"""Secrets are removed from every file, log and message: passwords in addresses, values of secret environment variables."""

import os
import re

__all__ = ["redacted"]

SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD", re.I)
HIDDEN = "***"
SHORTEST_SECRET = 8  # shorter values are words like `true`


def redacted(text: str) -> str:
    """The text without the user part of addresses and without values of secret environment variables."""
    for name, value in os.environ.items():
        if SECRET.search(name) and len(value) >= SHORTEST_SECRET:
            text = text.replace(value, HIDDEN)
    return re.sub(r"://[^/@\s\"]+@", f"://{HIDDEN}@", text)
