"""Fields with documentation and range, and the strict reading of plain data into dataclasses."""

import math
import re
import types
import typing
from collections.abc import Mapping
from copy import copy
from dataclasses import MISSING, Field, field, fields
from typing import Any, Literal, Union, get_args, get_origin

from secateur.core.errors import SecateurError, nearest

__all__ = ["ADDRESS", "ConfigError", "from_dict", "key", "misfits"]


class ConfigError(SecateurError):
    """A configuration that does not fit its declaration."""


def key(
    doc: str, *, low: float | None = None, high: float | None = None, default: Any = MISSING, family: str = ""
) -> Any:
    """A field with its documentation and its closed range; one that names kinds says of which family."""
    # A factory, not a default: an instance that lacks the key (`from_dict`, partial) must not find one in its class.
    extra = {} if default is MISSING else {"default_factory": lambda: copy(default)}
    return field(metadata={"doc": doc, "low": low, "high": high, "family": family}, **extra)


ADDRESS = re.compile(r"https?://[^\s/?#@]+(/[^\s?#@]*)?")  # no name, no password, no query: keys come from elsewhere


def misfits(group: str, config: Any, kind: str, needs: Mapping[str, frozenset[str]]) -> list[str]:
    """Keys that an option of this kind lacks, keys that belong to others, and a url that is none, each in a clause."""
    given = {f.name for f in fields(config) if getattr(config, f.name) is not None}
    own = needs[getattr(config, kind)]
    at, optional = f"{kind} {getattr(config, kind)}", frozenset.union(*needs.values())
    found = [f"{group}.{name} is needed by {at}" for name in sorted(own - given)]
    found += [f"{group}.{name} does not belong to {at}" for name in sorted(given & optional - own)]
    if "url" in own and config.url and not ADDRESS.fullmatch(config.url):
        found.append(
            f"{group}.url is no http address without user, password and query (keys come from the environment)"
        )
    return found


def _convert(value: Any, hint: Any, where: str, found: list[str]) -> Any:
    """`value` as the type `hint`, or a problem appended to `found`."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Literal:
        if value not in args:
            found.append(
                f"{where} is {value!r}, allowed: {', '.join(map(str, args))}{nearest(str(value), map(str, args))}"
            )
        return value
    if origin in (Union, types.UnionType):
        return None if value is None else _convert(value, next(a for a in args if a is not type(None)), where, found)
    if origin is tuple:
        if not isinstance(value, (list, tuple)):
            found.append(f"{where} is {value!r}, a list is needed")
            return ()
        return tuple(_convert(item, args[0], f"{where}[{n}]", found) for n, item in enumerate(value))
    if origin is dict:
        if not isinstance(value, Mapping):
            found.append(f"{where} is {value!r}, a mapping is needed")
            return {}
        return {str(k): _convert(item, args[1], f"{where}.{k}", found) for k, item in value.items()}
    if hint is Any:
        return value
    good = isinstance(value, hint) and not (isinstance(value, bool) and hint is not bool)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)  # YAML writes 1 for 1.0; one value, one form, so that nothing re-runs
    if not good:
        found.append(f"{where} is {value!r} ({type(value).__name__}), a value of type {hint.__name__} is needed")
    return value


def _in_range(value: Any, spec: Field, where: str) -> list[str]:
    """Problems of a number, or of the numbers in a list or mapping; NaN and infinity are never allowed."""
    if isinstance(value, Mapping):
        return [p for name, item in value.items() for p in _in_range(item, spec, f"{where}.{name}")]
    if isinstance(value, tuple):
        return [p for n, item in enumerate(value) for p in _in_range(item, spec, f"{where}[{n}]")]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return []
    low, high = spec.metadata.get("low"), spec.metadata.get("high")
    outside = (low is not None and value < low) or (high is not None and value > high) or not math.isfinite(value)
    allowed = f"[{'-inf' if low is None else low}, {'inf' if high is None else high}]"
    return [f"{where} is {value}, allowed: {allowed}"] if outside else []


def from_dict(cls: type, data: Mapping[str, Any], where: str, path: str = "", partial: bool = False) -> Any:
    """A frozen dataclass from plain data; ConfigError lists every unknown key, type and range at once.

    path: what its keys begin with in messages, where that is not the group of the option `where`; partial: keys may be
    missing, and to ask for one that is raises AttributeError.
    """
    hints, specs = typing.get_type_hints(cls), {f.name: f for f in fields(cls)}
    group = path or (where.split("/")[-2] if "/" in where else where)
    found = [f"unknown key {group}.{k}{nearest(str(k), specs)}" for k in data if k not in specs]
    found += [
        f"key {group}.{k} missing"
        for k, s in specs.items()
        if not partial and k not in data and s.default is s.default_factory is MISSING
    ]
    values = {}
    for name in (n for n in specs if n in data):
        value = data[name]
        if specs[name].metadata.get("family") and hints[name] == dict[str, Any] and isinstance(value, str):
            value = {"kind": value}  # a plug-in with its default settings
        values[name] = _convert(value, hints[name], f"{group}.{name}", found)
        found += _in_range(values[name], specs[name], f"{group}.{name}")
    if found:
        count = f"{len(found)} problem{'s' if len(found) > 1 else ''}"
        raise ConfigError(
            f"{where}.yaml: {count}: {'; '.join(found)}. Fix: edit that file or the override that set it."
        )
    if not partial:
        return cls(**values)
    option = object.__new__(cls)
    vars(option).update(values)
    return option
