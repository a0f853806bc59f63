"""Leaves: single settings as JSON text, the form in which a rule's params carry options to a stage."""

import json
from collections.abc import Mapping
from dataclasses import fields
from types import SimpleNamespace
from typing import Any

from secateur.config.groups import GROUPS
from secateur.core.fields import from_dict

__all__ = ["leaf", "leaves", "load", "unflatten"]


def leaf(config: Any, name: str) -> str:
    """One field as canonical JSON: equal settings give equal text."""
    return json.dumps(getattr(config, name), sort_keys=True, separators=(",", ":"))


def leaves(group: str, config: Any) -> dict[str, str]:
    """Every field of an option: `{'retriever.top_k': '200'}`."""
    return {f"{group}.{f.name}": leaf(config, f.name) for f in fields(config)}


def unflatten(flat: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Inverse of `leaves`, for several groups at once."""
    nested: dict[str, dict[str, Any]] = {}
    for path, text in flat.items():
        group, _, name = path.partition(".")
        nested.setdefault(group, {})[name] = json.loads(text)
    return nested


def load(flat: Mapping[str, str]) -> SimpleNamespace:
    """A stage's configuration: each group's dataclass with only the keys in `flat`, anything else (`extra`) a namespace."""
    groups = unflatten(flat).items()
    return SimpleNamespace(
        **{
            group: from_dict(GROUPS[group], values, group, partial=True)
            if group in GROUPS
            else SimpleNamespace(**values)
            for group, values in groups
        }
    )
