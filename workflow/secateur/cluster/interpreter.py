"""Quotes Python's path in shell commands. Snakemake and its executors write it there as it is: a blank ends the command."""

import shlex
import sys
from collections.abc import Callable
from typing import Any

__all__ = ["patch"]


def patch() -> None:
    """Patches Snakemake's scripts and executors, in the driver and in its jobs. A path that needs no quotes stays as it is."""
    from snakemake.script import ScriptBase
    from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor

    ScriptBase._execute_cmd = _of_scripts(ScriptBase._execute_cmd)
    RemoteExecutor.get_python_executable = _of_executors(RemoteExecutor.get_python_executable)


def _of_scripts(original: Callable) -> Callable:
    def _execute_cmd(self: Any, cmd: str, **named: Any) -> Any:
        if named.get("py_exec") == sys.executable:
            named["py_exec"] = shlex.quote(sys.executable)
        return original(self, cmd, **named)

    return _execute_cmd


def _of_executors(original: Callable) -> Callable:
    def get_python_executable(self: Any) -> str:
        path = original(self)
        return shlex.quote(path) if path == sys.executable else path  # else it is patched already, or `python`

    return get_python_executable
