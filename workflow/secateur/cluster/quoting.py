"""Quotes what Snakemake and its executors write into shell commands for Python, not for a shell: paths, texts of --config."""

import shlex
import sys
from collections.abc import Callable
from typing import Any

__all__ = ["patch"]


def patch() -> None:
    """Patches Snakemake in the driver and in its jobs. Has no effect if no text needs quotes. Calling it twice is safe."""
    from snakemake.script import ScriptBase
    from snakemake_interface_executor_plugins import utils
    from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor

    ScriptBase._execute_cmd = _of_scripts(ScriptBase._execute_cmd)
    RemoteExecutor.get_python_executable = _of_executors(RemoteExecutor.get_python_executable)
    utils.format_cli_value = _of_values(utils.format_cli_value)


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


def _of_values(original: Callable) -> Callable:
    def format_cli_value(value: Any, quote: bool = False, base64_encode: bool = False) -> str:
        written = original(value, quote=quote, base64_encode=base64_encode)
        is_text = isinstance(value, str) and quote and not base64_encode
        return shlex.quote(value) if is_text and written == repr(value) else written

    return format_cli_value
