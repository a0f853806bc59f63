"""Texts without the machine that they were written on: no path of it, no address of a server, no key."""

import io
import re
import socket
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from secateur.core.errors import SecateurError
from secateur.core.redaction import redacted
from secateur.crate.material import File, Material, Run

__all__ = ["checked", "portable", "without_machine"]

ELSEWHERE = "elsewhere"  # a folder that stands for all that is outside the clone
PATH = re.compile(r"(?<![\w.:/~-])(?:/[^\s/\"'<>|,;:()]+){2,}/?")
ADDRESS = re.compile(r"https?://[^\s\"'<>]+")
HOST = re.compile(r"(?<=://)[^/]+")


def without_machine(found: Material, root: Path, public: frozenset[str]) -> Material:
    """The same with records that name no machine; a file outside the clone is called by its content and its own name."""
    names = {path: _called(file) for path, file in found.files.items()}
    runs = tuple(Run(run.place, portable(_renamed(run.record, names), root, public)) for run in found.runs)
    files = {names[path]: replace(file, path=names[path]) for path, file in found.files.items()}
    return replace(found, runs=runs, files=files)


def _called(file: File) -> str:
    path = Path(file.path)
    return f"{ELSEWHERE}/{file.sha256[:16]}/{path.name}" if path.is_absolute() else file.path


def _renamed(record: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {**record, "inputs": {names[path]: digest for path, digest in record["inputs"].items()}}


def portable(value: Any, root: Path, public: frozenset[str]) -> Any:
    """Plain data with paths of the clone made relative, other absolute ones cut to their last part, and addresses that are
    not `public` without their host.

    >>> portable({"log": "/home/ann/clone/logs/a.log", "at": ["http://node7:8000/v1"]}, Path("/home/ann/clone"), frozenset())
    {'log': 'logs/a.log', 'at': ['http://host/v1']}
    """
    if isinstance(value, Mapping):
        return {portable(name, root, public): portable(own, root, public) for name, own in value.items()}
    if isinstance(value, list | tuple):
        return [portable(own, root, public) for own in value]
    if not isinstance(value, str):
        return value
    text = ADDRESS.sub(lambda m: m[0] if m[0] in public else HOST.sub("host", m[0]), redacted(value))
    text = text.replace(f"{root}/", "").replace(f"{Path.home()}/", "/home/")  # both may have blanks in them
    if text.startswith("/") and text.count("/") > 1 and ": " not in text:
        return _last(text)
    return PATH.sub(lambda m: _last(m[0]), text)


def _last(path: str) -> str:
    return f"{ELSEWHERE}/{path.rstrip('/').rpartition('/')[2]}"


def checked(name: str, content: bytes, root: Path) -> bytes:
    """A file's content as it is. Raises SecateurError where it holds a secret or names this machine."""
    text = _text(name, content)
    bare = text.replace("://", " ")  # code and pages show addresses with a user part, as examples
    if redacted(bare) != bare:
        raise SecateurError(f"{name}: holds the value of a secret environment variable. Fix: take it out, run again.")
    for own in _of_this_machine(root):
        if re.search(rf"(?<![\w.-]){re.escape(own)}(?![\w-])", text):
            raise SecateurError(
                f"{name}: names {own}, which is of this machine; allowed: paths relative to the clone's root. "
                "Fix: give in that form what it comes from, run again."
            )
    return content


def _text(name: str, content: bytes) -> str:
    if name.endswith(".parquet"):
        return pl.read_parquet(io.BytesIO(content)).write_csv()
    return content.decode("utf-8", errors="replace")


def _of_this_machine(root: Path) -> list[str]:
    """What only this machine is called: the clone, its user's home, and a host's name where that is no common word."""
    home, host = Path.home(), socket.gethostname()
    return [str(root), *([str(home)] if home != home.parent else []), *([host] if re.search(r"[\d.-]", host) else [])]
