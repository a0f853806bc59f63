"""Ablations written where they are named: `default+w_dense=0` is the option `default` with one key changed.

The name is the whole option: it stands in paths and wildcards, and no register knows it. In it a dot of a key or of a
number is a comma (`beam+walk,depth=0`), since dots join the options of a path.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from secateur.core.fields import ConfigError

__all__ = ["FIXED", "SUFFIX", "canonical", "changed", "label", "overrides", "split"]

FIXED = frozenset({"corpus", "dataset", "system", "study", "experiment"})  # groups whose options are files alone
SUFFIX = r"(\+[A-Za-z0-9_,]+=[A-Za-z0-9_,-]+)*"  # what may follow the name of any other option in a path
PAIR = re.compile(r"([A-Za-z0-9_.]+)=([A-Za-z0-9_.-]+)")
WORD = re.compile(r"[A-Za-z0-9_]+")


def split(name: str) -> tuple[str, dict[str, str]]:
    """An option's base and its changed keys as text.

    >>> split("beam+walk,depth=0"), split("paper")
    (('beam', {'walk.depth': '0'}), ('paper', {}))
    """
    base, *parts = name.replace(",", ".").split("+")
    pairs = [PAIR.fullmatch(part) for part in parts]
    return (base, {pair[1]: pair[2] for pair in pairs if pair}) if all(pairs) else (name, {})


def _joined(base: str, changes: Mapping[str, str]) -> str:
    return "+".join([base, *(f"{key}={text}" for key, text in sorted(changes.items()))]).replace(".", ",")


def canonical(name: str) -> str:
    """An option's name as it stands in paths: keys sorted, dots as commas; the name of a file as it is."""
    base, changes = split(name)
    return _joined(base, changes) if changes else name


def changed(name: str, values: Mapping[str, Any], where: str) -> str:
    """The name of an option with some keys changed.

    >>> changed("default", {"w_run": 0.5, "coarse": "ere"}, "axes")
    'default+coarse=ere+w_run=0,5'

    Raises ConfigError for a value that a name cannot hold.
    """
    base, changes = split(name)
    return _joined(base, changes | {key: _text(key, value, where) for key, value in values.items()})


def _text(key: str, value: Any, where: str) -> str:
    """A scalar as the text that `_value` reads back."""
    if isinstance(value, str) and WORD.fullmatch(value) and _value(value) == value:
        return value
    if value is None or isinstance(value, bool | int | float):
        whole = isinstance(value, float) and value.is_integer()  # one value, one name: 1 for 1.0
        return json.dumps(int(value) if whole else value).replace("e+", "e")
    raise ConfigError(
        f"{where}: {key} is {value!r}; allowed: a word of letters, digits and _, a number, true, false or null. "
        "Fix: write an option file and name it."
    )


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def overrides(group: str, changes: Mapping[str, str]) -> tuple[str, ...]:
    """Changed keys as overrides of their group.

    >>> overrides("retriever", {"w_dense": "0", "coarse": "ere"})
    ('retriever.w_dense=0', "retriever.coarse='ere'")
    """
    return tuple(f"{group}.{key}={_quoted(text)}" for key, text in changes.items())


def _quoted(text: str) -> str:
    return f"'{text}'" if isinstance(_value(text), str) else text


def label(name: str) -> str:
    """What a row says of an option: its changed keys, a word by itself.

    >>> label("default+form=dense"), label("default+w_dense=0"), label("lines")
    ('dense', 'w_dense=0', 'lines')
    """
    base, changes = split(name)
    said = [text if isinstance(_value(text), str) else f"{key}={text}" for key, text in changes.items()]
    return "+".join(said) or base
