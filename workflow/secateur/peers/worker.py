"""A peer's process, from outside: started, asked with a time limit, ended with all that it started."""

import json
import os
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any

from secateur.config.plugins import LIBRARY

__all__ = ["PeerFailed", "Worker"]

SHOWN = 300  # characters of what a peer said last
END = 10  # seconds in which a process must end that is asked to


class PeerFailed(Exception):
    """A peer did not do what it was asked to, and why: a finding, no fault of the run."""


class Worker:
    """One process of a peer. python: that of its environment; log: where its output goes."""

    def __init__(self, python: str, environment: Mapping[str, str], folder: Path, log: Path) -> None:
        self._folder, self._log = folder, log
        self._said: Queue[str | None] = Queue()
        self._process = subprocess.Popen(
            [python, "-m", "secateur.peers.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log.open("ab"),
            cwd=folder,
            env=_environment(environment, folder),
            text=True,
            encoding="utf-8",
            start_new_session=True,  # so that it can be ended with all that it started
        )
        Thread(target=self._listen, daemon=True).start()

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_) -> None:
        self.end()

    def make(self, module: str, settings: Mapping[str, Any], url: str, seconds: float) -> None:
        """Have it import its libraries within a time. Raises PeerFailed."""
        told = {"module": module, "settings": settings, "folder": str(self._folder), "url": url}
        self._ask(told, seconds, "starts")

    def index(self, documents: list[Mapping[str, str]], seconds: float) -> None:
        """Have it index documents within a time. Raises PeerFailed."""
        self._ask({"index": documents}, seconds, "indexes")

    def ask(self, question: str, seconds: float) -> None:
        """Have it answer a question within a time. Raises PeerFailed."""
        self._ask({"ask": question}, seconds, "answers")

    @property
    def ended(self) -> bool:
        """Whether the process is no more."""
        return self._process.poll() is not None

    def end(self) -> None:
        """End the process and all that it started."""
        if self._process.poll() is None:
            self._process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(END)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _listen(self) -> None:
        for line in self._process.stdout:
            self._said.put(line)
        self._said.put(None)

    def _ask(self, message: Mapping[str, Any], seconds: float, what: str) -> None:
        try:
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()
            reply = self._said.get(timeout=seconds)
        except Empty:
            os.killpg(self._process.pid, signal.SIGKILL)  # its reply would come for another question
            self._process.wait()
            raise PeerFailed(f"{what} for longer than {seconds:g} s") from None
        except OSError:  # it has ended: why stands in its log
            reply = None
        if reply is None:
            raise PeerFailed(f"ended while it {what} (exit code {self._process.wait()}): {self._last()}")
        said = json.loads(reply)
        if "error" in said:
            raise PeerFailed(" ".join(said["error"].split())[:SHOWN])

    def _last(self) -> str:
        """The last line that it printed."""
        lines = self._log.read_text(encoding="utf-8", errors="replace").split("\n")
        return next((line.strip()[:SHOWN] for line in reversed(lines) if line.strip()), "it said nothing")


def _environment(own: Mapping[str, str], folder: Path) -> dict[str, str]:
    """What a peer's process may know: no key, a home and a place for temporary files of its own."""
    kept = ("PATH", "LANG", "LC_ALL", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "LD_LIBRARY_PATH")
    told = {name: os.environ[name] for name in kept if name in os.environ}
    quiet = {
        "PYTHONNOUSERSITE": "1",
        "PYTHONUNBUFFERED": "1",
        "PYTHONHASHSEED": "0",
        "TOKENIZERS_PARALLELISM": "false",
        "OMP_NUM_THREADS": "1",
    }
    places = {name: str(folder) for name in ("HOME", "TMPDIR", "XDG_CACHE_HOME")}
    return (
        told
        | quiet
        | places
        | {
            "PYTHONPATH": os.pathsep.join([str(LIBRARY.parent), *filter(None, [os.environ.get("PYTHONPATH")])]),
            "OPENAI_API_KEY": "none",
            "HF_HUB_OFFLINE": "1",
        }
        | dict(own)
    )
