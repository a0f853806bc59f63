"""A peer's process, seen from outside: start it, send it requests with a time limit, end it with all its children."""

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

SHOWN = 300  # characters of a peer's error
GRACE = 10  # seconds for a process to end by itself
INHERITED = ("PATH", "LANG", "LC_ALL", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "LD_LIBRARY_PATH", "PYTHONPATH")


class PeerFailed(Exception):
    """A peer did not fulfil a request; the message is a result, not a fault of the run."""


class Worker:
    """The process of a peer. python: the interpreter of its environment; log: the file of its output."""

    def __init__(self, python: str, environment: Mapping[str, str], folder: Path, log: Path) -> None:
        self._folder, self._log = folder, log
        self._replies: Queue[str | None] = Queue()
        self._process = subprocess.Popen(
            [python, "-m", "secateur.peers.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log.open("ab"),
            cwd=folder,
            env=_variables(environment, folder),
            text=True,
            encoding="utf-8",
            start_new_session=True,  # so that its children end with it
        )
        Thread(target=self._listen, daemon=True).start()

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_) -> None:
        self.end()

    def create(self, module: str, settings: Mapping[str, Any], url: str, seconds: float) -> None:
        """Import the peer's libraries and create the peer within a time. Raises PeerFailed."""
        message = {"module": module, "settings": settings, "folder": str(self._folder), "url": url}
        self._request(message, seconds, "starts")

    def index(self, documents: list[Mapping[str, str]], seconds: float) -> None:
        """Index documents within a time. Raises PeerFailed."""
        self._request({"index": documents}, seconds, "indexes")

    def ask(self, question: str, seconds: float) -> None:
        """Answer a question within a time. Raises PeerFailed."""
        self._request({"ask": question}, seconds, "answers")

    @property
    def ended(self) -> bool:
        """Whether the process has ended."""
        return self._process.poll() is not None

    def end(self) -> None:
        """End the process and its children."""
        if not self.ended:
            self._process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _listen(self) -> None:
        for line in self._process.stdout:
            self._replies.put(line)
        self._replies.put(None)

    def _request(self, message: Mapping[str, Any], seconds: float, verb: str) -> None:
        try:
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()
            line = self._replies.get(timeout=seconds)
        except Empty:
            os.killpg(self._process.pid, signal.SIGKILL)  # its late reply would be taken for the next question's
            self._process.wait()
            raise PeerFailed(f"{verb} for longer than {seconds:g} s") from None
        except OSError:  # it has ended; its log says why
            line = None
        if line is None:
            raise PeerFailed(f"ended while it {verb} (exit code {self._process.wait()}): {self._last_line()}")
        reply = json.loads(line)
        if "error" in reply:
            raise PeerFailed(" ".join(reply["error"].split())[:SHOWN])

    def _last_line(self) -> str:
        """The last line of the log."""
        lines = self._log.read_text(encoding="utf-8", errors="replace").split("\n")
        return next((line.strip()[:SHOWN] for line in reversed(lines) if line.strip()), "no output")


def _variables(environment: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Environment variables of a peer's process: no key, and its folder as home and for temporary files."""
    inherited = {name: os.environ[name] for name in INHERITED if os.environ.get(name)}
    for name in (
        "SSL_CERT_FILE",
        "REQUESTS_CA_BUNDLE",
    ):  # its endpoint is on this machine, and a dead file ends a client
        if not Path(inherited.get(name, "")).exists():
            inherited.pop(name, None)
    library = os.pathsep.join(filter(None, [str(LIBRARY.parent), inherited.get("PYTHONPATH")]))
    return {
        **inherited,
        **dict.fromkeys(("HOME", "TMPDIR", "XDG_CACHE_HOME"), str(folder)),
        "PYTHONPATH": library,
        "PYTHONNOUSERSITE": "1",
        "PYTHONUNBUFFERED": "1",
        "PYTHONHASHSEED": "0",
        "TOKENIZERS_PARALLELISM": "false",
        "OMP_NUM_THREADS": "1",
        "OPENAI_API_KEY": "none",
        "HF_HUB_OFFLINE": "1",
        **environment,
    }
