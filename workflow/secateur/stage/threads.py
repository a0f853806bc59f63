"""Threads of numerical libraries, limited to those of the job."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

__all__ = ["held_to"]

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@contextmanager
def held_to(threads: int) -> Iterator[None]:
    """Limit every numerical library to `threads`, whatever the environment says: sums of floats depend on it.

    Loaded libraries are limited directly; libraries that a stage loads later, and OpenVINO, read the environment.
    """
    before = {name: os.environ[name] for name in THREADS if name in os.environ}
    os.environ |= dict.fromkeys(THREADS, str(threads))
    try:
        with threadpool_limits(threads):
            if torch := sys.modules.get("torch"):
                torch.set_num_threads(threads)  # threadpoolctl does not see the MKL linked into torch
            yield
    finally:
        for name in THREADS:
            os.environ.pop(name, None)
        os.environ |= before
