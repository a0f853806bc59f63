"""Figures as the report's tables show them."""

__all__ = ["cell", "number"]


def number(value: float | None, digits: int = 3) -> str:
    """A figure without the zero before its point; nothing for None.

    >>> number(0.25), number(1.5), number(None)
    ('.250', '1.500', '')
    """
    if value is None:
        return ""
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


def cell(text: str, small: str = "") -> dict[str, str]:
    """A cell of a table, with a line in small print."""
    return {"text": text, "small": small}
