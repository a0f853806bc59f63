"""Threads of numerical libraries, limited to those that a job or a program asked for."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from threadpoolctl import ThreadpoolController

__all__ = ["allowed", "held_to", "limited"]

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def allowed() -> int:
    """Threads that numerical libraries may use: OMP_NUM_THREADS (of a list by depth the first), or one."""
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return max(1, int(first)) if first.isdecimal() else 1


@contextmanager
def held_to(threads: int) -> Iterator[None]:
    """Limit every numerical library to `threads`, whatever the environment says: sums of floats depend on it.

    Loaded libraries are limited directly; libraries that a stage loads later, and OpenVINO, read the environment.
    """
    before = {name: os.environ[name] for name in THREADS if name in os.environ}
    os.environ |= dict.fromkeys(THREADS, str(threads))
    try:
        with limited(threads):
            if torch := sys.modules.get("torch"):
                torch.set_num_threads(threads)  # threadpoolctl does not see the MKL linked into torch
            yield
    finally:
        for name in THREADS:
            os.environ.pop(name, None)
        os.environ |= before


@contextmanager
def limited(threads: int | None = None) -> Iterator[None]:
    """Limit the loaded libraries, to `allowed()` by default, and restore them when the last of the calls at once ends. Safe for threads.

    Threads of OpenBLAS that wait for small products keep whole cores busy, where a program embeds between them.
    """
    LIMITS.enter(threads or allowed())
    try:
        yield
    finally:
        LIMITS.leave()


class _Limits:
    """The limits of this process, set by the first of the calls at once."""

    def __init__(self) -> None:
        self.lock, self.calls, self.limits = threading.Lock(), 0, None

    def enter(self, threads: int) -> None:
        with self.lock:
            if self.calls == 0:
                self.limits = _libraries(len(sys.modules)).limit(limits=threads)
            self.calls += 1

    def leave(self) -> None:
        with self.lock:
            self.calls -= 1
            if self.calls == 0:
                self.limits.restore_original_limits()


@lru_cache(maxsize=1)
def _libraries(modules: int) -> ThreadpoolController:
    """The loaded libraries, looked for again (4 ms) where the number of imported modules has changed."""
    return ThreadpoolController()


LIMITS = _Limits()
