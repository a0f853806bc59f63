"""Events of a run, one JSON object a line in the file that SECATEUR_EVENTS names: Snakemake's, and messages for people."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from secateur.core.redaction import redacted

__all__ = ["EVENTS", "emit", "event_file", "tell"]

EVENTS = "SECATEUR_EVENTS"


@contextmanager
def event_file() -> Iterator[Path]:
    """An empty file for the events of a process. It is on this machine: processes on others find none, and write none."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "events.jsonl")
        path.touch()
        yield path


def emit(event: str, **fields: Any) -> None:
    """Append an event, if somebody reads them. Several processes may: a line is one write at the end of the file."""
    if path := os.environ.get(EVENTS):
        line = json.dumps({"event": event, **fields}, default=str) + "\n"
        with suppress(OSError):  # whoever reads has ended, or is on another machine
            file = os.open(path, os.O_WRONLY | os.O_APPEND)
            try:
                os.write(file, line.encode())
            finally:
                os.close(file)


def tell(text: str) -> None:
    """Print a message on stderr, without secrets, and append it to the events."""
    text = redacted(text)
    print(text, file=sys.stderr, flush=True)
    emit("message", text=text.strip())
