"""Ablations written where they are named: `default+w_dense=0` is the option `default` with one key changed.

The name holds every change, so a path and its wildcards need no register. In a name a comma stands for the dot of a key
or of a number (`beam+walk,depth=0`), because dots join the options of a path.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from secateur.core.fields import ConfigError

__all__ = ["FILES_ONLY", "SUFFIX", "canonical", "changed", "label", "split"]

FILES_ONLY = frozenset({"corpus", "dataset", "system", "study", "experiment"})  # groups that take no inline options
SUFFIX = r"(\+[A-Za-z0-9_,]+=[A-Za-z0-9_,-]+)*"  # changes after an option's name in a path
PAIR = re.compile(r"([A-Za-z0-9_.]+)=([A-Za-z0-9_.-]+)")
WORD = re.compile(r"[A-Za-z0-9_]+")


def split(name: str) -> tuple[str, dict[str, Any]]:
    """The base of an option's name and its changed keys; no keys for a name without changes or of another form.

    >>> split("beam+walk,depth=0"), split("paper")
    (('beam', {'walk.depth': 0}), ('paper', {}))
    """
    base, *changes = name.split("+")
    pairs = [PAIR.fullmatch(part.replace(",", ".")) for part in changes]
    return (base, {pair[1]: _value(pair[2]) for pair in pairs if pair}) if all(pairs) else (name, {})


def changed(name: str, values: Mapping[str, Any], where: str = "") -> str:
    """The name of an option with keys changed, in the order of the keys.

    >>> changed("default", {"w_run": 0.5, "coarse": "ere"}, "axes")
    'default+coarse=ere+w_run=0,5'

    Raises ConfigError for a value that a name cannot hold.
    """
    base, changes = split(name)
    pairs = (f"{key}={_text(key, value, where)}" for key, value in sorted((changes | dict(values)).items()))
    return "+".join([base, *(pair.replace(".", ",") for pair in pairs)])


def canonical(name: str) -> str:
    """An option's name as paths have it: changed keys sorted, one text for each value."""
    return changed(name, {})


def label(name: str) -> str:
    """The label of an option in tables: its changed keys, a word without its key.

    >>> label("default+form=dense"), label("default+w_dense=0"), label("lines")
    ('dense', 'w_dense=0', 'lines')
    """
    base, changes = split(name)
    labels = [value if isinstance(value, str) else f"{key}={_text(key, value)}" for key, value in changes.items()]
    return "+".join(labels) or base


def _text(key: str, value: Any, where: str = "") -> str:
    """A scalar as the text that `_value` reads back."""
    if isinstance(value, str) and WORD.fullmatch(value) and _value(value) == value:
        return value
    if value is None or isinstance(value, bool | int | float):
        whole = isinstance(value, float) and value.is_integer()  # 1 and 1.0 must give one name
        return json.dumps(int(value) if whole else value).replace("e+", "e")
    raise ConfigError(
        f"{where}: {key} is {value!r}; allowed: a word of letters, digits and _, a number, true, false or null. "
        "Fix: write an option file and name it."
    )


def _value(text: str) -> Any:
    """A number, true, false or null as JSON reads it; any other text as it is."""
    try:
        return json.loads(text)
    except ValueError:
        return text
