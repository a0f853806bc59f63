"""Figures as the report's tables show them."""

from collections.abc import Mapping
from typing import Any

__all__ = ["OURS", "cell", "interval", "number"]


OURS = ("graph", "secateur")  # the systems that the others are there to be compared with


def number(value: float | None, digits: int = 3) -> str:
    """A figure without the zero before its point; nothing for None.

    >>> number(0.25), number(1.5), number(None)
    ('.250', '1.500', '')
    """
    if value is None:
        return ""
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


def interval(row: Mapping[str, Any], digits: int = 3) -> str:
    """`low to high` of a row of figures; nothing where it has no interval.

    >>> interval({"low": 0.1, "high": 0.25})
    '.100 to .250'
    """
    return "" if row["low"] is None else f"{number(row['low'], digits)} to {number(row['high'], digits)}"


def cell(text: str, small: str = "") -> dict[str, str]:
    """A cell of a table, with a line in small print."""
    return {"text": text, "small": small}
