"""The registry of files: source, address, checksum, size and licence of each."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from secateur.core.errors import SecateurError
from secateur.datasets.reading import STRING, TEXT, Forms, Problems, form_problems

__all__ = ["RegistryFile", "load_registry"]

SOURCE = re.compile(r"[\w.-]+/[\w.-]+@[0-9a-f]{7,40}(:\S+)?")
URL = re.compile(r"https?://\S+")
SHA256 = re.compile("[0-9a-f]{64}")
TITLES = "_titles.yaml"  # lists of article titles stand beside the registry files
OPTIONAL = {"note": "", "instead": (), "keeps": ()}  # keys with their defaults


def _matches(value: Any, pattern: re.Pattern[str]) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


TEXTS = (
    "a list of texts",
    lambda value: isinstance(value, list | tuple) and all(isinstance(text, str) for text in value),
)
FORMS: Forms = {
    "source": (
        "owner/repo@commit:path, or owner/repo@commit where the path is not known",
        lambda value: _matches(value, SOURCE),
    ),
    "url": ("an http(s) address or null", lambda value: value is None or _matches(value, URL)),
    "sha256": ("64 hex digits or null", lambda value: value is None or _matches(value, SHA256)),
    "bytes": ("a positive number or null", lambda value: value is None or (type(value) is int and value > 0)),
    "licence": TEXT,
    "note": STRING,
    "instead": TEXTS,
    "keeps": TEXTS,
}
LISTS = [key for key, form in FORMS.items() if form is TEXTS]
REQUIRED = [key for key in FORMS if key not in OPTIONAL]


@dataclass(frozen=True)
class RegistryFile:
    """One registered file; `sha256` and `bytes` are of its uncompressed content, null if it was never fetched."""

    name: str
    source: str  # owner/repo@commit:path, or without the path
    url: str | None  # null: only a mirror has it
    sha256: str | None
    bytes: int | None
    licence: str
    registered_in: Path
    note: str = ""
    instead: tuple[str, ...] = ()  # substitutes for a file without an address
    keeps: tuple[str, ...] = ()  # keys that stay of the JSON records at the address; the checksum is of what stays


def load_registry(folder: Path) -> dict[str, RegistryFile]:
    """Every registered file by name.

    Raises SecateurError for a folder without registry files, invalid YAML, an unknown, missing or malformed key, and a
    name registered twice.
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
        problems.add(str(name), *_faults(keys))
    problems.stop()
    return [
        RegistryFile(name=name, registered_in=path, **keys | {key: tuple(keys.get(key, ())) for key in LISTS})
        for name, keys in content.items()
    ]


def _faults(keys: Any) -> list[str]:
    """Clauses on the faults of an entry."""
    if not isinstance(keys, dict):
        return [f"expected a mapping, found {keys!r}"]
    missing = [f"{key} is missing" for key in REQUIRED if key not in keys and FORMS[key][1](None)]
    return form_problems(OPTIONAL | {str(key): value for key, value in keys.items()}, FORMS) + missing


class _UniqueKeys(yaml.SafeLoader):
    """YAML where a repeated key is an error; PyYAML lets the last one win."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys: list[Any] = []
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep)
            if key in keys:
                raise yaml.constructor.ConstructorError(None, None, f"{key!r} stands here twice", key_node.start_mark)
            keys.append(key)
        return super().construct_mapping(node, deep)
