"""Quotes what Snakemake and its executors write into shell commands as it is: the path of Python, and texts of --config."""

import shlex
import sys
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["patch"]


def patch() -> None:
    """Patches Snakemake in the driver and in its jobs. Has no effect if no text needs quotes. Calling it twice is safe."""
    from snakemake.script import ScriptBase
    from snakemake_interface_executor_plugins import utils
    from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor

    ScriptBase._execute_cmd = _of_scripts(ScriptBase._execute_cmd)
    RemoteExecutor.get_python_executable = _of_executors(RemoteExecutor.get_python_executable)
    utils.format_cli_pos_arg = _of_config(utils.format_cli_pos_arg)


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


def _of_config(original: Callable) -> Callable:
    def format_cli_pos_arg(value: Any, quote: bool = True, base64_encode: bool = False) -> str:
        if isinstance(value, Mapping) and not base64_encode:
            texts = {key: item if isinstance(item, str) else _yaml(item) for key, item in value.items()}
            return " ".join(shlex.quote(f"{key}={text}") for key, text in texts.items())
        return original(value, quote=quote, base64_encode=base64_encode)

    return format_cli_pos_arg


def _yaml(value: Any) -> str:
    """A value as YAML in one line, without backslashes, which the shells on the way to a job would take."""
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, list):
        return f"[{', '.join(map(_yaml, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_yaml(key)}: {_yaml(item)}' for key, item in value.items())}}}"
    return repr(value)
