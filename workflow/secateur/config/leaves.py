"""Leaves: what a stage sees of the configuration."""

import json
import types
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from secateur.config.groups import GROUPS
from secateur.core.fields import from_dict

__all__ = ["leaf", "leaves", "load", "unflatten"]


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value))


def leaf(config: Any, name: str) -> str:
    """One field as canonical JSON, so equal settings have equal text."""
    return json.dumps(_plain(getattr(config, name)), sort_keys=True, separators=(",", ":"))


def leaves(group: str, config: Any) -> dict[str, str]:
    """`{'retriever.top_k': '200'}`: every field of an option."""
    return {f"{group}.{f.name}": leaf(config, f.name) for f in fields(config)}


def unflatten(flat: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """The inverse of `leaves`, for several groups at once."""
    nested: dict[str, dict[str, Any]] = {}
    for path, text in flat.items():
        group, _, name = path.partition(".")
        nested.setdefault(group, {})[name] = json.loads(text)
    return nested


def load(flat: Mapping[str, str]) -> types.SimpleNamespace:
    """A stage's configuration from its leaves: of each group its dataclass, with the keys that the rule names and no others.

    What is no option of a group (`extra`) is a namespace of plain values.
    """
    groups = {
        group: from_dict(GROUPS[group], values, group, partial=True)
        if group in GROUPS
        else types.SimpleNamespace(**values)
        for group, values in unflatten(flat).items()
    }
    return types.SimpleNamespace(**groups)
