"""What a process does to files, event by event, and its death at one of them: the same each time, wherever it runs."""

import json
import os
import signal
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["Event", "Watch"]

WATCHED = {"open", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.truncate", "shutil.rmtree"}
OURS = ("results", "logs", ".cache", "cold", ".snakemake", "mlflow.db", "mlruns")  # not what it reads of the project
END = "end"  # all is done, and the process is still there


class Event(NamedTuple):
    """What happens next, to which file, and under which name that appears."""

    what: str
    path: str
    to: str


class Watch:
    """An audit hook: notes every event before it happens, and kills its process before event number `at`."""

    def __init__(self, root: Path, at: int | None, notes: int) -> None:
        self.root, self.at, self.notes, self.count, self.process = root, at, notes, 0, os.getpid()

    def __call__(self, event: str, args: tuple[Any, ...]) -> None:
        if event not in WATCHED or not args or isinstance(args[0], int) or os.getpid() != self.process:
            return
        path = self._inside(args[0])
        if path is not None:
            self._next(Event(event, path, (self._inside(args[1]) or "") if event == "os.rename" else ""))

    def end(self) -> None:
        self._next(Event(END, "", ""))

    def _inside(self, path: Any) -> str | None:
        whole = Path(os.fsdecode(path)).absolute()
        if not whole.is_relative_to(self.root):
            return None
        own = whole.relative_to(self.root)
        return str(own) if own.parts[:1] and own.parts[0] in OURS else None

    def _next(self, event: Event) -> None:
        self.count += 1
        os.write(self.notes, (json.dumps(event) + "\n").encode())
        if self.count == self.at:
            os.kill(self.process, signal.SIGKILL)
