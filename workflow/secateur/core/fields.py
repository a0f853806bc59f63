"""Fields with documentation and range, and strict reading of plain data into dataclasses."""

import math
import re
import types
import typing
from collections.abc import Mapping
from copy import copy
from dataclasses import MISSING, Field, field, fields
from typing import Any, Literal, Union, get_args, get_origin

from secateur.core.errors import SecateurError, nearest

__all__ = ["ADDRESS", "ConfigError", "from_dict", "key", "misfits", "parameter_problems"]


class ConfigError(SecateurError):
    """A configuration that does not fit its declaration."""


def key(
    doc: str, *, low: float | None = None, high: float | None = None, default: Any = MISSING, family: str = ""
) -> Any:
    """A field with its documentation, its closed range and, if its value names plug-ins, their family."""
    # A factory, not a default: an instance without the key (`from_dict`, partial) must not find one in its class.
    extra = {} if default is MISSING else {"default_factory": lambda: copy(default)}
    return field(metadata={"doc": doc, "low": low, "high": high, "family": family}, **extra)


ADDRESS = re.compile(r"https?://[^\s/?#@]+(/[^\s?#@]*)?")  # no user, password or query: keys come from the environment
ASKED = {"model", "messages", "prompt", "stream", "n"}  # parameters of a request that decide what is asked


def misfits(group: str, config: Any, kind: str, needs: Mapping[str, frozenset[str]]) -> list[str]:
    """Optional keys that an option lacks, keys that belong to other kinds, and an invalid url, each in a clause.

    kind: the field that decides which keys are needed; needs: its value -> keys.
    """
    present = {
        f.name for f in fields(config) if getattr(config, f.name, None) is not None
    }  # a stage has its slice alone
    needed, optional = needs[getattr(config, kind)], frozenset.union(*needs.values())
    at = f"{kind} {getattr(config, kind)}"
    problems = [f"{group}.{name} is needed by {at}" for name in sorted(needed - present)]
    problems += [f"{group}.{name} does not belong to {at}" for name in sorted(present & optional - needed)]
    if "url" in needed and config.url and not ADDRESS.fullmatch(config.url):
        problems.append(
            f"{group}.url is no http address without user, password and query (keys come from the environment)"
        )
    return problems


def parameter_problems(group: str, parameters: Mapping[str, Any]) -> list[str]:
    """Parameters of a request that an option may not set, each in a clause."""
    return [f"{group}.parameters may not set {name}" for name in sorted(ASKED & set(parameters))]


def _convert(value: Any, hint: Any, where: str, problems: list[str]) -> Any:
    """`value` as the type `hint`; what does not fit is appended to `problems`."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Literal:
        if value not in args:
            allowed = [str(arg) for arg in args]
            problems.append(f"{where} is {value!r}, allowed: {', '.join(allowed)}{nearest(str(value), allowed)}")
        return value
    if origin in (Union, types.UnionType):
        inner = next(arg for arg in args if arg is not type(None))
        return None if value is None else _convert(value, inner, where, problems)
    if origin is tuple:
        if not isinstance(value, (list, tuple)):
            problems.append(f"{where} is {value!r}, a list is needed")
            return ()
        return tuple(_convert(item, args[0], f"{where}[{n}]", problems) for n, item in enumerate(value))
    if origin is dict:
        if not isinstance(value, Mapping):
            problems.append(f"{where} is {value!r}, a mapping is needed")
            return {}
        return {str(name): _convert(item, args[1], f"{where}.{name}", problems) for name, item in value.items()}
    if hint is Any:
        return value
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)  # YAML writes 1 for 1.0; one value must have one form, or jobs would run again
    if not isinstance(value, hint) or (isinstance(value, bool) and hint is not bool):
        problems.append(f"{where} is {value!r} ({type(value).__name__}), a value of type {hint.__name__} is needed")
    return value


def _in_range(value: Any, spec: Field, where: str) -> list[str]:
    """Numbers outside the range, also those in a list or mapping; NaN and infinity are never allowed."""
    if isinstance(value, Mapping):
        return [problem for name, item in value.items() for problem in _in_range(item, spec, f"{where}.{name}")]
    if isinstance(value, tuple):
        return [problem for n, item in enumerate(value) for problem in _in_range(item, spec, f"{where}[{n}]")]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return []
    low, high = spec.metadata.get("low"), spec.metadata.get("high")
    low, high = -math.inf if low is None else low, math.inf if high is None else high
    inside = low <= value <= high and math.isfinite(value)
    return [] if inside else [f"{where} is {value}, allowed: [{low}, {high}]"]


def from_dict(cls: type, data: Mapping[str, Any], where: str, path: str = "", partial: bool = False) -> Any:
    """A frozen dataclass from plain data; ConfigError lists every unknown key, type and range at once.

    where: the option, e.g. conf/corpus/locomo; path: prefix of its keys in messages, the option's group by default;
    partial: keys may be missing, and reading a missing one raises AttributeError.
    """
    hints = typing.get_type_hints(cls)
    specs = {f.name: f for f in fields(cls)}
    group = path or (where.split("/")[-2] if "/" in where else where)
    problems = [f"unknown key {group}.{name}{nearest(str(name), specs)}" for name in data if name not in specs]
    required = [name for name, spec in specs.items() if spec.default is spec.default_factory is MISSING]
    problems += [f"key {group}.{name} missing" for name in required if not partial and name not in data]
    values = {}
    for name in (name for name in specs if name in data):
        value = data[name]
        if specs[name].metadata.get("family") and hints[name] == dict[str, Any] and isinstance(value, str):
            value = {"kind": value}  # a plug-in with its default settings
        values[name] = _convert(value, hints[name], f"{group}.{name}", problems)
        problems += _in_range(values[name], specs[name], f"{group}.{name}")
    if problems:
        count = f"{len(problems)} problem{'s' if len(problems) > 1 else ''}"
        raise ConfigError(
            f"{where}.yaml: {count}: {'; '.join(problems)}. Fix: edit that file or the override that set it."
        )
    if not partial:
        return cls(**values)
    option = object.__new__(cls)
    vars(option).update(values)
    return option
