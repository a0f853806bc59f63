"""A process that runs stages one after another, for the executor `secateur`: `python worker.py FD`.

It imports nothing of the library before it has put the library's folder in the place of its own on the path.
"""

import ctypes
import gc
import logging
import os
import runpy
import signal
import sys
import traceback
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import psutil

__all__ = ["serve"]

LARGE = 2 << 30  # bytes; a process that holds more after a job gives its memory back by its end


def serve(wire: Connection) -> None:
    """Run the scripts that come, with Snakemake's description of their job; send each exit code, and whether it stays."""
    with suppress(EOFError, KeyboardInterrupt, BrokenPipeError, ConnectionResetError):  # the driver is gone
        while True:
            _named("idle")
            script, described = wire.recv()
            _named(described.rule)
            code = _run(script, described)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)  # while it waits, there is nothing to record
            _give_back()
            sys.stdout.flush()
            sys.stderr.flush()
            stays = not code and not _holds_much()
            wire.send((code, stays))
            if not stays:
                return


def _run(script: str, described: Any) -> int:
    try:
        runpy.run_path(script, {"snakemake": described})
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def _named(rule: str) -> None:
    """Give the process the name of its rule, cut to 15 characters: for `top`, and for `commands.processes`."""
    with suppress(OSError):
        Path("/proc/self/comm").write_text(rule)


def _give_back() -> None:
    """Return the memory of models and tables to the system."""
    gc.collect()
    gc.freeze()  # modules: the next collection passes over them
    with suppress(OSError, AttributeError):  # not glibc
        ctypes.CDLL(None).malloc_trim(0)


def _holds_much() -> bool:
    """Whether the process holds much memory, or any of a GPU."""
    torch = sys.modules.get("torch")
    return psutil.Process().memory_info().rss > LARGE or bool(torch and torch.cuda.is_initialized())


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parents[2])
    serve(Connection(int(sys.argv[1])))
    logging.shutdown()
    sys.stderr.flush()
    os._exit(0)  # its work is on disk, and Python's shutdown takes over a CPU second once torch is loaded
