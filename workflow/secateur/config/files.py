"""The option files of a group: conf/GROUP/NAME.yaml, and further options that a file derives from its own.

    derived:                                                  # in conf/dataset/hotpotqa.yaml
      # The official development set
      hotpotqa_dev: {files: [hotpot_dev_distractor_v1.json]}

is the option `hotpotqa_dev`, which differs from `hotpotqa` in these keys alone.
"""

from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from secateur.core.fields import ConfigError

__all__ = ["DERIVED", "about", "derived", "file", "mapping", "options", "place", "text"]

DERIVED = "derived"  # key of an option file
NODES = 100_000  # most values of an option file, aliases counted where they are used


def options(conf: Path, group: str) -> list[str]:
    """Options of a group's files."""
    return sorted({*_stems(conf, group), *derived(conf, group)})


def file(conf: Path, group: str, name: str) -> Path:
    """The file that an option is written in."""
    base, _ = derived(conf, group).get(name, (name, {}))
    return conf / group / f"{base}.yaml"


def place(conf: Path, group: str, name: str) -> str:
    """The file that an option is written in, for messages, without its suffix: conf/GROUP/NAME."""
    return f"conf/{group}/{file(conf, group, name).stem}"


def about(conf: Path, group: str, name: str) -> str:
    """The comment above an option: the first line of its file, or the line before a derived option."""
    base, _ = derived(conf, group).get(name, ("", {}))
    lines = text(conf / group / f"{base or name}.yaml").split("\n")
    above = next((above for above, line in pairwise(lines) if base and line.startswith(f"  {name}:")), lines[0]).strip()
    comment = above.removeprefix("# ") if above.startswith("#") else ""
    return f"As {base}. {comment}" if base else comment


def derived(conf: Path, group: str) -> dict[str, tuple[str, dict[str, Any]]]:
    """Derived options of a group: the option whose file holds each, and the keys in which it differs.

    Raises ConfigError for one that is no mapping of keys, and for a name that another file has.
    """
    stems = _stems(conf, group)
    options: dict[str, tuple[str, dict[str, Any]]] = {}
    for base in stems:
        path = conf / group / f"{base}.yaml"
        for name, keys in _derived(path, text(path)).items():
            if name in options or name in stems:
                other = options[name][0] if name in options else name
                raise ConfigError(
                    f"{path}: {DERIVED}.{name}: conf/{group}/{other}.yaml has the same name. Fix: keep one of them"
                )
            options[name] = (base, keys)
    return options


def _stems(conf: Path, group: str) -> list[str]:
    return sorted(path.stem for path in (conf / group).glob("[!_]*.yaml"))


@cache
def _derived(path: Path, content: str) -> dict[str, dict[str, Any]]:
    """The derived options of a file. Only a file with the key is parsed: every job asks for the names of all options."""
    if f"\n{DERIVED}:" not in f"\n{content}":
        return {}
    stated = mapping(path)[DERIVED]
    if not isinstance(stated, dict) or not all(isinstance(keys, dict) for keys in stated.values()):
        raise ConfigError(f"{path}: {DERIVED} is {stated!r}; allowed: names with their keys. Fix: NAME: {{key: value}}")
    return stated


def text(path: Path) -> str:
    """Content of a file. Raises ConfigError for one that is not UTF-8."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: is not UTF-8 ({error}). Fix: save it as UTF-8") from error


def mapping(path: Path) -> dict[str, Any]:
    """Content of a YAML file. Raises ConfigError for a file that is not UTF-8, not YAML, or not a mapping."""
    import yaml

    try:
        content = yaml.safe_load(text(path)) or {}
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: is not YAML ({' '.join(str(error).split())}). Fix: key: value") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: holds a {type(content).__name__}; allowed: keys with values. Fix: key: value")
    _check_size(path, content)
    return content


def _check_size(path: Path, content: dict[str, Any]) -> None:
    """Refuse a file whose aliases stand for more values than an option needs: Hydra would read it for minutes."""
    counts: dict[int, int] = {}

    def nodes(value: Any) -> int:
        if id(value) not in counts:
            within = [*value.keys(), *value.values()] if isinstance(value, dict) else value
            counts[id(value)] = 1 + sum(map(nodes, within)) if isinstance(value, (dict, list)) else 1
        return counts[id(value)]

    try:
        total = nodes(content)
    except RecursionError as error:
        raise ConfigError(f"{path}: an alias refers to itself. Fix: write its value out") from error
    if total > NODES:
        raise ConfigError(f"{path}: its aliases stand for {total:,} values; allowed: {NODES:,}. Fix: remove aliases")
