"""A call in a process of its own, forked from one that has loaded the heavy libraries and computed nothing with them."""

import json
import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from secateur.models.kernels import STEADY

from .watch import Event, Watch

__all__ = ["Ended", "forked", "preload", "waits_for"]

HEAVY = ("torch", "transformers", "sentence_transformers", "openvino", "spacy", "faiss", "sklearn.cluster", "rank_bm25")
OURS = ("secateur.stage.contract", "secateur.core.tables.catalog", "secateur.cli")
OURS += ("snakemake.cli", "snakemake.workflow")
NOBODY = "http://127.0.0.1:9"  # in the place of a network
ENV = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), NOBODY)
ENV |= {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "NO_PROXY": "127.0.0.1"}
LIMIT = 900.0  # seconds after which a process hangs
LOOK = 0.005  # seconds between looks at it


@dataclass(frozen=True)
class Ended:
    """How a process ended: exit code (negative: the signal, None: it hung), what it said, what it did to files."""

    code: int | None
    said: str
    events: tuple[Event, ...]
    process: int = 0

    @property
    def killed(self) -> bool:
        return self.code == -signal.SIGKILL


def preload(few: bool) -> None:
    """Load what stages import, once for all of them; `few`: there are few, which import the heavy ones themselves.

    Nothing is computed here: a fork would not take its threads along.
    """
    os.environ |= ENV
    for name in (*OURS, *(() if few else HEAVY)):
        import_module(name)


def forked(root: Path, call: Callable[[], None], at: int | None = None, env: dict[str, str] | None = None) -> Ended:
    """Run a call in `root`; it kills itself before its event number `at`, counted from 1."""
    with tempfile.TemporaryDirectory() as scratch:
        said, seen = Path(scratch, "said"), Path(scratch, "seen")
        child = os.fork()
        if child == 0:
            _enter(root, call, at, env or {}, said, seen)
        code = _waited(child)
        events = [Event(*json.loads(line)) for line in seen.read_text().splitlines()] if seen.exists() else []
        return Ended(code, said.read_text(errors="replace") if said.exists() else "", tuple(events), child)


def waits_for(state: Callable[[], bool]) -> None:
    """Wait until something is so. Raises where it never is."""
    end = time.monotonic() + LIMIT
    while not state():
        if time.monotonic() > end:
            raise TimeoutError("it never was so")
        time.sleep(LOOK)


def _waited(child: int) -> int | None:
    """The exit code of a child; None for one that had to be ended."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(LOOK)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _enter(root: Path, call: Callable[[], None], at: int | None, env: dict[str, str], said: Path, seen: Path) -> None:
    """Run a call in this process, a fork, and end it. said, seen: files for its output and for its events."""
    code = 1
    try:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.chdir(root)
        for stream in (1, 2):
            os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644), stream)
        sys.stdout, sys.stderr = (os.fdopen(stream, "w", closefd=False) for stream in (1, 2))
        for name in STEADY:
            os.environ.pop(name, None)  # stages ask for it themselves, those that need it
        os.environ |= env
        watch = Watch(root, at, os.open(seen, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644))
        sys.addaudithook(watch)
        call()
        watch.end()
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
