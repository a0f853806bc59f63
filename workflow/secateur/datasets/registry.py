"""The registry: for each file its upstream place, its address, its identity and its licence."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from secateur.core.errors import SecateurError, nearest
from secateur.datasets.problems import Problems

__all__ = ["RegistryFile", "load_registry"]

SOURCE = re.compile(r"[\w.-]+/[\w.-]+@[0-9a-f]{7,40}(:\S+)?")
REQUIRED = ("source", "url", "sha256", "bytes", "licence")
OPTIONAL = ("note", "instead")
TITLES = "_titles.yaml"  # lists of article titles live beside the registry files


@dataclass(frozen=True)
class RegistryFile:
    """One file. `sha256` and `bytes` are of the uncompressed content, null where nobody could fetch it yet."""

    name: str
    source: str  # owner/repo@commit:path, or without the path
    url: str | None  # null: only a mirror can have it
    sha256: str | None
    bytes: int | None
    licence: str
    registered_in: Path
    note: str = ""
    instead: tuple[str, ...] = ()  # what to use where the file cannot be had


def load_registry(folder: Path) -> dict[str, RegistryFile]:
    """Every registered file by name.

    Raises SecateurError for a folder without registry files, invalid YAML, an unknown, missing or
    malformed key, and a name registered twice.
    """
    paths = sorted(path for path in Path(folder).glob("*.yaml") if not path.name.endswith(TITLES))
    if not paths:
        raise SecateurError(f"{folder}: no registry files (*.yaml) here. Fix: restore data/registry")
    registry: dict[str, RegistryFile] = {}
    for path in paths:
        for entry in _entries(path):
            if entry.name in registry:
                first = registry[entry.name].registered_in
                raise SecateurError(
                    f"{path}: {entry.name} is already registered in {first}. Fix: remove one of the two"
                )
            registry[entry.name] = entry
    return registry


def _entries(path: Path) -> list[RegistryFile]:
    """The files of one YAML file, checked."""
    try:
        content = yaml.load(path.read_text("utf-8"), _UniqueKeys)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SecateurError(
            f"{path}: not valid YAML: {' '.join(str(error).split())}. Fix: correct that line"
        ) from error
    if not isinstance(content, dict):
        raise SecateurError(f"{path}: expected a mapping from file names to entries. Fix: see the other registry files")
    problems = Problems(path, f"each file has {', '.join(REQUIRED)}, and may have {', '.join(OPTIONAL)}")
    for name, keys in content.items():
        for clause in _wrong(keys):
            problems.add(str(name), clause)
    problems.stop()
    return [
        RegistryFile(name=name, registered_in=path, **{**keys, "instead": tuple(keys.get("instead", ()))})
        for name, keys in content.items()
    ]


def _wrong(keys: Any) -> list[str]:
    """The ways in which an entry breaks the form, each in a clause."""
    if not isinstance(keys, Mapping):
        return [f"expected a mapping, found {keys!r}"]
    allowed = REQUIRED + OPTIONAL
    found = [f"unknown key {key!r}{nearest(str(key), allowed)}" for key in keys if key not in allowed]
    found += [f"{key} is missing" for key in REQUIRED if key not in keys]
    forms = {
        "source": (
            "owner/repo@commit:path, or owner/repo@commit where the path is not known",
            lambda v: isinstance(v, str) and SOURCE.fullmatch(v),
        ),
        "url": (
            "an http(s) address or null",
            lambda v: v is None or (isinstance(v, str) and re.fullmatch(r"https?://\S+", v)),
        ),
        "sha256": (
            "64 hex digits or null",
            lambda v: v is None or (isinstance(v, str) and re.fullmatch("[0-9a-f]{64}", v)),
        ),
        "bytes": ("a positive number or null", lambda v: v is None or (type(v) is int and v > 0)),
        "licence": ("a text", lambda v: isinstance(v, str) and v.strip()),
        "note": ("a text", lambda v: isinstance(v, str)),
        "instead": ("a list of texts", lambda v: isinstance(v, list) and all(isinstance(x, str) for x in v)),
    }
    return found + [
        f"{key} must be {form}, found {keys[key]!r}"
        for key, (form, holds) in forms.items()
        if key in keys and not holds(keys[key])
    ]


class _UniqueKeys(yaml.SafeLoader):
    """YAML where a repeated key is an error; by itself PyYAML lets the last one win."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep) for key, _ in node.value]
        for place, (key, (key_node, _)) in enumerate(zip(keys, node.value, strict=True)):
            if key in keys[:place]:
                raise yaml.constructor.ConstructorError(None, None, f"{key!r} stands here twice", key_node.start_mark)
        return super().construct_mapping(node, deep)
